"""One service of a Workspace with everything it refers to, frozen: what the builders read."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memory_operator.api.group import (
    ANNOTATION_DELETION_POLICY,
    API_VERSION,
    LABEL_SERVICE,
    LABEL_WORKSPACE,
    LABEL_WORKSPACE_UID,
    MANAGER,
)
from memory_operator.api.workspace import Memory
from memory_operator.desired import names


@dataclass(frozen=True, slots=True)
class Images:
    """What pods run. `pull_policy` as Kubernetes spells it."""

    memory_api: str
    database: str
    pull_policy: str = "IfNotPresent"


@dataclass(frozen=True, slots=True)
class Owner:
    """The Workspace."""

    name: str
    namespace: str
    uid: str


@dataclass(frozen=True, slots=True)
class Referent:
    """A Provider or MemoryPolicy as it was read: `spec` is what the API server stored."""

    name: str
    generation: int
    spec: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Group:
    """One service in mode managed.

    `provider` is None where no memory-api can be made yet. `secrets` is the keyed digest of every secret value that the
    pods read. `live_replicas` is what the Deployment has now, None before there is one; `scaled_by_other` says that
    somebody else owns that number.
    """

    owner: Owner
    service: str
    memory: Memory
    images: Images
    provider: Referent | None = None
    policy: Referent | None = None
    secrets: str = ""
    restarted_at: str = ""
    live_replicas: int | None = None
    scaled_by_other: bool = False

    @property
    def name(self) -> str:
        """Of the memory-api's objects."""
        return names.memory_api(self.owner.name, self.service)

    @property
    def database_name(self) -> str:
        """Of the objects that hold data."""
        return names.database(self.owner.name, self.service, self.owner.uid)

    @property
    def url(self) -> str:
        """Where the memory-api is reached inside the cluster."""
        return f"http://{self.name}.{self.owner.namespace}.svc:8080"

    def selector(self, component: str) -> dict[str, str]:
        """Labels that only the pods of this component of this service bear. They never change: selectors cannot."""
        return {
            "app.kubernetes.io/name": component,
            LABEL_WORKSPACE_UID: self.owner.uid,
            LABEL_SERVICE: self.service,
        }

    def labels(self, component: str) -> dict[str, str]:
        return {
            **self.selector(component),
            "app.kubernetes.io/instance": self.owner.name,
            "app.kubernetes.io/part-of": "keepsake",
            "app.kubernetes.io/managed-by": MANAGER,
            LABEL_WORKSPACE: self.owner.name,
        }

    def metadata(self, component: str, name: str) -> dict[str, Any]:
        """Of an object that goes with the Workspace."""
        return {
            "name": name,
            "namespace": self.owner.namespace,
            "labels": self.labels(component),
            "ownerReferences": [self._owner_reference()],
        }

    def data_metadata(self, component: str, name: str) -> dict[str, Any]:
        """Of an object that holds data: it goes with the Workspace only where its policy says so."""
        metadata = self.metadata(component, name)
        if self.memory.deletion_policy == "Retain":
            del metadata["ownerReferences"]
        metadata["annotations"] = {ANNOTATION_DELETION_POLICY: self.memory.deletion_policy}
        return metadata

    def _owner_reference(self) -> dict[str, Any]:
        return {
            "apiVersion": API_VERSION,
            "kind": "Workspace",
            "name": self.owner.name,
            "uid": self.owner.uid,
            "controller": True,
            "blockOwnerDeletion": True,
        }
