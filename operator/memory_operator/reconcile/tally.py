"""The status of MemoryPolicies and Providers: whether they can be used, and how many Workspaces name them."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

import structlog

from memory_operator.api.conditions import Finding, settled
from memory_operator.api.group import API_VERSION
from memory_operator.api.reasons import ConditionType, Reason
from memory_operator.errors import Conflict, Forbidden, NotFound, Rejected
from memory_operator.kube.client import KubeClient
from memory_operator.kube.paths import Endpoint
from memory_operator.runtime.kinds import POLICIES, PROVIDERS
from memory_operator.runtime.store import Key, Place, Store, place_of

Live = Mapping[str, Any]
log = structlog.get_logger()


def users(workspaces: Iterable[Live]) -> Counter[Place]:
    """How many Workspaces name what, each once however many of its services do."""
    found: Counter[Place] = Counter()
    for workspace in workspaces:
        namespace, named = workspace["metadata"]["namespace"], set()
        for service in workspace.get("spec", {}).get("services", ()):
            memory = service.get("memory") or {}
            if policy := memory.get("policyRef"):
                named.add(("MemoryPolicy", "", policy["name"]))
            if provider := memory.get("providerRef"):
                named.add(("Provider", namespace, provider["name"]))
        found.update(named)
    return found


class Tally:
    """Writes the counts that differ. It blocks, and is run in a thread, one at a time."""

    def __init__(
        self,
        store: Store,
        client: KubeClient,
        *,
        everywhere: bool,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._store = store
        self._client = client
        self._clock = clock
        # Who sees some namespaces only does not know who else uses a policy.
        self._counted = (POLICIES, PROVIDERS) if everywhere else (PROVIDERS,)

    def write(self) -> set[Key]:
        """Bring every status up to date; the Workspaces to look at again, because a newer manifest came to light.

        Raises:
            Transient: try again.
            Fenced: another replica leads.
        """
        counts, concerned = users(self._store.of_kind("Workspace")), set()
        now = self._clock().strftime("%Y-%m-%dT%H:%M:%SZ")
        for endpoint in self._counted:
            for live in self._store.of_kind(endpoint.kind):
                status = self._status(live, counts[place_of(live)], now)
                if live["metadata"].get("deletionTimestamp") is None and status != (live.get("status") or {}):
                    concerned |= self._apply(endpoint, live, status)
        return concerned

    def _status(self, live: Live, workspaces: int, now: str) -> dict[str, Any]:
        generation = int(live["metadata"].get("generation", 0))
        before = (live.get("status") or {}).get("conditions", ())
        found = settled(before, [self._ready(live)], generation=generation, now=now)
        return {"observedGeneration": generation, "conditions": found, "workspaces": workspaces}

    def _ready(self, live: Live) -> Finding:
        """A policy that the API server let in can be used; a Provider needs its credential as well."""
        credential = (live.get("spec") or {}).get("credential")
        if credential is None:
            return Finding(ConditionType.READY, "True", Reason.READY, "it can be used")
        name, key = credential["secretRef"]["name"], credential["secretRef"]["key"]
        secret = self._store.secret(live["metadata"]["namespace"], name)
        value = secret.keys.get(key) if secret else None
        if secret is None:
            return _not_ready(Reason.SECRET_NOT_FOUND, f"there is no Secret {name} in its namespace")
        if value is None:
            return _not_ready(Reason.SECRET_KEY_MISSING, f"Secret {name} has no key {key}")
        if value.fault:
            return _not_ready(Reason.SECRET_VALUE_UNUSABLE, f"key {key} of Secret {name} {value.fault}")
        return Finding(ConditionType.READY, "True", Reason.READY, f"it can be used; its key is in Secret {name}")

    def _apply(self, endpoint: Endpoint, live: Live, status: dict[str, Any]) -> set[Key]:
        identity = {name: live["metadata"][name] for name in ("name", "namespace", "uid") if name in live["metadata"]}
        body = {"apiVersion": API_VERSION, "kind": endpoint.kind, "metadata": identity, "status": status}
        try:
            answer = self._client.apply_status(endpoint, body)
        except (NotFound, Conflict):
            return set()  # it is gone, or a namesake stands in its place: the watch tells
        except (Rejected, Forbidden) as error:
            log.warning("status not written", kind=endpoint.kind, name=identity["name"], fault=str(error))
            return set()
        concerned = self._store.observe(answer)
        return concerned if answer["metadata"].get("generation") != live["metadata"].get("generation") else set()


def _not_ready(reason: Reason, message: str) -> Finding:
    return Finding(ConditionType.READY, "False", reason, f"spec.credential.secretRef: {message}")
