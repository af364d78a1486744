"""The operator as a process beside the API server, for one namespace, and what it has written so far."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

import httpx

from serving_process import free_port

WRITES = ("create", "apply", "patch", "update", "delete")


class OperatorProcess:
    """`with` starts it and ends it. Its Lease and its Secret are in the namespace that it serves."""

    def __init__(self, kubeconfig: Path, namespace: str, log: Path, **settings: str) -> None:
        self.port = free_port()
        self.log = log
        self._settings = {
            "NAMESPACE": namespace,
            "WATCH_NAMESPACES": namespace,
            "PORT": str(self.port),
            **settings,
        }
        self._kubeconfig = kubeconfig
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        self.until_ready()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        environment = {f"KEEPSAKE_OPERATOR_{name}": value for name, value in self._settings.items()}
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "memory_operator.app"],
                env={**os.environ, **environment, "KUBECONFIG": str(self._kubeconfig)},
                stderr=log,
                stdout=log,
            )

    def stop(self, *, kill: bool = False) -> float:
        """End it; the seconds that took."""
        process, started = self._process, time.monotonic()
        if process is None:
            return 0
        process.send_signal(signal.SIGKILL if kill else signal.SIGTERM)
        process.wait(20)
        self._process = None
        return time.monotonic() - started

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def until_ready(self) -> None:
        """Until it has looked at the cluster."""
        eventually(lambda: self._get("/readyz").status_code == 200, seconds=60, told=self.tail)

    def metric(self, name: str, **labels: str) -> float:
        """The sum of a metric over everything that bears these labels."""
        wanted = [f'{label}="{value}"' for label, value in labels.items()]
        return sum(value for inside, value in self._series(name) if all(label in inside for label in wanted))

    def writes(self) -> float:
        """Writes so far, without those of the Lease; all of one reading, because the Lease goes on."""
        return sum(
            value
            for inside, value in self._series("rest_client_requests_total")
            if 'resource="leases"' not in inside and any(f'verb="{verb}"' in inside for verb in WRITES)
        )

    def _series(self, name: str) -> list[tuple[str, float]]:
        """Labels and value of every series of a metric."""
        found = re.findall(r"^(\w+)(?:\{(.*?)\})? (\S+)$", self._get("/metrics").text, re.MULTILINE)
        return [(inside, float(value)) for metric, inside, value in found if metric == name]

    def passes(self) -> float:
        return self.metric("controller_runtime_reconcile_total")

    def tail(self) -> str:
        return self.log.read_text(errors="replace")[-4000:]

    def _get(self, path: str) -> httpx.Response:
        try:
            return httpx.get(f"http://127.0.0.1:{self.port}{path}", timeout=5, trust_env=False)
        except httpx.TransportError:
            assert self.running, f"the operator ended:\n{self.tail()}"
            return httpx.Response(503)


def eventually(
    holds: Callable[[], Any], *, seconds: float = 60, told: Callable[[], Any] = lambda: "", every: float = 0.02
) -> float:
    """Until it holds; the seconds that took."""
    started = time.monotonic()
    while not holds():
        assert time.monotonic() - started < seconds, f"not within {seconds} s: {told()}"
        time.sleep(every)
    return time.monotonic() - started
