"""What is watched, and how much of it is asked for."""

from dataclasses import dataclass

from memory_operator.api.group import API_VERSION, MANAGER, MEMORY_POLICY, PROVIDER, WORKSPACE, Resource
from memory_operator.desired.child import CNPG_KINDS, KINDS, SECRET
from memory_operator.kube.paths import Endpoint

OURS = f"app.kubernetes.io/managed-by={MANAGER}"


@dataclass(frozen=True, slots=True)
class Watched:
    """A kind with the selectors that bound what comes. `optional`: the cluster may not know it."""

    endpoint: Endpoint
    labels: str = ""
    fields: str = ""
    namespaced: bool = True
    optional: bool = False


def _own(resource: Resource) -> Endpoint:
    return Endpoint(API_VERSION, resource.kind, resource.plural)


WORKSPACES = _own(WORKSPACE)
PROVIDERS = _own(PROVIDER)
POLICIES = _own(MEMORY_POLICY)
CHILD_ENDPOINTS = {kind.kind: Endpoint(kind.api_version, kind.kind, kind.plural) for kind in KINDS}
WATCHED = (
    Watched(WORKSPACES),
    Watched(PROVIDERS),
    Watched(POLICIES, namespaced=False),
    # Those that manifests name bear no label of ours. Releases of Helm are Secrets of up to a megabyte.
    Watched(CHILD_ENDPOINTS[SECRET.kind], fields="type!=helm.sh/release.v1"),
    *(
        Watched(CHILD_ENDPOINTS[kind.kind], labels=OURS, optional=kind in CNPG_KINDS)
        for kind in KINDS
        if kind is not SECRET
    ),
    Watched(Endpoint("v1", "Pod", "pods"), labels=OURS),
)
