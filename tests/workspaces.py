"""Workspaces and what surrounds them, as the API server stores them."""

import base64
import copy
from collections.abc import Iterable, Mapping
from typing import Any

from memory_api.manifests.schema import drop_nulls, fill_defaults, schema_of
from memory_operator.api.workspace import Service, Workspace
from memory_operator.desired.child import Child
from memory_operator.desired.group import Group, Images, Owner, Referent
from memory_operator.observe.secrets import SecretFacts, secret_facts
from memory_operator.runtime.view import View

UID = "0f4f9d0e-3a52-4ee0-9d3f-0d7a0f7b2c11"
IMAGES = Images(memory_api="keepsake/memory-api:1", database="keepsake/postgresql:1")
MOCK = {"role": "embedding", "type": "mock", "embedding": {"batchSize": 32, "dimensions": 8}}
HMAC_KEY = b"k" * 32


def stored(kind: str, spec: Mapping[str, Any], name: str = "a") -> dict[str, Any]:
    """The object as the API server stores it: defaults filled in."""
    value = {"metadata": {"name": name, "generation": 1}, "spec": copy.deepcopy(dict(spec))}
    drop_nulls(value, schema_of(kind))
    fill_defaults(value, schema_of(kind))
    return value


def a_service(name: str = "default", **memory: Any) -> dict[str, Any]:
    """A service in mode managed with a Provider and an external database, unless `memory` says otherwise."""
    given = {
        "providerRef": {"name": "p"},
        "database": {"external": {"secretRef": {"name": "db"}}},
        **memory,
    }
    return {"name": name, "memory": {field: value for field, value in given.items() if value is not None}}


def a_workspace(
    *services: dict[str, Any], name: str = "research", uid: str = UID, **annotations: str
) -> dict[str, Any]:
    """A Workspace; annotations are given as paused="true"."""
    workspace = stored("Workspace", {"services": list(services) or [a_service()]}, name)
    workspace["metadata"] |= {
        "namespace": "team",
        "uid": uid,
        "annotations": {f"keepsake.dev/{key.replace('_', '-')}": value for key, value in annotations.items()},
    }
    return workspace


def a_group(name: str = "research", service: str = "default", uid: str = UID, **memory: Any) -> Group:
    """A service with a Provider, ready for the builders."""
    workspace = Workspace.model_validate(a_workspace(a_service(service, **memory), name=name))
    found: Service = workspace.spec.services[0]
    assert found.memory is not None
    provider = Referent("p", 1, MOCK) if found.memory.provider_ref else None
    return Group(Owner(name, "team", uid), service, found.memory, IMAGES, provider=provider, secrets="digest")


def a_secret(name: str, **values: str | bytes) -> SecretFacts:
    """The facts of a Secret with these values."""
    raw = {key: value if isinstance(value, bytes) else value.encode() for key, value in values.items()}
    data = {key: base64.b64encode(value).decode() for key, value in raw.items()}
    return secret_facts({"metadata": {"name": name}, "data": data}, HMAC_KEY)


def a_view(workspace: dict[str, Any] | None = None, children: Iterable[Mapping[str, Any]] = (), **parts: Any) -> View:
    """A Workspace whose Provider and database Secret are there."""
    given: dict[str, Any] = {
        "providers": {"p": stored("Provider", {"type": "mock"}, "p")},
        "secrets": {"db": a_secret("db", uri="postgresql://u:secret@h/d")},
        **parts,
    }
    return View(
        workspace or a_workspace(), children={(one["kind"], one["metadata"]["name"]): one for one in children}, **given
    )


def live(child: Child, **status: Any) -> dict[str, Any]:
    """The child as the API server would hold it once it is applied."""
    found = copy.deepcopy(child.manifest())
    found["metadata"] |= {"uid": f"uid-of-{child.name}", "resourceVersion": "7", "generation": 1}
    return {**found, "status": status} if status else found


def rolled_out(replicas: int = 1) -> dict[str, int]:
    """The status of a Deployment whose pods are all new and ready."""
    counts = ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas")
    return {"observedGeneration": 1, **dict.fromkeys(counts, replicas)}
