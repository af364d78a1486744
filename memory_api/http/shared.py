"""The shared tiers: institutional memories, and an agent's own."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from memory_api.domain.subject import Subject
from memory_api.errors import InvalidRequest
from memory_api.http.body import StrictRoute
from memory_api.http.deps import CallerOf, ContextOf
from memory_api.http.memories import created, list_reply
from memory_api.http.problem import problems
from memory_api.http.requests import AgentListQuery, AgentSave, SharedListQuery, SharedSave
from memory_api.http.responses import ListOut, SavedOut
from memory_api.services.browse import Listing, list_memories
from memory_api.services.context import Context
from memory_api.services.remember import remember

router = APIRouter(route_class=StrictRoute, tags=["shared tiers"])


def _agent(fields: AgentSave | AgentListQuery, ctx: Context) -> Subject:
    subject = fields.subject(ctx)
    if subject.agent is None:
        raise InvalidRequest("agent_id is required", [(("agent_id",), "is required")])
    return subject


def _listing(query: SharedListQuery | AgentListQuery, subject: Subject) -> Listing:
    return Listing(
        subject=subject,
        kinds=query.type,
        limit=query.limit,
        offset=query.offset,
        cursor=query.cursor,
        count=query.count,
    )


@router.post(
    "/institutional/memories",
    status_code=201,
    response_model=SavedOut,
    responses=problems(404, 413),
    summary="Save for the whole workspace",
    operation_id="save_institutional_memory",
)
async def save_institutional(body: SharedSave, ctx: ContextOf, caller: CallerOf) -> Response:
    """Save what holds for the whole workspace."""
    return created(await remember(ctx, caller, body.draft(body.subject(ctx))))


@router.get(
    "/institutional/memories",
    response_model=ListOut,
    responses=problems(404),
    summary="List the workspace's own",
    operation_id="list_institutional_memories",
)
async def list_institutional(query: Annotated[SharedListQuery, Query()], ctx: ContextOf, caller: CallerOf) -> Response:
    """List the institutional memories, newest first."""
    return list_reply(await list_memories(ctx, caller, _listing(query, query.subject(ctx))))


@router.post(
    "/agent-memories",
    status_code=201,
    response_model=SavedOut,
    responses=problems(404, 413),
    summary="Save for one agent",
    operation_id="save_agent_memory",
)
async def save_agent(body: AgentSave, ctx: ContextOf, caller: CallerOf) -> Response:
    """Save what one agent knows for all its users."""
    return created(await remember(ctx, caller, body.draft(_agent(body, ctx))))


@router.get(
    "/agent-memories",
    response_model=ListOut,
    responses=problems(404),
    summary="List one agent's own",
    operation_id="list_agent_memories",
)
async def list_agent(query: Annotated[AgentListQuery, Query()], ctx: ContextOf, caller: CallerOf) -> Response:
    """List one agent's memories, newest first."""
    return list_reply(await list_memories(ctx, caller, _listing(query, _agent(query, ctx))))
