"""The answer of a recall as JSON: hits, why they stand where they stand, and why a memory is not among them."""

from typing import Any
from uuid import UUID

from memory_api.db.recall import Explanation, Hit
from memory_api.domain.memory import Relation
from memory_api.http.responses import memory_json, relation_json
from memory_api.services.recall import Recalled
from memory_api.services.why_not import WhyNot


def recall_json(found: Recalled, *, explain: bool) -> dict[str, Any]:
    """The contract's answer of retrieve and search."""
    hits = [
        hit_json(hit, found.related.get(hit.memory.id), found.via.get(hit.memory.id), explain=explain)
        for hit in found.hits
    ]
    return {
        "memories": hits,
        "total": len(hits),
        "degraded": found.degraded,
        "strategy_used": found.strategy_used,
        "no_relevant": found.no_relevant,
    }


def why_not_json(answer: WhyNot) -> dict[str, Any]:
    body: dict[str, Any] = {"id": answer.id, "reason": answer.reason, "detail": answer.detail}
    if answer.place is not None:
        body |= {"place": answer.place, "of": answer.of}
    if answer.explanation is not None:
        body["explain"] = _explain_json(answer.explanation, None)
    return body


def hit_json(
    hit: Hit, related: list[Relation] | None, via: tuple[UUID, str] | None, *, explain: bool
) -> dict[str, Any]:
    body = memory_json(hit.memory) | {"score": hit.explanation.score}
    if related:
        body["related"] = [relation_json(relation) for relation in related]
    if explain:
        body["explain"] = _explain_json(hit.explanation, via)
    return body


def _explain_json(why: Explanation, via: tuple[UUID, str] | None) -> dict[str, Any]:
    body: dict[str, Any] = {"decay": why.decay, "tier_weight": why.tier_weight}
    if why.lexical_rank is not None:
        body["lexical"] = {"rank": why.lexical_rank, "score": why.lexical_score, "coverage": why.coverage}
    if why.vector_rank is not None:
        body["vector"] = {"rank": why.vector_rank, "cosine": why.cosine}
    if why.session_rank is not None:
        body["session_rank"] = why.session_rank
    if why.fused is not None:
        body["fused"] = why.fused
    if via is not None:
        body["via"] = {"memory_id": via[0], "relation_type": via[1]}
    return body
