"""Where objects of a kind are found on the API server."""

from dataclasses import dataclass
from urllib.parse import quote


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A kind as a place."""

    api_version: str
    kind: str
    plural: str

    def path(self, namespace: str = "", name: str = "") -> str:
        """The path of one object, or of all in a namespace, or of all. Without a namespace: a cluster-scoped object."""
        root = f"/apis/{self.api_version}" if "/" in self.api_version else f"/api/{self.api_version}"
        parts = [root, *(("namespaces", quote(namespace, safe="")) if namespace else ()), self.plural]
        return "/".join([*parts, *((quote(name, safe=""),) if name else ())])


LEASE = Endpoint("coordination.k8s.io/v1", "Lease", "leases")
EVENT = Endpoint("v1", "Event", "events")
