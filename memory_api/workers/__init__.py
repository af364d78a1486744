"""Background work that runs inside every replica."""
