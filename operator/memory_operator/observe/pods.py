"""Why pods do not run, from what the kubelet and the scheduler wrote into them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from memory_operator.api.reasons import Reason

_PULLS = frozenset({"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "RegistryUnavailable"})
_CRASHES = frozenset({"CrashLoopBackOff", "RunContainerError", "CreateContainerError", "StartError"})
# Words in what a program said when it ended -> what they mean. The first that is found counts.
_SAID = (
    ("ModelMismatch", Reason.MODEL_MISMATCH),
    ("WorkspaceMismatch", Reason.OWNED_BY_ANOTHER),
    ("password authentication failed", Reason.AUTHENTICATION_FAILED),
    ("InvalidPasswordError", Reason.AUTHENTICATION_FAILED),
    ("has no pgvector", Reason.EXTENSION_MISSING),
)
LONGEST_SAID = 300


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why a pod is not well. `message` names the pod."""

    reason: Reason
    message: str


def troubles(pods: Iterable[Mapping[str, Any]]) -> list[Trouble]:
    """What is wrong with these pods, the most telling first."""
    found = [trouble for pod in sorted(pods, key=_name) for trouble in _of_pod(pod)]
    telling = [reason for _, reason in _SAID]
    return sorted(found, key=lambda trouble: trouble.reason not in telling)


def _name(pod: Mapping[str, Any]) -> str:
    return str(pod["metadata"]["name"])


def _of_pod(pod: Mapping[str, Any]) -> Iterator[Trouble]:
    status, name = pod.get("status", {}), _name(pod)
    for condition in status.get("conditions", ()):
        if condition.get("type") == "PodScheduled" and condition.get("reason") == "Unschedulable":
            yield Trouble(Reason.UNSCHEDULABLE, f"pod {name}: {condition.get('message', '')}")
    for container in (*status.get("initContainerStatuses", ()), *status.get("containerStatuses", ())):
        yield from _of_container(name, container)


def _of_container(pod: str, container: Mapping[str, Any]) -> Iterator[Trouble]:
    state = container.get("state", {})
    waiting = state.get("waiting", {})
    ended = state.get("terminated") or (container.get("lastState", {}).get("terminated") if waiting else None) or {}
    said = " ".join(str(ended.get("message", "")).split())[-LONGEST_SAID:]
    where = f"container {container.get('name')} of pod {pod}"
    if waiting.get("reason") in _PULLS:
        yield Trouble(Reason.IMAGE_PULL_FAILED, f"{where}: {waiting.get('message', waiting['reason'])}")
    elif ended and ended.get("exitCode", 0) != 0:
        reason = next((reason for words, reason in _SAID if words in said), Reason.CRASH_LOOPING)
        yield Trouble(reason, f"{where} ended with exit code {ended['exitCode']}: {said or 'it said nothing'}")
    elif waiting.get("reason") in _CRASHES:
        yield Trouble(Reason.CRASH_LOOPING, f"{where}: {waiting.get('message', waiting['reason'])}")
