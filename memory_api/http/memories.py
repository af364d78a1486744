"""/memories: save, list, search, open, change, forget."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query, Response
from pydantic import ValidationError

from memory_api.domain.caller import require_user_or_agent
from memory_api.domain.memory import Draft
from memory_api.errors import InvalidRequest, NotFound
from memory_api.http.body import StrictRoute
from memory_api.http.deps import CallerOf, ContextOf, IfMatch
from memory_api.http.hits import recall_json
from memory_api.http.problem import field_problems, problem_json, problems
from memory_api.http.requests import BatchSave, ListQuery, OneSubject, Patch, Save, SearchQuery
from memory_api.http.responses import (
    BatchOut,
    ForgottenOut,
    ListOut,
    Opened,
    RecallOut,
    SavedOut,
    etag,
    location,
    memory_json,
    reply,
)
from memory_api.services.browse import Listing, list_memories, open_memory
from memory_api.services.context import Context
from memory_api.services.forget import forget
from memory_api.services.recall import Ask, recall
from memory_api.services.remember import Saved, remember, remember_many
from memory_api.services.revise import Revision, revise

router = APIRouter(route_class=StrictRoute, tags=["memories"])


def created(saved: Saved) -> Response:
    """201 with where the memory is and the revision to send back as If-Match."""
    memory = saved.memory
    body = {"memory": memory_json(memory), "action": saved.action, "supersedes": [], "potential_duplicates": []}
    return reply(body, 201, {"ETag": etag(memory), "Location": location(memory)})


@router.post(
    "/memories",
    status_code=201,
    response_model=SavedOut,
    responses=problems(404, 413),
    summary="Save a memory",
    operation_id="save_memory",
)
async def save(body: Save, ctx: ContextOf, caller: CallerOf) -> Response:
    """Save a memory about a user, an agent, or a user as one agent knows them."""
    draft = body.draft(body.subject(ctx))
    require_user_or_agent(draft.subject)
    return created(await remember(ctx, caller, draft))


@router.post(
    "/memories/batch",
    response_model=BatchOut,
    responses=problems(413),
    summary="Save many",
    operation_id="save_memories",
)
async def save_batch(body: BatchSave, ctx: ContextOf, caller: CallerOf) -> Response:
    """Save up to 1,000 memories. What each came to, in order; a bad one never spoils the others."""
    read = [_read_item(item, ctx) for item in body.memories]
    outcomes = iter(await remember_many(ctx, caller, [item for item in read if isinstance(item, Draft)]))
    results = [_item_json(next(outcomes) if isinstance(item, Draft) else item) for item in read]
    return reply({"results": results})


def _read_item(item: Any, ctx: Context) -> Draft | InvalidRequest | NotFound:
    try:
        body = Save.model_validate(item)
        draft = body.draft(body.subject(ctx))
        require_user_or_agent(draft.subject)
    except ValidationError as error:
        return InvalidRequest("", field_problems(error))
    except (InvalidRequest, NotFound) as error:
        return error
    return draft


def _item_json(outcome: Saved | InvalidRequest | NotFound) -> dict[str, Any]:
    if isinstance(outcome, Saved):
        return {"status": 201, "memory": memory_json(outcome.memory), "action": outcome.action}
    if isinstance(outcome, NotFound):
        return {"status": 404, "error": problem_json(404, str(outcome))}
    return {"status": 422, "error": problem_json(422, str(outcome), outcome.problems)}


@router.get(
    "/memories",
    response_model=ListOut,
    responses=problems(404),
    summary="List memories",
    operation_id="list_memories",
)
async def list_(query: Annotated[ListQuery, Query()], ctx: ContextOf, caller: CallerOf) -> Response:
    """List memories, newest first: the subject's own, with `include_shared` also what it shares with others."""
    listing = Listing(
        subject=query.subject(ctx),
        tiers=query.tier,
        kinds=query.type,
        about_kind=query.about_kind,
        about_key=query.about_key,
        since=query.since,
        until=query.until,
        include_shared=query.include_shared,
        limit=query.limit,
        offset=query.offset,
        cursor=query.cursor,
        count=query.count,
    )
    return list_reply(await list_memories(ctx, caller, listing))


def list_reply(page: Any) -> Response:
    body: dict[str, Any] = {"memories": [memory_json(memory) for memory in page.memories]}
    if page.next_cursor is not None:
        body["next_cursor"] = page.next_cursor
    if page.total is not None:
        body["total"] = page.total
    return reply(body)


@router.get(
    "/memories/search",
    response_model=RecallOut,
    responses=problems(404),
    summary="Search the subject's own",
    operation_id="search_memories",
)
async def search(query: Annotated[SearchQuery, Query()], ctx: ContextOf, caller: CallerOf) -> Response:
    """Search the subject's own memories, ranked as recall ranks, with previews and relations."""
    ask = Ask(
        query=query.q,
        subject=query.subject(ctx),
        kinds=query.type,
        tiers=query.tier,
        min_confidence=query.min_confidence,
        limit=query.limit,
        max_graph_hops=0,
        previews=True,
        reach="own",
    )
    return reply(recall_json(await recall(ctx, caller, ask), explain=False))


@router.get(
    "/memories/{id}",
    response_model=Opened,
    responses=problems(404),
    summary="Open a memory",
    operation_id="open_memory",
)
async def open_(id: UUID, query: Annotated[OneSubject, Query()], ctx: ContextOf, caller: CallerOf) -> Response:  # noqa: A002
    """Open a memory: the full body, with recall's visibility."""
    memory = await open_memory(ctx, caller, query.subject(ctx), id)
    return reply({"memory": memory_json(memory)}, headers={"ETag": etag(memory)})


@router.patch(
    "/memories/{id}",
    response_model=SavedOut,
    responses=problems(404, 412, 413),
    summary="Change a memory",
    operation_id="change_memory",
)
async def patch(id: UUID, body: Patch, ctx: ContextOf, caller: CallerOf, if_match: IfMatch) -> Response:  # noqa: A002
    """Change the stated fields of one of the subject's own memories, as a new revision."""
    memory = await revise(ctx, caller, Revision(body.subject(ctx), id, body.changes(), if_match))
    return reply(
        {
            "memory": memory_json(memory),
            "action": "auto_superseded",
            "supersedes": [],
            "supersede_reason": "explicit",
            "potential_duplicates": [],
        },
        headers={"ETag": etag(memory)},
    )


@router.delete(
    "/memories/{id}",
    response_model=ForgottenOut,
    responses=problems(404, 412),
    summary="Forget a user's memory",
    operation_id="forget_memory",
)
async def forget_(
    id: UUID,  # noqa: A002
    query: Annotated[OneSubject, Query()],
    ctx: ContextOf,
    caller: CallerOf,
    if_match: IfMatch,
) -> Response:
    """Forget one of the user's memories: it is erased at once, with its vector and relations."""
    await forget(ctx, caller, query.subject(ctx), id, if_match=if_match)
    return reply({"id": id, "outcome": "erased"})
