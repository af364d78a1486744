"""Whether the pods of a Deployment or StatefulSet are all new and ready, and why not."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from memory_operator.api.reasons import Reason
from memory_operator.observe.pods import Trouble, troubles


@dataclass(frozen=True, slots=True)
class Workload:
    """`complete`: every pod is new and ready. `serving`: at least one pod answers. `failed`: waiting will not help."""

    complete: bool
    serving: bool
    failed: bool
    reason: Reason
    message: str
    troubles: tuple[Trouble, ...] = ()


ABSENT = Workload(False, False, False, Reason.NOT_DEPLOYED, "not made yet")


def deployment(live: Mapping[str, Any] | None, pods: Iterable[Mapping[str, Any]]) -> Workload:
    """What the Deployment and its pods say."""
    if live is None:
        return ABSENT
    spec, status = live.get("spec", {}), live.get("status", {})
    wanted = spec.get("replicas", 1)
    updated, available = status.get("updatedReplicas", 0), status.get("availableReplicas", 0)
    current = status.get("observedGeneration", 0) >= live["metadata"].get("generation", 0)
    complete = current and updated >= wanted and status.get("replicas", 0) == updated and available >= wanted
    if complete and wanted == 0:
        return Workload(False, False, False, Reason.SCALED_TO_ZERO, "replicas is 0")
    if complete:
        return Workload(True, True, False, Reason.AVAILABLE, f"{available} of {wanted} pods are ready")
    return _incomplete(live, pods, f"{min(updated, available)} of {wanted} new pods are ready", available > 0)


def stateful_set(live: Mapping[str, Any] | None, pods: Iterable[Mapping[str, Any]]) -> Workload:
    """What the StatefulSet and its pod say."""
    if live is None:
        return ABSENT
    status, wanted = live.get("status", {}), live.get("spec", {}).get("replicas", 1)
    ready = status.get("readyReplicas", 0)
    if status.get("observedGeneration", 0) >= live["metadata"].get("generation", 0) and ready >= wanted:
        return Workload(True, True, False, Reason.READY, f"{ready} of {wanted} pods are ready")
    found = _incomplete(live, pods, f"{ready} of {wanted} pods are ready", ready > 0)
    if found.reason is Reason.ROLLING_OUT:
        return Workload(False, found.serving, False, Reason.PROVISIONING, found.message)
    return found


def _incomplete(live: Mapping[str, Any], pods: Iterable[Mapping[str, Any]], count: str, serving: bool) -> Workload:
    found = tuple(troubles(pods))
    if found:
        failed = found[0].reason is not Reason.UNSCHEDULABLE
        return Workload(False, serving, failed, found[0].reason, f"{count}; {found[0].message}", found)
    for condition in live.get("status", {}).get("conditions", ()):
        if condition.get("type") == "ReplicaFailure" and condition.get("status") == "True":
            return Workload(False, serving, True, Reason.PODS_REFUSED, f"{count}; {condition.get('message', '')}")
        if condition.get("reason") == "ProgressDeadlineExceeded":
            return Workload(False, serving, True, Reason.ROLLING_OUT, f"{count}; {condition.get('message', '')}")
    return Workload(False, serving, False, Reason.ROLLING_OUT, count)
