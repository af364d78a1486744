"""The rules a workspace lives by: what a MemoryPolicy says, as plain values.

Field names follow the manifest (`crds/memorypolicies.yaml`) in snake case; the defaults here and those of the CRD
schema are the same, and a test says so. Durations are `timedelta`, ratios floats.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from types import MappingProxyType
from typing import Literal

PolicyTier = Literal["user", "agent", "institutional"]


@dataclass(frozen=True, slots=True)
class Kind:
    """A type of memory that saves may carry. Empty `tiers`: every tier accepts it."""

    name: str
    display_name: str = ""
    description: str = ""
    tiers: tuple[PolicyTier, ...] = ()


@dataclass(frozen=True, slots=True)
class RelationType:
    name: str
    display_name: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True)
class Ttl:
    """Expiry at write: `default` when the writer states none, never later than `max_age`."""

    default: timedelta | None = None
    max_age: timedelta | None = None


@dataclass(frozen=True, slots=True)
class TierRules:
    ttl: Ttl = Ttl()
    per_category: Mapping[str, Ttl] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class SessionRules:
    """Session context of recall: see recall.md step 3."""

    neighbours: int = 2
    neighbour_weight: float = 0.5
    session_weight: float = 4.0


@dataclass(frozen=True, slots=True)
class RecallRules:
    """How recall ranks. `half_life` None means no decay, `abstain_below` None what fits the embedding model."""

    half_life: Mapping[PolicyTier, timedelta | None] = field(
        default_factory=lambda: MappingProxyType(
            {"user": timedelta(days=30), "agent": timedelta(days=90), "institutional": None}
        )
    )
    recency_floor: float = 0.0
    fusion: Literal["rrf", "convex"] = "rrf"
    rrf_k: int = 60
    lexical_weight: float = 3.0
    vector_weight: float = 1.0
    date_weight: float = 2.0
    phrase_bonus: float = 1.0
    title_weight: float = 1.0
    session: SessionRules = SessionRules()
    inline_threshold_bytes: int = 8192
    max_related_per_memory: int = 3
    graph_relation_types: tuple[str, ...] = ()
    graph_max_hops: int = 1
    min_relevance: float = 0.0
    abstain_below: float | None = None


@dataclass(frozen=True, slots=True)
class Policy:
    """Everything one MemoryPolicy says. `Policy()` is what holds when none is bound."""

    name: str = "built-in"
    kinds: tuple[Kind, ...] = ()
    relation_types: tuple[RelationType, ...] = ()
    tiers: Mapping[PolicyTier, TierRules] = field(default_factory=lambda: MappingProxyType({}))
    recall: RecallRules = field(default_factory=RecallRules)
    tier_weights: Mapping[PolicyTier, float] = field(
        default_factory=lambda: MappingProxyType({"user": 1.0, "agent": 1.0, "institutional": 1.0})
    )
