"""How conditions are written: what changes when, and in which words."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from memory_operator.api.reasons import ConditionType, Reason

LONGEST_MESSAGE = 2048


@dataclass(frozen=True, slots=True)
class Finding:
    """One condition as it should read. `message` names the object and the remedy."""

    type: ConditionType
    status: Literal["True", "False", "Unknown"]
    reason: Reason
    message: str = ""


def settled(
    before: Iterable[Mapping[str, Any]], findings: Iterable[Finding], *, generation: int, now: str
) -> list[dict[str, Any]]:
    """The conditions to write. `lastTransitionTime` moves only when `status` does; `now` is RFC 3339."""
    known = {condition["type"]: condition for condition in before}
    return [_condition(known.get(finding.type), finding, generation, now) for finding in findings]


def _condition(before: Mapping[str, Any] | None, finding: Finding, generation: int, now: str) -> dict[str, Any]:
    same = before is not None and before.get("status") == finding.status
    return {
        "type": finding.type.value,
        "status": finding.status,
        "reason": finding.reason.value,
        "message": finding.message[:LONGEST_MESSAGE],
        "lastTransitionTime": before["lastTransitionTime"] if same and before else now,
        "observedGeneration": generation,
    }
