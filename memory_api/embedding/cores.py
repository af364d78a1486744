"""How many cores this process may really use: a container's limit counts, not the node's size."""

import os
from pathlib import Path

_LIMIT = Path("/sys/fs/cgroup/cpu.max")


def usable_cores() -> int:
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = _LIMIT.read_text(encoding="ascii").split()
        return max(1, min(cores, -(-int(quota) // int(period))))
    except (OSError, ValueError):  # no cgroup, or `max`: unlimited
        return cores
