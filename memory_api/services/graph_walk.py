"""Graph expansion: related memories of the hits, along stored relations."""

from collections.abc import Sequence
from uuid import UUID

from memory_api.db.graph import Step
from memory_api.db.recall import Explanation, Hit
from memory_api.domain.memory import Relation

# What an edge passes on, per hop, of the score that it leads away from.
HOP_DISCOUNT = 0.5


class Walk:
    """Graph expansion from the hits. A related memory takes what its edge passes on of the score that brought it:
    weight * HOP_DISCOUNT per hop, so it stands below that hit unless it also ranks by itself."""

    def __init__(
        self,
        hits: list[Hit],
        *,
        seeds: Sequence[UUID],
        relation_types: Sequence[str],
        max_hops: int,
        max_related: int,
    ) -> None:
        self._allowed = frozenset(relation_types)
        self._hops_left = max_hops
        self._most_related = max_related
        self._found = {hit.memory.id: hit for hit in hits}
        best = max((hit.explanation.score for hit in hits), default=1.0)
        self._score = dict.fromkeys(seeds, best) | {hit.memory.id: hit.explanation.score for hit in hits}
        self._frontier = [hit.memory.id for hit in hits if hit.has_relations] + list(seeds)
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
