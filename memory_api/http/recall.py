"""/memories/retrieve and the playground's preview: recall over all tiers."""

from fastapi import APIRouter, Response

from memory_api.http.body import StrictRoute
from memory_api.http.deps import CallerOf, ContextOf
from memory_api.http.hits import recall_json, why_not_json
from memory_api.http.problem import problems
from memory_api.http.requests import Preview, Retrieve, RetrieveByMeaning
from memory_api.http.responses import PreviewOut, RecallOut, reply
from memory_api.services.context import Context
from memory_api.services.recall import Ask, Strategy, recall
from memory_api.services.why_not import why_not

router = APIRouter(route_class=StrictRoute, tags=["recall"])


def _strategy(body: Retrieve) -> Strategy:
    return "recent" if body.strategy == "exact" else body.strategy


def _ask(body: RetrieveByMeaning, ctx: Context, strategy: Strategy) -> Ask:
    subject = body.subject(ctx)
    return Ask(
        query=body.query,
        subject=subject,
        strategy=strategy,
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
        as_of=body.as_of,
        limit=body.limit,
        token_budget=body.token_budget,
        previews=body.previews,
        fold_similar=body.fold_similar,
        lookups=[fields.lookup(subject) for fields in body.structured_lookups],
    )


@router.post(
    "/memories/retrieve",
    response_model=RecallOut,
    responses=problems(404, 413),
    summary="Recall",
    operation_id="recall",
)
async def retrieve(body: Retrieve, ctx: ContextOf, caller: CallerOf) -> Response:
    """Recall: one ranked list over every tier that the subject may see."""
    found = await recall(ctx, caller, _ask(body, ctx, _strategy(body)))
    return reply(recall_json(found, explain=body.explain))


@router.post(
    "/memories/retrieve/semantic",
    response_model=RecallOut,
    responses=problems(404, 413),
    summary="Recall by meaning",
    operation_id="recall_by_meaning",
)
async def retrieve_semantic(body: RetrieveByMeaning, ctx: ContextOf, caller: CallerOf) -> Response:
    """Recall by meaning alone."""
    found = await recall(ctx, caller, _ask(body, ctx, "semantic"))
    return reply(recall_json(found, explain=body.explain))


@router.post(
    "/memory/retrieve-preview",
    response_model=PreviewOut,
    responses=problems(404, 413),
    summary="Recall, explained",
    operation_id="preview_recall",
)
async def retrieve_preview(body: Preview, ctx: ContextOf, caller: CallerOf) -> Response:
    """Recall as an agent would see it, with an explanation on every hit, and why a memory is not among them."""
    ask = _ask(body, ctx, _strategy(body))
    found = await recall(ctx, caller, ask)
    answer = recall_json(found, explain=True)
    if body.why_not is not None:
        answer["why_not"] = why_not_json(await why_not(ctx, caller, ask, found, body.why_not))
    return reply(answer)
