"""What others add is left alone; what they change of ours is seen, every single leaf of it."""

import copy
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_operator.desired.child import Child
from memory_operator.desired.objects import desired_objects
from memory_operator.observe.drift import first_difference
from workspaces import a_group, live

GROUPS = {
    "managed": a_group(database={"managed": {}}, replicas=2),
    "cloudnativepg": a_group(database={"cloudnativepg": {}}),
    "autoscaled": a_group(autoscaling={"minReplicas": 2, "maxReplicas": 5}),
}
CHILDREN = [child for group in GROUPS.values() for child in desired_objects(group)]


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict) and value:
        for key, part in value.items():
            yield from leaves(part, (*path, key))
    elif isinstance(value, list) and value:
        for index, part in enumerate(value):
            yield from leaves(part, (*path, index))
    else:
        yield path


def at(value: Any, path: tuple[Any, ...]) -> Any:
    for part in path:
        value = value[part]
    return value


def changed(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    return value + 1 if isinstance(value, int) else "tampered"


@pytest.mark.parametrize("child", CHILDREN, ids=lambda child: f"{child.kind.kind}-{child.name[-9:]}")
def test_a_change_of_any_owned_leaf_is_seen(child: Child) -> None:
    body = child.body
    assert first_difference(body, live(child)) is None
    for path in leaves(body):
        tampered, removed = live(child), live(child)
        if at(body, path) not in ({}, []):
            at(tampered, path[:-1])[path[-1]] = changed(at(body, path))
            assert first_difference(body, tampered), path
        if isinstance(at(removed, path[:-1]), dict) and at(body, path) not in ({}, [], ""):
            del at(removed, path[:-1])[path[-1]]
            assert first_difference(body, removed), path


@pytest.mark.parametrize("child", CHILDREN, ids=lambda child: f"{child.kind.kind}-{child.name[-9:]}")
def test_what_others_add_is_not_drift(child: Child) -> None:
    found = live(child)
    found["metadata"]["labels"]["foreign"] = "yes"
    found["metadata"].setdefault("annotations", {})["foreign"] = "yes"
    found["status"] = {"anything": 1}
    template = found.get("spec", {}).get("template")
    if template:
        pod = template["spec"]
        pod["containers"].insert(0, {"name": "sidecar", "image": "proxy"})
        pod.setdefault("volumes", []).insert(0, {"name": "foreign", "emptyDir": {}})
        pod["schedulerName"] = "default-scheduler"
        for container in pod["containers"]:
            container.setdefault("env", []).insert(0, {"name": "FOREIGN", "value": "1"})
            container["terminationMessagePath"] = "/dev/termination-log"
    assert first_difference(child.body, found) is None


def test_amounts_are_compared_and_not_their_spelling() -> None:
    for one, other in (("1000m", "1"), ("1024Mi", "1Gi"), ("0.5", "500m"), ("1.5G", "1500M")):
        assert first_difference({"requests": {"cpu": one}}, {"requests": {"cpu": other}}) is None
    assert first_difference({"requests": {"cpu": "1"}}, {"requests": {"cpu": "2"}}) == "requests.cpu"
    assert first_difference({"name": "1000m"}, {"name": "1"}) == "name"


def test_what_is_empty_may_be_left_out() -> None:
    assert first_difference({"a": {}, "b": [], "c": ""}, {}) is None
    assert first_difference({"emptyDir": {}}, {"emptyDir": {"sizeLimit": "1Gi"}}) is None


JSON = st.recursive(
    st.booleans() | st.integers(0, 9) | st.sampled_from(["a", "b"]),
    lambda part: st.lists(part, max_size=3) | st.dictionaries(st.sampled_from("xyz"), part, max_size=3),
    max_leaves=12,
)


@given(JSON)
def test_nothing_differs_from_itself(value: Any) -> None:
    assert first_difference(value, copy.deepcopy(value)) is None
