"""The recall statement."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import lru_cache
from importlib.resources import files
from typing import Any
from uuid import UUID

from sqlalchemy import TextClause, text
from sqlalchemy.ext.asyncio import AsyncConnection

from memory_api.db.history import Past
from memory_api.db.memories import COLUMNS, to_memory
from memory_api.db.vectors import literal
from memory_api.db.visibility import Fragment
from memory_api.domain.dates import AskedTime
from memory_api.domain.memory import Memory
from memory_api.domain.policy import Policy, SessionRules

_NEWEST = files("memory_api.db").joinpath("recall_newest.sql").read_text()
_COLUMNS = f"""{COLUMNS},
  exists (select from relations r where r.source_id = m.id) or exists (select from relations r where r.target_id = m.id)
    as has_relations"""
# The CRD's limit on recall.session.neighbours, and the number of terms in the statement.
MOST_NEIGHBOURS = 5
# How many rows each arm hands to the fusion. RRF gives rank 500 a ninth of what it gives the first.
ARM_DEPTH = 500
# More visible rows than this are searched by index. Measured: exact and HNSW cost the same at about 15,000 rows.
LARGE_SCOPE = 20_000
INDEX_DEPTH = 200
# In a large scope, lexemes are looked for as long as together they promise no more rows than this.
MOST_MATCHES = 30_000
# A word that is in more rows is looked for in the newest ones only: this many of each branch of the predicate.
MOST_NEWEST = 30_000
# How many lexemes of a query are looked for: questions have fewer than 20.
MOST_LEXEMES = 64

# When a row happened: in the time for which it is valid, if both ends are stated, else when that begins, or when it was
# observed.
_TIMELY = """case when m.valid_from is not null and m.valid_until is not null
      then tstzrange(m.valid_from, m.valid_until, '[]') && cast(cast(:times as text) as tstzmultirange)
      else coalesce(m.valid_from, m.observed_at) <@ cast(cast(:times as text) as tstzmultirange) end"""

# Limits stand in the text: a planner that sees them as parameters guesses.
_STATEMENT = (
    files("memory_api.db")
    .joinpath("recall.sql")
    .read_text()
    .replace("{large_scope}", str(LARGE_SCOPE))
    .replace("{index_depth}", str(INDEX_DEPTH))
    .replace("{depth}", str(ARM_DEPTH))
    .replace("{most_lexemes}", str(MOST_LEXEMES))
    .replace("{most_matches}", str(MOST_MATCHES))
)


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a hit stands where it stands. Ranks count from 1 and are None in an arm that did not find it.

    `lexical_score` is the sum of IDF (with what neighbours in the session lent), `coverage` the share of the query's
    IDF that the row's own words hold, `cosine` the raw similarity, `timely` whether it happened when the query says
    (None: it says no time); `score` is (fused + session) * decay * tier_weight.
    """

    score: float
    decay: float
    tier_weight: float
    fused: float | None = None
    lexical_rank: int | None = None
    lexical_score: float | None = None
    coverage: float | None = None
    vector_rank: int | None = None
    cosine: float | None = None
    session_rank: int | None = None
    timely: bool | None = None


@dataclass(frozen=True, slots=True)
class Hit:
    """A ranked memory. `alike` are the hits before it whose vectors are near to its own, where that was asked."""

    memory: Memory
    explanation: Explanation
    has_relations: bool = False
    alike: frozenset[UUID] = frozenset()


async def words_that_count(connection: AsyncConnection, words: Sequence[str]) -> list[bool]:
    """For each word, whether anything is left of it to search for: stop words leave nothing."""
    rows = await connection.execute(
        text(
            "select length(keepsake_lexemes(word)) > 0"
            " from unnest(cast(:words as text[])) with ordinality as w(word, place) order by place"
        ),
        {"words": list(words)},
    )
    return [bool(row[0]) for row in rows]


