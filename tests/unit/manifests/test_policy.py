"""A MemoryPolicy manifest becomes the values of the domain."""

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from manifest_table import ROOT, manifest
from memory_api.domain.policy import Kind, Policy, RecallRules, RelationType, SessionRules, TierRules, Ttl
from memory_api.manifests import load_policy

SAMPLES = ROOT / "crds" / "samples"

FULL = """
  schema:
    kinds:
    - {name: preference, displayName: Preference, description: What they like.}
    - {name: incident, tiers: [agent, institutional]}
    relationTypes:
    - {name: causes, displayName: Causes, description: One thing led to the other.}
  tiers:
    user:
      ttl: {default: 90d, maxAge: 365d}
      perCategory:
        memory:health: {ttl: {maxAge: 1d12h30m5s}}
        memory:context: {}
    institutional: {}
  recall:
    halfLife: {user: none, agent: 12h}
    recencyFloor: "0.25"
    fusion: convex
    rrfK: 10
    weights: {lexical: "0", vector: "2.5", date: "4"}
    phraseBonus: "0.25"
    titleWeight: "2"
    session: {neighbours: 1, neighbourWeight: "1", sessionWeight: "0"}
    inlineThresholdBytes: 0
    maxRelatedPerMemory: 50
    graphExpansion: {relationTypes: [causes], maxHops: 2}
    minRelevance: "0.5"
    abstainBelow: "0.2"
  tierPrecedence:
    multiplicative: {user: "10", agent: "0.5"}
"""


def test_every_field_arrives_as_a_value(tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(manifest("MemoryPolicy", FULL, "full"), encoding="utf-8")
    assert load_policy(file) == Policy(
        name="full",
        kinds=(
            Kind("preference", "Preference", "What they like."),
            Kind("incident", tiers=("agent", "institutional")),
        ),
        relation_types=(RelationType("causes", "Causes", "One thing led to the other."),),
        tiers={
            "user": TierRules(
                ttl=Ttl(default=timedelta(days=90), max_age=timedelta(days=365)),
                per_category={
                    "memory:health": Ttl(max_age=timedelta(days=1, hours=12, minutes=30, seconds=5)),
                    "memory:context": Ttl(),
                },
            ),
            "institutional": TierRules(),
        },
        recall=RecallRules(
            half_life={"user": None, "agent": timedelta(hours=12), "institutional": None},
            recency_floor=0.25,
            fusion="convex",
            rrf_k=10,
            lexical_weight=0.0,
            vector_weight=2.5,
            date_weight=4.0,
            phrase_bonus=0.25,
            title_weight=2.0,
            session=SessionRules(neighbours=1, neighbour_weight=1.0, session_weight=0.0),
            inline_threshold_bytes=0,
            max_related_per_memory=50,
            graph_relation_types=("causes",),
            graph_max_hops=2,
            min_relevance=0.5,
            abstain_below=0.2,
        ),
        tier_weights={"user": 10.0, "agent": 0.5, "institutional": 1.0},
    )


def test_defaults_of_the_crd_are_the_defaults_of_the_domain(tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(
        "apiVersion: keepsake.dev/v1alpha1\nkind: MemoryPolicy\nmetadata: {name: built-in}\n", encoding="utf-8"
    )
    assert load_policy(file) == Policy()


def test_the_sample_called_default_is_the_default() -> None:
    assert load_policy(SAMPLES / "default.yaml") == Policy(name="default")


def test_the_sample_called_seeds_is_plain_reciprocal_rank_fusion() -> None:
    recall = load_policy(SAMPLES / "seeds.yaml").recall
    assert recall == replace(
        RecallRules(),
        lexical_weight=1.0,
        vector_weight=1.0,
        date_weight=0.0,
        phrase_bonus=0.0,
        abstain_below=0.0,
        session=SessionRules(neighbours=0, neighbour_weight=0.5, session_weight=0.0),
    )
