"""One control plane for a test run and one namespace for a test; loaded by tests/conftest.py for every folder.

What asks for the control plane runs on one xdist worker (`--dist loadgroup`), which owns it: two would need twice the
memory and the cores are taken by the tests of the other worker.
"""

import os
import secrets
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cluster.artifacts import MissingNeedError
from tests.cluster.control_plane import ControlPlane
from tests.cluster.fault_proxy import FaultProxy
from tests.cluster.programs import Programs, obtain_programs, programs_are_built

# A first build takes ten minutes on two free cores, and the tests of the other worker run beside it.
_SECONDS_FOR_A_BUILD = 2400


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep what needs the control plane together, and give it the time of a build where one is due."""
    asking = [item for item in items if "cluster_programs" in getattr(item, "fixturenames", ())]
    for item in asking:
        item.add_marker(pytest.mark.xdist_group("control-plane"))
    if asking and not programs_are_built():
        for item in asking:
            item.add_marker(pytest.mark.timeout(_SECONDS_FOR_A_BUILD))


@pytest.fixture(scope="session")
def cluster_programs() -> Programs:
    """Give etcd, Kubernetes, kubectl and helm, built or waited for; without Go, skip, or fail under CI."""
    try:
        return obtain_programs()
    except MissingNeedError as missing:
        if os.environ.get("CI") == "true":
            pytest.fail(f"no API server to test against: {missing}", pytrace=False)
        pytest.skip(f"NO API SERVER TO TEST AGAINST: {missing}")


@pytest.fixture(scope="session")
def control_plane(cluster_programs: Programs) -> Iterator[ControlPlane]:
    """Run etcd, kube-apiserver and kube-controller-manager with our CRDs; `run_pods()` adds pods that seem to run."""
    running = ControlPlane(Path(tempfile.mkdtemp(prefix="keepsake-control-plane-")), cluster_programs).start()
    try:
        running.apply_crds()
        yield running
    finally:
        running.stop()


@pytest.fixture
def namespace(control_plane: ControlPlane) -> Iterator[str]:
    """Give a namespace of the test's own; it is deleted afterwards, which nobody waits for."""
    name = f"test-{secrets.token_hex(4)}"
    made = control_plane.client.post("/api/v1/namespaces", json={"metadata": {"name": name}})
    assert made.status_code == 201, made.text
    yield name
    control_plane.client.delete(f"/api/v1/namespaces/{name}")


@pytest.fixture
def fault_proxy(control_plane: ControlPlane) -> Iterator[FaultProxy]:
    """Give a proxy in front of the API server that can do harm, and counts."""
    with FaultProxy(control_plane) as proxy:
        yield proxy
