"""An operator that is killed and started again. The next one has its modules loaded already, which saves a second."""

import os
import subprocess
import sys
from pathlib import Path

from operator_process import OperatorProcess

_LAUNCH = """
import datetime, os, sys, time
import memory_operator.app as app, memory_operator.leader as leader, memory_operator.reconcile.workspace as workspace
sys.stdin.readline()
skew = float(os.environ.get("SKEW_SECONDS", "0"))
if skew:
    class Wrong(datetime.datetime):
        @classmethod
        def now(cls, tz=None):
            return super().now(tz) + datetime.timedelta(seconds=skew)
    leader.datetime = workspace.datetime = Wrong
    right = time.time
    time.time = lambda: right() + skew
app.main()
"""


class MortalOperator(OperatorProcess):
    """One after the other under one name in the Lease, so that none waits for a dead one's time to run out."""

    def __init__(self, kubeconfig: Path, namespace: str, log: Path, *, skew: float = 0, **settings: str) -> None:
        super().__init__(kubeconfig, namespace, log, IDENTITY="mortal", **settings)
        self._skew = skew
        self._spare: subprocess.Popen[bytes] | None = None
        self.starts = 0

    def warm(self) -> None:
        """Load the modules of the next one."""
        environment = {f"KEEPSAKE_OPERATOR_{name}": value for name, value in self._settings.items()}
        with self.log.open("ab") as log:
            self._spare = subprocess.Popen(
                [sys.executable, "-c", _LAUNCH],
                env={
                    **os.environ,
                    **environment,
                    "KUBECONFIG": str(self._kubeconfig),
                    "SKEW_SECONDS": str(self._skew),
                },
                stdin=subprocess.PIPE,
                stderr=log,
                stdout=log,
            )

    def start(self) -> None:
        if self._spare is None:
            self.warm()
        assert self._spare is not None
        assert self._spare.stdin is not None
        self._process, self._spare = self._spare, None
        self._process.stdin.write(b"\n")  # type: ignore[union-attr]
        self._process.stdin.close()  # type: ignore[union-attr]
        self.starts += 1
        self.warm()

    def crash(self) -> None:
        self.stop(kill=True)

    def revive(self) -> None:
        """Start it again where it has ended by itself, as a Deployment does."""
        if not self.running:
            self._process = None
            self.start()

    def __exit__(self, *_: object) -> None:
        self.stop(kill=True)
        if self._spare is not None:
            self._spare.kill()
            self._spare.wait()
            if self._spare.stdin is not None:
                self._spare.stdin.close()
