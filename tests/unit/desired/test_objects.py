"""What is made for a service, and what every pod of it promises."""

import json
from dataclasses import replace
from typing import Any

import pytest
import yaml

from memory_operator.desired.child import DEPLOYMENT, Child
from memory_operator.desired.config import document, rendered
from memory_operator.desired.group import Group, Referent
from memory_operator.desired.objects import desired_objects
from workspaces import IMAGES, MOCK, UID, a_group

DATABASES: dict[str, dict[str, Any]] = {
    "managed": {"managed": {}},
    "cloudnativepg": {"cloudnativepg": {}},
    "external": {"external": {"secretRef": {"name": "db"}}},
}
FULL: dict[str, Any] = {
    "autoscaling": {"minReplicas": 2, "maxReplicas": 5},
    "podOverrides": {
        "labels": {"team": "blue"},
        "annotations": {"example.com/a": "b"},
        "nodeSelector": {"disk": "ssd"},
        "tolerations": [{"key": "gpu", "operator": "Exists"}],
        "priorityClassName": "high",
        "imagePullSecrets": ["regcred"],
    },
}


def made(group: Group) -> dict[str, Child]:
    return {f"{child.kind.kind}/{child.name}": child for child in desired_objects(group)}


def kinds(group: Group) -> list[str]:
    return [child.kind.kind for child in desired_objects(group)]


def the(group: Group, kind: str) -> dict[str, Any]:
    return next(child.body for child in desired_objects(group) if child.kind.kind == kind)


def pods(group: Group) -> list[dict[str, Any]]:
    found = []
    for child in desired_objects(group):
        spec = child.body.get("spec", {})
        if child.kind.kind == "CronJob":
            spec = spec["jobTemplate"]["spec"]
        if "template" in spec:
            found.append(spec["template"])
    return found


MEMORY_API = ["ServiceAccount", "Role", "RoleBinding", "NetworkPolicy", "ConfigMap", "Service", "Deployment"]


def test_an_external_database_adds_no_object() -> None:
    assert kinds(a_group()) == MEMORY_API


def test_replicas_bring_a_budget_and_autoscaling_an_autoscaler() -> None:
    assert kinds(a_group(replicas=2)) == [*MEMORY_API, "PodDisruptionBudget"]
    assert kinds(a_group(**FULL)) == [*MEMORY_API, "PodDisruptionBudget", "HorizontalPodAutoscaler"]


def test_a_managed_database_and_its_backup() -> None:
    found = kinds(a_group(providerRef=None, database=DATABASES["managed"]))
    assert found == ["NetworkPolicy", "Secret", "PersistentVolumeClaim", "Service", "StatefulSet", "CronJob"]


def test_a_cloudnativepg_database() -> None:
    group = a_group(providerRef=None, database={"cloudnativepg": {"instances": 2, "storage": {"size": "5Gi"}}})
    assert kinds(group) == ["Cluster", "Database"]
    assert the(group, "Cluster")["spec"]["instances"] == 2
    assert the(group, "Database")["spec"]["extensions"] == [{"name": "vector", "ensure": "present"}]


@pytest.mark.parametrize("database", DATABASES.values(), ids=DATABASES)
@pytest.mark.parametrize("rest", [{}, FULL], ids=["plain", "full"])
def test_every_pod_is_restricted(database: dict[str, Any], rest: dict[str, Any]) -> None:
    group = a_group(database=database, **rest)
    for pod in pods(group):
        spec = pod["spec"]
        assert spec["securityContext"]["runAsNonRoot"] is True
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert spec["enableServiceLinks"] is False
        for container in [*spec.get("initContainers", []), *spec["containers"]]:
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "capabilities": {"drop": ["ALL"]},
                "readOnlyRootFilesystem": True,
            }
            assert {"requests", "limits"} == set(container["resources"])
            assert not any("SECRET" in env["name"] and "value" not in env for env in container.get("env", []))


@pytest.mark.parametrize("database", DATABASES.values(), ids=DATABASES)
def test_only_the_memory_api_has_a_token_and_it_reads_one_config_map(database: dict[str, Any]) -> None:
    group = a_group(database=database)
    with_token = [pod for pod in pods(group) if pod["spec"]["automountServiceAccountToken"]]
    assert [pod["metadata"]["labels"]["app.kubernetes.io/name"] for pod in with_token] == ["memory-api"]
    (rule,) = the(group, "Role")["rules"]
    assert (rule["resources"], rule["resourceNames"]) == (["configmaps"], [group.name])


def test_no_variable_of_a_service_reaches_a_pod() -> None:
    assert all(pod["spec"]["enableServiceLinks"] is False for pod in pods(a_group(database={"managed": {}})))


