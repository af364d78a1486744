"""Recall: one ranked list over every tier that the caller may see (design: docs/recall.md)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal
from uuid import UUID

import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from memory_api.db import memories
from memory_api.db import recall as statements
from memory_api.db.engine import reading
from memory_api.db.graph import steps_from
from memory_api.db.history import Past, past
from memory_api.db.recall import Explanation, Hit
from memory_api.db.visibility import Fragment, Reach, visible
from memory_api.domain.budget import tokens_of, within_budget
from memory_api.domain.caller import Caller
from memory_api.domain.dates import AskedTime, asked_times
from memory_api.domain.folding import Candidate, fold
from memory_api.domain.memory import Memory, Relation
from memory_api.domain.policy import Policy
from memory_api.domain.subject import Subject, Tier
from memory_api.errors import EmbeddingError
from memory_api.services.context import Context
from memory_api.services.graph_walk import Walk

Strategy = Literal["hybrid", "semantic", "keyword", "recent"]
# Below this sum of coverage and cosine, 26 of 50 nonsense queries and 1 of 143 questions lose their hits.
ABSTAIN_BELOW = {"all-minilm-l6-v2-int8": 0.35}
# Vectors nearer than this say nearly the same; numbers, names and denials are looked at besides.
ALIKE = 0.85
# To fold, so many times as many hits are ranked as were asked for, and no more than the second figure.
FOLDING_DEPTH = 5
MOST_FOLDED = 200
# Edges followed from one memory: a hub with 50,000 of them costs no more than its heaviest ones.
MOST_EDGES = 50

_UNRANKED = Explanation(score=0.0, decay=1.0, tier_weight=1.0)

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Lookup:
    """Rows that are wanted by what they are, not by rank: newest first, whatever the query says."""

    kinds: Sequence[str] = ()
    name_prefix: str | None = None
    purpose: str | None = None
    limit: int = 10


@dataclass(frozen=True, slots=True)
class Ask:
    """One question to the memory. Empty sequences mean "any"; None takes the policy's value."""

    query: str
    subject: Subject
    strategy: Strategy = "hybrid"
    kinds: Sequence[str] = ()
    tiers: Sequence[Tier] = ()
    purposes: Sequence[str] = ()
    relation_types: Sequence[str] = ()
    seeds: Sequence[UUID] = ()
    max_graph_hops: int | None = None
    min_confidence: float | None = None
    min_relevance: float | None = None
    since: datetime | None = None
    until: datetime | None = None
    as_of: datetime | None = None
    limit: int = 15
    token_budget: int | None = None
    previews: bool = False
    fold_similar: bool = False
    lookups: Sequence[Lookup] = ()
    reach: Reach = "recall"


@dataclass(frozen=True, slots=True)
class Recalled:
    """The hits, best first, then what was looked up. `via` names the hit and relation that brought a related memory,
    `looked_up` the place of the lookup that brought a row, `folded` the near-identical memories that a hit stands for,
    `asked_times` what the query says of time; with `none_in_time` no hit happened then."""

    hits: list[Hit]
    related: dict[UUID, list[Relation]]
    via: dict[UUID, tuple[UUID, str]]
    looked_up: dict[UUID, int]
    folded: dict[UUID, list[UUID]]
    asked_times: list[str]
    none_in_time: bool
    strategy_used: Strategy
    degraded: list[str]
    no_relevant: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """How an ask is carried out: the strategy that is possible, who may see what, and the query's vector."""

    ask: Ask
    policy: Policy
    strategy: Strategy
    vector: list[float] | None
    times: list[AskedTime]
    degraded: list[str]
    seen: Fragment
    filters: Fragment
    past: Past
    abstain_below: float

    @property
    def min_relevance(self) -> float:
        return self.policy.recall.min_relevance if self.ask.min_relevance is None else self.ask.min_relevance

    @property
    def preview_above(self) -> int | None:
        return self.policy.recall.inline_threshold_bytes if self.ask.previews else None


async def recall(ctx: Context, caller: Caller, ask: Ask) -> Recalled:
    """The memories that answer `ask`, ranked.

    Raises:
        DependencyDown: the database is away. A provider that is away only degrades the answer.
    """
    plan = await prepare(ctx, caller, ask)
    rules = plan.policy.recall
    async with reading(ctx.engine) as connection:
        depth = min(ask.limit * FOLDING_DEPTH, MOST_FOLDED) if ask.fold_similar else ask.limit
        hits = await rank(connection, plan, limit=depth)
        folded = _fold(hits) if ask.fold_similar else {}
        hits = [hit for hit in hits if not ask.fold_similar or hit.memory.id in folded][: ask.limit]
        walk = Walk(
            hits,
            seeds=ask.seeds,
            relation_types=ask.relation_types or rules.graph_relation_types,
            max_hops=rules.graph_max_hops if ask.max_graph_hops is None else ask.max_graph_hops,
            max_related=rules.max_related_per_memory,
            limit=ask.limit,
        )
        while front := walk.next_front():
            steps = await steps_from(
                connection, front, plan.seen, plan.filters, plan.past, most=MOST_EDGES, preview_above=plan.preview_above
            )
            walk.take(steps)
        ranked = walk.ranked()[: ask.limit]
        looked_up = await _look_up(connection, plan, {hit.memory.id for hit in ranked})
    hits = ranked + [Hit(memory, _UNRANKED) for memory, _ in looked_up.values()]
    kept = _fit(hits, ask.token_budget)
    ctx.metrics.recalls.labels(plan.strategy).inc()
    for reason in plan.degraded:
        ctx.metrics.recall_degraded.labels(reason).inc()
    return Recalled(
        hits=kept,
        related={hit.memory.id: walk.edges[hit.memory.id] for hit in kept if hit.memory.id in walk.edges},
        via={hit.memory.id: walk.via[hit.memory.id] for hit in kept if hit.memory.id in walk.via},
        looked_up={hit.memory.id: looked_up[hit.memory.id][1] for hit in kept if hit.memory.id in looked_up},
        folded={hit.memory.id: folded[hit.memory.id] for hit in kept if folded.get(hit.memory.id)},
        asked_times=[time.text for time in plan.times],
        none_in_time=bool(plan.times) and not any(hit.explanation.timely for hit in kept),
        strategy_used=plan.strategy,
        degraded=plan.degraded,
        no_relevant=not kept and plan.strategy != "recent",
    )


