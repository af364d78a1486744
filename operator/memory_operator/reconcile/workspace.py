"""One pass over one Workspace: look, compute, write what differs, say what was seen.

Level-triggered: only the key comes in. A pass may be cut after any write and done again.
"""

import contextlib
import secrets
import string
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import structlog
from pydantic import ValidationError

from memory_operator.api.group import API_VERSION
from memory_operator.api.reasons import ConditionType, Reason
from memory_operator.desired.child import DEPLOYMENT, Child
from memory_operator.desired.group import Images
from memory_operator.desired.objects import desired_objects
from memory_operator.errors import AlreadyExists, ApiError, Conflict, Forbidden, NotFound, Rejected
from memory_operator.kube.client import KubeClient
from memory_operator.kube.paths import EVENT
from memory_operator.reconcile import rollout
from memory_operator.reconcile.plan import Plan, Write, is_ours, plan, taken
from memory_operator.reconcile.references import Problem, Resolution, resolve
from memory_operator.reconcile.status import ServiceFacts, conditions, external_facts, managed_facts, rendered_status
from memory_operator.runtime.kinds import CHILD_ENDPOINTS, WORKSPACES
from memory_operator.runtime.recorder import transitions
from memory_operator.runtime.store import Key, Store
from memory_operator.runtime.view import View

