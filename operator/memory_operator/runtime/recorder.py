"""Events: one when `Ready` or `Stalled` turns, none while nothing turns."""

from collections.abc import Mapping
from typing import Any

from memory_operator.api.group import API_VERSION, MANAGER

_TELLING = ("Ready", "Stalled")


def transitions(
    workspace: Mapping[str, Any], before: Mapping[str, Any], after: Mapping[str, Any], *, now: str
) -> list[dict[str, Any]]:
    """The events to write when a status turns from `before` to `after`."""
    known = {one["type"]: (one["status"], one["reason"]) for one in before.get("conditions", ())}
    return [
        _event(workspace, one, now)
        for one in after["conditions"]
        if one["type"] in _TELLING and known.get(one["type"]) != (one["status"], one["reason"])
    ]


def _event(workspace: Mapping[str, Any], condition: Mapping[str, Any], now: str) -> dict[str, Any]:
    metadata = workspace["metadata"]
    good = condition["status"] == ("True" if condition["type"] == "Ready" else "False")
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"generateName": f"{metadata['name']}.", "namespace": metadata["namespace"]},
        "involvedObject": {
            "apiVersion": API_VERSION,
            "kind": "Workspace",
            "name": metadata["name"],
            "namespace": metadata["namespace"],
            "uid": metadata["uid"],
        },
        "type": "Normal" if good else "Warning",
        "reason": condition["reason"],
        "message": f"{condition['type']} is {condition['status']}: {condition['message']}"[:1024],
        "source": {"component": MANAGER},
        "reportingComponent": MANAGER,
        "reportingInstance": MANAGER,
        "firstTimestamp": now,
        "lastTimestamp": now,
        "count": 1,
    }
