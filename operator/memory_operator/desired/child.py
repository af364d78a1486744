"""An object that should exist, and the kinds that the operator makes.

A child's `body` holds only what the operator means to own; everything else about the live object is somebody else's.
"""

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

from memory_operator.api.group import ANNOTATION_APPLIED

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ChildKind:
    """A kind of object, as the API server and RBAC spell it. `order`: lower ones are written first."""

    api_version: str
    kind: str
    plural: str
    order: int

    @property
    def group(self) -> str:
        return self.api_version.rpartition("/")[0]


SERVICE_ACCOUNT = ChildKind("v1", "ServiceAccount", "serviceaccounts", 0)
ROLE = ChildKind("rbac.authorization.k8s.io/v1", "Role", "roles", 1)
ROLE_BINDING = ChildKind("rbac.authorization.k8s.io/v1", "RoleBinding", "rolebindings", 2)
NETWORK_POLICY = ChildKind("networking.k8s.io/v1", "NetworkPolicy", "networkpolicies", 3)
SECRET = ChildKind("v1", "Secret", "secrets", 4)
CONFIG_MAP = ChildKind("v1", "ConfigMap", "configmaps", 5)
CLAIM = ChildKind("v1", "PersistentVolumeClaim", "persistentvolumeclaims", 6)
SERVICE = ChildKind("v1", "Service", "services", 7)
STATEFUL_SET = ChildKind("apps/v1", "StatefulSet", "statefulsets", 8)
CLUSTER = ChildKind("postgresql.cnpg.io/v1", "Cluster", "clusters", 9)
DATABASE = ChildKind("postgresql.cnpg.io/v1", "Database", "databases", 10)
DEPLOYMENT = ChildKind("apps/v1", "Deployment", "deployments", 11)
DISRUPTION_BUDGET = ChildKind("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets", 12)
AUTOSCALER = ChildKind("autoscaling/v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers", 13)
CRON_JOB = ChildKind("batch/v1", "CronJob", "cronjobs", 14)
KINDS = (
    SERVICE_ACCOUNT, ROLE, ROLE_BINDING, NETWORK_POLICY, SECRET, CONFIG_MAP, CLAIM, SERVICE, STATEFUL_SET, CLUSTER,
    DATABASE, DEPLOYMENT, DISRUPTION_BUDGET, AUTOSCALER, CRON_JOB,
)  # fmt: skip
CNPG_KINDS = (CLUSTER, DATABASE)


@dataclass(frozen=True, slots=True)
class Child:
    """One object that should exist.

    `generated`: a Secret that is created once and never applied; its values are templates in which `{password}` stands
    for letters and digits drawn at the moment of creation. `guards` is then the name of the StatefulSet whose data the
    password opens: while that lives, a lost Secret must not be replaced by one with another password.
    `unhashed` are top-level fields of `spec` that follow the live object and say nothing about the manifest.
    """

    kind: ChildKind
    body: Json
    generated: dict[str, str] = field(default_factory=dict)
    guards: str = ""
    unhashed: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        name: str = self.body["metadata"]["name"]
        return name

    @property
    def key(self) -> tuple[str, str]:
        """(kind, name): what tells children of one namespace apart."""
        return self.kind.kind, self.name

    def stamp(self) -> str:
        """A digest of the body: a live object that bears another was applied from another manifest."""
        spec = {name: part for name, part in self.body.get("spec", {}).items() if name not in self.unhashed}
        text = json.dumps({**self.body, "spec": spec}, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def manifest(self) -> Json:
        """The body as it is sent, with its stamp."""
        metadata = self.body["metadata"]
        annotations = {**metadata.get("annotations", {}), ANNOTATION_APPLIED: self.stamp()}
        return {
            "apiVersion": self.kind.api_version,
            "kind": self.kind.kind,
            **self.body,
            "metadata": {**metadata, "annotations": annotations},
        }
