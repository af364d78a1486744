"""Desired objects against live ones: the writes of one pass, in order, and only where something differs.

A live object is written again when it was applied from another manifest (its stamp differs, which catches what the
manifest no longer says) or when it no longer says what we own (which catches what others changed). What we do not own
is left alone, and so is any object that is not ours.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from memory_operator.api.group import (
    ANNOTATION_APPLIED,
    ANNOTATION_DELETION_POLICY,
    ANNOTATION_TEMPLATE,
    LABEL_SERVICE,
    LABEL_WORKSPACE_UID,
)
from memory_operator.api.reasons import ConditionType, Reason
from memory_operator.desired.child import CNPG_KINDS, DEPLOYMENT, KINDS, STATEFUL_SET, Child, ChildKind
from memory_operator.observe.drift import first_difference
from memory_operator.reconcile.references import Problem

Live = Mapping[str, Any]
_BY_NAME = {kind.kind: kind for kind in KINDS}


@dataclass(frozen=True, slots=True)
class Write:
    """One write. `why` is for the log: a path, never a value.

    `create` makes a Secret whose values are drawn now; `apply` sends a manifest; `delete` holds for this `uid` only.
    `rolls`: pods are replaced. `unseen`: the store holds no such object, so whose it is has to be asked first.
    """

    verb: Literal["create", "apply", "delete"]
    kind: ChildKind
    name: str
    why: str
    child: Child | None = None
    uid: str = ""
    rolls: bool = False
    unseen: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """The writes, and what keeps others from being made."""

    writes: tuple[Write, ...]
    problems: tuple[Problem, ...] = ()


def plan(
    desired: Iterable[Child],
    live: Mapping[tuple[str, str], Live],
    *,
    uid: str,
    held: Collection[str] = (),
    cnpg_installed: bool = True,
) -> Plan:
    """The writes that lead from `live` to `desired`. Objects of services in `held` are not removed."""
    wanted = [child for child in desired if cnpg_installed or child.kind not in CNPG_KINDS]
    writes: list[Write] = []
    problems: list[Problem] = []
    for child in sorted(wanted, key=lambda one: (one.kind.order, one.name)):
        found = live.get(child.key)
        if found is None and child.guards and (STATEFUL_SET.kind, child.guards) in live:
            problems.append(_password_lost(child))
        elif found is None:
            verb: Literal["create", "apply"] = "create" if child.generated else "apply"
            writes.append(Write(verb, child.kind, child.name, "not there", child, unseen=True))
        elif not is_ours(found, uid):
            problems.append(taken(child))
        elif found["metadata"].get("deletionTimestamp") is None and (why := _why_apply(child, found)):
            rolls = child.kind is DEPLOYMENT and _template(found) != _template(child.body)
            own = found["metadata"].get("uid", "") if child.generated else ""
            writes.append(Write("apply", child.kind, child.name, why, child, uid=own, rolls=rolls))
    return Plan((*writes, *_removals(wanted, live, uid, held)), tuple(problems))


def is_ours(live: Live, uid: str) -> bool:
    """Whether the object belongs to the Workspace of this uid."""
    metadata = live["metadata"]
    owners = metadata.get("ownerReferences") or ()
    return (metadata.get("labels") or {}).get(LABEL_WORKSPACE_UID) == uid or any(
        one.get("uid") == uid for one in owners
    )


def taken(child: Child) -> Problem:
    return Problem(
        ConditionType.STALLED,
        Reason.OBJECT_TAKEN,
        f"{child.kind.kind} {child.name} belongs to somebody else and is left alone: rename or delete it",
    )


def _password_lost(child: Child) -> Problem:
    return Problem(
        ConditionType.DATABASE,
        Reason.PASSWORD_LOST,
        f"Secret {child.name} is gone while StatefulSet {child.guards} lives: put it back from a backup",
    )


def _why_apply(child: Child, live: Live) -> str:
    stamp = (live["metadata"].get("annotations") or {}).get(ANNOTATION_APPLIED)
    if stamp != child.stamp():
        return "the manifest changed"
    body = {"metadata": child.body["metadata"]} if child.generated else child.body
    return first_difference(body, live) or ""


def _template(body: Live) -> str | None:
    found: str | None = (body["metadata"].get("annotations") or {}).get(ANNOTATION_TEMPLATE)
    return found


def _removals(
    wanted: Iterable[Child], live: Mapping[tuple[str, str], Live], uid: str, held: Collection[str]
) -> Iterable[Write]:
    keys = {child.key for child in wanted}
    for (kind, name), found in sorted(live.items(), key=lambda item: (-_BY_NAME[item[0][0]].order, item[0][1])):
        metadata = found["metadata"]
        if (kind, name) in keys or not is_ours(found, uid) or metadata.get("deletionTimestamp") is not None:
            continue
        if (metadata.get("labels") or {}).get(LABEL_SERVICE) in held:
            continue
        if (metadata.get("annotations") or {}).get(ANNOTATION_DELETION_POLICY) == "Retain":
            continue
        yield Write("delete", _BY_NAME[kind], name, "no longer asked for", uid=str(metadata.get("uid", "")))
