"""References from one object to another in the same namespace, and the strings that name things."""

from typing import Annotated

from pydantic import Field

from memory_operator.api.resource import Part

SUBDOMAIN = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"
ObjectName = Annotated[str, Field(min_length=1, max_length=253, pattern=SUBDOMAIN)]


class ProviderRef(Part):
    """A Provider in the namespace of the Workspace."""

    name: ObjectName = Field(description="Name of the Provider.")


class PolicyRef(Part):
    """A MemoryPolicy. They are cluster-scoped."""

    name: ObjectName = Field(description="Name of the MemoryPolicy.")


class DatabaseSecretRef(Part):
    """One key of a Secret in the namespace of the Workspace."""

    name: ObjectName = Field(description="Name of the Secret.")
    key: Annotated[str, Field(min_length=1, max_length=253, pattern=r"^[-._a-zA-Z0-9]+$")] = Field(
        default="uri", description="Key in the Secret that holds postgresql://USER:PASSWORD@HOST:PORT/DATABASE."
    )
