"""What is there of one Workspace, without what differs between two Workspaces that ask for the same."""

import json
import re
from typing import Any

from memory_operator.api.group import ANNOTATION_APPLIED, ANNOTATION_TEMPLATE, LABEL_WORKSPACE_UID
from memory_operator.desired.child import CNPG_KINDS, KINDS
from memory_operator.runtime.kinds import CHILD_ENDPOINTS, OURS

Json = dict[str, Any]
_PASSING = (ANNOTATION_APPLIED, ANNOTATION_TEMPLATE, "deployment.kubernetes.io/revision", "deprecated.daemonset")
_DATABASE = re.compile(r"-[0-9a-f]{8}-db\b")
_PARTS = ("spec", "data", "rules", "subjects", "roleRef", "automountServiceAccountToken", "type")
_GIVEN_BY_THE_SERVER = ("clusterIP", "clusterIPs", "volumeName", "storageClassName")


def owned(place: Any, selector: str = OURS) -> list[Json]:
    """Every object of ours in the namespace, of every kind that the operator makes, with its kind."""
    found: list[Json] = []
    for kind in KINDS:
        if kind in CNPG_KINDS:
            continue
        path = CHILD_ENDPOINTS[kind.kind].path(place.namespace)
        answer = place.control_plane.client.get(path, params={"labelSelector": selector}).raise_for_status()
        found += [{"kind": kind.kind, **one} for one in answer.json()["items"]]
    return found


def snapshot(place: Any, name: str) -> dict[str, Any] | None:
    """Objects and status of a Workspace by kind and name; None when there is no such Workspace."""
    workspace = place.get("workspaces", name)
    if workspace is None:
        return None
    uid = workspace["metadata"]["uid"]
    bodies = {f"{one['kind']}/{one['metadata']['name']}": _kept(one) for one in owned(place, _of(uid))}
    status = workspace.get("status") or {}
    bodies["Workspace"] = {
        "seen": status.get("observedGeneration") == workspace["metadata"]["generation"],
        "conditions": sorted([one["type"], one["status"], one["reason"]] for one in status.get("conditions", ())),
        "services": list(status.get("services", ())),
    }
    text = json.dumps(bodies, sort_keys=True).replace(uid, "UID")
    text = re.sub(rf"\b{re.escape(name)}\b", "NAME", _DATABASE.sub("-DIGEST-db", text))
    found: dict[str, Any] = json.loads(text)
    return found


def orphans(place: Any) -> list[str]:
    """Objects of ours that neither go with a Workspace that is there nor are marked as data that stays."""
    alive = {one["metadata"]["uid"] for one in place.list("workspaces")}
    return [
        f"{one['kind']}/{one['metadata']['name']}"
        for one in owned(place)
        if not any(owner["uid"] in alive for owner in one["metadata"].get("ownerReferences", ()))
        and (one["metadata"].get("annotations") or {}).get("keepsake.dev/deletion-policy") != "Retain"
    ]


def passwords(place: Any) -> dict[str, str]:
    """The drawn password of each database Secret; every address holds the same one."""
    found = {}
    for one in place.list("secrets"):
        data = one.get("data") or {}
        if LABEL_WORKSPACE_UID in (one["metadata"].get("labels") or {}):
            found[one["metadata"]["uid"]] = json.dumps(data, sort_keys=True)
    return found


def _of(uid: str) -> str:
    return f"{LABEL_WORKSPACE_UID}={uid}"


def _kept(body: Json) -> Json:
    metadata = body["metadata"]
    annotations = {
        key: value
        for key, value in (metadata.get("annotations") or {}).items()
        if not key.startswith(_PASSING) and not key.startswith("pv.") and not key.startswith("volume.")
    }
    kept = {part: body[part] for part in _PARTS if part in body}
    if body["kind"] == "Secret":
        kept["data"] = {key: len(value) for key, value in (body.get("data") or {}).items()}
        # The address holds the name of the Workspace.
        kept["data"].pop("uri", None)
    if isinstance(kept.get("spec"), dict):
        kept["spec"] = {key: part for key, part in kept["spec"].items() if key not in _GIVEN_BY_THE_SERVER}
    return {
        "labels": metadata.get("labels"),
        "annotations": annotations,
        "owners": metadata.get("ownerReferences"),
        "going": "deletionTimestamp" in metadata,
        **kept,
    }
