"""The shared tiers: institutional memories, and an agent's own."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from memory_api.domain.subject import Subject
from memory_api.errors import InvalidRequest
from memory_api.http.body import StrictRoute
from memory_api.http.deps import CallerOf, ContextOf
from memory_api.http.memories import list_reply, saved_json
from memory_api.http.requests import AgentListQuery, AgentSave, SharedListQuery, SharedSave
from memory_api.http.responses import ListOut, SavedOut, reply
from memory_api.http.subject import SubjectFields
from memory_api.services.browse import Listing, list_memories
from memory_api.services.context import Context
from memory_api.services.remember import remember

router = APIRouter(route_class=StrictRoute, tags=["shared tiers"])


def _subject(fields: SharedSave | SharedListQuery, ctx: Context) -> Subject:
    """The shared subject that the route names: an agent where there is one, else the institution."""
    said = {name: getattr(fields, name, None) for name in ("agent_id", "agent", "facet", "workspace_id", "workspace")}
    return SubjectFields.model_construct(user_id=None, virtual_user_id=None, **said).subject(ctx)


def _agent(fields: AgentSave | AgentListQuery, ctx: Context, place: str) -> Subject:
    subject = _subject(fields, ctx)
    if subject.agent is None:
        raise InvalidRequest("agent_id is required", [((place, "agent_id"), "is required")])
    return subject


def _listing(query: SharedListQuery, subject: Subject) -> Listing:
    return Listing(
        subject=subject,
        kinds=query.type,
        limit=query.limit,
        offset=query.offset,
        cursor=query.cursor,
        count=query.count,
    )


@router.post("/institutional/memories", status_code=201, response_model=SavedOut)
async def save_institutional(body: SharedSave, ctx: ContextOf, caller: CallerOf) -> Response:
    """Save what holds for the whole workspace."""
    return reply(saved_json(await remember(ctx, caller, body.draft(_subject(body, ctx)))), 201)


@router.get("/institutional/memories", response_model=ListOut)
async def list_institutional(query: Annotated[SharedListQuery, Query()], ctx: ContextOf, caller: CallerOf) -> Response:
    """List the institutional memories, newest first."""
    return list_reply(await list_memories(ctx, caller, _listing(query, _subject(query, ctx))))


@router.post("/agent-memories", status_code=201, response_model=SavedOut)
async def save_agent(body: AgentSave, ctx: ContextOf, caller: CallerOf) -> Response:
    """Save what one agent knows for all its users."""
    return reply(saved_json(await remember(ctx, caller, body.draft(_agent(body, ctx, "body")))), 201)


@router.get("/agent-memories", response_model=ListOut)
async def list_agent(query: Annotated[AgentListQuery, Query()], ctx: ContextOf, caller: CallerOf) -> Response:
    """List one agent's memories, newest first."""
    return list_reply(await list_memories(ctx, caller, _listing(query, _agent(query, ctx, "query"))))
