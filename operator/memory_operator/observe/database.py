"""One verdict for three kinds of database."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memory_operator.api.reasons import Reason
from memory_operator.observe.workload import stateful_set


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether the database can be used, and why not."""

    ready: bool
    reason: Reason
    message: str


def managed(live: Mapping[str, Any] | None, pods: Sequence[Mapping[str, Any]], name: str) -> Verdict:
    """What the StatefulSet and its pod say."""
    found = stateful_set(live, pods)
    if found.complete:
        return Verdict(True, Reason.READY, f"StatefulSet {name}: {found.message}")
    reason = Reason.PROVISIONING if found.reason is Reason.NOT_DEPLOYED else found.reason
    return Verdict(False, reason, f"StatefulSet {name}: {found.message}")


def cloudnativepg(
    cluster: Mapping[str, Any] | None, database: Mapping[str, Any] | None, name: str, *, installed: bool
) -> Verdict:
    """What CloudNativePG says of the Cluster and of the Database with its extension."""
    if not installed:
        return Verdict(
            False,
            Reason.CLOUDNATIVEPG_NOT_INSTALLED,
            "the cluster does not know clusters.postgresql.cnpg.io: install CloudNativePG, or use another database",
        )
    if cluster is None:
        return Verdict(False, Reason.PROVISIONING, f"Cluster {name} is not made yet")
    status = cluster.get("status", {})
    conditions = {one.get("type"): one for one in status.get("conditions", ())}
    if conditions.get("Ready", {}).get("status") != "True":
        phase = status.get("phase") or "no status yet"
        return Verdict(False, Reason.PROVISIONING, f"Cluster {name}: {phase}")
    applied = (database or {}).get("status", {}).get("applied")
    if applied is None:
        return Verdict(False, Reason.PROVISIONING, f"Database {name} is not applied yet")
    if not applied:
        said = (database or {}).get("status", {}).get("message") or _extension_message(database or {})
        reason = Reason.EXTENSION_MISSING if "extension" in said or "vector" in said else Reason.PROVISIONING
        return Verdict(False, reason, f"Database {name}: {said}")
    ready = status.get("readyInstances", 0)
    return Verdict(True, Reason.READY, f"Cluster {name}: {ready} of {status.get('instances', 0)} instances are ready")


def _extension_message(database: Mapping[str, Any]) -> str:
    found = [
        one.get("message", "") for one in database.get("status", {}).get("extensions", ()) if not one.get("applied")
    ]
    return f"extension vector: {found[0]}" if found else "it cannot be applied"
