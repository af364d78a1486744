"""MemoryPolicy: the rules that memories of a workspace live by. Cluster-scoped, shared by any number of workspaces."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field
from pydantic.config import JsonDict

from memory_operator.api.quantities import (
    Duration,
    DurationOrNone,
    Ratio,
    TierWeight,
    Weight,
    cel_any_positive,
    cel_seconds,
    rule,
    rules,
)
from memory_operator.api.resource import Part, SharedStatus

Tier = Literal["user", "agent", "institutional"]
Name = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_.:-]*$", max_length=63)]
KEYED_BY_NAME: JsonDict = {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"]}
NO_REPEATS: JsonDict = {"x-kubernetes-list-type": "set"}


class Kind(Part):
    """A kind of memory that saves may carry."""

    name: Name = Field(description="The value of `type` in saves and in the tools of agents. Unique in the list.")
    display_name: Annotated[str, Field(max_length=128)] | None = Field(
        default=None, description="How people see the kind. Without it they see the name."
    )
    description: Annotated[str, Field(max_length=1024)] | None = Field(
        default=None, description="When to use the kind. Agents read this in the description of memory__remember."
    )
    tiers: Annotated[list[Tier], Field(min_length=1, max_length=3)] | None = Field(
        default=None,
        description="The tiers that accept the kind. Left out, every tier does.",
        json_schema_extra=NO_REPEATS,
    )


class RelationType(Part):
    """A type of relation that may be stored between two memories."""

    name: Name = Field(description="The value of `relation_type`. Unique in the list.")
    display_name: Annotated[str, Field(max_length=128)] | None = Field(
        default=None, description="How people see the relation. Without it they see the name."
    )
    description: Annotated[str, Field(max_length=1024)] | None = Field(
        default=None, description="What the relation says. Agents read this in the description of memory__recall."
    )


class Schema(Part):
    """The kinds and relation types that a workspace accepts."""

    kinds: Annotated[list[Kind], Field(max_length=64)] | None = Field(
        default=None,
        description="The accepted kinds. They replace the built-in list, which holds while this is left out or empty.",
        json_schema_extra=KEYED_BY_NAME,
    )
    relation_types: Annotated[list[RelationType], Field(max_length=64)] | None = Field(
        default=None,
        description="The accepted relation types. Left out or empty, every type is accepted.",
        json_schema_extra=KEYED_BY_NAME,
    )


class Ttl(Part):
    """When memories expire. Acts when a memory is written or reinforced; stored rows stay as they are."""

    model_config = ConfigDict(
        json_schema_extra=rules(
            rule(
                f"!has(self.default) || !has(self.maxAge) || {cel_seconds('self.default')} <= "
                f"{cel_seconds('self.maxAge')}",
                "default must not be longer than maxAge: shorten default or raise maxAge",
                path=".default",
            )
        )
    )

    default: Duration | None = Field(
        default=None,
        description="Life of a memory whose writer states no expiry, such as 90d or 1d12h30m. Left out, none expires.",
    )
    max_age: Duration | None = Field(
        default=None, description="The longest life that any memory gets, whatever its writer states."
    )


class CategoryRules(Part):
    """What holds for one consent category instead of the tier's own rules."""

    ttl: Ttl | None = Field(default=None, description="Expiry of memories of this category, in place of the tier's.")


CategoryMap = Annotated[
    dict[str, CategoryRules],
    Field(
        max_length=16,
        json_schema_extra=rules(
            rule(
                "self.all(c, c.matches('^[a-z]{1,32}:[a-z][a-z0-9_-]{0,63}$'))",
                "name consent categories as saves do, such as memory:health",
            )
        ),
    ),
]


class TierRules(Part):
    """How memories of one tier are kept."""

    ttl: Ttl | None = Field(default=None, description="When memories of the tier expire. Left out, they do not.")
    per_category: CategoryMap | None = Field(
        default=None,
        description="Other rules for single consent categories, by category, such as memory:health.",
    )


class Tiers(Part):
    """How memories are kept, tier by tier."""

    user: TierRules | None = Field(
        default=None, description="Memories of one user. Those of a user with one agent follow the same rules."
    )
    agent: TierRules | None = Field(default=None, description="Memories that an agent shares with all its users.")
    institutional: TierRules | None = Field(default=None, description="Memories of the whole workspace.")


class HalfLife(Part):
    """The age at which a memory's score is halved, per tier."""

    user: DurationOrNone = Field(
        default="30d", description="For memories of users: a duration such as 30d, or none for no decay."
    )
    agent: DurationOrNone = Field(
        default="90d", description="For memories of agents: a duration such as 90d, or none for no decay."
    )
    institutional: DurationOrNone = Field(
        default="none", description="For memories of the workspace: a duration such as 365d, or none for no decay."
    )


class Weights(Part):
    """How much each ranking counts in the fused score."""

    model_config = ConfigDict(
        json_schema_extra=rules(
            rule(
                cel_any_positive("lexical", "vector"),
                "at least one of lexical and vector must be more than 0, or nothing is ever found",
            )
        )
    )

    lexical: Weight = Field(default="3", description="Weight of the ranking by words, 0 to 100.")
    vector: Weight = Field(default="1", description="Weight of the ranking by meaning, 0 to 100.")
    date: Weight = Field(
        default="2",
        description="Weight of having happened when the query says, such as in June, 0 to 100. 0 reads no dates.",
    )


