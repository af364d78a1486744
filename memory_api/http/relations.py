"""/relations: typed edges between memories."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Query, Response

from memory_api.http.body import StrictRoute
from memory_api.http.deps import CallerOf, ContextOf
from memory_api.http.problem import problems
from memory_api.http.requests import OneSubject, RelationListQuery, RelationSave
from memory_api.http.responses import ForgottenOut, RelationOut, RelationsOut, relation_json, reply
from memory_api.services.relate import list_relations, relate, unrelate

router = APIRouter(route_class=StrictRoute, tags=["relations"])


@router.post(
    "/relations",
    status_code=201,
    response_model=RelationOut,
    responses={200: {"model": RelationOut, "description": "the edge was there"}, **problems(404, 413)},
    summary="Relate two memories",
    operation_id="save_relation",
)
async def save(body: RelationSave, ctx: ContextOf, caller: CallerOf) -> Response:
    """Relate two memories that the subject may see. Stating an edge again (200) takes the new weight."""
    relation, new = await relate(
        ctx,
        caller,
        body.subject(ctx),
        source=body.source_id,
        target=body.target_id,
        relation_type=body.relation_type,
        weight=body.weight,
    )
    return reply(relation_json(relation), 201 if new else 200)


@router.get(
    "/relations",
    response_model=RelationsOut,
    responses=problems(404),
    summary="List relations",
    operation_id="list_relations",
)
async def list_(query: Annotated[RelationListQuery, Query()], ctx: ContextOf, caller: CallerOf) -> Response:
    """List relations whose two ends the subject may see, newest first; of one memory with `memory_id`."""
    page = await list_relations(
        ctx, caller, query.subject(ctx), memory_id=query.memory_id, cursor=query.cursor, limit=query.limit
    )
    body: dict[str, Any] = {"relations": [relation_json(relation) for relation in page.relations]}
    if page.next_cursor is not None:
        body["next_cursor"] = page.next_cursor
    return reply(body)


@router.delete(
    "/relations/{id}",
    response_model=ForgottenOut,
    responses=problems(404),
    summary="Delete a relation",
    operation_id="delete_relation",
)
async def delete(id: UUID, query: Annotated[OneSubject, Query()], ctx: ContextOf, caller: CallerOf) -> Response:  # noqa: A002
    """Delete a relation that starts or ends at one of the subject's own memories."""
    await unrelate(ctx, caller, query.subject(ctx), id)
    return reply({"id": id, "outcome": "erased"})
