"""What one pass looks at: taken from the store at one moment, and not changed while the pass runs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from memory_operator.api.group import ANNOTATION_PAUSED, ANNOTATION_RESTARTED_AT, LABEL_SERVICE
from memory_operator.api.workspace import WorkspaceSpec
from memory_operator.desired.child import ChildKind
from memory_operator.desired.group import Owner
from memory_operator.observe.secrets import SecretFacts

Live = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class View:
    """One Workspace and everything around it.

    `children` are the live objects of the Workspace's uid by kind and name. `claims` says for the digest of a
    database's address which service was the first to use it, as `namespace/workspace/service`.
    """

    workspace: Live
    policies: Mapping[str, Live] = field(default_factory=dict)
    providers: Mapping[str, Live] = field(default_factory=dict)
    secrets: Mapping[str, SecretFacts] = field(default_factory=dict)
    children: Mapping[tuple[str, str], Live] = field(default_factory=dict)
    pods: tuple[Live, ...] = ()
    cnpg_installed: bool = False
    claims: Mapping[str, str] = field(default_factory=dict)
    namespace_terminating: bool = False

    @property
    def owner(self) -> Owner:
        metadata = self.workspace["metadata"]
        return Owner(metadata["name"], metadata["namespace"], metadata["uid"])

    @property
    def generation(self) -> int:
        return int(self.workspace["metadata"].get("generation", 0))

    @property
    def spec(self) -> WorkspaceSpec:
        """The typed spec; the API server has filled in the defaults.

        Raises:
            pydantic.ValidationError: an object that an older CRD let in.
        """
        return WorkspaceSpec.model_validate(self.workspace["spec"])

    @property
    def status(self) -> Live:
        found: Live = self.workspace.get("status") or {}
        return found

    @property
    def paused(self) -> bool:
        return self._annotation(ANNOTATION_PAUSED) == "true"

    @property
    def restarted_at(self) -> str:
        return self._annotation(ANNOTATION_RESTARTED_AT)

    def child(self, kind: ChildKind, name: str) -> Live | None:
        return self.children.get((kind.kind, name))

    def pods_of(self, service: str, component: str) -> list[Live]:
        """Pods of one component of one service."""
        wanted = {LABEL_SERVICE: service, "app.kubernetes.io/name": component}
        return [pod for pod in self.pods if wanted.items() <= (pod["metadata"].get("labels") or {}).items()]

    def _annotation(self, name: str) -> str:
        return str((self.workspace["metadata"].get("annotations") or {}).get(name, ""))
