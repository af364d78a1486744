"""A MemoryPolicy manifest as the values that the rules of the domain read."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from memory_api.domain.policy import (
    Kind,
    Policy,
    PolicyTier,
    RecallRules,
    RelationType,
    SessionRules,
    TierRules,
    Ttl,
)
from memory_api.manifests.document import read_bytes
from memory_api.manifests.quantities import duration, duration_or_none
from memory_api.manifests.verdict import admitted_in

_TIERS: tuple[PolicyTier, ...] = ("user", "agent", "institutional")


def load_policy(path: Path) -> Policy:
    """The policy in the file.

    Raises:
        ManifestError: a manifest that the API server would refuse; the message names file, line, field and reason.
    """
    return policy_in(read_bytes(path), str(path))


def policy_in(raw: bytes, source: str) -> Policy:
    """The policy in what was read already; `source` is what messages call it.

    Raises:
        ManifestError: as `load_policy`.
    """
    return policy_of(admitted_in(raw, source, "MemoryPolicy"))


def policy_of(manifest: Mapping[str, Any]) -> Policy:
    """The values of an admitted manifest, in which every default is filled in."""
    spec = manifest["spec"]
    schema = spec.get("schema", {})
    tiers = spec.get("tiers", {})
    weights = spec["tierPrecedence"]["multiplicative"]
    return Policy(
        name=manifest["metadata"]["name"],
        kinds=tuple(_kind(entry) for entry in schema.get("kinds", ())),
        relation_types=tuple(_relation_type(entry) for entry in schema.get("relationTypes", ())),
        tiers=MappingProxyType({tier: _tier_rules(tiers[tier]) for tier in _TIERS if tier in tiers}),
        recall=_recall_rules(spec["recall"]),
        tier_weights=MappingProxyType({tier: float(weights[tier]) for tier in _TIERS}),
    )


def _kind(entry: Mapping[str, Any]) -> Kind:
    return Kind(
        name=entry["name"],
        display_name=entry.get("displayName", ""),
        description=entry.get("description", ""),
        tiers=tuple(entry.get("tiers", ())),
    )


def _relation_type(entry: Mapping[str, Any]) -> RelationType:
    return RelationType(
        name=entry["name"], display_name=entry.get("displayName", ""), description=entry.get("description", "")
    )


def _tier_rules(entry: Mapping[str, Any]) -> TierRules:
    categories = {name: _ttl(rules.get("ttl", {})) for name, rules in entry.get("perCategory", {}).items()}
    return TierRules(ttl=_ttl(entry.get("ttl", {})), per_category=MappingProxyType(categories))


def _ttl(entry: Mapping[str, str]) -> Ttl:
    return Ttl(
        default=duration(entry["default"]) if "default" in entry else None,
        max_age=duration(entry["maxAge"]) if "maxAge" in entry else None,
    )


def _recall_rules(entry: Mapping[str, Any]) -> RecallRules:
    session, graph = entry["session"], entry["graphExpansion"]
    return RecallRules(
        half_life=MappingProxyType({tier: duration_or_none(entry["halfLife"][tier]) for tier in _TIERS}),
        recency_floor=float(entry["recencyFloor"]),
        fusion=entry["fusion"],
        rrf_k=entry["rrfK"],
        lexical_weight=float(entry["weights"]["lexical"]),
        vector_weight=float(entry["weights"]["vector"]),
        date_weight=float(entry["weights"]["date"]),
        phrase_bonus=float(entry["phraseBonus"]),
        title_weight=float(entry["titleWeight"]),
        session=SessionRules(
            neighbours=session["neighbours"],
            neighbour_weight=float(session["neighbourWeight"]),
            session_weight=float(session["sessionWeight"]),
        ),
        inline_threshold_bytes=entry["inlineThresholdBytes"],
        max_related_per_memory=entry["maxRelatedPerMemory"],
        graph_relation_types=tuple(graph.get("relationTypes", ())),
        graph_max_hops=graph["maxHops"],
        min_relevance=float(entry["minRelevance"]),
        abstain_below=float(entry["abstainBelow"]) if "abstainBelow" in entry else None,
    )
