"""Where root keeps what the unprivileged server must reach: copies of programs, and data that has no better place."""

from pathlib import Path

# The conventional place of a service's own data on Linux.
STATE_DIR = Path("/var/lib/keepsake")


def state_dir() -> Path:
    """Give root's state folder."""
    return STATE_DIR


def make_folder(folder: Path, *, mode: int) -> None:
    """Make a folder and its parents with this mode whatever the umask says; leave those that exist as they are."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    for path in reversed(missing):
        path.mkdir(exist_ok=True)
        path.chmod(mode)
