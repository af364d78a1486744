"""/memories/retrieve and the playground's preview: recall over all tiers."""

from dataclasses import replace

from fastapi import APIRouter, Response

from memory_api.http.body import StrictRoute
from memory_api.http.deps import CallerOf, ContextOf
from memory_api.http.memories import recall_reply
from memory_api.http.requests import Retrieve
from memory_api.http.responses import RecallOut
from memory_api.services.context import Context
from memory_api.services.recall import Ask, recall

router = APIRouter(route_class=StrictRoute, tags=["recall"])


def _ask(body: Retrieve, ctx: Context) -> Ask:
    return Ask(
        query=body.query,
        subject=body.subject(ctx),
        strategy="recent" if body.strategy == "exact" else body.strategy,
        kinds=[*body.types, *body.kinds],
        tiers=body.tiers,
        purposes=body.purposes,
        relation_types=body.relation_types,
        seeds=body.seed_entity_ids,
        max_graph_hops=body.max_graph_hops,
        min_confidence=body.min_confidence,
        min_relevance=body.min_relevance,
        since=body.since,
        until=body.until,
        limit=body.limit,
        token_budget=body.token_budget,
        previews=body.previews,
    )


@router.post("/memories/retrieve", response_model=RecallOut)
async def retrieve(body: Retrieve, ctx: ContextOf, caller: CallerOf) -> Response:
    """Recall: one ranked list over every tier that the subject may see."""
    return recall_reply(await recall(ctx, caller, _ask(body, ctx)), explain=body.explain)


@router.post("/memories/retrieve/semantic", response_model=RecallOut)
async def retrieve_semantic(body: Retrieve, ctx: ContextOf, caller: CallerOf) -> Response:
    """Recall by meaning alone."""
    return recall_reply(await recall(ctx, caller, replace(_ask(body, ctx), strategy="semantic")), explain=body.explain)


@router.post("/memory/retrieve-preview", response_model=RecallOut)
async def retrieve_preview(body: Retrieve, ctx: ContextOf, caller: CallerOf) -> Response:
    """Recall as an agent would see it, with an explanation on every hit."""
    return recall_reply(await recall(ctx, caller, _ask(body, ctx)), explain=True)
