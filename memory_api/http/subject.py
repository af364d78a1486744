"""The subject of a request, wherever it is stated: query, body or the body's `scope`."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from memory_api.domain.subject import Subject
from memory_api.errors import InvalidRequest, NotFound
from memory_api.http.fields import Facet, Identifier
from memory_api.services.context import Context

_ALIASES = {
    "user": ("user_id", "virtual_user_id"),
    "agent": ("agent_id", "agent"),
    "facet": ("facet",),
    "workspace": ("workspace_id", "workspace"),
}


class Strict(BaseModel):
    """A request: an unknown field is refused by name, because it was meant to do something."""

    model_config = ConfigDict(extra="forbid")


class SharedFields(Strict):
    """Where a memory of the institution stands. Leave a field out rather than blank: a blank is refused."""

    facet: Annotated[Facet | None, Field(description="The container, such as project:apollo.")] = None
    workspace_id: Annotated[
        Identifier | None, Field(description="This workspace's uid or name; another one is 404.")
    ] = None
    workspace: Annotated[Identifier | None, Field(description="Alias of workspace_id.")] = None

    def subject(self, ctx: Context) -> Subject:
        """The subject, from every place where it may stand.

        Raises:
            InvalidRequest: two places name different subjects.
            NotFound: the request is for another workspace.
        """
        said = {meaning: self._said(meaning) for meaning in _ALIASES}
        if said["workspace"] not in (None, ctx.workspace_name, str(ctx.workspace_uid)):
            raise NotFound("no such workspace here: one memory-api serves one workspace")
        return Subject(said["user"], said["agent"], said["facet"])

    def _said(self, meaning: str) -> str | None:
        places: list[Any] = [self, getattr(self, "scope", None)]
        values = {
            value for place in places for name in _ALIASES[meaning] if (value := getattr(place, name, None)) is not None
        }
        if len(values) > 1:
            names = " and ".join(_ALIASES[meaning])
            raise InvalidRequest(
                f"{names} name different values; state one",
                [((_ALIASES[meaning][0],), "stated more than once, with different values")],
            )
        return values.pop() if values else None


class AgentFields(SharedFields):
    """The agent that a request is about."""

    agent_id: Annotated[Identifier | None, Field(description="The agent; alias agent.")] = None
    agent: Annotated[Identifier | None, Field(description="Alias of agent_id.")] = None


class SubjectFields(AgentFields):
    """Whom the request is about: a user, an agent, a user as one agent knows them, or nobody in particular."""

    user_id: Annotated[Identifier | None, Field(description="The user; alias virtual_user_id.")] = None
    virtual_user_id: Annotated[Identifier | None, Field(description="Alias of user_id.")] = None


_SCOPE = Field(description="The subject's fields may also stand here, as Omnia's clients send them.")


class SharedBody(SharedFields):
    scope: Annotated[SharedFields | None, _SCOPE] = None


class AgentBody(AgentFields):
    scope: Annotated[AgentFields | None, _SCOPE] = None


class SubjectBody(SubjectFields):
    scope: Annotated[SubjectFields | None, _SCOPE] = None
