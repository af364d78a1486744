"""The answer of a recall as JSON: hits, why they stand where they stand, and why a memory is not among them."""

from typing import Any

from memory_api.db.recall import Explanation, Hit
from memory_api.http.responses import memory_json, relation_json
from memory_api.services.recall import Recalled
from memory_api.services.why_not import WhyNot


def recall_json(found: Recalled, *, explain: bool) -> dict[str, Any]:
    """The contract's answer of retrieve and search."""
    hits = [_hit_json(hit, found, explain=explain) for hit in found.hits]
    return {
        "memories": hits,
        "total": len(hits),
        "degraded": found.degraded,
        "strategy_used": found.strategy_used,
        "no_relevant": found.no_relevant,
        "asked_times": found.asked_times,
        "none_in_time": found.none_in_time,
    }


def why_not_json(answer: WhyNot) -> dict[str, Any]:
    body: dict[str, Any] = {"id": answer.id, "reason": answer.reason, "detail": answer.detail}
    if answer.place is not None:
        body |= {"place": answer.place, "of": answer.of}
    if answer.explanation is not None:
        body["explain"] = _explain_json(answer.explanation)
    return body


def _hit_json(hit: Hit, found: Recalled, *, explain: bool) -> dict[str, Any]:
    id_ = hit.memory.id
    body = memory_json(hit.memory) | {"score": hit.explanation.score}
    if related := found.related.get(id_):
        body["related"] = [relation_json(relation) for relation in related]
    if folded := found.folded.get(id_):
        body["folded"] = folded
    if explain:
        body["explain"] = _explain_json(hit.explanation)
        if via := found.via.get(id_):
            body["explain"]["via"] = {"memory_id": via[0], "relation_type": via[1]}
        if id_ in found.looked_up:
            body["explain"]["lookup"] = found.looked_up[id_]
    return body


def _explain_json(why: Explanation) -> dict[str, Any]:
    body: dict[str, Any] = {"decay": why.decay, "tier_weight": why.tier_weight}
    if why.lexical_rank is not None:
        body["lexical"] = {"rank": why.lexical_rank, "score": why.lexical_score, "coverage": why.coverage}
    if why.vector_rank is not None:
        body["vector"] = {"rank": why.vector_rank, "cosine": why.cosine}
    if why.timely is not None:
        body["in_asked_time"] = why.timely
    if why.session_rank is not None:
        body["session_rank"] = why.session_rank
    if why.fused is not None:
        body["fused"] = why.fused
    return body
