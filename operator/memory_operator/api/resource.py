"""What every kind shares: how its models read, and the status with conditions."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel


class Part(BaseModel):
    """A piece of a manifest: camelCase outside, snake_case inside, never changed once read.

    Fields that this version does not know are passed over: refusing them is the API server's work, and an operator of
    yesterday must be able to read objects of tomorrow.
    """

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, frozen=True, extra="ignore")


class Condition(Part):
    """One observation about the object, in the form that `kubectl wait` reads."""

    type: Annotated[str, Field(max_length=316)] = Field(description="What is observed, such as Ready.")
    status: Literal["True", "False", "Unknown"] = Field(description="Whether it holds: True, False or Unknown.")
    reason: Annotated[str, Field(min_length=1, max_length=1024)] = Field(
        description="Why, as one word of a documented list."
    )
    message: Annotated[str, Field(max_length=32768)] = Field(description="Why, as a sentence that names the remedy.")
    last_transition_time: datetime = Field(description="When `status` last changed.")
    observed_generation: Annotated[int, Field(ge=0)] | None = Field(
        default=None, description="The generation of the object that was looked at."
    )


class Status(Part):
    """What the operator last saw. Written by the operator only."""

    observed_generation: Annotated[int, Field(ge=0)] | None = Field(
        default=None, description="The generation of the object that this status speaks of."
    )
    conditions: Annotated[list[Condition], Field(max_length=16)] = Field(
        default=[],
        description="Conditions by type. `Ready` is their summary.",
        json_schema_extra={"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]},
    )


class SharedStatus(Status):
    """What the operator last saw of something that Workspaces name. Written by the operator only."""

    workspaces: Annotated[int, Field(ge=0)] | None = Field(
        default=None, description="How many Workspaces name it: whom a change or a deletion concerns."
    )
