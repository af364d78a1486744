"""Cut after every write, an operator that starts again comes to the same end, without orphans or lost passwords."""

import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.chaos.sweep import Act, Harm, Stage, cut_after, no_orphans, services, stage
from tests.cluster.fault_proxy import FaultProxy
from tests.cluster.faults import ExpireWatch, LoseEvents, Refuse, Stale
from tests.reconciling.conftest import Place

FULL = os.environ.get("FULL") == "1"
# How many cuts an operation has is found out by the sweep; those that bear other harm are drawn from these.
DRAWN_FROM = {"create": 20, "update": 6, "scale": 4, "rotate": 6, "remove": 9}


def create(stage: Stage) -> str:
    stage.number += 1
    name = f"sweep{stage.number:03d}"
    stage.apply(name, services())
    return name


def on_one(**change: Any) -> Act:
    def act(stage: Stage) -> str:
        stage.apply("steady", services(**change))
        return "steady"

    return act


def rotate(value: str) -> Act:
    def act(stage: Stage) -> str:
        stage.place.secret("key", key=f"canary-key-{value}")
        return "steady"

    return act


CHANGES: dict[str, tuple[Act, Act]] = {
    "update": (on_one(cpu="150m"), on_one()),
    "scale": (on_one(replicas=1), on_one()),
    "rotate": (rotate("1"), rotate("0")),
    "remove": (on_one(extra=False), on_one()),
}


def creations(running: Stage, cuts: Iterator[int], harm: Harm | None = None) -> int:
    """Cut the making of Workspaces, each a new one; how many cuts there were."""
    name = create(running)
    expected = running.settles(name)
    running.place.delete("workspaces", name)
    done = 0
    for k in cuts:
        stopped = cut_after(running, k, create, expected, harm)
        running.place.delete("workspaces", f"sweep{running.number:03d}")
        if not stopped:
            break
        done += 1
    return done


def changes(running: Stage, what: str, cuts: Iterator[int], harm: Harm | None = None) -> int:
    """Cut a change of one Workspace, which is undone in between; how many cuts there were."""
    act, undo = CHANGES[what]
    ends: list[Any] = []
    for one in (undo, act, undo):
        one(running)
        ends.append(running.settles("steady"))
    done = 0
    for k in cuts:
        stopped = cut_after(running, k, act, ends[1], harm)
        undo(running)
        running.reaches("steady", ends[2])
        if not stopped:
            break
        done += 1
    return done


def goes_without_a_trace(running: Stage) -> None:
    """Deleted, a Workspace leaves its data and nothing else."""
    for workspace in running.place.list("workspaces"):
        running.place.delete("workspaces", workspace["metadata"]["name"])
    no_orphans(running)
    running.keeps_passwords()
    assert running.secrets_seen
    log = running.operator.log.read_text()
    assert "pass failed" not in log, running.operator.tail()
    assert "canary" not in log


def every() -> Iterator[int]:
    return iter(range(1, 1000))


@pytest.mark.timeout(1800)
def test_every_cut_comes_to_the_same_end(place: Place, fault_proxy: FaultProxy, tmp_path: Path) -> None:
    with stage(place, fault_proxy, tmp_path) as running:
        told = {"create": creations(running, every())}
        on_one()(running)
        told |= {what: changes(running, what, every()) for what in CHANGES}
        goes_without_a_trace(running)
        print("; ".join(f"{what} {n} of {n}" for what, n in told.items()))  # noqa: T201
    assert min(told.values()) >= 2, told


def stale(running: Stage) -> None:
    """The next one sees what was there before."""
    read = {"list", "get"}
    running.proxy.inject(
        Stale(running.version), times=40, when=lambda asked: asked.verb in read and asked.resource in STALE
    )


STALE = frozenset(
    {"workspaces", "secrets", "deployments", "configmaps", "services", "statefulsets", "providers", "pods"}
)


def lost_events(running: Stage) -> None:
    running.proxy.inject(LoseEvents(), "watch", times=8)


def gone(running: Stage) -> None:
    running.proxy.inject(ExpireWatch(), "watch", times=8)


def expired(running: Stage) -> None:
    running.proxy.inject(Refuse.expired_token(), times=6)


def restarted(running: Stage) -> None:
    running.place.control_plane.restart_apiserver(force=True)


HARMS: dict[str, tuple[Harm | None, float]] = {
    "stale reads": (stale, 0),
    "lost events": (lost_events, 0),
    "410": (gone, 0),
    "expired token": (expired, 0),
    "apiserver restart": (restarted, 0),
    "clock ahead": (None, 300),
    "clock behind": (None, -300),
}


@pytest.mark.timeout(3600 if FULL else 600)
@pytest.mark.parametrize("what", HARMS)
def test_cuts_under_other_harm(place: Place, fault_proxy: FaultProxy, tmp_path: Path, what: str) -> None:
    harm, skew = HARMS[what]
    chosen: dict[str, Callable[[], Iterator[int]]] = dict.fromkeys(DRAWN_FROM, every)
    if not FULL:
        # One operation each and three of its cuts: the sweep without harm has shown the others.
        drawn = random.Random(what)
        operation = drawn.choice(sorted(DRAWN_FROM))
        cuts = sorted(drawn.sample(range(1, DRAWN_FROM[operation] + 1), 3))
        chosen = {operation: lambda: iter(cuts)}
    with stage(place, fault_proxy, tmp_path, skew=skew, sweep_seconds=5) as running:
        told = {}
        if "create" in chosen:
            told["create"] = creations(running, chosen.pop("create")(), harm)
        if chosen:
            on_one()(running)
        told |= {operation: changes(running, operation, cuts(), harm) for operation, cuts in chosen.items()}
        fault_proxy.heal()
        goes_without_a_trace(running)
        print(f"{what}: {told}")  # noqa: T201
    assert sum(told.values()) >= 2, told
