"""Broken references name what is broken, and the status says whether it is fine, why not, and where it is."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_operator.api.reasons import MEANINGS, ConditionType, Reason
from memory_operator.desired.objects import desired_objects
from memory_operator.reconcile.references import Problem, Resolution, resolve
from memory_operator.reconcile.status import conditions, external_facts, managed_facts, rendered_status
from memory_operator.runtime.view import View
from workspaces import IMAGES, a_secret, a_service, a_view, a_workspace, live, rolled_out, stored

NOW = "2026-01-01T00:00:00Z"
OPENAI = stored(
    "Provider", {"type": "openai", "model": "m", "credential": {"secretRef": {"name": "key", "key": "k"}}}, "p"
)


def resolved(view: View) -> Resolution:
    return resolve(view, view.spec.services[0], IMAGES)


def status_of(view: View, **more: Any) -> dict[str, Any]:
    facts = [
        managed_facts(view, service, resolve(view, service, IMAGES), ()) if service.memory else external_facts(service)
        for service in view.spec.services
    ]
    return rendered_status(view, facts, conditions(view, facts, now=NOW, **more))


def said(status: dict[str, Any], type_: str) -> tuple[str, str]:
    found = next(one for one in status["conditions"] if one["type"] == type_)
    return found["status"], found["reason"]


def running(workspace: dict[str, Any] | None = None, **parts: Any) -> View:
    """A view in which everything is applied and rolled out."""
    view = a_view(workspace, **parts)
    children = []
    for service in view.spec.services:
        for child in desired_objects(resolve(view, service, IMAGES).group):
            state = {"Deployment": rolled_out(), "StatefulSet": {"observedGeneration": 1, "readyReplicas": 1}}
            children.append(live(child, **state.get(child.kind.kind, {})))
    return a_view(workspace, children, **parts)


def without(view: View, **parts: Any) -> View:
    return a_view(dict(view.workspace), view.children.values(), **parts)


def test_all_is_well() -> None:
    status = status_of(running())
    assert {one["type"]: one["status"] for one in status["conditions"]} == {
        "Ready": "True",
        "ReferencesResolved": "True",
        "EmbeddingProviderReady": "True",
        "DatabaseReady": "True",
        "SchemaReady": "True",
        "MemoryApiAvailable": "True",
    }
    assert status["services"] == [
        {
            "name": "default",
            "mode": "managed",
            "ready": True,
            "reason": "Ready",
            "url": "http://research-default-memory.team.svc:8080",
            "database": "external/db",
            "model": "mock",
        }
    ]


@pytest.mark.parametrize(
    ("parts", "reason", "words"),
    [
        ({"providers": {}}, Reason.PROVIDER_NOT_FOUND, "no Provider p in namespace team"),
        ({"secrets": {}}, Reason.SECRET_NOT_FOUND, "no Secret db in namespace team"),
        ({"secrets": {"db": a_secret("db", url="x")}}, Reason.SECRET_KEY_MISSING, "has no key uri; its keys: url"),
        (
            {"secrets": {"db": a_secret("db", uri="mysql://x")}},
            Reason.SECRET_VALUE_UNUSABLE,
            "start with postgresql://",
        ),
        ({"secrets": {"db": a_secret("db", uri=b"\xff")}}, Reason.SECRET_VALUE_UNUSABLE, "is not UTF-8"),
        ({"providers": {"p": OPENAI}}, Reason.SECRET_NOT_FOUND, "Provider p, spec.credential.secretRef"),
    ],
)
def test_a_broken_reference_names_what_is_broken(parts: dict[str, Any], reason: Reason, words: str) -> None:
    found = resolved(a_view(**parts))
    assert found.held
    assert found.problems[0].reason is reason
    assert words in found.problems[0].message
    assert said(status_of(a_view(**parts)), "Ready") == ("False", reason.value)


def test_a_trailing_line_break_in_a_secret_does_no_harm() -> None:
    assert resolved(a_view(secrets={"db": a_secret("db", uri="postgresql://u:p@h/d\n")})).problems == ()


def test_a_policy_that_is_gone_holds_as_it_was_last_rendered() -> None:
    workspace = a_workspace(a_service(policyRef={"name": "q"}))
    policies = {"q": stored("MemoryPolicy", {"recall": {"rrfK": 7}}, "q")}
    before = running(workspace, policies=policies)
    after = without(before)
    found = resolved(after)
    assert not found.held
    assert found.group.policy is not None
    assert found.group.policy.spec["recall"]["rrfK"] == 7
    assert [one.reason for one in found.problems] == [Reason.POLICY_NOT_FOUND]
    assert said(status_of(after), "ReferencesResolved") == ("False", "PolicyNotFound")
    assert said(status_of(after), "MemoryApiAvailable") == ("True", "Available")


def test_a_policy_that_never_was_keeps_the_service_from_being_made() -> None:
    assert resolved(a_view(a_workspace(a_service(policyRef={"name": "q"})))).held


def test_a_provider_that_is_gone_leaves_the_service_running() -> None:
    before = running()
    after = without(before, providers={})
    found = resolved(after)
    assert (found.held, found.group.provider and found.group.provider.name) == (False, "p")
    assert said(status_of(after), "Ready") == ("False", "ProviderNotFound")


def test_a_secret_that_is_gone_leaves_the_deployment_as_it_is() -> None:
    assert resolved(without(running(), secrets={})).held


def test_no_provider_no_memory_api() -> None:
    view = a_view(a_workspace(a_service(providerRef=None)))
    found = resolved(view)
    assert (found.group.provider, found.held) == (None, False)
    status = status_of(view)
    assert said(status, "EmbeddingProviderReady") == ("False", "ProviderNotConfigured")
    assert said(status, "Ready") == ("False", "ProviderNotConfigured")
    assert "url" not in status["services"][0]


def test_a_database_that_another_service_uses_is_refused() -> None:
    secret = a_secret("db", uri="postgresql://h/d")
    claims = {secret.keys["uri"].digest: "team/older/default"}
    view = a_view(secrets={"db": secret}, claims=claims)
    assert resolved(view).held
    assert said(status_of(view), "DatabaseReady") == ("False", "DatabaseShared")


def test_a_rotated_secret_changes_the_digest_and_a_managed_password_does_not() -> None:
    one = resolved(a_view(secrets={"db": a_secret("db", uri="postgresql://a")})).group.secrets
    other = resolved(a_view(secrets={"db": a_secret("db", uri="postgresql://b")})).group.secrets
    assert one != other
    workspace = a_workspace(a_service(database={"managed": {}}))
    name = resolved(a_view(workspace)).group.database_name
    made = a_view(workspace, secrets={name: a_secret(name, uri="postgresql://x")})
    assert resolved(a_view(workspace)).group.secrets == resolved(made).group.secrets


def test_cloudnativepg_is_waited_for_until_its_secret_is_there() -> None:
    workspace = a_workspace(a_service(database={"cloudnativepg": {}}))
    found = resolved(a_view(workspace))
    assert (found.held, found.problems) == (True, ())
    secret = f"{found.group.database_name}-app"
    assert not resolved(a_view(workspace, secrets={secret: a_secret(secret, uri="postgresql://x")})).held
    assert said(status_of(a_view(workspace)), "DatabaseReady") == ("False", "CloudNativePGNotInstalled")


def test_services_elsewhere_are_passed_on() -> None:
    workspace = a_workspace({"name": "shared", "mode": "external", "external": {"memoryURL": "http://m:8080"}})
    status = status_of(a_view(workspace))
    assert said(status, "Ready") == ("True", "Ready")
    assert said(status, "DatabaseReady") == ("True", "External")
    assert status["services"][0]["url"] == "http://m:8080"


def test_the_first_service_that_fails_speaks_for_all() -> None:
    workspace = a_workspace(a_service("a"), a_service("b", providerRef=None))
    status = status_of(running(workspace))
    assert said(status, "Ready") == ("False", "ProviderNotConfigured")
    message = next(one["message"] for one in status["conditions"] if one["type"] == "Ready")
    assert message.startswith("service b: ")
    assert [service["ready"] for service in status["services"]] == [True, False]


def test_a_new_model_that_the_store_refuses_is_told_while_old_pods_serve() -> None:
    view = running()
    deployment = dict(view.children[("Deployment", "research-default-memory")])
    deployment["status"] = {"observedGeneration": 1, "replicas": 2, "updatedReplicas": 1, "availableReplicas": 1}
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    ended = {
        "terminated": {"exitCode": 2, "message": "ModelMismatch: the store holds vectors of a:8, the Provider is b:9"}
    }
    state = {"name": "memory-api", "state": {"waiting": {"reason": "CrashLoopBackOff"}}, "lastState": ended}
    pod = {"metadata": {"name": "pod-1", "labels": labels}, "status": {"containerStatuses": [state]}}
    children = {**view.children, ("Deployment", "research-default-memory"): deployment}
    status = status_of(a_view(dict(view.workspace), children.values(), pods=(pod,)))
    assert said(status, "SchemaReady") == ("False", "ModelMismatch")
    assert said(status, "Reconciling") == ("True", "Progressing")


def test_stalled_and_waiting_are_there_only_while_they_hold() -> None:
    view = running()
    stalled = Problem(ConditionType.STALLED, Reason.PAUSED, "paused")
    assert said(status_of(view, stalled=stalled), "Ready") == ("False", "Paused")
    waiting = Problem(ConditionType.RECONCILING, Reason.BUDGET_WAIT, "waits")
    assert said(status_of(view, waiting=waiting), "Reconciling") == ("True", "BudgetWait")
    assert {"Stalled", "Reconciling"}.isdisjoint(one["type"] for one in status_of(view)["conditions"])


SECRETS = st.sampled_from([{}, {"db": a_secret("db", uri="postgresql://a")}, {"db": a_secret("db", x="y")}])
PROVIDERS = st.sampled_from([{}, {"p": stored("Provider", {"type": "mock"}, "p")}, {"p": OPENAI}])
DATABASES = st.sampled_from([{"managed": {}}, {"cloudnativepg": {}}, {"external": {"secretRef": {"name": "db"}}}])


@given(SECRETS, PROVIDERS, DATABASES, st.booleans(), st.booleans(), st.booleans())
def test_every_reason_is_documented_for_its_condition(
    secrets: Any, providers: Any, database: Any, named: bool, bound: bool, installed: bool
) -> None:
    service = a_service(
        database=database, providerRef={"name": "p"} if named else None, policyRef={"name": "q"} if bound else None
    )
    view = a_view(a_workspace(service), secrets=secrets, providers=providers, cnpg_installed=installed)
    status = status_of(view)
    for one in status["conditions"]:
        assert ConditionType(one["type"]) in MEANINGS[Reason(one["reason"])][0], one
    ready = all(one["status"] == "True" for one in status["conditions"] if one["type"] != "Reconciling")
    assert said(status, "Ready")[0] == ("True" if ready else "False")
