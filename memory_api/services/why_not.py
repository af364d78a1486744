"""Why a memory is not among the hits of a recall: the playground's second question."""

from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from memory_api.db.engine import reading
from memory_api.db.recall import ARM_DEPTH, Explanation
from memory_api.db.visibility import visible
from memory_api.domain.caller import Caller
from memory_api.errors import NotFound
from memory_api.services.browse import NO_SUCH_MEMORY
from memory_api.services.context import Context
from memory_api.services.recall import Ask, Plan, Recalled, prepare, rank

Reason = Literal[
    "hit",
    "folded",
    "not_visible",
    "expired",
    "filtered",
    "no_match",
    "below_relevance",
    "ranked_below",
    "over_token_budget",
]


@dataclass(frozen=True, slots=True)
class WhyNot:
    """`place` of `of` says where the memory stands in the whole ranking; both are None when it is not ranked at all."""

    id: UUID
    reason: Reason
    detail: str
    place: int | None = None
    of: int | None = None
    explanation: Explanation | None = None


async def why_not(ctx: Context, caller: Caller, ask: Ask, found: Recalled, id_: UUID) -> WhyNot:
    """Why `id_` is not among the hits that `recall` gave for `ask`, or where it stands among them.

    That a memory exists but may not be seen by the subject is said to an admin only.

    Raises:
        NotFound: no such memory, or none that this caller may know of.
    """
    for place, hit in enumerate(found.hits, start=1):
        if hit.memory.id == id_:
            return WhyNot(id_, "hit", f"it is hit {place}", place, len(found.hits), hit.explanation)
    for best, folded in found.folded.items():
        if id_ in folded:
            return WhyNot(id_, "folded", f"it is nearly identical to the hit {best}, which stands for it")
    plan = await prepare(ctx, caller, ask)
    async with reading(ctx.engine) as connection:
        outside = await _outside(connection, plan, id_)
        if outside is None:
            raise NotFound(NO_SUCH_MEMORY)
        if outside == "not_visible" and caller.role != "admin":
            raise NotFound(NO_SUCH_MEMORY)
        if outside != "in_scope":
            return WhyNot(id_, outside, _OUTSIDE[outside])
        return await _place(connection, plan, id_)


_OUTSIDE: dict[Reason, str] = {
    "not_visible": "the subject may not see it: another user, another agent or another container",
    "expired": "it has expired",
    "filtered": "a filter of the request leaves it out: types, tiers, purposes, min_confidence, since, until or as_of",
}


async def _outside(
    connection: AsyncConnection, plan: Plan, id_: UUID
) -> Literal["in_scope", "not_visible", "expired", "filtered"] | None:
    """Whether the row is among those that recall ranks; None when there is no such row."""
    anyhow = visible(plan.ask.subject, plan.ask.reach, as_of=plan.ask.as_of, expired_too=True)
    live = visible(plan.ask.subject, plan.ask.reach, as_of=plan.ask.as_of)
    row = (
        await connection.execute(
            text(
                f"select ({anyhow.sql}) as seen, past.* from memories m left join lateral ("
                f"select ({live.sql}) as live, (true {plan.filters.sql}) as wanted"
                f" from {plan.past.memories} m where m.id = :id) as past on true where m.id = :id"
            ),
            {"id": id_, **anyhow.params, **live.params, **plan.filters.params, **plan.past.params},
        )
    ).first()
    if row is None:
        return None
    if not row.seen:
        return "not_visible"
    if row.live is None:
        return "filtered"
    if not row.live:
        return "expired"
    return "in_scope" if row.wanted else "filtered"


async def _place(connection: AsyncConnection, plan: Plan, id_: UUID) -> WhyNot:
    ranking = await rank(connection, plan, limit=2 * ARM_DEPTH, irrelevant_too=True)
    place = next((place for place, hit in enumerate(ranking, start=1) if hit.memory.id == id_), None)
    if place is None:
        vector = "" if plan.strategy == "recent" else f"; its vector is {await _embedding(connection, id_)}"
        detail = f"it shares no word with the query and is not among the {ARM_DEPTH} nearest by meaning{vector}"
        return WhyNot(id_, "no_match", detail)
    why = ranking[place - 1].explanation
    relevance = max(why.coverage or 0.0, why.cosine or 0.0)
    if plan.strategy != "recent" and relevance < plan.min_relevance:
        detail = f"its relevance {relevance:.3f} is below min_relevance {plan.min_relevance:.3f}"
        return WhyNot(id_, "below_relevance", detail, place, len(ranking), why)
    nearest = max((hit.explanation.coverage or 0.0) + (hit.explanation.cosine or 0.0) for hit in ranking)
    if nearest < plan.abstain_below and not any(hit.explanation.timely for hit in ranking):
        detail = f"nothing comes near the query: the best coverage and cosine, {nearest:.3f}, is below abstainBelow"
        return WhyNot(id_, "below_relevance", f"{detail} {plan.abstain_below:.3f}", place, len(ranking), why)
    if place <= plan.ask.limit and plan.ask.token_budget is not None:
        return WhyNot(id_, "over_token_budget", "it does not fit into the token budget", place, len(ranking), why)
    return WhyNot(id_, "ranked_below", f"it is number {place} of {len(ranking)}", place, len(ranking), why)


async def _embedding(connection: AsyncConnection, id_: UUID) -> str:
    """The state of the row's vector, as the memory shows it."""
    stored = await connection.scalar(text("select 1 from memory_vectors where memory_id = :id"), {"id": id_})
    return "ready" if stored else "still to come"
