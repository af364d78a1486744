"""`make apiserver` comes up once, brings the quickstart to Ready, is told again, and goes without a trace."""

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.cluster.__main__ import OPERATOR, PARTS
from tests.cluster.processes import Processes
from tests.cluster.programs import Programs
from waiting import eventually

ROOT = Path(__file__).parents[2]
QUICKSTART = ROOT / "crds" / "samples" / "quickstart.yaml"


def _make(action: str, folder: Path) -> list[str]:
    command = [sys.executable, "-m", "tests.cluster", action, f"--folder={folder}"]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()


# Two control planes come up in it, and pods in one of them, beside whatever else the machine does.
@pytest.mark.timeout(300)
def test_it_comes_up_once_and_goes_without_a_trace(cluster_programs: Programs) -> None:
    above = Path(tempfile.mkdtemp(prefix="keepsake-apiserver-"))
    folder = above / "apiserver"

    def kubectl(*arguments: str) -> str:
        command = [cluster_programs.kubectl, f"--kubeconfig={folder / 'kubeconfig'}", *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    try:
        first, second = _make("up", folder), _make("up", folder)
        assert first[-4:] == second[-4:]
        assert second[-1] == f"export KUBECONFIG={folder / 'kubeconfig'}"
        kubectl("apply", "-f", str(QUICKSTART))
        kubectl("wait", "--for=condition=Ready", "mws/quickstart", "--timeout=120s")
        bound = kubectl("get", "pvc", "-o=jsonpath={.items[*].status.phase}").split()
        assert bound
        assert set(bound) == {"Bound"}
        kubectl("delete", "mws", "quickstart")
        kubectl("wait", "--for=delete", "statefulset", "--all", "--timeout=60s")
        kubectl("delete", "pvc", "--all", "--timeout=60s")
        eventually(lambda: not kubectl("get", "pv", "-o=name"))
        # With one part lost, the next call does not take the rest for the whole.
        Processes(folder).stop("kube-scheduler", force=True)
        _make("up", folder)
        running = [Processes(folder).running(part) for part in (*PARTS, OPERATOR)]
        assert all(running)
    finally:
        _make("down", folder)
    assert not above.exists()
    assert not any(process.is_running() for process in running if process is not None)
    assert _make("down", folder) == []