@pytest.mark.parametrize("database", DATABASES.values(), ids=DATABASES)
def test_every_selector_meets_its_own_pods_and_no_others(database: dict[str, Any]) -> None:
    group = a_group(database=database)
    labels = [pod["metadata"]["labels"] for pod in pods(group)]
    for child in desired_objects(group):
        spec = child.body.get("spec", {})
        selector = spec.get("selector", spec.get("podSelector"))
        if isinstance(selector, dict) and child.kind.kind not in ("CronJob", "PersistentVolumeClaim"):
            wanted = selector.get("matchLabels", selector)
            assert sum(wanted.items() <= found.items() for found in labels) == 1


def test_the_startup_probe_has_room_and_pods_are_added_before_one_goes() -> None:
    spec = the(a_group(), "Deployment")["spec"]
    probe = spec["template"]["spec"]["containers"][0]["startupProbe"]
    assert probe["periodSeconds"] * probe["failureThreshold"] >= 600
    assert spec["strategy"]["rollingUpdate"] == {"maxUnavailable": 0, "maxSurge": 1}


def test_another_secret_or_model_or_restart_changes_the_pods_and_a_policy_does_not() -> None:
    def template(group: Group) -> Any:
        return the(group, "Deployment")["spec"]["template"]

    group = a_group()
    provider = Referent("p", 2, {**MOCK, "embedding": {"dimensions": 9}})
    for changed in (
        replace(group, secrets="other"),
        replace(group, provider=provider),
        replace(group, restarted_at="2026-01-01"),
        replace(group, images=replace(IMAGES, memory_api="keepsake/memory-api:2")),
    ):
        assert template(changed) != template(group)
    assert template(replace(group, policy=Referent("q", 1, {}))) == template(group)


def test_the_number_of_replicas_is_handed_over_to_the_autoscaler() -> None:
    group = a_group(autoscaling={"minReplicas": 2, "maxReplicas": 5})

    def replicas(changed: Group) -> Any:
        return the(changed, "Deployment")["spec"].get("replicas")

    assert replicas(group) == 2
    assert replicas(replace(group, live_replicas=4)) == 4
    assert replicas(replace(group, live_replicas=4, scaled_by_other=True)) is None
    stamps = {
        next(child for child in desired_objects(one) if child.kind is DEPLOYMENT).stamp()
        for one in (group, replace(group, live_replicas=4), replace(group, live_replicas=4, scaled_by_other=True))
    }
    assert len(stamps) == 1


def test_data_has_no_owner_unless_it_shall_be_deleted() -> None:
    for policy, owned in (("Retain", False), ("Delete", True)):
        for database in ("managed", "cloudnativepg"):
            for child in desired_objects(a_group(database=DATABASES[database], deletionPolicy=policy)):
                metadata = child.body["metadata"]
                if "keepsake.dev/deletion-policy" in metadata.get("annotations", {}):
                    assert ("ownerReferences" in metadata) is owned
                    assert metadata["annotations"]["keepsake.dev/deletion-policy"] == policy
                else:
                    assert metadata["ownerReferences"][0]["uid"] == UID


def test_a_managed_volume_follows_the_deletion_policy() -> None:
    for policy in ("Retain", "Delete"):
        spec = the(a_group(database={"managed": {}}, deletionPolicy=policy), "StatefulSet")["spec"]
        assert spec["persistentVolumeClaimRetentionPolicy"] == {"whenDeleted": policy, "whenScaled": "Retain"}


def test_passwords_are_templates_and_stand_in_no_other_object() -> None:
    for child in desired_objects(a_group(database={"managed": {}})):
        if child.kind.kind == "Secret":
            assert child.generated["password"] == "{password}"
            assert "data" not in child.body
            assert "stringData" not in child.body
        else:
            assert child.generated == {}


def test_callers_of_other_namespaces_are_kept_out() -> None:
    policy = the(a_group(), "NetworkPolicy")["spec"]
    api = [rule for rule in policy["ingress"] if {"port": 8080, "protocol": "TCP"} in rule["ports"]]
    assert [rule["from"] for rule in api] == [[{"podSelector": {}}]]


def test_the_config_is_what_the_schema_says_and_is_read_back() -> None:
    group = replace(a_group(), policy=Referent("q", 3, {"recall": {"rrfK": 10}}))
    text = the(group, "ConfigMap")["data"]["config.json"]
    assert json.loads(text) == document(group)
    assert rendered(the(group, "ConfigMap"), "policy") == group.policy
    assert rendered(the(a_group(), "ConfigMap"), "policy") is None
    assert rendered({"data": {"config.json": "{"}}, "policy") is None


@pytest.mark.parametrize("database", DATABASES.values(), ids=DATABASES)
def test_manifests_are_plain_yaml_without_what_the_api_server_drops(database: dict[str, Any]) -> None:
    for child in desired_objects(a_group(database=database, **FULL)):
        text = yaml.safe_dump(child.manifest())
        assert ": null" not in text
        assert yaml.safe_load(text) == child.manifest()
