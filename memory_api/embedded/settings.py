"""The server's settings, given on the command line at every start: no file to go stale, and none to edit by hand."""

import shutil
from collections.abc import Mapping
from pathlib import Path

# Docker gives containers 64 MB of /dev/shm; a parallel index build then fails with "could not resize".
_SMALL_SHM = 512 * 1024 * 1024

_BASE = {
    "listen_addresses": "",
    "port": "5432",
    "unix_socket_permissions": "0700",
    "shared_buffers": "256MB",
    "maintenance_work_mem": "512MB",
    "max_parallel_maintenance_workers": "0",
    "random_page_cost": "1.1",
    "jit": "off",
    "timezone": "UTC",
    "lc_messages": "C",
    "lc_monetary": "C.UTF-8",
    "lc_numeric": "C.UTF-8",
    "lc_time": "C.UTF-8",
    # One file per weekday, overwritten a week later. Terse: the details of an error can hold what somebody remembered.
    "logging_collector": "on",
    "log_directory": "log",
    "log_filename": "postgresql-%a.log",
    "log_rotation_age": "1d",
    "log_rotation_size": "0",
    "log_truncate_on_rotation": "on",
    "log_timezone": "UTC",
    "log_error_verbosity": "terse",
    "log_checkpoints": "off",
}
_DURABLE = {"fsync": "on", "full_page_writes": "on", "synchronous_commit": "on"}
# For databases that are thrown away: nothing on disk is promised, and nothing is waited for.
_FLEETING = {
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "shared_buffers": "128MB",
}


def server_settings(*, socket_dir: Path, crash_safe: bool, extra: Mapping[str, str]) -> dict[str, str]:
    """Put the settings together; `extra` has the last word."""
    settings = {**_BASE, **(_DURABLE if crash_safe else _FLEETING)}
    settings["unix_socket_directories"] = f'"{socket_dir}"'
    shm = Path("/dev/shm")  # noqa: S108 (measured, never written)
    if shm.is_dir() and shutil.disk_usage(shm).total < _SMALL_SHM:
        settings["dynamic_shared_memory_type"] = "mmap"
    return {**settings, **extra}
