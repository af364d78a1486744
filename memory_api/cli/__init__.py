"""The keepsake command."""
