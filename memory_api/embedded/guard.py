"""Stop the server when its owner dies without a word.

A small shell holds the reading end of a pipe whose other end only the owner has: the kernel closes it with the owner,
even after kill -9. PR_SET_PDEATHSIG is no way to do this: it fires when the *thread* that started the server ends, and
setting it needs Python code between fork and exec, which is unsafe beside threads.
"""

import subprocess
from pathlib import Path

# A line means "stand down", the end of the file means that the owner is gone. The pid file is read again before the
# signal, so that a pid which meanwhile went to somebody else is left alone. SIGINT is PostgreSQL's fast shutdown.
_WATCH = """
read -r _ && exit 0
for _ in 1 2 3 4 5 6 7 8 9 10; do
  if read -r pid < "$1"; then [ "$pid" = "$2" ] && kill -INT "$2"; exit; fi
  sleep 1
done 2>/dev/null
"""


class Guard:
    """Watch over one postmaster on behalf of this process."""

    def __init__(self, *, pid_file: Path, pid: int) -> None:
        self._shell = subprocess.Popen(  # noqa: S603 (a constant script)
            ["/bin/sh", "-c", _WATCH, "keepsake-guard", pid_file, str(pid)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,
        )

    def dismiss(self) -> None:
        """End the watch; the server is nobody's business any more."""
        try:
            self._shell.communicate(b"\n", timeout=5)
        except subprocess.TimeoutExpired:
            self._shell.kill()
            self._shell.wait()
