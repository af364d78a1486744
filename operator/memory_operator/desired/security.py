"""The restricted Pod Security Standard, for every pod that the operator makes."""

from typing import Any

from memory_operator.api.pods import Resources


def pod_security(fs_group: int | None = None) -> dict[str, Any]:
    """Of the pod. `fs_group` where it writes to a volume: any uid of the image can then."""
    context: dict[str, Any] = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
    if fs_group is not None:
        context |= {"fsGroup": fs_group, "fsGroupChangePolicy": "OnRootMismatch"}
    return context


def container_security() -> dict[str, Any]:
    """Of each container: nothing that the program does not need."""
    return {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": True,
    }


def resources(wanted: Resources) -> dict[str, Any]:
    """As a container spells them."""
    return wanted.model_dump(by_alias=True, exclude_none=True)
