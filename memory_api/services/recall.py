"""Recall: one ranked list over every tier that the caller may see (design: docs/recall.md)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal
from uuid import UUID

import structlog

from memory_api.db import memories
from memory_api.db import recall as statements
from memory_api.db.engine import reading
from memory_api.db.graph import Step, steps_from
from memory_api.db.recall import Explanation, Hit
from memory_api.db.visibility import Reach, visible
from memory_api.domain.budget import tokens_of, within_budget
from memory_api.domain.caller import Caller
from memory_api.domain.memory import Relation
from memory_api.domain.policy import Policy
from memory_api.domain.subject import Subject, Tier
from memory_api.errors import EmbeddingError
from memory_api.services.context import Context

Strategy = Literal["hybrid", "semantic", "keyword", "recent"]
# What an edge passes on, per hop, of the score that it leads away from.
HOP_DISCOUNT = 0.5
# Edges followed from one memory: a hub with 50,000 of them costs no more than its heaviest ones.
MOST_EDGES = 50

log = structlog.get_logger()


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
    limit: int = 15
    token_budget: int | None = None
    previews: bool = False
    reach: Reach = "recall"


@dataclass(frozen=True, slots=True)
class Recalled:
    """The hits, best first; `via` names the hit and relation that brought a related memory."""

    hits: list[Hit]
    related: dict[UUID, list[Relation]]
    via: dict[UUID, tuple[UUID, str]]
    strategy_used: Strategy
    degraded: list[str]
    no_relevant: bool


async def recall(ctx: Context, caller: Caller, ask: Ask) -> Recalled:
    """The memories that answer `ask`, ranked.

    Raises:
        DependencyDown: the database is away. A provider that is away only degrades the answer.
    """
    policy = ctx.policy()
    ask = replace(ask, subject=caller.act_for(ask.subject))
    strategy, vector, degraded = await _prepare(ctx, ask)
    seen = visible(ask.subject, ask.reach)
    filters = memories.filters_of(
        tiers=ask.tiers,
        kinds=ask.kinds,
        purposes=ask.purposes,
        min_confidence=ask.min_confidence,
        since=ask.since,
        until=ask.until,
    )
    preview_above = policy.recall.inline_threshold_bytes if ask.previews else None
    async with reading(ctx.engine) as connection:
        if strategy == "recent":
            hits = await statements.newest(
                connection, seen, filters, policy, limit=ask.limit, preview_above=preview_above
            )
        else:
            hits = await statements.rank(
                connection,
                seen,
                filters,
                policy,
                query=ask.query,
                vector=vector,
                lexical=strategy != "semantic",
                min_relevance=policy.recall.min_relevance if ask.min_relevance is None else ask.min_relevance,
                limit=ask.limit,
                preview_above=preview_above,
            )
        walk = _Walk(hits, policy, ask)
        while origins := walk.next_origins():
            walk.take(
                await steps_from(connection, origins, seen, filters, most=MOST_EDGES, preview_above=preview_above)
            )
    kept = _fit(walk.ranked()[: ask.limit], ask.token_budget)
    ctx.metrics.recalls.labels(strategy).inc()
    for reason in degraded:
        ctx.metrics.recall_degraded.labels(reason).inc()
    return Recalled(
        hits=kept,
        related={hit.memory.id: walk.edges[hit.memory.id] for hit in kept if hit.memory.id in walk.edges},
        via={hit.memory.id: walk.via[hit.memory.id] for hit in kept if hit.memory.id in walk.via},
        strategy_used=strategy,
        degraded=degraded,
        no_relevant=not kept and strategy != "recent",
    )


async def _prepare(ctx: Context, ask: Ask) -> tuple[Strategy, list[float] | None, list[str]]:
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


class _Walk:
    """Graph expansion from the hits. A related memory takes what its edge passes on of the score that brought it:
    weight * HOP_DISCOUNT per hop, so it stands below that hit unless it also ranks by itself."""

    def __init__(self, hits: list[Hit], policy: Policy, ask: Ask) -> None:
        self._allowed = frozenset(ask.relation_types or policy.recall.graph_relation_types)
        self._hops_left = policy.recall.graph_max_hops if ask.max_graph_hops is None else ask.max_graph_hops
        self._most_related = policy.recall.max_related_per_memory
        self._found = {hit.memory.id: hit for hit in hits}
        best = max((hit.explanation.score for hit in hits), default=1.0)
        self._score = dict.fromkeys(ask.seeds, best) | {hit.memory.id: hit.explanation.score for hit in hits}
        self._frontier = [hit.memory.id for hit in hits if hit.has_relations] + list(ask.seeds)
        self._first = True
        self.edges: dict[UUID, list[Relation]] = {}
        self.via: dict[UUID, tuple[UUID, str]] = {}

    def next_origins(self) -> list[UUID]:
        """The memories to walk from next; the hits' own edges are read even where no hop is allowed, for `related`."""
        if not self._frontier or not (self._first or self._hops_left > 0):
            return []
        self._first = False
        return self._frontier

    def take(self, steps: list[Step]) -> None:
        self._frontier = []
        self._hops_left -= 1
        for step in steps:
            listed = self.edges.setdefault(step.origin, [])
            if len(listed) < self._most_related:
                listed.append(step.relation)
            if self._hops_left >= 0 and (not self._allowed or step.relation.relation_type in self._allowed):
                self._reach(step)

    def _reach(self, step: Step) -> None:
        id_ = step.memory.id
        score = self._score[step.origin] * step.relation.weight * HOP_DISCOUNT
        if id_ in self._score and self._score[id_] >= score:
            return
        if id_ not in self._score:
            self._frontier.append(id_)
        self._score[id_] = score
        if step.wanted and (id_ not in self._found or id_ in self.via):
            self.via[id_] = (step.origin, step.relation.relation_type)
            self._found[id_] = Hit(step.memory, Explanation(score=score, decay=1.0, tier_weight=1.0), True)

    def ranked(self) -> list[Hit]:
        """Hits and related memories, best first; ties by confirmed_at, then id."""
        return sorted(
            self._found.values(),
            key=lambda hit: (hit.explanation.score, hit.memory.confirmed_at, hit.memory.id),
            reverse=True,
        )
