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
