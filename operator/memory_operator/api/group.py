"""Names of the API group: everything that a manifest, a URL path or an RBAC rule spells."""

from dataclasses import dataclass
from typing import Literal

GROUP = "keepsake.dev"
VERSION = "v1alpha1"
API_VERSION = f"{GROUP}/{VERSION}"
CATEGORY = "memory"


@dataclass(frozen=True, slots=True)
class Resource:
    """One kind and the names under which the API server and kubectl know it."""

    kind: str
    plural: str
    short_name: str
    scope: Literal["Cluster", "Namespaced"]

    @property
    def singular(self) -> str:
        return self.kind.lower()

    @property
    def crd_name(self) -> str:
        return f"{self.plural}.{GROUP}"


MEMORY_POLICY = Resource("MemoryPolicy", "memorypolicies", "mp", "Cluster")
PROVIDER = Resource("Provider", "providers", "mprov", "Namespaced")
WORKSPACE = Resource("Workspace", "workspaces", "mws", "Namespaced")

MANAGER = "keepsake-operator"
STATUS_MANAGER = "keepsake-operator-status"

# Labels and annotations on what the operator makes.
LABEL_WORKSPACE = f"{GROUP}/workspace"
LABEL_WORKSPACE_UID = f"{GROUP}/workspace-uid"
LABEL_SERVICE = f"{GROUP}/service"
ANNOTATION_APPLIED = f"{GROUP}/applied"
ANNOTATION_DELETION_POLICY = f"{GROUP}/deletion-policy"
ANNOTATION_TEMPLATE = f"{GROUP}/template"
ANNOTATION_SECRETS = f"{GROUP}/secrets"
ANNOTATION_PROVIDER = f"{GROUP}/provider"

# Annotations that people set on a Workspace.
ANNOTATION_PAUSED = f"{GROUP}/paused"
ANNOTATION_RESTARTED_AT = f"{GROUP}/restarted-at"
ANNOTATION_ROLLOUT_RESUME = f"{GROUP}/rollout-resume"
