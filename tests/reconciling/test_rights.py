"""The operator's shipped rights are the ones it uses, by the API server's own account of it."""

from pathlib import Path
from typing import Any

import yaml

from memory_operator.api.group import ANNOTATION_DELETION_POLICY
from operator_process import OperatorProcess, eventually
from tests.cluster.operator_account import NAME, RIGHTS
from workspaces import a_service

CNPG = "postgresql.cnpg.io"
Right = tuple[str, str, str]


def a_cnpg_kind(kind: str, plural: str) -> dict[str, Any]:
    """As much of a kind of CloudNativePG as it takes to be watched and written."""
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{CNPG}"},
        "spec": {
            "group": CNPG,
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural},
            "versions": [version],
        },
    }


def granted() -> set[Right]:
    """Group, resource and verb of every rule that is shipped."""
    rules = [rule for document in yaml.safe_load_all(RIGHTS.read_text()) for rule in document.get("rules", ())]
    return {
        (group, resource, verb)
        for rule in rules
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


def used(place: Any) -> set[Right]:
    """What the account asked for, so far; whatever was refused is in it too."""
    found: set[Right] = set()
    for event in place.control_plane.audit_events():
        # A caller whose token was refused has no name.
        asked = event.get("objectRef")
        account = f"system:serviceaccount:{place.namespace}:{NAME}"
        if event["user"].get("username") != account or asked is None or "resource" not in asked:
            continue
        subresource = asked.get("subresource")
        resource = f"{asked['resource']}/{subresource}" if subresource else asked["resource"]
        found.add((asked.get("apiGroup", ""), resource, event["verb"]))
        if event["verb"] == "patch" and event.get("responseStatus", {}).get("code") == 201:
            found.add((asked.get("apiGroup", ""), resource, "create"))
    return found


def test_what_is_granted_is_what_is_used(place: Any, tmp_path: Path) -> None:
    kinds = [a_cnpg_kind("Cluster", "clusters"), a_cnpg_kind("Database", "databases")]
    place.apply(*kinds)
    names = [f"crd/{kind['metadata']['name']}" for kind in kinds]
    try:
        place.control_plane.kubectl("wait", "--for=condition=Established", "--timeout=60s", *names)
        kubeconfig = place.operator_kubeconfig()
        settings = {"WATCH_NAMESPACES": ""}
        with OperatorProcess(kubeconfig, place.namespace, tmp_path / "operator.log", **settings) as operator:
            _use_everything(place, operator)
            place.stays_quiet(operator)
            assert used(place) == granted()
    finally:
        place.control_plane.kubectl("delete", "--ignore-not-found", *names)


def _use_everything(place: Any, operator: OperatorProcess) -> None:
    place.secret("db", uri=f"postgresql://u:canary-password@{place.namespace}/d")
    place.provider()
    place.policy()
    scaled = {"autoscaling": {"minReplicas": 2, "maxReplicas": 3}}
    # What is kept at first and given up then has its metadata applied, passwords included.
    for policy in ("Retain", "Delete"):
        given = {**scaled, "deletionPolicy": policy}
        place.workspace(
            a_service(policyRef={"name": place.namespace}),
            a_service("own", database={"managed": {}}, **given),
            a_service("cnpg", database={"cloudnativepg": {}}, **given),
        )
        eventually(lambda p=policy: _kept(place) == {p}, told=operator.tail)
    eventually(lambda: len(place.list("deployments")) == 2 and place.list("cronjobs"), told=operator.tail)
    eventually(lambda: not place.rolling(), told=operator.tail)
    place.workspace(a_service())
    eventually(
        lambda: len(place.list("deployments")) == 1 and not place.list("cronjobs"),
        told=operator.tail,
    )
    place.ready()


def _kept(place: Any) -> set[str]:
    """What the Secrets of databases say of their end."""
    found = [one["metadata"].get("annotations", {}) for one in place.list("secrets")]
    return {one[ANNOTATION_DELETION_POLICY] for one in found if ANNOTATION_DELETION_POLICY in one}
