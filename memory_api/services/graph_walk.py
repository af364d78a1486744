"""Graph expansion: related memories of the hits, along stored relations."""

from collections.abc import Sequence
from uuid import UUID

from memory_api.db.graph import HOP_DISCOUNT, Front, Step
from memory_api.db.recall import Explanation, Hit
from memory_api.domain.memory import Memory, Relation


class Walk:
    """Graph expansion from the hits. A related memory takes what its edge passes on of the score that brought it:
    weight * HOP_DISCOUNT per hop, so it stands below that hit unless it also ranks by itself.

    Of what a hop reaches no more than `limit` can come among the best `limit`, so no more bodies are read."""

    def __init__(
        self,
        hits: list[Hit],
        *,
        seeds: Sequence[UUID],
        relation_types: Sequence[str],
        max_hops: int,
        max_related: int,
        limit: int,
    ) -> None:
        self._allowed = frozenset(relation_types)
        self._hops_left = max_hops
        self._most_related = max_related
        self._limit = limit
        self._found = {hit.memory.id: hit for hit in hits}
        best = max((hit.explanation.score for hit in hits), default=1.0)
        self._score = dict.fromkeys(seeds, best) | {hit.memory.id: hit.explanation.score for hit in hits}
        self._frontier = [hit.memory.id for hit in hits if hit.has_relations] + list(seeds)
        self._first = True
        self.edges: dict[UUID, list[Relation]] = {}
        self.via: dict[UUID, tuple[UUID, str]] = {}

    def next_front(self) -> Front | None:
        """Where to walk from next; the hits' own edges are read even where no hop is allowed, for `related`."""
        if not self._frontier or not (self._first or self._hops_left > 0):
            return None
        self._first = False
        scores = sorted((hit.explanation.score for hit in self._found.values()), reverse=True)
        return Front(
            scores={id_: self._score[id_] for id_ in self._frontier},
            held=list(self._found),
            types=self._allowed,
            follow=self._hops_left > 0,
            floor=scores[self._limit - 1] if len(scores) >= self._limit else 0.0,
            bodies=self._limit,
        )

    def take(self, steps: list[Step]) -> None:
        self._frontier = []
        self._hops_left -= 1
        read = {step.other: step.memory for step in steps if step.memory is not None}
        for step in steps:
            listed = self.edges.setdefault(step.origin, [])
            if len(listed) < self._most_related:
                listed.append(step.relation)
            if self._hops_left >= 0 and (not self._allowed or step.relation.relation_type in self._allowed):
                self._reach(step, read.get(step.other))

    def _reach(self, step: Step, memory: Memory | None) -> None:
        id_ = step.other
        score = self._score[step.origin] * step.relation.weight * HOP_DISCOUNT
        if id_ in self._score and self._score[id_] >= score:
            return
        if id_ not in self._score:
            self._frontier.append(id_)
        self._score[id_] = score
        held = self._found[id_].memory if id_ in self.via else memory
        if step.wanted and held is not None and (id_ not in self._found or id_ in self.via):
            self.via[id_] = (step.origin, step.relation.relation_type)
            self._found[id_] = Hit(held, Explanation(score=score, decay=1.0, tier_weight=1.0), True)

    def ranked(self) -> list[Hit]:
        """Hits and related memories, best first; ties by confirmed_at, then id."""
        return sorted(
            self._found.values(),
            key=lambda hit: (hit.explanation.score, hit.memory.confirmed_at, hit.memory.id),
            reverse=True,
        )
