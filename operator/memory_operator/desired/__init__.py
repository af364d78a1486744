"""What should exist for a Workspace, computed from a frozen view. Pure: no I/O, no clock, no randomness."""
