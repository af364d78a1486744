"""memory-api follows its one ConfigMap: edits act, bad ones and outages change nothing, and it says how it stands."""

import time
from pathlib import Path
from typing import Any

import pytest

from operator_process import eventually
from tests.cluster.control_plane import ControlPlane
from tests.cluster.fault_proxy import FaultProxy
from tests.cluster.faults import CutWatch, Delay, ExpireWatch, Fault, LoseAnswer, LoseEvents, Refuse
from tests.reconciling.following import Following, Pod


@pytest.fixture
def pod(control_plane: ControlPlane, namespace: str, tmp_path: Path) -> Pod:
    found = Pod(control_plane, namespace, tmp_path)
    found.edit("first", mount=True)
    return found


def acts(running: Following, name: str, *, seconds: float = 60) -> float:
    return eventually(lambda: running.policy()["name"] == name, seconds=seconds, told=running.policy)


def test_edits_act_and_bad_ones_are_refused_with_the_reason(database: str, pod: Pod) -> None:
    with pod.memory_api(database) as running:
        eventually(lambda: "keepsake_policy_followed 1.0" in running.metrics())
        took = []
        for number in range(5):
            pod.edit(f"edit-{number}")
            took.append(acts(running, f"edit-{number}"))
        assert sorted(took)[2] < 2, took
        assert (running.degraded(), running.policy()["may_merge"]) == ([], True)

        pod.edit("broken", recall={"rrfK": 0})
        eventually(lambda: running.degraded() == ["policy:invalid"])
        said = running.policy()
        assert (said["name"], said["state"], said["may_merge"]) == ("edit-4", "last good kept", False)
        assert f"ConfigMap {pod.namespace}/{pod.group.name}, config.json (MemoryPolicy broken)" in said["error"]
        assert "spec.recall.rrfK" in said["error"]
        assert "keepsake_policy_valid 0.0" in running.metrics()
        assert running.saves()

        pod.edit("mended")
        acts(running, "mended")
        assert (running.degraded(), running.policy()["may_merge"]) == ([], True)
        pod.delete()
        eventually(lambda: running.degraded() == ["policy:invalid"])
        assert running.policy()["name"] == "mended"
        pod.edit("back")
        acts(running, "back")
    asked = pod.asked()
    assert {verb for verb, _ in asked} == {"get", "watch"}, asked
    assert {what for _, what in asked} == {f"configmaps/{pod.group.name}"}, asked
    assert pod.told_no_secret()


def test_an_old_mount_does_not_undo_what_was_heard(database: str, pod: Pod) -> None:
    with pod.memory_api(database) as running:
        second = pod.edit("second")
        acts(running, "second")
        pod.edit("third")
        acts(running, "third")
        pod.mount(second)  # the kubelet comes late
        time.sleep(1.5)  # three looks at the file
        assert running.policy()["name"] == "third"
        pod.edit("fourth")
        acts(running, "fourth")
        assert running.degraded() == []


def test_without_an_api_server_the_last_good_policy_holds(database: str, pod: Pod) -> None:
    with pod.memory_api(database) as running:
        pod.edit("heard")
        acts(running, "heard")
        pod.control_plane.stop_apiserver(force=True)
        try:
            eventually(lambda: running.degraded() == ["policy:not_followed"], seconds=60)
            said = running.policy()
            assert (said["name"], said["watch_fault"], said["may_merge"]) == ("heard", "unreachable", True)
            assert "keepsake_policy_followed 0.0" in running.metrics()
            assert 'keepsake_policy_watch_faults_total{fault="unreachable"}' in running.metrics()
            assert running.saves()
        finally:
            pod.control_plane.start_apiserver()
        pod.edit("after")
        acts(running, "after")
        eventually(lambda: running.degraded() == [])
    assert pod.told_no_secret()


