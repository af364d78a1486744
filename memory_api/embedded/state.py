"""Where root keeps what the unprivileged server must reach: copies of programs, and data that has no better place."""

from pathlib import Path


def state_dir() -> Path:
    """Give root's state folder; the conventional place for a service's own data on Linux."""
    return Path("/var/lib/keepsake")
