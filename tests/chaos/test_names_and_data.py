"""Names never meet, and neither does the data of two Workspaces, whatever they are called."""

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from operator_process import OperatorProcess, eventually
from tests.chaos.snapshot import orphans, owned
from tests.reconciling.conftest import Place
from workspaces import a_service

LONG = "w" + "-long" * 12 + "xx"  # 63 letters
PAIRS = [
    # What a plain join would make one name of, and names that differ in their last letter only.
    (("a-b", "c"), ("a", "b-c")),
    (("a", "default"), ("a-default", "default")),
    ((LONG, "default"), (LONG[:-1] + "y", "default")),
    ((LONG, "s" * 40), (LONG, "s" * 39 + "t")),
]


@pytest.fixture
def other(place: Place) -> Iterator[Place]:
    """Give another namespace."""
    name = f"test-{secrets.token_hex(4)}"
    place.control_plane.client.post("/api/v1/namespaces", json={"metadata": {"name": name}}).raise_for_status()
    yield Place(place.control_plane, name)
    place.control_plane.client.delete(f"/api/v1/namespaces/{name}")


@pytest.fixture
def operator(place: Place, other: Place, tmp_path: Path) -> Iterator[OperatorProcess]:
    both = f"{place.namespace},{other.namespace}"
    with OperatorProcess(
        place.control_plane.kubeconfig, place.namespace, tmp_path / "operator.log", WATCH_NAMESPACES=both
    ) as running:
        yield running
    assert "Traceback" not in running.log.read_text(), running.tail()


def names(place: Place, name: str) -> set[tuple[str, str]]:
    """The objects of a Workspace by kind and name."""
    workspace = place.get("workspaces", name)
    assert workspace is not None
    uid = workspace["metadata"]["uid"]
    return {(one["kind"], one["metadata"]["name"]) for one in owned(place, f"keepsake.dev/workspace-uid={uid}")}


def test_no_two_services_share_an_object(place: Place, other: Place, operator: OperatorProcess) -> None:
    assert len(LONG) == 63
    wanted: dict[str, set[str]] = {}
    for pair in PAIRS:
        for name, service in pair:
            wanted.setdefault(name, set()).add(service)
    for where in (place, other):
        where.provider()
        for name, services in wanted.items():
            where.workspace(*(a_service(one, database={"managed": {}}) for one in sorted(services)), name=name)
    count = sum(len(services) for services in wanted.values())
    for where in (place, other):

        def deployed(where: Place = where) -> bool:
            return len(where.list("cronjobs")) == count and len(where.list("deployments")) == count

        eventually(deployed, seconds=90, told=operator.tail)
        found = [names(where, name) for name in wanted]
        assert sum(map(len, found)) == len(set().union(*found))
        assert len({one["metadata"]["name"] for one in where.list("statefulsets")}) == count
        assert not any(
            one["type"] == "Stalled" for each in where.list("workspaces") for one in each["status"]["conditions"]
        )
    mine, theirs = (
        {one["data"]["password"] for one in where.list("secrets") if "password" in (one.get("data") or {})}
        for where in (place, other)
    )
    assert (len(mine), len(theirs), mine & theirs) == (count, count, set())
    print(f"names: {2 * count} of {2 * count} services apart")  # noqa: T201


@pytest.mark.parametrize("policy", ["Retain", "Delete"])
def test_data_outlives_its_workspace_unless_it_is_asked_to_go(
    place: Place, operator: OperatorProcess, policy: str
) -> None:
    place.provider()
    wanted = a_service(database={"managed": {}}, deletionPolicy=policy)
    place.workspace(wanted)
    eventually(lambda: len(place.list("cronjobs")) == 1 and len(place.list("persistentvolumeclaims")) == 2, seconds=60)

    def data() -> dict[str, str]:
        kept = {
            one["metadata"]["name"]: one["metadata"]["uid"]
            for plural in ("secrets", "persistentvolumeclaims")
            for one in place.list(plural)
            if "-db" in one["metadata"]["name"]
        }
        return {name: uid for name, uid in kept.items() if name != "operator"}

    before = data()
    assert len(before) == 3, before
    place.delete("workspaces", "research")
    eventually(lambda: not place.list("statefulsets") and not place.list("deployments"), seconds=60)
    if policy == "Delete":
        eventually(lambda: not data(), seconds=60, told=data)
    else:
        assert data() == before
    eventually(lambda: not orphans(place), seconds=60, told=lambda: orphans(place))
    place.workspace(wanted)
    eventually(lambda: len(place.list("statefulsets")) == 1, seconds=60, told=operator.tail)
    (database,) = place.list("statefulsets")
    assert database["metadata"]["name"] not in before
    if policy == "Retain":
        assert before.items() <= data().items()