def test_a_cold_start_without_an_api_server_takes_the_mounted_file(database: str, pod: Pod) -> None:
    pod.edit("newer")
    pod.control_plane.stop_apiserver(force=True)
    try:
        with pod.memory_api(database) as running:
            eventually(lambda: running.degraded() == ["policy:not_followed"], seconds=60)
            assert running.policy()["name"] == "first"
            pod.control_plane.start_apiserver()
            acts(running, "newer")
            eventually(lambda: running.degraded() == [])
    finally:
        if not pod.control_plane.is_ready:
            pod.control_plane.start_apiserver()


def test_a_start_with_a_broken_policy_serves_and_does_not_merge(database: str, pod: Pod) -> None:
    pod.edit("broken", mount=True, recall={"rrfK": 0})
    with pod.memory_api(database) as running:
        assert running.degraded() == ["policy:invalid"]
        assert running.policy()["may_merge"] is False
        assert running.saves()
        pod.edit("mended")
        acts(running, "mended")
        assert running.policy()["may_merge"] is True


FAULTS: dict[str, tuple[Fault, tuple[str, ...], int]] = {
    "410-in-a-watch": (ExpireWatch(), ("watch",), 1),
    "410-at-its-begin": (Refuse.gone(), ("watch",), 2),
    "cut": (CutWatch(), ("watch",), 1),
    "lost-event": (LoseEvents(), ("watch",), 1),
    "429": (Refuse.too_many(), ("get", "watch"), 2),
    "500": (Refuse(500), ("get", "watch"), 2),
    "401": (Refuse.expired_token(), ("get", "watch"), 2),
    "slow": (Delay(2), ("get", "watch"), 2),
    "half-an-answer": (LoseAnswer(after_bytes=20), ("get",), 2),
}


def test_no_fault_on_the_way_loses_an_edit(database: str, pod: Pod, fault_proxy: FaultProxy) -> None:
    with pod.memory_api(database, url=fault_proxy.url, seconds=1) as running:
        for name, (fault, verbs, times) in FAULTS.items():
            eventually(lambda: running.degraded() == [], seconds=60, told=running.policy)
            rule = fault_proxy.inject(fault, *verbs, resource="configmaps", times=times)
            pod.edit(name)
            acts(running, name)
            # A refusal waits for the next round, which comes when a watch is over.
            eventually(lambda rule=rule, times=times: rule.hits == times, seconds=60, told=lambda rule=rule: rule)
            rule.remove()
        pod.edit("last")
        acts(running, "last")
        eventually(lambda: running.degraded() == [], seconds=60)
        print(f"faults {len(FAULTS)} of {len(FAULTS)}")  # noqa: T201
    assert pod.told_no_secret()


def test_a_lost_event_is_made_up_for_by_the_mounted_file(database: str, pod: Pod, fault_proxy: FaultProxy) -> None:
    with pod.memory_api(database, url=fault_proxy.url) as running:
        eventually(lambda: "keepsake_policy_followed 1.0" in running.metrics())
        lost = fault_proxy.inject(LoseEvents(), "watch", resource="configmaps", times=1)
        text = pod.edit("unheard")
        eventually(lambda: lost.hits == 1)
        assert running.policy()["name"] == "first"
        pod.mount(text)
        acts(running, "unheard")


def test_a_worthless_token_is_replaced_by_the_one_in_the_file(database: str, pod: Pod) -> None:
    with pod.memory_api(database, seconds=2) as running:
        pod.edit("before")
        acts(running, "before")
        pod.void_tokens()
        # The API server remembers for some seconds that a token was good.
        eventually(lambda: running.degraded() == ["policy:not_followed"], seconds=90, told=running.policy)
        said: dict[str, Any] = running.policy()
        assert (said["name"], said["watch_fault"]) == ("before", "unauthorized")
        pod.edit("meanwhile")
        pod.rotate()
        acts(running, "meanwhile")
        eventually(lambda: running.degraded() == [])
    assert len(set(pod.tokens)) == 2
    assert pod.told_no_secret()