async def prepare(ctx: Context, caller: Caller, ask: Ask) -> Plan:
    """Decide how `ask` is carried out; calls the embedder where the strategy wants it."""
    ask = replace(ask, subject=caller.act_for(ask.subject))
    strategy, vector, degraded = await _choose(ctx, ask)
    filters = memories.filters_of(
        tiers=ask.tiers,
        kinds=ask.kinds,
        purposes=ask.purposes,
        min_confidence=ask.min_confidence,
        since=ask.since,
        until=ask.until,
    )
    seen = visible(ask.subject, ask.reach, tiers=ask.tiers, as_of=ask.as_of)
    policy = ctx.policy()
    times = asked_times(ask.query, now=ask.as_of or ctx.now()) if policy.recall.date_weight else []
    abstain_below = policy.recall.abstain_below
    if abstain_below is None:
        abstain_below = ABSTAIN_BELOW.get(ctx.model, 0.0)
    if strategy != "hybrid" or ask.min_relevance is not None:
        # The floor was measured on both arms together, and a caller's own takes the place of the policy's.
        abstain_below = 0.0
    return Plan(
        ask, policy, strategy, vector, times, degraded, seen, filters, past(ask.as_of), abstain_below=abstain_below
    )


async def rank(connection: AsyncConnection, plan: Plan, *, limit: int, irrelevant_too: bool = False) -> list[Hit]:
    """The best `limit` rows, without related memories and budget; `irrelevant_too`: no floor holds."""
    if plan.strategy == "recent":
        return await statements.newest(
            connection, plan.seen, plan.filters, plan.past, plan.policy, limit=limit, preview_above=plan.preview_above
        )
    return await statements.rank(
        connection,
        plan.seen,
        plan.filters,
        plan.past,
        plan.policy,
        query=plan.ask.query,
        vector=plan.vector,
        times=plan.times,
        lexical=plan.strategy != "semantic",
        min_relevance=0.0 if irrelevant_too else plan.min_relevance,
        abstain_below=0.0 if irrelevant_too else plan.abstain_below,
        limit=limit,
        alike=ALIKE if plan.ask.fold_similar else None,
        preview_above=plan.preview_above,
    )


def _fold(hits: Sequence[Hit]) -> dict[UUID, list[UUID]]:
    """The hits that stay, each with the near-identical ones it stands for."""
    return fold(
        [
            Candidate(m.id, "\n".join(filter(None, (m.title, m.content or m.preview))), hit.alike)
            for hit in hits
            for m in (hit.memory,)
        ]
    )


async def _look_up(connection: AsyncConnection, plan: Plan, known: set[UUID]) -> dict[UUID, tuple[Memory, int]]:
    """Rows of the asked lookups that are no hits, with the place of the lookup; visibility is that of the hits."""
    found: dict[UUID, tuple[Memory, int]] = {}
    for place, lookup in enumerate(plan.ask.lookups):
        purposes = (lookup.purpose,) if lookup.purpose else ()
        filters = memories.filters_of(kinds=lookup.kinds, purposes=purposes, name_prefix=lookup.name_prefix)
        rows = await memories.page(
            connection,
            plan.seen,
            filters,
            after=None,
            offset=0,
            limit=lookup.limit,
            preview_above=plan.preview_above,
            past=plan.past,
        )
        for memory in rows:
            if memory.id not in known:
                found.setdefault(memory.id, (memory, place))
    return found


async def _choose(ctx: Context, ask: Ask) -> tuple[Strategy, list[float] | None, list[str]]:
    """The strategy that can be carried out, the query's vector if it takes one, and what had to be left out."""
    if ask.strategy == "recent" or not await ctx.words.ask_something(ctx.engine, ask.query):
        return "recent", None, []
    if ask.strategy == "keyword":
        return "keyword", None, []
    if ctx.provider is None:
        return "keyword", None, ["embedding:not_configured"]
    try:
        return ask.strategy, await ctx.provider.embed_query(ask.query), []
    except EmbeddingError as error:
        log.warning("recall without vectors", fault=error.fault)
        return "keyword", None, [f"embedding:{error.fault}"]


def _fit(hits: list[Hit], token_budget: int | None) -> list[Hit]:
    if token_budget is None:
        return hits
    memories_of = [hit.memory for hit in hits]
    costs = [tokens_of((m.title, m.content, m.summary, m.preview)) for m in memories_of]
    return [hits[place] for place in within_budget(costs, token_budget)]
