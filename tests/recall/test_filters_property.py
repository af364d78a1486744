"""No filter leaves an answer short of what exists: random stores against a few lines of plain Python.

The same stores on both sides of the limit between small and large scopes, which the test lowers to a few rows.
"""

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from api_client import Api, memory_api
from memory_api.db import recall as statements
from memory_api.db.engine import transaction
from ranking_files import write_policy

WORDS = ["zebra", "lantern", "harbor", "violin", "marble", "copper", "saddle", "kettle"]
# A few words are in nearly every row, so that a large scope leaves them out.
EVERYWHERE = ["window", "spoon"]
USERS, AGENTS, FACETS = (None, "ada", "bob"), (None, "bot", "other"), (None, "project:a", "project:b")
KINDS, PURPOSES = ("fact", "event", "preference"), (None, "support", "billing")
TIERS = ("institutional", "agent", "user", "user_for_agent")
NOW = datetime.now(UTC)


@pytest.fixture(params=[statements.LARGE_SCOPE, 12], ids=["small scopes", "large scopes"])
def large_scope(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Take scopes of more than so many rows for large, with the other limits in proportion."""
    limit: int = request.param
    if limit != statements.LARGE_SCOPE:
        lowered = (
            statements._STATEMENT.replace(f"limit {statements.LARGE_SCOPE} + 1", f"limit {limit} + 1")
            .replace(f"count(*) > {statements.LARGE_SCOPE}", f"count(*) > {limit}")
            .replace(f"<= {statements.MOST_MATCHES}::float8", "<= 40::float8")
        )
        assert str(statements.LARGE_SCOPE) not in lowered
        monkeypatch.setattr(statements, "_STATEMENT", lowered)
    return limit


def _row(chance: random.Random) -> dict[str, Any]:
    words = chance.sample(WORDS, chance.randrange(1, 4)) + [word for word in EVERYWHERE if chance.random() < 0.8]
    fields = {
        "user_id": chance.choice(USERS),
        "agent_id": chance.choice(AGENTS),
        "facet": chance.choice(FACETS),
        "purpose": chance.choice(PURPOSES),
        "type": chance.choice(KINDS),
        "confidence": chance.choice([0.2, 0.5, 0.9]),
        "observed_at": (NOW - timedelta(days=chance.randrange(100))).isoformat(),
    }
    return {"content": " ".join(words), **{name: value for name, value in fields.items() if value is not None}}


def _question(chance: random.Random) -> dict[str, Any]:
    ask: dict[str, Any] = {
        "query": " ".join(
            chance.sample(WORDS, chance.randrange(1, 3)) + chance.sample(EVERYWHERE, chance.randrange(3))
        ),
        "limit": chance.choice([1, 5, 20, 100]),
        "strategy": chance.choice(["hybrid", "semantic", "keyword", "recent"]),
        "max_graph_hops": 0,
    }
    for name, value in (
        ("user_id", chance.choice(USERS)),
        ("agent_id", chance.choice(AGENTS)),
        ("facet", chance.choice(FACETS)),
    ):
        if value is not None:
            ask[name] = value
    for name, values, odds in (("tiers", TIERS, 0.4), ("types", KINDS, 0.3), ("purposes", PURPOSES[1:], 0.2)):
        if chance.random() < odds:
            ask[name] = chance.sample(values, chance.randrange(1, len(values)))
    if chance.random() < 0.3:
        ask["min_confidence"] = chance.choice([0.3, 0.6, 0.95])
    if chance.random() < 0.2:
        ask["since"] = (NOW - timedelta(days=60)).isoformat()
    if chance.random() < 0.2:
        ask["until"] = (NOW - timedelta(days=20)).isoformat()
    return ask


def _wanted(row: dict[str, Any], ask: dict[str, Any]) -> bool:
    """Visibility and every filter, in the words of the documentation."""
    return (
        row.get("user_id") in (None, ask.get("user_id"))
        and row.get("agent_id") in (None, ask.get("agent_id"))
        and ("facet" not in ask or row.get("facet") in (None, ask["facet"]))
        and ("tiers" not in ask or row["tier"] in ask["tiers"])
        and ("types" not in ask or row["type"] in ask["types"])
        and ("purposes" not in ask or row.get("purpose") in ask["purposes"])
        and row["confidence"] >= ask.get("min_confidence", 0)
        and ("since" not in ask or row["observed_at"] >= ask["since"])
        and ("until" not in ask or row["observed_at"] < ask["until"])
    )


async def _filled(api: Api, chance: random.Random, count: int) -> list[dict[str, Any]]:
    rows = []
    for _ in range(count):
        row = _row(chance)
        saved = await api.save(**row)
        rows.append({**row, "id": saved["id"], "tier": saved["tier"]})
    async with transaction(api.memory_api.standing.serving().engine) as connection:
        await connection.execute(text("analyze memories"))
    return rows


@pytest.mark.parametrize("seed", range(3))
async def test_br_058_no_filter_leaves_the_answer_short_of_what_exists(
    database: str, tmp_path: Path, large_scope: int, seed: int
) -> None:
    del large_scope
    chance = random.Random(seed)
    policy = write_policy(tmp_path, recall={"session": {"neighbours": 0}})
    async with memory_api(database, policy=policy) as api:
        rows = await _filled(api, chance, 160)
        for _ in range(120):
            ask = _question(chance)
            found = await api.recall(**ask)
            wanted = [row for row in rows if _wanted(row, ask)]
            by_words = [row for row in wanted if set(row["content"].split()) & set(ask["query"].split())]
            ids = [memory["id"] for memory in found["memories"]]
            exists = {row["id"] for row in (by_words if ask["strategy"] == "keyword" else wanted)}
            assert set(ids) <= exists, ask
            assert len(set(ids)) == len(ids) == min(ask["limit"], len(exists)), ask
            assert found["strategy_used"] == ask["strategy"]
            assert found["degraded"] == []
