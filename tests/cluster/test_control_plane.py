"""The control plane itself: whole, bounded to its run, and gone without a trace."""

import os
import secrets
import subprocess
import sys
import tempfile
from pathlib import Path

import psutil
import pytest

from tests.cluster.control_plane import ControlPlane
from tests.cluster.processes import Keeper, Processes
from waiting import eventually

ROOT = Path(__file__).parents[2]


def test_what_needs_the_control_plane_stays_on_one_worker(
    request: pytest.FixtureRequest, control_plane: ControlPlane
) -> None:
    if os.environ.get("PYTEST_XDIST_WORKER") and request.config.getoption("loadgroup", False):
        assert request.node.nodeid.endswith("@control-plane")
    assert request.node.get_closest_marker("xdist_group").args == ("control-plane",)


def test_owners_take_what_they_own_with_them(control_plane: ControlPlane, namespace: str) -> None:
    place = f"/api/v1/namespaces/{namespace}/configmaps"
    owner = control_plane.client.post(place, json={"metadata": {"name": "owner"}}).json()["metadata"]
    reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["uid"]}
    control_plane.client.post(place, json={"metadata": {"name": "owned", "ownerReferences": [reference]}})
    control_plane.client.delete(f"{place}/owner")
    eventually(lambda: control_plane.client.get(f"{place}/owned").status_code == 404)


def test_a_deployment_becomes_available_on_the_fake_node(control_plane: ControlPlane, namespace: str) -> None:
    control_plane.run_pods()
    control_plane.run_pods()
    control_plane.kubectl("create", "deployment", "web", "--image=localhost/web:1", "--replicas=2", "-n", namespace)
    control_plane.kubectl("wait", "--for=condition=Available", "deployment/web", "-n", namespace, "--timeout=60s")
    pods = control_plane.client.get(f"/api/v1/namespaces/{namespace}/pods").json()["items"]
    assert {pod["status"]["phase"] for pod in pods} == {"Running"}


def test_a_person_has_the_rights_that_were_given(control_plane: ControlPlane, namespace: str) -> None:
    kubeconfig = control_plane.kubeconfig_of("alice", "team")
    asked = (f"--kubeconfig={kubeconfig}", "get", "configmaps", f"--namespace={namespace}")
    refused = control_plane.kubectl(*asked, check=False)
    assert 'User "alice" cannot list resource "configmaps"' in refused.stderr
    control_plane.kubectl("create", "rolebinding", "team", "--clusterrole=view", "--group=team", "-n", namespace)
    eventually(lambda: control_plane.kubectl(*asked, check=False).returncode == 0)


def test_the_audit_log_tells_who_did_what(control_plane: ControlPlane, namespace: str) -> None:
    name = f"told-{secrets.token_hex(4)}"
    control_plane.client.post(f"/api/v1/namespaces/{namespace}/configmaps", json={"metadata": {"name": name}})
    told = [event for event in control_plane.audit_events() if event.get("objectRef", {}).get("name") == name]
    assert [(event["verb"], event["user"]["username"], event["responseStatus"]["code"]) for event in told] == [
        ("create", "admin", 201)
    ]


def test_the_api_server_comes_back_with_its_data(control_plane: ControlPlane, namespace: str) -> None:
    url = control_plane.url
    control_plane.restart_apiserver()
    assert control_plane.url == url
    assert control_plane.client.get(f"/api/v1/namespaces/{namespace}").status_code == 200


def test_everything_listens_on_loopback_alone(control_plane: ControlPlane) -> None:
    for name in control_plane.processes.names():
        process = control_plane.processes.running(name)
        assert process is not None, name
        listening = [c.laddr.ip for c in process.net_connections() if c.status == psutil.CONN_LISTEN]
        assert set(listening) <= {"127.0.0.1"}, name


@pytest.fixture
def folder() -> Path:
    """Give a folder outside of pytest's own, as the control plane has one."""
    return Path(tempfile.mkdtemp(prefix="keepsake-processes-"))


def test_processes_stop_by_force_where_need_be(folder: Path) -> None:
    processes = Processes(folder)
    processes.start("meek", ["sleep", "600"])
    processes.start("stubborn", ["sh", "-c", "trap '' TERM; while :; do sleep 0.1; done"])
    assert processes.names() == ["meek", "stubborn"]
    meek, stubborn = (processes.running(name) for name in processes.names())
    assert meek is not None
    assert stubborn is not None
    processes.stop("stubborn", patience=0.2)
    assert meek.is_running()
    processes.stop_all()
    assert not meek.is_running()
    assert not stubborn.is_running()


def test_a_pid_that_went_to_somebody_else_is_left_alone(folder: Path) -> None:
    processes = Processes(folder)
    processes.start("one", ["sleep", "600"])
    process = processes.running("one")
    assert process is not None
    record = next((folder / "processes").iterdir())
    text = record.read_text()
    record.write_text(f'{{"pid": {process.pid}, "created": 1.0}}')
    assert Processes(folder).running("one") is None
    Processes(folder).stop_all()
    assert process.is_running()
    record.write_text(text)
    processes.stop_all()


def test_nothing_outlives_a_run_that_is_killed(folder: Path) -> None:
    script = (
        "import sys, time; from pathlib import Path; from tests.cluster.processes import Keeper, Processes\n"
        "folder = Path(sys.argv[1]); keeper = Keeper(folder); processes = Processes(folder)\n"
        "processes.start('one', ['sleep', '600']); print('started', flush=True); time.sleep(600)"
    )
    owner = subprocess.Popen([sys.executable, "-c", script, folder], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert owner.stdout is not None
    assert owner.stdout.readline() == "started\n"
    process = Processes(folder).running("one")
    assert process is not None
    owner.kill()
    owner.wait()
    owner.stdout.close()
    eventually(lambda: not process.is_running() and not folder.exists())


def test_a_keeper_that_is_dismissed_leaves_the_folder(folder: Path) -> None:
    keeper = Keeper(folder)
    keeper.dismiss()
    assert folder.exists()
    folder.rmdir()