async def rank(
    connection: AsyncConnection,
    seen: Fragment,
    filters: Fragment,
    past: Past,
    policy: Policy,
    *,
    query: str,
    vector: Sequence[float] | None,
    times: Sequence[AskedTime],
    lexical: bool,
    min_relevance: float,
    abstain_below: float,
    limit: int,
    alike: float | None,
    preview_above: int | None,
) -> list[Hit]:
    """The best `limit` rows for `query`, best first. Without `vector` only the words count.

    No row at all where the best sum of coverage and cosine is less than `abstain_below`.

    With `alike` each hit tells which of those before it have a vector at least that near (cosine).
    """
    rules = policy.recall
    rows = await connection.execute(
        _filled(
            _STATEMENT.replace("{timely}", _TIMELY if times else "false"),
            seen.sql,
            seen.branches,
            filters.sql,
            past,
        ),
        {
            **seen.params,
            **filters.params,
            **past.params,
            **_recency(policy),
            "query": query,
            "lexical": lexical,
            "vector": literal(vector) if vector is not None else None,
            "fusion": rules.fusion,
            "k": float(rules.rrf_k),
            "lexical_weight": rules.lexical_weight,
            "vector_weight": rules.vector_weight,
            "date_weight": rules.date_weight,
            "title_weight": rules.title_weight,
            "phrase_bonus": rules.phrase_bonus,
            **({"times": _multirange(times)} if times else {}),
            "neighbours": rules.session.neighbours,
            **_lending(rules.session),
            "session_weight": rules.session.session_weight,
            "min_relevance": min_relevance,
            "abstain_below": abstain_below,
            "limit": limit,
            "alike": alike,
            "preview_above": preview_above,
        },
    )
    return [
        Hit(
            to_memory(row),
            Explanation(
                score=row.score,
                decay=row.decay,
                tier_weight=row.weight,
                fused=row.fused,
                lexical_rank=row.lexical_rank,
                lexical_score=row.lexical_score,
                coverage=row.coverage if row.lexical_rank else None,
                vector_rank=row.vector_rank,
                cosine=row.cosine,
                session_rank=row.session_rank if rules.session.session_weight else None,
                timely=row.timely if times else None,
            ),
            row.has_relations,
            frozenset(row.alike),
        )
        for row in rows
    ]


async def newest(
    connection: AsyncConnection,
    seen: Fragment,
    filters: Fragment,
    past: Past,
    policy: Policy,
    *,
    limit: int,
    preview_above: int | None,
) -> list[Hit]:
    """Recall without anything to search for: by decay and tier weight, then newest first."""
    rows = await connection.execute(
        _filled(_NEWEST, seen.sql, seen.branches, filters.sql, past),
        {
            **seen.params,
            **filters.params,
            **past.params,
            **_recency(policy),
            "limit": limit,
            "preview_above": preview_above,
        },
    )
    return [
        Hit(
            to_memory(row),
            Explanation(score=row.score, decay=row.decay, tier_weight=row.weight),
            row.has_relations,
        )
        for row in rows
    ]


@lru_cache(maxsize=512)
def _filled(statement: str, seen: str, branches: Sequence[str], filters: str, past: Past) -> TextClause:
    """The statement with everything in its place; kept, because finding its parameters takes a while."""
    newest = " union all ".join(
        f"(select * from {{memories}} m where {branch} {{filters}}"
        f" order by created_at desc, id desc limit {MOST_NEWEST})"
        for branch in branches
    )
    for name, value in (
        ("newest", newest),
        ("visible", seen),
        ("filters", filters),
        ("columns", _COLUMNS),
        ("memories", past.memories),
        ("vectors", past.vectors),
        ("now", past.now),
    ):
        statement = statement.replace(f"{{{name}}}", value)
    return text(statement)


def _recency(policy: Policy) -> dict[str, Any]:
    half_life = policy.recall.half_life
    weights = policy.tier_weights
    return {
        "floor": policy.recall.recency_floor,
        "half_life_user": _seconds(half_life.get("user")),
        "half_life_agent": _seconds(half_life.get("agent")),
        "half_life_institutional": _seconds(half_life.get("institutional")),
        "weight_user": weights.get("user", 1.0),
        "weight_agent": weights.get("agent", 1.0),
        "weight_institutional": weights.get("institutional", 1.0),
    }


def _multirange(times: Sequence[AskedTime]) -> str:
    """The spans of all times as PostgreSQL reads them."""
    spans = [span for time in times for span in time.spans]
    return "{" + ",".join(f"[{start.isoformat()},{end.isoformat()})" for start, end in spans) + "}"


def _lending(session: SessionRules) -> dict[str, float]:
    """What a hit lends to the turn `distance` away: the neighbour weight, divided by the distance."""
    return {
        f"lend_{distance}": session.neighbour_weight / distance if distance <= session.neighbours else 0.0
        for distance in range(1, MOST_NEIGHBOURS + 1)
    }


def _seconds(duration: timedelta | None) -> float | None:
    return duration.total_seconds() if duration else None
