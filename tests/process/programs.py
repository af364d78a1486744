"""`keepsake dev` and one-shot commands in processes of their own, and the manifests they are given."""

import asyncio
import os
import re
import signal
import subprocess
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from embedded.people import servers_below
from manifest_table import manifest
from serving_process import KEEPSAKE
from waiting import eventually


def environment(**more: str) -> dict[str, str]:
    """Ours, without what would set Keepsake up."""
    return {**{name: value for name, value in os.environ.items() if not name.startswith("KEEPSAKE_")}, **more}


def keepsake(*arguments: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command that ends by itself."""
    return subprocess.run(
        [KEEPSAKE, *arguments], env=environment(**variables), capture_output=True, text=True, timeout=60, check=False
    )


def one_line(done: subprocess.CompletedProcess[str]) -> str:
    """What a refused command said: one line on standard error, no trace."""
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr


def provider_file(folder: Path, spec: str = "{type: mock}", name: str = "provider.yaml") -> str:
    file = folder / name
    file.write_text(manifest("Provider", spec), encoding="utf-8")
    return str(file)


def policy_file(folder: Path, spec: str) -> Path:
    """Write a policy the way a ConfigMap does: swapped whole."""
    file, new = folder / "policy.yaml", folder / "policy.new"
    new.write_text(manifest("MemoryPolicy", spec), encoding="utf-8")
    new.replace(file)
    return file


@dataclass
class Dev:
    """A `keepsake dev`, the leader of a process group as under a terminal."""

    process: subprocess.Popen[bytes]
    log: Path
    folder: Path
    began: float

    @property
    def said(self) -> str:
        return self.log.read_text(encoding="utf-8")

    @property
    def api(self) -> str:
        return self._url("API")

    @property
    def health(self) -> str:
        return self._url("health")

    def says(self, text: str, *, within: float = 60) -> float:
        """Wait until it has said that; give the seconds since its start."""
        eventually(lambda: text in self.said or self.process.poll() is not None, within=within)
        assert text in self.said, self.said
        return time.monotonic() - self.began

    def ends(self, number: int) -> int:
        """Signal the whole group, as Ctrl-C does, and give the exit code."""
        os.killpg(self.process.pid, number)
        return self.process.wait(30)

    def ended_cleanly(self) -> bool:
        return "Traceback" not in self.said and "Error" not in self.said and not servers_below(self.folder)

    def call(self, method: str, path: str, **options: Any) -> Any:
        answer = httpx.request(method, f"{self.api}/{path}", timeout=20, trust_env=False, **options)
        assert answer.is_success, answer.text
        return answer.json()

    def _url(self, what: str) -> str:
        found = re.search(rf"{what} +(http://\S+)", self.said)
        assert found, self.said
        return found[1]


@contextmanager
def dev(folder: Path, *arguments: str | Path) -> Iterator[Dev]:
    """Run `keepsake dev` on the folder until the block ends; killed if the block has not ended it."""
    log = folder.parent / f"{folder.name}-{time.monotonic_ns()}.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [KEEPSAKE, "dev", "--port", "0", "--data-dir", folder, *arguments],
            env=environment(HOME=str(folder.parent)),
            stdout=out,
            stderr=out,
            start_new_session=True,
            cwd="/",
        )
    try:
        yield Dev(process, log, folder, time.monotonic())
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        eventually(lambda: not servers_below(folder), within=30)


async def comes_true(condition: Callable[[], Awaitable[object]], *, within: float = 20.0) -> None:
    """Ask again, without keeping this loop's own servers from answering, until the condition holds."""
    async with asyncio.timeout(within):
        while not await condition():  # noqa: ASYNC110 (a condition of another process)
            await asyncio.sleep(0.02)
