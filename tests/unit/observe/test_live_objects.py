"""Why pods, workloads and databases are not ready, in a word and a sentence; and Secrets without their values."""

from typing import Any

import pytest

from memory_operator.api.reasons import Reason
from memory_operator.observe import database
from memory_operator.observe.pods import troubles
from memory_operator.observe.secrets import combined
from memory_operator.observe.workload import deployment, stateful_set
from workspaces import HMAC_KEY, a_secret, rolled_out


def a_pod(**status: Any) -> dict[str, Any]:
    return {"metadata": {"name": "pod-1"}, "status": status}


def ended(message: str, code: int = 2) -> dict[str, Any]:
    state = {"waiting": {"reason": "CrashLoopBackOff"}}
    last = {"terminated": {"exitCode": code, "message": message}}
    return a_pod(containerStatuses=[{"name": "memory-api", "state": state, "lastState": last}])


def a_deployment(generation: int = 1, wanted: int = 1, **status: Any) -> dict[str, Any]:
    return {"metadata": {"generation": generation}, "spec": {"replicas": wanted}, "status": status}


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("ModelMismatch: the store holds vectors of a:8, the Provider is b:9.", Reason.MODEL_MISMATCH),
        ("WorkspaceMismatch: the database belongs to workspace x (…)", Reason.OWNED_BY_ANOTHER),
        ('password authentication failed for user "u"', Reason.AUTHENTICATION_FAILED),
        ("the server has no pgvector: install the extension 'vector'", Reason.EXTENSION_MISSING),
        ("anything else", Reason.CRASH_LOOPING),
        ("", Reason.CRASH_LOOPING),
    ],
)
def test_the_last_words_of_a_program_give_the_reason(message: str, reason: Reason) -> None:
    (found,) = troubles([ended(message)])
    assert found.reason is reason
    assert "pod pod-1" in found.message


def test_images_and_nodes() -> None:
    pull = {"waiting": {"reason": "ImagePullBackOff", "message": "Back-off pulling image x"}}
    assert (
        troubles([a_pod(initContainerStatuses=[{"name": "migrate", "state": pull}])])[0].reason
        is Reason.IMAGE_PULL_FAILED
    )
    unscheduled = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/1 nodes"}
    assert troubles([a_pod(conditions=[unscheduled])])[0].reason is Reason.UNSCHEDULABLE
    assert troubles([a_pod(containerStatuses=[{"name": "a", "state": {"running": {}}}])]) == []


def test_the_most_telling_trouble_comes_first() -> None:
    assert troubles([ended("boom"), ended("ModelMismatch: x")])[0].reason is Reason.MODEL_MISMATCH


@pytest.mark.parametrize(
    ("live", "complete", "reason"),
    [
        (None, False, Reason.NOT_DEPLOYED),
        (a_deployment(**rolled_out()), True, Reason.AVAILABLE),
        (a_deployment(generation=2, **rolled_out()), False, Reason.ROLLING_OUT),
        (a_deployment(wanted=2, **rolled_out()), False, Reason.ROLLING_OUT),
        (a_deployment(**{**rolled_out(), "replicas": 2}), False, Reason.ROLLING_OUT),
        (a_deployment(wanted=0, observedGeneration=1), False, Reason.SCALED_TO_ZERO),
        (
            a_deployment(conditions=[{"type": "ReplicaFailure", "status": "True", "message": "quota"}]),
            False,
            Reason.PODS_REFUSED,
        ),
    ],
)
def test_a_rollout_is_complete_when_every_pod_is_new_and_ready(live: Any, complete: bool, reason: Reason) -> None:
    found = deployment(live, [])
    assert (found.complete, found.reason) == (complete, reason)


def test_old_pods_serve_while_a_new_model_is_refused() -> None:
    found = deployment(a_deployment(observedGeneration=1, replicas=2, availableReplicas=1), [ended("ModelMismatch: x")])
    assert (found.complete, found.serving, found.failed, found.reason) == (False, True, True, Reason.MODEL_MISMATCH)


def test_a_stateful_set_provisions_until_its_pod_is_ready() -> None:
    live = {"metadata": {"generation": 1}, "spec": {"replicas": 1}, "status": {"observedGeneration": 1}}
    assert stateful_set(live, []).reason is Reason.PROVISIONING
    live["status"]["readyReplicas"] = 1  # type: ignore[index]
    assert stateful_set(live, []).complete


def test_cloudnativepg_says_what_is_missing() -> None:
    ready = {"status": {"conditions": [{"type": "Ready", "status": "True"}], "readyInstances": 3, "instances": 3}}
    refused = {"status": {"applied": False, "message": 'extension "vector" is not available'}}

    def verdict(cluster: Any, inside: Any, installed: bool = True) -> Reason:
        return database.cloudnativepg(cluster, inside, "c", installed=installed).reason

    assert verdict(None, None, installed=False) is Reason.CLOUDNATIVEPG_NOT_INSTALLED
    assert verdict(None, None) is Reason.PROVISIONING
    assert verdict({"status": {"phase": "Setting up primary"}}, None) is Reason.PROVISIONING
    assert verdict(ready, None) is Reason.PROVISIONING
    assert verdict(ready, refused) is Reason.EXTENSION_MISSING
    assert verdict(ready, {"status": {"applied": True}}) is Reason.READY


def test_a_secret_is_kept_as_keyed_digests_only() -> None:
    facts = a_secret("db", uri="postgresql://u:hunter2@h/d\n", binary=b"\xff\xfe", empty=" \n", word="x")
    assert "hunter2" not in repr(facts)
    assert {key: value.fault for key, value in facts.keys.items()} == {
        "uri": "",
        "binary": "is not UTF-8",
        "empty": "is empty",
        "word": "",
    }
    assert (facts.keys["uri"].database, facts.keys["word"].database) == (True, False)
    assert facts.keys["uri"].digest != a_secret("db", uri="postgresql://u:hunter3@h/d\n").keys["uri"].digest
    assert HMAC_KEY.decode() not in repr(facts)


def test_the_order_of_secrets_does_not_count() -> None:
    assert combined(["a", "b"]) == combined(["b", "a"]) != combined(["a"])