class Session(Part):
    """How memories of one conversation lift each other."""

    neighbours: Annotated[int, Field(ge=0, le=5)] = Field(
        default=2, description="How many turns before and after a hit share in its lexical score. 0 turns this off."
    )
    neighbour_weight: Ratio = Field(
        default="0.5", description="The part of a hit's lexical score that goes to its neighbours, 0 to 1."
    )
    session_weight: Weight = Field(
        default="4", description="How much a session that ranks well lifts its memories, 0 to 100. 0 turns this off."
    )


class GraphExpansion(Part):
    """Which related memories a recall adds to its hits."""

    relation_types: Annotated[list[Name], Field(max_length=64)] | None = Field(
        default=None,
        description="Relation types that are followed. Left out or empty, every type is.",
        json_schema_extra=NO_REPEATS,
    )
    max_hops: Annotated[int, Field(ge=0, le=5)] = Field(
        default=1, description="How many relations away from a hit is still looked at. 0 turns expansion off."
    )


class Recall(Part):
    """How recall ranks and what it returns."""

    half_life: HalfLife = Field(
        default=HalfLife(), description="The age at which a memory's score is halved, per tier."
    )
    recency_floor: Ratio = Field(
        default="0", description="The part of the score that age cannot take, 0 to 1. With 0 old memories fade away."
    )
    fusion: Literal["rrf", "convex"] = Field(
        default="rrf",
        description="How the two rankings become one: rrf by reciprocal ranks, convex by scores scaled to 0 to 1.",
    )
    rrf_k: Annotated[int, Field(ge=1, le=1000)] = Field(
        default=60, description="The constant k of reciprocal rank fusion. Larger values flatten the top of the list."
    )
    weights: Weights = Field(default=Weights(), description="How much each ranking counts.")
    phrase_bonus: Ratio = Field(
        default="1",
        description="How much more two words of the query count side by side: a part of their mean, 0 to 1.",
    )
    title_weight: TierWeight = Field(
        default="1", description="How many times a word of the query counts that stands in the title, 0 to 10."
    )
    session: Session = Field(default=Session(), description="How memories of one conversation lift each other.")
    inline_threshold_bytes: Annotated[int, Field(ge=0, le=1_048_576)] = Field(
        default=8192, description="Bodies longer than this many bytes come as a preview where the caller asks for it."
    )
    max_related_per_memory: Annotated[int, Field(ge=0, le=50)] = Field(
        default=3, description="How many related memories are shown with one hit. 0 shows none."
    )
    graph_expansion: GraphExpansion = Field(
        default=GraphExpansion(), description="Which related memories a recall adds to its hits."
    )
    min_relevance: Ratio = Field(
        default="0", description="Hits whose relevance to the query is below this are left out, 0 to 1."
    )
    abstain_below: Ratio | None = Field(
        default=None,
        description="No hits at all when even the best sum of a hit's coverage and cosine is below this, 0 to 1. "
        "Left out, what fits the embedding model: 0.35 for the bundled one, else 0.",
    )


class TierWeights(Part):
    """A factor per tier on the final score."""

    model_config = ConfigDict(
        json_schema_extra=rules(
            rule(
                cel_any_positive("user", "agent", "institutional"),
                "at least one tier must weigh more than 0, or nothing is ever found",
            )
        )
    )

    user: TierWeight = Field(default="1", description="Factor for memories of users, 0 to 10.")
    agent: TierWeight = Field(default="1", description="Factor for memories of agents, 0 to 10.")
    institutional: TierWeight = Field(default="1", description="Factor for memories of the workspace, 0 to 10.")


class TierPrecedence(Part):
    """How tiers compete for places in a recall."""

    multiplicative: TierWeights = Field(default=TierWeights(), description="A factor per tier on the final score.")


class MemoryPolicySpec(Part):
    """The rules. Everything may be left out; defaults then hold."""

    model_config = ConfigDict(
        json_schema_extra=rules(
            rule(
                "!has(self.recall.graphExpansion.relationTypes) || !has(self.schema) || "
                "!has(self.schema.relationTypes) || size(self.schema.relationTypes) == 0 || "
                "self.recall.graphExpansion.relationTypes.all(t, self.schema.relationTypes.exists(r, r.name == t))",
                "graphExpansion.relationTypes may only name types that schema.relationTypes declares: "
                "declare the type there, or leave the list empty to follow every type",
                path=".recall.graphExpansion.relationTypes",
            )
        )
    )

    schema_: Schema | None = Field(
        default=None,
        alias="schema",
        description="The kinds and relation types that are accepted. Left out, the built-in kinds hold.",
    )
    tiers: Tiers | None = Field(default=None, description="How memories are kept, tier by tier.")
    recall: Recall = Field(default=Recall(), description="How recall ranks and what it returns.")
    tier_precedence: TierPrecedence = Field(
        default=TierPrecedence(), description="How tiers compete for places in a recall."
    )


class MemoryPolicy(Part):
    """The rules that the memories of a workspace live by: kinds, expiry, ranking.

    A workspace names one under spec.services[].memory.policyRef; one policy may serve many workspaces.
    """

    spec: MemoryPolicySpec = Field(default=MemoryPolicySpec(), description="The rules.")
    status: SharedStatus | None = Field(default=None, description="What the operator last saw.")