log = structlog.get_logger()
STALLED_SECONDS = 300.0
WAITING_SECONDS = 60.0
_LETTERS = string.ascii_letters + string.digits


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a pass ended. `again` seconds from now another should look, None where an event will tell."""

    writes: int = 0
    again: float | None = None
    rolling: bool = False
    waiting: bool = False


@dataclass(slots=True)
class _Halt:
    """What keeps the Workspace from getting what it asks for."""

    stalled: Problem | None = None
    waiting: Problem | None = None
    problems: list[Problem] = field(default_factory=list)


class Reconciler:
    """Passes over Workspaces. It blocks, and is run in threads: one pass of a key at a time."""

    def __init__(
        self,
        store: Store,
        client: KubeClient,
        images: Images,
        *,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._store = store
        self._client = client
        self._images = images
        self._clock = clock
        self._budget = threading.Lock()
        self.proven = False

    def reconcile(self, key: Key) -> Outcome | None:
        """One pass; None when there is no such Workspace, or it is being deleted.

        Raises:
            Transient, Conflict: try again.
            Fenced: another replica leads.
        """
        view = self._store.view(key)
        if view is None or view.workspace["metadata"].get("deletionTimestamp") is not None:
            return None  # its objects go by their owner references
        halt = _Halt()
        resolutions: dict[str, Resolution] = {}
        writes = 0
        try:
            resolutions = {one.name: resolve(view, one, self._images) for one in view.spec.services if one.memory}
        except ValidationError as error:
            halt.stalled = _unreadable(error)
        if view.paused:
            halt.stalled = Problem(ConditionType.STALLED, Reason.PAUSED, _PAUSED)
        if halt.stalled is None:
            planned = self._plan(view, resolutions)
            writes = self._write_all(view, planned, halt)
            view = self._store.view(key) or view
        return self._report(view, resolutions, halt, writes)

    def _plan(self, view: View, resolutions: Mapping[str, Resolution]) -> Plan:
        desired: list[Child] = []
        for one in resolutions.values():
            children = desired_objects(one.group)
            # What cannot be built yet is left as it is; the database does not wait for it.
            desired += [child for child in children if not one.held or _is_database(child, one)]
        held = {name for name, one in resolutions.items() if one.held}
        return plan(desired, view.children, uid=view.owner.uid, held=held, cnpg_installed=view.cnpg_installed)

    def _write_all(self, view: View, planned: Plan, halt: _Halt) -> int:
        halt.problems += planned.problems
        halt.stalled = next((one for one in planned.problems if one.type is ConditionType.STALLED), None)
        done = 0
        for write in planned.writes:
            try:
                # Two passes must not both find the last free place of the budget.
                with self._budget if write.rolls else contextlib.nullcontext():
                    if write.rolls and (refused := self._refusal(view)):
                        halt.waiting = refused
                        continue
                    done += self._write(view, write, halt)
            except (Rejected, Forbidden) as error:
                halt.stalled = _said(error)
                break
        return done

    def _refusal(self, view: View) -> Problem | None:
        name = f"{view.owner.namespace}/{view.owner.name}"
        return rollout.refusal(rollout.standing(self._fleet()), name, proven=self.proven)

    def _fleet(self) -> Iterator[rollout.Member]:
        for workspace in list(self._store.of_kind("Workspace")):
            metadata = workspace["metadata"]
            owned = self._store.owned(metadata["uid"])
            yield rollout.Member(
                f"{metadata['namespace']}/{metadata['name']}",
                workspace,
                tuple(one for one in owned if one["kind"] == DEPLOYMENT.kind),
                tuple(one for one in owned if one["kind"] == "Pod"),
            )

    def _write(self, view: View, write: Write, halt: _Halt) -> int:
        """Do one write; 1 when something was sent."""
        endpoint = CHILD_ENDPOINTS[write.kind.kind]
        namespace = view.owner.namespace
        if write.verb == "delete":
            return self._delete(view, write)
        if write.child is None:
            raise ValueError("an object to write has a body")
        if write.unseen and (found := self._live(write, namespace)) is not None:
            # The store has not seen it: it is somebody else's, or ours without its label, or made a moment ago.
            if not is_ours(found, view.owner.uid):
                halt.stalled = taken(write.child)
                return 0
            self._store.observe(found)
            if write.verb == "create":
                return 0
        log.info("write", verb=write.verb, kind=write.kind.kind, name=write.name, namespace=namespace, why=write.why)
        try:
            if write.verb == "create":
                answer = self._client.create(endpoint, _with_values(write.child))
            else:
                answer = self._apply(write)
        except AlreadyExists as error:
            raise Conflict(str(error)) from None
        self._store.observe(answer)
        return 1

    def _apply(self, write: Write) -> dict[str, Any]:
        endpoint, manifest = CHILD_ENDPOINTS[write.kind.kind], _applied(write)
        try:
            return self._client.apply(endpoint, manifest)
        except Rejected:
            if write.unseen or write.uid:
                raise
            # What somebody added may contradict what is ours, such as a port of the same name: then ours holds alone.
            self._client.overwrite(endpoint, manifest)
            return self._client.apply(endpoint, manifest)

    def _live(self, write: Write, namespace: str) -> Mapping[str, Any] | None:
        try:
            return self._client.get(CHILD_ENDPOINTS[write.kind.kind], write.name, namespace)
        except NotFound:
            return None

    def _delete(self, view: View, write: Write) -> int:
        namespace = view.owner.namespace
        log.info("write", verb="delete", kind=write.kind.kind, name=write.name, namespace=namespace, why=write.why)
        try:
            self._client.delete(CHILD_ENDPOINTS[write.kind.kind], write.name, namespace, uid=write.uid)
        except (NotFound, Conflict):
            return 0  # it is gone, or a namesake stands in its place
        live = view.child(write.kind, write.name)
        if live is not None:
            self._store.forget(live)
        return 1

    def _report(self, view: View, resolutions: Mapping[str, Resolution], halt: _Halt, writes: int) -> Outcome:
        facts = self._facts(view, resolutions, halt.problems)
        now = self._clock().strftime("%Y-%m-%dT%H:%M:%SZ")
        found = conditions(view, facts, stalled=halt.stalled, waiting=halt.waiting, now=now)
        status = rendered_status(view, facts, found)
        if not _same(status, view.status):
            self._write_status(view, status, now)
            writes += 1
        rolling = any(fact.rolling for fact in facts)
        again = None
        if halt.waiting is not None:
            again = WAITING_SECONDS
        elif halt.stalled is not None and halt.stalled.reason is not Reason.PAUSED:
            again = STALLED_SECONDS
        return Outcome(writes, again, rolling=rolling, waiting=halt.waiting is not None)

    def _facts(
        self, view: View, resolutions: Mapping[str, Resolution], problems: Sequence[Problem]
    ) -> list[ServiceFacts]:
        try:
            services = view.spec.services
        except ValidationError:
            return []
        found = []
        for service in services:
            resolution = resolutions.get(service.name)
            if resolution is None:
                found.append(external_facts(service))
            else:
                name = resolution.group.database_name
                own = [one for one in problems if name in one.message or resolution.group.name in one.message]
                found.append(managed_facts(view, service, resolution, own))
        return found

    def _write_status(self, view: View, status: dict[str, Any], now: str) -> None:
        owner = view.owner
        body = {
            "apiVersion": API_VERSION,
            "kind": "Workspace",
            "metadata": {"name": owner.name, "namespace": owner.namespace, "uid": owner.uid},
            "status": status,
        }
        try:
            answer = self._client.apply_status(WORKSPACES, body)
        except NotFound:
            return  # deleted while we looked
        self._store.observe(answer)
        for event in transitions(view.workspace, view.status, status, now=now):
            try:
                self._client.create(EVENT, event)
            except (Rejected, Forbidden, NotFound, AlreadyExists) as error:
                log.warning("event not written", fault=type(error).__name__)


_PAUSED = "the annotation keepsake.dev/paused stops every write to the Workspace's objects: remove it to go on"


def _is_database(child: Child, resolution: Resolution) -> bool:
    return child.name.startswith(resolution.group.database_name)


def _applied(write: Write) -> dict[str, Any]:
    """The manifest to send. Of an object with drawn values only the metadata, and only onto the object of this uid."""
    if write.child is None:
        raise ValueError("an object to apply has a body")
    manifest = write.child.manifest()
    if not write.child.generated:
        return manifest
    return {
        "apiVersion": manifest["apiVersion"],
        "kind": manifest["kind"],
        "metadata": {**manifest["metadata"], "uid": write.uid},
    }


def _with_values(child: Child) -> dict[str, Any]:
    """The Secret with a password drawn now."""
    password = "".join(secrets.choice(_LETTERS) for _ in range(32))
    values = {name: template.replace("{password}", password) for name, template in child.generated.items()}
    return {**child.manifest(), "stringData": values}


def _same(status: Mapping[str, Any], live: Mapping[str, Any]) -> bool:
    """Whether the status says the same; a list by name or type has no order."""

    def ordered(value: Mapping[str, Any]) -> Any:
        parts = {name: part for name, part in value.items() if part not in ([], None)}
        return {
            **parts,
            "conditions": sorted(value.get("conditions", ()), key=lambda one: str(one["type"])),
            "services": sorted(value.get("services", ()), key=lambda one: str(one["name"])),
        }

    return bool(ordered(status) == ordered(live))


def _unreadable(error: ValidationError) -> Problem:
    where = ".".join(str(part) for part in error.errors()[0]["loc"])
    message = f"spec.{where}: {error.errors()[0]['msg']}; the object was stored by another version of the CRD"
    return Problem(ConditionType.STALLED, Reason.REJECTED, message)


def _said(error: ApiError) -> Problem:
    reason = Reason.REJECTED
    if isinstance(error, Forbidden):
        reason = Reason.NAMESPACE_TERMINATING if error.terminating else Reason.FORBIDDEN
    return Problem(ConditionType.STALLED, reason, str(error))
