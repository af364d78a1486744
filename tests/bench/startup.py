"""`keepsake dev` from nothing, and on the data that it left, until it says that it is ready."""

import os
import signal
import statistics
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.progress import track

from tests.bench.budgets import Figure
from tests.bench.filling import Stores
from tests.bench.place import Place
from tests.serving_process import KEEPSAKE, Served, free_port, wait_until_ready


async def measure(place: Place, stores: Stores) -> list[Figure]:
    cold, restart = [], []
    for number in track(range(1 if place.quick else 3), "Starting keepsake dev"):
        folder = place.folder / f"dev-{number}"
        cold.append(_seconds_until_ready(folder))
        restart.append(_seconds_until_ready(folder))
    note = f"bundled embedder, samples, {len(cold)} starts"
    return [
        Figure("startup.cold", statistics.median(cold), note),
        Figure("startup.restart", statistics.median(restart)),
    ]


def _seconds_until_ready(folder: Path) -> float:
    started = time.perf_counter()
    with _dev(folder) as service:
        wait_until_ready(service)
        return time.perf_counter() - started


@contextmanager
def _dev(folder: Path) -> Iterator[Served]:
    port = free_port()
    process = subprocess.Popen(
        [KEEPSAKE, "dev", "--port", str(port), "--data-dir", str(folder)],
        env={**os.environ, "KEEPSAKE_LOG_LEVEL": "error"},
        stdout=subprocess.DEVNULL,
        cwd=folder.parent,
    )
    try:
        yield Served(*(f"http://127.0.0.1:{port + step}" for step in (0, 1, 1010)), process)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)
