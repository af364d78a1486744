"""How many Workspaces may replace their pods at once: one, then a tenth of the fleet, and none past a failure.

Who is rolling out is read from the live Deployments, so a restart of the operator forgets nothing.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memory_operator.api.group import ANNOTATION_ROLLOUT_RESUME
from memory_operator.api.reasons import ConditionType, Reason
from memory_operator.observe.workload import deployment
from memory_operator.reconcile.references import Problem

Live = Mapping[str, Any]
_REVISION = "deployment.kubernetes.io/revision"


@dataclass(frozen=True, slots=True)
class Member:
    """One Workspace of the fleet with its Deployments and pods."""

    name: str
    workspace: Live
    deployments: tuple[Live, ...]
    pods: tuple[Live, ...]


@dataclass(frozen=True, slots=True)
class Standing:
    """How the fleet stands. `rolling`: names of Workspaces that replace pods; `failed`: those that cannot go on."""

    total: int
    rolling: frozenset[str]
    failed: tuple[str, ...]


def standing(fleet: Iterable[Member]) -> Standing:
    """Look at every Deployment that has been changed since it was made."""
    total, rolling, failed = 0, set(), []
    for member in fleet:
        total += 1
        for live in member.deployments:
            if _first_revision(live):
                continue
            found = deployment(live, [pod for pod in member.pods if _belongs(pod, live)])
            if found.complete or found.reason is Reason.SCALED_TO_ZERO:
                continue
            rolling.add(member.name)
            if found.failed and not _resumed(member.workspace, live):
                failed.append(member.name)
    return Standing(total, frozenset(rolling), tuple(sorted(set(failed))))


def refusal(found: Standing, name: str, *, proven: bool) -> Problem | None:
    """Why this Workspace may not replace pods now. `proven`: one of this fleet has come through the change."""
    others = [one for one in found.failed if one != name]
    if others:
        message = f"the rollout of {others[0]} failed: mend it, or annotate it with {ANNOTATION_ROLLOUT_RESUME}"
        return Problem(ConditionType.RECONCILING, Reason.ROLLOUT_PAUSED, message)
    at_once = max(1, found.total // 10) if proven else 1
    ahead = found.rolling - {name}
    if len(ahead) >= at_once:
        message = "other Workspaces are replacing their pods; this one waits for its turn"
        return Problem(ConditionType.RECONCILING, Reason.BUDGET_WAIT, message)
    return None


def _first_revision(live: Live) -> bool:
    revision = (live["metadata"].get("annotations") or {}).get(_REVISION, "1")
    seen = int((live.get("status") or {}).get("observedGeneration") or 0)
    # The controller counts up only after it has seen the change that we sent a moment ago.
    return bool(revision == "1" and not 0 < seen < int(live["metadata"].get("generation", 0)))


def _belongs(pod: Live, live: Live) -> bool:
    wanted = live["spec"]["selector"]["matchLabels"]
    return bool(wanted.items() <= (pod["metadata"].get("labels") or {}).items())


def _resumed(workspace: Live, live: Live) -> bool:
    """Whether somebody said to go on after this Deployment last moved."""
    said = _time((workspace["metadata"].get("annotations") or {}).get(ANNOTATION_ROLLOUT_RESUME))
    moved = [_time(one.get("lastUpdateTime")) for one in (live.get("status") or {}).get("conditions", ())]
    return said is not None and all(said >= one for one in moved if one is not None)


def _time(text: Any) -> datetime | None:
    try:
        found = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    return found if found.tzinfo else None
