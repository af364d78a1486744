"""Facts about the services as the status of their Workspace."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from memory_operator.api.conditions import Finding, settled
from memory_operator.api.reasons import CAUSES, ConditionType, Reason
from memory_operator.api.workspace import Service, ServiceStatus
from memory_operator.desired.child import CLUSTER, DATABASE, DEPLOYMENT, STATEFUL_SET
from memory_operator.desired.group import Group
from memory_operator.observe import database
from memory_operator.observe.database import Verdict
from memory_operator.observe.workload import Workload, deployment
from memory_operator.reconcile.references import Problem, Resolution
from memory_operator.runtime.view import View

_DATABASE_TROUBLES = (Reason.AUTHENTICATION_FAILED, Reason.OWNED_BY_ANOTHER, Reason.EXTENSION_MISSING)


@dataclass(frozen=True, slots=True)
class ServiceFacts:
    """One service: a finding per cause, and how its pods stand. `rolling` while pods are being replaced."""

    service: Service
    findings: tuple[Finding, ...]
    status: ServiceStatus
    rolling: bool = False
    failed: bool = False


def external_facts(service: Service) -> ServiceFacts:
    """A service that somebody else runs: its address is passed on, nothing is checked."""
    url = service.external.memory_url if service.external else None
    status = ServiceStatus(name=service.name, mode="external", ready=True, reason=Reason.EXTERNAL, url=url)
    return ServiceFacts(service, (), status)


def managed_facts(view: View, service: Service, resolution: Resolution, problems: Sequence[Problem]) -> ServiceFacts:
    """A service that the operator runs. `problems` are those of its references and of the plan."""
    group = resolution.group
    pods = deployment(view.child(DEPLOYMENT, group.name), view.pods_of(service.name, "memory-api"))
    by_type = {problem.type: problem for problem in reversed([*resolution.problems, *problems])}
    findings = (
        _references(by_type.get(ConditionType.REFERENCES)),
        _provider(group, by_type.get(ConditionType.REFERENCES)),
        _database(view, group, by_type.get(ConditionType.DATABASE), pods),
        _schema(pods),
        _memory_api(group, pods),
    )
    wrong = next((finding for finding in findings if finding.status != "True"), None)
    spec = group.provider.spec if group.provider else {}
    status = ServiceStatus(
        name=service.name,
        mode="managed",
        ready=wrong is None,
        reason=(wrong.reason if wrong else Reason.READY).value,
        url=group.url if group.provider else None,
        database=f"{group.memory.database.kind}/{_database_object(group)}",
        model=spec.get("model") or spec.get("type"),
        dimensions=spec.get("embedding", {}).get("dimensions"),
    )
    rolling = not pods.complete and pods.reason is not Reason.NOT_DEPLOYED and pods.reason is not Reason.SCALED_TO_ZERO
    return ServiceFacts(service, findings, status, rolling=rolling, failed=pods.failed)


def conditions(
    view: View,
    facts: Sequence[ServiceFacts],
    *,
    stalled: Problem | None = None,
    waiting: Problem | None = None,
    now: str,
) -> list[dict[str, Any]]:
    """All conditions of the Workspace. `stalled` stops the work, `waiting` says that it goes on later."""
    findings = [_over_services(cause, facts) for cause in CAUSES]
    ready = _ready(findings, stalled)
    extra = []
    if stalled is not None:
        extra.append(Finding(ConditionType.STALLED, "True", stalled.reason, stalled.message))
    elif waiting is not None:
        extra.append(Finding(ConditionType.RECONCILING, "True", waiting.reason, waiting.message))
    elif any(fact.rolling for fact in facts):
        message = ready.message if ready.status != "True" else "pods are being replaced"
        extra.append(Finding(ConditionType.RECONCILING, "True", Reason.PROGRESSING, message))
    before = view.status.get("conditions", ())
    return settled(before, [ready, *findings, *extra], generation=view.generation, now=now)


def rendered_status(view: View, facts: Sequence[ServiceFacts], found: list[dict[str, Any]]) -> dict[str, Any]:
    """The whole status as it is written."""
    services = [fact.status.model_dump(by_alias=True, exclude_none=True) for fact in facts]
    return {"observedGeneration": view.generation, "conditions": found, "services": services}


def _ready(findings: Iterable[Finding], stalled: Problem | None) -> Finding:
    if stalled is not None:
        return Finding(ConditionType.READY, "False", stalled.reason, stalled.message)
    wrong = next((finding for finding in findings if finding.status != "True"), None)
    if wrong is None:
        return Finding(ConditionType.READY, "True", Reason.READY, _HOW_OPEN)
    return Finding(ConditionType.READY, "False", wrong.reason, wrong.message)


_HOW_OPEN = "every service can be used; callers are not authenticated, only pods of this namespace may connect"


def _over_services(cause: ConditionType, facts: Sequence[ServiceFacts]) -> Finding:
    """The first service that fails speaks for all; the others are in status.services."""
    found = [(fact.service.name, one) for fact in facts for one in fact.findings if one.type is cause]
    if not found:
        reason = Reason.RESOLVED if cause is ConditionType.REFERENCES else Reason.EXTERNAL
        return Finding(cause, "True", reason, "somebody else runs every service")
    name, worst = next((one for one in found if one[1].status != "True"), found[0])
    return Finding(cause, worst.status, worst.reason, f"service {name}: {worst.message}")


def _references(problem: Problem | None) -> Finding:
    if problem is None:
        return Finding(ConditionType.REFERENCES, "True", Reason.RESOLVED, "everything that it names is there")
    return Finding(ConditionType.REFERENCES, "False", problem.reason, problem.message)


def _provider(group: Group, problem: Problem | None) -> Finding:
    if group.memory.provider_ref is None:
        message = "memory.providerRef names no Provider, so there is no memory-api: create a Provider and name it"
        return Finding(ConditionType.PROVIDER, "False", Reason.PROVIDER_NOT_CONFIGURED, message)
    if group.provider is None:
        message = problem.message if problem else "the Provider is not there"
        return Finding(ConditionType.PROVIDER, "Unknown", Reason.PROVIDER_NOT_FOUND, message)
    return Finding(ConditionType.PROVIDER, "True", Reason.READY, f"Provider {group.provider.name}")


def _database(view: View, group: Group, problem: Problem | None, pods: Workload) -> Finding:
    if problem is not None:
        return Finding(ConditionType.DATABASE, "False", problem.reason, problem.message)
    for trouble in pods.troubles:
        if trouble.reason in _DATABASE_TROUBLES:
            return Finding(ConditionType.DATABASE, "False", trouble.reason, trouble.message)
    verdict = _verdict(view, group)
    state: Literal["True", "False"] = "True" if verdict.ready else "False"
    return Finding(ConditionType.DATABASE, state, verdict.reason, verdict.message)


def _verdict(view: View, group: Group) -> Verdict:
    name = group.database_name
    kind = group.memory.database.kind
    if kind == "managed":
        return database.managed(view.child(STATEFUL_SET, name), view.pods_of(group.service, "database"), name)
    if kind == "cloudnativepg":
        cluster, inside = view.child(CLUSTER, name), view.child(DATABASE, name)
        return database.cloudnativepg(cluster, inside, name, installed=view.cnpg_installed)
    return Verdict(True, Reason.READY, f"Secret {_database_object(group)} names it; memory-api says whether it answers")


def _database_object(group: Group) -> str:
    external = group.memory.database.external
    return external.secret_ref.name if external else group.database_name


def _schema(pods: Workload) -> Finding:
    for trouble in pods.troubles:
        if trouble.reason is Reason.MODEL_MISMATCH:
            return Finding(ConditionType.SCHEMA, "False", trouble.reason, trouble.message)
    if pods.serving:
        return Finding(ConditionType.SCHEMA, "True", Reason.MIGRATED, "pods that are ready found it at head")
    if pods.reason in (Reason.NOT_DEPLOYED, Reason.SCALED_TO_ZERO):
        return Finding(ConditionType.SCHEMA, "Unknown", Reason.NOT_DEPLOYED, "no memory-api has looked at it yet")
    return Finding(ConditionType.SCHEMA, "Unknown", Reason.MIGRATING, "no memory-api is ready yet")


def _memory_api(group: Group, pods: Workload) -> Finding:
    state: Literal["True", "False"] = "True" if pods.complete else "False"
    reason = pods.reason
    if reason in _DATABASE_TROUBLES or reason is Reason.MODEL_MISMATCH:
        reason = Reason.CRASH_LOOPING
    return Finding(ConditionType.MEMORY_API, state, reason, f"Deployment {group.name}: {pods.message}")
