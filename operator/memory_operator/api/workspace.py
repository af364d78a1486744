"""Workspace: the memory services of one team or product, each a memory-api with a database of its own."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from memory_operator.api.database import Database
from memory_operator.api.pods import Autoscaling, PodOverrides, Resources
from memory_operator.api.quantities import rule, rules
from memory_operator.api.references import PolicyRef, ProviderRef
from memory_operator.api.resource import Part, Status

NAME_PATTERN = "^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$"
_HOST = r"(\\[[0-9A-Fa-f:.]+\\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?"
ServiceName = Annotated[str, Field(min_length=1, max_length=40, pattern=r"^[a-z]([-a-z0-9]*[a-z0-9])?$")]
MemoryUrl = Annotated[
    str,
    Field(
        max_length=2048,
        json_schema_extra=rules(
            rule(
                f"self.matches('^https?://{_HOST}(/[!\"$->@-~]*)?$')",
                "write http:// or https://, a host and perhaps a path, such as http://memory.shared:8080; "
                "no user, query or fragment",
            )
        ),
    ),
]


class Auth(Part):
    """Who may call the service."""

    mode: Literal["none"] = Field(
        default="none",
        description="none: callers are not authenticated and each is an admin; only pods of the Workspace's namespace "
        "may connect.",
    )


class Memory(Part):
    """The memory-api of a service, and what it stands on."""

    provider_ref: ProviderRef | None = Field(
        default=None,
        description="Where embeddings come from. Left out, no memory-api is made: ProviderNotConfigured.",
    )
    policy_ref: PolicyRef | None = Field(
        default=None, description="The rules of the memories. Left out, the defaults of MemoryPolicy hold."
    )
    database: Database = Field(description="Where the memories are kept: exactly one kind.")
    replicas: Annotated[int, Field(ge=0, le=100)] = Field(
        default=1, description="Pods of the memory-api. Does not count while autoscaling is set."
    )
    autoscaling: Autoscaling | None = Field(
        default=None, description="Pods by load instead of a fixed number. Left out, replicas counts."
    )
    resources: Resources = Field(default=Resources(), description="What each pod of the memory-api gets.")
    auth: Auth = Field(default=Auth(), description="Who may call the service.")
    pod_overrides: PodOverrides | None = Field(
        default=None, description="The short list of what may be changed about the memory-api's pods."
    )
    deletion_policy: Literal["Retain", "Delete"] = Field(
        default="Retain",
        description="Whether the database goes with the service or the Workspace. Retain keeps its volumes and "
        "passwords; a database that somebody else runs is never touched.",
    )


class ExternalService(Part):
    """A memory-api that somebody else runs."""

    memory_url: MemoryUrl = Field(alias="memoryURL", description="Address of the memory-api.")


class Service(Part):
    """One memory service: a memory-api run by the operator, or the address of one that is not."""

    model_config = ConfigDict(
        json_schema_extra=rules(
            rule(
                "self.mode != 'external' || has(self.external)",
                "mode external needs external.memoryURL, the address of the memory-api that somebody else runs",
                path=".external",
                reason="FieldValueRequired",
            ),
            rule(
                "self.mode != 'external' || !has(self.memory)",
                "mode external runs no memory-api: leave memory out, or write mode: managed",
                path=".memory",
                reason="FieldValueForbidden",
            ),
            rule(
                "self.mode != 'managed' || has(self.memory)",
                "mode managed needs memory with a database, such as memory: {database: {managed: {}}}",
                path=".memory",
                reason="FieldValueRequired",
            ),
            rule(
                "self.mode != 'managed' || !has(self.external)",
                "mode managed runs its own memory-api: leave external out, or write mode: external",
                path=".external",
                reason="FieldValueForbidden",
            ),
        )
    )

    name: ServiceName = Field(
        description="Name of the service, unique in the Workspace: lower case letters, digits and '-'. It becomes part "
        "of the names of its objects."
    )
    mode: Literal["managed", "external"] = Field(
        default="managed", description="managed: the operator runs the memory-api. external: somebody else does."
    )
    memory: Memory | None = Field(default=None, description="The memory-api and what it stands on, in mode managed.")
    external: ExternalService | None = Field(default=None, description="The memory-api elsewhere, in mode external.")


class WorkspaceSpec(Part):
    """The services."""

    services: Annotated[list[Service], Field(min_length=1, max_length=16)] = Field(
        description="The memory services, by name.",
        json_schema_extra={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]},
    )


class ServiceStatus(Part):
    """What the operator last saw of one service."""

    name: Annotated[str, Field(max_length=63)] = Field(description="Name of the service.")
    mode: Annotated[str, Field(max_length=16)] = Field(description="managed or external.")
    ready: bool = Field(description="Whether it can be used.")
    reason: Annotated[str, Field(max_length=64)] = Field(description="Why, as one word of a documented list.")
    url: Annotated[str, Field(max_length=2048)] | None = Field(default=None, description="Where it is reached.")
    database: Annotated[str, Field(max_length=320)] | None = Field(
        default=None, description="Kind of the database and the object that stands for it."
    )
    model: Annotated[str, Field(max_length=256)] | None = Field(default=None, description="The embedding model.")
    dimensions: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="Numbers in a vector, where the Provider declares them."
    )


class WorkspaceStatus(Status):
    """What the operator last saw. Written by the operator only."""

    services: Annotated[list[ServiceStatus], Field(max_length=16)] = Field(
        default=[],
        description="The services one by one.",
        json_schema_extra={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]},
    )


class Workspace(Part):
    """The memory services of one team or product, each a memory-api with a database of its own."""

    model_config = ConfigDict(
        json_schema_extra=rules(
            rule(
                f"self.metadata.name.matches('{NAME_PATTERN}')",
                "the name becomes part of the names of Services: write up to 63 lower case letters, digits and '-', "
                "starting with a letter, without dots",
            )
        )
    )

    spec: WorkspaceSpec = Field(description="The services.")
    status: WorkspaceStatus | None = Field(default=None, description="What the operator last saw.")
