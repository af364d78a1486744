"""One Workspace, then a tenth of the fleet, and none past a failure unless somebody says so."""

from typing import Any

from memory_operator.api.reasons import Reason
from memory_operator.reconcile.rollout import Member, Standing, refusal, standing
from workspaces import rolled_out

MOVED = "2026-01-01T00:00:00Z"


def a_member(name: str, *, revision: str = "2", failed: bool = False, resume: str = "", **status: Any) -> Member:
    labels = {"app": name}
    live = {
        "metadata": {"name": name, "generation": 2, "annotations": {"deployment.kubernetes.io/revision": revision}},
        "spec": {"replicas": 1, "selector": {"matchLabels": labels}},
        "status": {"observedGeneration": 2, "conditions": [{"type": "Progressing", "lastUpdateTime": MOVED}], **status},
    }
    crash = {"name": "c", "state": {"terminated": {"exitCode": 2, "message": "boom"}}}
    pod = {"metadata": {"name": f"{name}-1", "labels": labels}, "status": {"containerStatuses": [crash]}}
    workspace = {"metadata": {"annotations": {"keepsake.dev/rollout-resume": resume} if resume else {}}}
    return Member(name, workspace, (live,), (pod,) if failed else ())


DONE = {**rolled_out(), "observedGeneration": 2}


def test_what_is_new_or_done_takes_no_place() -> None:
    found = standing([a_member("a", revision="1"), a_member("b", **DONE), a_member("c")])
    assert found == Standing(3, frozenset({"c"}), ())


def test_a_change_that_the_controller_has_not_seen_takes_a_place_already() -> None:
    assert standing([a_member("a", revision="1", observedGeneration=1)]).rolling == {"a"}


def test_one_at_first_then_a_tenth() -> None:
    busy = Standing(30, frozenset({"a"}), ())
    assert refusal(Standing(30, frozenset(), ()), "x", proven=False) is None
    found = refusal(busy, "x", proven=False)
    assert found is not None
    assert found.reason is Reason.BUDGET_WAIT
    assert refusal(busy, "a", proven=False) is None
    assert refusal(busy, "x", proven=True) is None
    assert refusal(Standing(30, frozenset("abc"), ()), "x", proven=True) is not None


def test_a_failure_pauses_the_others_until_somebody_says_to_go_on() -> None:
    found = standing([a_member("a", failed=True), a_member("b", **DONE)])
    assert found.failed == ("a",)
    paused = refusal(found, "b", proven=True)
    assert paused is not None
    assert paused.reason is Reason.ROLLOUT_PAUSED
    assert "a" in paused.message
    assert refusal(found, "a", proven=True) is None
    assert standing([a_member("a", failed=True, resume="2026-01-02T00:00:00Z")]).failed == ()
    for old in ("2025-12-31T00:00:00Z", "soon", "2026-01-02"):
        assert standing([a_member("a", failed=True, resume=old)]).failed == ("a",)
