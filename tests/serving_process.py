"""A memory-api as its users run it: `keepsake serve` in a process of its own, against a database of the caller's."""

import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import httpx

KEEPSAKE = str(Path(sys.executable).with_name("keepsake"))


@dataclass(frozen=True, slots=True)
class Served:
    """Where it answers, and the process."""

    api: str
    health: str
    metrics: str
    process: subprocess.Popen[bytes]


def free_port() -> int:
    """A port with its two neighbours (+1, +1010) free a moment ago.

    Below the range from which the system gives ports to outgoing connections: of those, one is taken at any moment.
    """
    while True:
        port = secrets.choice(range(12_000, 30_000))
        if all(_free(port + step) for step in (0, 1, 1010)):
            return port


def _free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


@contextmanager
def served(
    url: str, environment: Mapping[str, str], *arguments: str, wait_ready: bool = True, log: IO[bytes] | None = None
) -> Iterator[Served]:
    """Run `keepsake serve` until the block ends; it must then stop cleanly on SIGTERM. `log` takes what it says."""
    port = free_port()
    process = subprocess.Popen(
        [KEEPSAKE, "serve", "--port", str(port), *arguments],
        env={**os.environ, "KEEPSAKE_DATABASE_URL": url, "KEEPSAKE_LOG_LEVEL": "warning", **environment},
        stdout=log,
        stderr=log,
    )
    place = Served(
        f"http://127.0.0.1:{port}", f"http://127.0.0.1:{port + 1}", f"http://127.0.0.1:{port + 1010}", process
    )
    try:
        if wait_ready:
            wait_until_ready(place)
        yield place
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            assert process.wait(20) in (0, 2), process.returncode  # 2: ended before by what the test gave it
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise


def wait_until_ready(place: Served, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if place.process.poll() is not None:
            raise RuntimeError(f"keepsake serve ended with {place.process.returncode}")
        try:
            if httpx.get(f"{place.health}/readyz", timeout=2, trust_env=False).status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.05)
    raise TimeoutError("memory-api was not ready in time")
