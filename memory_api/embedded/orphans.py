"""Clear the way after an owner or a postmaster that was killed.

A pid file proves nothing: its pid may be dead, a zombie, or somebody else's by now. What counts is which processes
called postgres work inside the folder (every server process does), and we only look while we hold the folder's lock.
"""

import os
import signal
from pathlib import Path

import psutil

from memory_api.embedded.account import Account
from memory_api.embedded.folders import SOCKET_NAME

_SHUTDOWN_SECONDS = 30.0
_NOTICE_SECONDS = 1.0
_HARDER_SECONDS = 5.0
_WORKS_IN = 'd=$1; shift; for p in "$@"; do [ "/proc/$p/cwd" -ef "$d" ] && echo "$p"; done; :'
_NO_PID = 2**30  # the kernel's own limit is 2**22


def clear_the_way(postgres_dir: Path, socket_dir: Path, account: Account) -> None:
    """End every server process of this folder, in order as far as possible, and remove what misleads the next one."""
    pid_file = postgres_dir / "postmaster.pid"
    if (pid := _recorded_pid(pid_file)) is not None:
        _end(_servers_in(postgres_dir, account), postmaster=pid)
        if psutil.pid_exists(pid):
            _declare_dead(pid_file)
    for name in (SOCKET_NAME, f"{SOCKET_NAME}.lock"):
        (socket_dir / name).unlink(missing_ok=True)


def _servers_in(folder: Path, account: Account) -> list[psutil.Process]:
    servers = [process for process in psutil.process_iter(["name"]) if process.info["name"] == "postgres"]
    if account.lent and Path("/proc/self/cwd").exists():
        # Root of a container may not look into another user's processes; that user itself may.
        _, said = account.run(["/bin/sh", "-c", _WORKS_IN, "sh", folder, *(str(process.pid) for process in servers)])
        inside = said.split()
        return [process for process in servers if str(process.pid) in inside]
    return [process for process in servers if _cwd(process) == str(folder)]


def _cwd(process: psutil.Process) -> str:
    try:
        return process.cwd()
    except psutil.Error:  # gone meanwhile, a zombie, or somebody else's
        return ""


def _end(servers: list[psutil.Process], *, postmaster: int) -> None:
    heads = [process for process in servers if process.pid == postmaster]
    _signal(heads, signal.SIGINT)
    # Without a postmaster the rest notice its death by themselves.
    _, alive = psutil.wait_procs(servers, timeout=_SHUTDOWN_SECONDS if heads else _NOTICE_SECONDS)
    for harder in (signal.SIGQUIT, signal.SIGKILL):
        if not alive:
            return
        _signal(alive, harder)
        _, alive = psutil.wait_procs(alive, timeout=_HARDER_SECONDS)


def _signal(processes: list[psutil.Process], number: signal.Signals) -> None:
    for process in processes:
        try:
            process.send_signal(number)
        except psutil.NoSuchProcess:
            continue


def _declare_dead(pid_file: Path) -> None:
    """Put a pid that no process can have in the place of a zombie's or a stranger's.

    PostgreSQL would take either for a living server. The rest of the file stays, for it names the shared memory, and
    PostgreSQL's own check of that is the last defence against two servers on one folder.
    """
    _, *rest = pid_file.read_text().splitlines(keepends=True)
    descriptor = os.open(pid_file, os.O_WRONLY | os.O_TRUNC | os.O_NOFOLLOW)
    with os.fdopen(descriptor, "w") as file:
        file.writelines([f"{_NO_PID}\n", *rest])


def _recorded_pid(pid_file: Path) -> int | None:
    try:
        return int(pid_file.read_text().splitlines()[0])
    except FileNotFoundError:
        return None
    except (ValueError, IndexError):  # cut short by a full disk or a crash: PostgreSQL would refuse to start
        pid_file.unlink(missing_ok=True)
        return 0
