"""Processes that belong to one folder: started, recorded by pid and start time, and stopped with it.

They outlive a failing test but not its run: a keeper holds a pipe whose other end only the owner has, and the kernel
closes that with the owner even after kill -9. `python -m tests.cluster.processes FOLDER` is the keeper.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil

_ROOT = Path(__file__).parents[2]


class Processes:
    """The processes of one folder, by name, in the order they were started in."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.logs = folder / "logs"
        self._records = folder / "processes"
        self._children: dict[str, subprocess.Popen[bytes]] = {}
        for place in (self.logs, self._records):
            place.mkdir(parents=True, exist_ok=True)

    def start(
        self,
        name: str,
        command: Sequence[str | Path],
        *,
        program: Path | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        """Start one in a session of its own, so that Ctrl-C reaches its owner first. Its log grows by restarts."""
        with (self.logs / f"{name}.log").open("ab") as log:
            child = subprocess.Popen(
                command,
                executable=program,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self.folder,
                env={**os.environ, **(env or {})},
                start_new_session=True,
            )
        self._children[name] = child
        record = {"pid": child.pid, "created": psutil.Process(child.pid).create_time()}
        number = len(list(self._records.iterdir()))
        (self._records / f"{number:03}-{name}.json").write_text(json.dumps(record))

    def running(self, name: str) -> psutil.Process | None:
        """The process of this name, if it lives."""
        for record in self._records.glob(f"*-{name}.json"):
            process = _process(record)
            if process is not None:
                return process
        return None

    def names(self) -> list[str]:
        """The names of all that were started and not stopped, whether they live or not."""
        return [record.stem.partition("-")[2] for record in sorted(self._records.iterdir())]

    def stop(self, name: str, *, force: bool = False, patience: float = 3.0) -> None:
        """End one: by TERM and, when that does not help, by KILL; with `force` by KILL at once."""
        for record in self._records.glob(f"*-{name}.json"):
            process = _process(record)
            if process is not None:
                _end([process], force=force, patience=patience)
            record.unlink(missing_ok=True)
        child = self._children.pop(name, None)
        if child is not None:
            child.wait()

    def stop_all(self) -> None:
        """End all of them together. Some wait for others in vain then; nothing here is kept that this could harm."""
        records = sorted(self._records.iterdir())
        _end([process for record in records if (process := _process(record))], force=False, patience=2.0)
        for name in self.names():
            self.stop(name)

    def log(self, name: str) -> str:
        """The last lines that it wrote."""
        try:
            return (self.logs / f"{name}.log").read_text(errors="replace")[-3000:]
        except OSError:
            return ""


class Keeper:
    """End the processes of a folder, and the folder, when this process dies without doing it."""

    def __init__(self, folder: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.cluster.processes", str(folder)],
            cwd=_ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )

    def dismiss(self) -> None:
        """All has been ended already."""
        self._process.communicate(b"dismissed\n", timeout=10)


def _process(record: Path) -> psutil.Process | None:
    """The recorded process, unless its pid has gone to somebody else."""
    try:
        told = json.loads(record.read_text())
        process = psutil.Process(told["pid"])
        # The system counts start times from its boot, whose own time moves a little when the clock is set.
        same = abs(process.create_time() - told["created"]) < 5 and process.status() != psutil.STATUS_ZOMBIE
    except (OSError, ValueError, psutil.NoSuchProcess):
        return None
    return process if same else None


def _end(processes: list[psutil.Process], *, force: bool, patience: float) -> None:
    for process in processes:
        if force:
            process.kill()
        else:
            process.terminate()
    _, alive = psutil.wait_procs(processes, timeout=patience)
    for process in alive:
        process.kill()
    psutil.wait_procs(alive, timeout=10)


def _keep(folder: Path) -> None:
    if sys.stdin.buffer.read():
        return
    if folder.is_dir():
        Processes(folder).stop_all()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    _keep(Path(sys.argv[1]))
