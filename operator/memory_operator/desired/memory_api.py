"""The Deployment of a memory-api.

An init container brings the schema to head and waits for a database that is still starting; a configuration that can
never work (exit code 2) ends it, so that the pod says why. Pods are replaced without taking one away first, so that a
new model which the store refuses leaves the old pods serving.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from memory_operator.api.group import (
    ANNOTATION_PROVIDER,
    ANNOTATION_RESTARTED_AT,
    ANNOTATION_SECRETS,
    ANNOTATION_TEMPLATE,
)
from memory_operator.desired.child import DEPLOYMENT, Child
from memory_operator.desired.database import connection
from memory_operator.desired.group import Group
from memory_operator.desired.security import container_security, pod_security, resources

COMPONENT = "memory-api"
PORTS = {"api": 8080, "health": 8081, "metrics": 9090}
_MIGRATE = "until keepsake migrate; do [ $? -eq 2 ] && exit 2; sleep 2; done"
_SPREAD_OVER = ("kubernetes.io/hostname", "topology.kubernetes.io/zone")
_CONFIG, _DATABASE, _SECRETS = "/etc/keepsake/config", "/etc/keepsake/database", "/etc/keepsake/secrets"


def deployment(group: Group) -> Child:
    """The Deployment. `spec.replicas` is left out once an autoscaler owns it: sending it would fight, and ceasing to
    send it before that would make it fall to one."""
    memory, labels = group.memory, group.selector(COMPONENT)
    spec: dict[str, Any] = {
        "selector": {"matchLabels": labels},
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0, "maxSurge": 1}},
        "progressDeadlineSeconds": 900,
        "revisionHistoryLimit": 3,
        "template": _template(group),
    }
    unhashed: tuple[str, ...] = ()
    if memory.autoscaling is None:
        spec["replicas"] = memory.replicas
    else:
        unhashed = ("replicas",)
        if not group.scaled_by_other:
            live = group.live_replicas
            spec["replicas"] = memory.autoscaling.min_replicas if live is None else live
    metadata = group.metadata(COMPONENT, group.name)
    # What tells an edit that replaces pods, which the fleet's budget rations, from one that does not.
    metadata["annotations"] = {ANNOTATION_TEMPLATE: _digest(spec["template"])}
    return Child(DEPLOYMENT, {"metadata": metadata, "spec": spec}, unhashed=unhashed)


def _template(group: Group) -> dict[str, Any]:
    overrides = group.memory.pod_overrides
    labels = dict(overrides.labels or {}) if overrides else {}
    annotations = dict(overrides.annotations or {}) if overrides else {}
    annotations[ANNOTATION_SECRETS] = group.secrets
    # memory-api follows policy edits as it runs; another Provider takes new pods.
    annotations[ANNOTATION_PROVIDER] = _digest(group.provider.spec) if group.provider else ""
    if group.restarted_at:
        annotations[ANNOTATION_RESTARTED_AT] = group.restarted_at
    return {
        "metadata": {"labels": {**labels, **group.labels(COMPONENT)}, "annotations": annotations},
        "spec": {
            "serviceAccountName": group.name,
            # The token serves one purpose: following the one ConfigMap that its Role names.
            "automountServiceAccountToken": True,
            "enableServiceLinks": False,
            "terminationGracePeriodSeconds": 30,
            "securityContext": pod_security(),
            "topologySpreadConstraints": [_spread(group, key) for key in _SPREAD_OVER],
            "initContainers": [_container(group, "migrate", {"command": ["/bin/sh", "-c", _MIGRATE]})],
            "containers": [_container(group, "memory-api", _serving())],
            "volumes": _volumes(group),
            **_placement(group),
        },
    }


def _digest(spec: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(dict(spec), sort_keys=True).encode()).hexdigest()[:16]


def _placement(group: Group) -> dict[str, Any]:
    overrides = group.memory.pod_overrides
    if overrides is None:
        return {}
    given = overrides.model_dump(by_alias=True, exclude_none=True)
    placed = {name: given[name] for name in ("nodeSelector", "tolerations", "priorityClassName") if given.get(name)}
    if overrides.image_pull_secrets:
        placed["imagePullSecrets"] = [{"name": name} for name in overrides.image_pull_secrets]
    return placed


def _spread(group: Group, topology_key: str) -> dict[str, Any]:
    return {
        "maxSkew": 1,
        "topologyKey": topology_key,
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": group.selector(COMPONENT)},
    }


def _container(group: Group, name: str, special: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": name,
        "image": group.images.memory_api,
        "imagePullPolicy": group.images.pull_policy,
        "env": [{"name": name, "value": value} for name, value in _environment(group).items()],
        "resources": resources(group.memory.resources),
        "securityContext": container_security(),
        # The last lines of a program that ends say why; the operator copies the reason into a condition.
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": _mounts(group),
        **special,
    }


def _serving() -> dict[str, Any]:
    arguments = ["--host", "0.0.0.0", "--port", "8080", "--health-port", "8081", "--metrics-port", "9090"]  # noqa: S104
    return {
        # --insecure says that callers are not authenticated; the NetworkPolicy bounds who they are.
        "command": ["keepsake", "serve", *arguments, "--insecure"],
        "ports": [{"name": name, "containerPort": port, "protocol": "TCP"} for name, port in PORTS.items()],
        "startupProbe": {**_probe("/healthz"), "periodSeconds": 2, "failureThreshold": 300},
        "livenessProbe": {**_probe("/healthz"), "periodSeconds": 10, "failureThreshold": 6, "timeoutSeconds": 5},
        "readinessProbe": {**_probe("/readyz"), "periodSeconds": 5, "failureThreshold": 3, "timeoutSeconds": 5},
    }


def _probe(path: str) -> dict[str, Any]:
    return {"httpGet": {"path": path, "port": "health"}}


def _environment(group: Group) -> dict[str, str]:
    return {
        "KEEPSAKE_WORKSPACE": group.owner.name,
        "KEEPSAKE_WORKSPACE_UID": group.owner.uid,
        "KEEPSAKE_CONFIG_FILE": f"{_CONFIG}/config.json",
        "KEEPSAKE_CONFIG_MAP": group.name,
        "KEEPSAKE_DATABASE_URL_FILE": f"{_DATABASE}/url",
        "KEEPSAKE_SECRETS_DIR": _SECRETS,
    }


def _credential(group: Group) -> dict[str, str] | None:
    """`name` and `key` of the Provider's API key, None where it has none."""
    credential = group.provider.spec.get("credential") if group.provider else None
    return dict(credential["secretRef"]) if credential else None


def _mounts(group: Group) -> list[dict[str, Any]]:
    mounts: list[dict[str, Any]] = [
        {"name": "config", "mountPath": _CONFIG, "readOnly": True},
        {"name": "database", "mountPath": _DATABASE, "readOnly": True},
        {"name": "tmp", "mountPath": "/tmp"},  # noqa: S108 (an emptyDir of the pod)
    ]
    if credential := _credential(group):
        mounts.append({"name": "credential", "mountPath": f"{_SECRETS}/{credential['name']}", "readOnly": True})
    return mounts


def _volumes(group: Group) -> list[dict[str, Any]]:
    secret, key = connection(group)
    volumes: list[dict[str, Any]] = [
        {"name": "config", "configMap": {"name": group.name}},
        {"name": "database", "secret": {"secretName": secret, "items": [{"key": key, "path": "url"}]}},
        {"name": "tmp", "emptyDir": {}},
    ]
    if credential := _credential(group):
        item = {"key": credential["key"], "path": credential["key"]}
        volumes.append({"name": "credential", "secret": {"secretName": credential["name"], "items": [item]}})
    return volumes
