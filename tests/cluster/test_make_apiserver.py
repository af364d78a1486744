"""`make apiserver` comes up once, is told again, and goes without a trace."""

import subprocess
import sys
import tempfile
from pathlib import Path

from tests.cluster.__main__ import PARTS
from tests.cluster.processes import Processes
from tests.cluster.programs import Programs

ROOT = Path(__file__).parents[2]


def _make(action: str, folder: Path) -> list[str]:
    command = [sys.executable, "-m", "tests.cluster", action, f"--folder={folder}"]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()


def test_it_comes_up_once_and_goes_without_a_trace(cluster_programs: Programs) -> None:
    above = Path(tempfile.mkdtemp(prefix="keepsake-apiserver-"))
    folder = above / "apiserver"
    try:
        first, second = _make("up", folder), _make("up", folder)
        assert first[-3:] == second[-3:]
        assert second[-1] == f"export KUBECONFIG={folder / 'kubeconfig'}"
        # With one part lost, the next call does not take the rest for the whole.
        Processes(folder).stop("kube-scheduler", force=True)
        _make("up", folder)
        running = [Processes(folder).running(part) for part in PARTS]
        assert all(running)
    finally:
        _make("down", folder)
    assert not above.exists()
    assert not any(process.is_running() for process in running if process is not None)
    assert _make("down", folder) == []
