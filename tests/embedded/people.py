"""Those who own an embedded server in the tests: ourselves or an ordinary user, in a process that can be killed."""

import json
import os
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

OWNER = Path(__file__).with_name("owner.py")
AS_ROOT = os.geteuid() == 0


@dataclass
class Person:
    """Somebody who starts Keepsake: the current user, or for root also `become`, an ordinary one."""

    home: Path
    become: tuple[str | Path, ...] = ()
    through: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return str(self.become[0]) if self.become else ""

    def owns(self, folder: Path, **environment: str) -> subprocess.Popen[str]:
        """Start a process that owns a server on that folder."""
        return subprocess.Popen(
            [*self.through, sys.executable, "-X", "dev", "-W", "error", OWNER, folder, *self.become],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd="/",
            env={**os.environ, "HOME": str(self.home), "PYTHONDONTWRITEBYTECODE": "1", **environment},
            start_new_session=True,
        )

    def is_refused(self, folder: Path, **environment: str) -> str:
        """Start such a process in vain, and give the one line that it says."""
        with self.owns(folder, **environment) as process:
            _, said = process.communicate(timeout=60)
        assert process.returncode == 2, said
        assert said.count("\n") == 1, said
        return said


class Owner:
    """A process that owns a server on a folder."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.pid = process.pid
        ready = self._answer()
        self.postmaster = psutil.Process(ready["pid"])
        self.dsn: str = ready["dsn"]

    @property
    def guard(self) -> psutil.Process:
        return next(child for child in psutil.Process(self.pid).children() if "keepsake-guard" in child.cmdline())

    def query(self, statement: str) -> str:
        assert self.process.stdin
        self.process.stdin.write(statement + "\n")
        self.process.stdin.flush()
        answer: str = self._answer()
        return answer

    def ends(self, how: int | None = None) -> int:
        """Send a signal, or close its input, and wait for its exit code."""
        if how is not None:
            self.process.send_signal(how)
        with suppress(ValueError):
            self.process.communicate(timeout=30)
        return self.process.returncode

    def _answer(self) -> Any:
        assert self.process.stdout
        line = self.process.stdout.readline()
        if not line:
            _, said = self.process.communicate(timeout=30)
            raise AssertionError(f"the owner ended with {self.process.returncode}: {said}")
        return json.loads(line)


def servers_below(folder: Path) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.name() == "postgres" and Path(process.cwd()).is_relative_to(folder):
                found.append(process)
    return found
