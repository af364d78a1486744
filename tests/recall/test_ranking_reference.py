"""The recall statement against the same ranking in plain Python, over random stores of all tiers, ages and sessions."""

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from api_client import Api, memory_api
from ranking_files import write_policy
from ranking_reference import Rules, cosine, rank

WORDS = ["zebra", "lantern", "harbor", "violin", "marble", "copper", "saddle", "window", "kettle", "spoon"]
SUBJECTS: list[dict[str, str]] = [{"user_id": "ada"}, {"user_id": "ada", "agent_id": "bot"}, {"agent_id": "bot"}, {}]
OTHERS: list[dict[str, str]] = [{"user_id": "bob"}, {"user_id": "ada", "agent_id": "other"}, {"agent_id": "other"}]

RULES = {
    "seeds": Rules(),
    "default": Rules(lexical=3, session_weight=3, neighbours=2, phrase=0.5),
    "titles": Rules(title=2.5, phrase=0.3, neighbours=1),
    "convex": Rules(fusion="convex", session_weight=0.3, neighbours=2),
    "far neighbours": Rules(lexical=2, vector=1, session_weight=1.5, neighbours=5, neighbour_weight=0.9, k=10),
    "floor and weights": Rules(
        floor=0.4, weight={"user": 2.0, "user_for_agent": 2.0, "agent": 0.5, "institutional": 3.0}
    ),
}


def _policy(folder: Path, rules: Rules) -> Path:
    return write_policy(
        folder,
        recall={
            "fusion": rules.fusion,
            "rrfK": int(rules.k),
            "weights": {"lexical": str(rules.lexical), "vector": str(rules.vector), "date": str(rules.date)},
            "phraseBonus": str(rules.phrase),
            "titleWeight": str(rules.title),
            "session": {
                "neighbours": rules.neighbours,
                "neighbourWeight": str(rules.neighbour_weight),
                "sessionWeight": str(rules.session_weight),
            },
            "recencyFloor": str(rules.floor),
        },
        tierPrecedence={
            "multiplicative": {tier: str(rules.weight[tier]) for tier in ("user", "agent", "institutional")}
        },
    )


async def _fill(api: Api, chance: random.Random, now: datetime) -> list[dict[str, Any]]:
    """Save 60 memories; give back those that ada may see through bot, with their times read."""
    mine = []
    for number in range(60):
        subject = chance.choice(SUBJECTS if chance.random() < 0.8 else OTHERS)
        fields: dict[str, Any] = {"observed_at": (now - timedelta(days=chance.uniform(0, 200))).isoformat()}
        if chance.random() < 0.6:
            fields |= {"session_id": f"s{chance.randrange(4)}", "turn_range": [number, number]}
        if chance.random() < 0.3:
            fields["title"] = chance.choice(WORDS)
        memory = await api.save(" ".join(chance.sample(WORDS, chance.randrange(1, 5))), **subject, **fields)
        if subject in SUBJECTS:
            mine.append({**memory, "observed_at": datetime.fromisoformat(memory["observed_at"])})
    return mine


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_the_statement_ranks_as_the_reference_does(database: str, tmp_path: Path, name: str, seed: int) -> None:
    chance = random.Random(seed)
    rules = RULES[name]
    async with memory_api(database, policy=_policy(tmp_path, rules)) as api:
        rows = await _fill(api, chance, datetime.now(UTC))
        asked = chance.sample(WORDS, 3)
        found = await api.recall(" ".join(asked), user_id="ada", agent_id="bot", limit=100, explain=True)

        # Equal vectors in other rounding would swap places: the database's own cosines rank, ours say they are right.
        cosines = {memory["id"]: memory["explain"]["vector"]["cosine"] for memory in found["memories"]}
        assert cosines == pytest.approx(await _cosines(api, rows, " ".join(asked)), abs=1e-3)
        expected = rank(rows, asked, cosines, rules, datetime.now(UTC))
        assert {memory["id"]: memory["score"] for memory in found["memories"]} == pytest.approx(expected, abs=1e-7)
        scores = [memory["score"] for memory in found["memories"]]
        assert scores == sorted(scores, reverse=True)


async def _cosines(api: Api, rows: list[dict[str, Any]], query: str) -> dict[str, float]:
    provider = api.memory_api.standing.serving().provider
    assert provider is not None
    question = await provider.embed_query(query)
    vectors = await provider.embed_passages(
        ["\n".join(filter(None, (row.get("title"), row["content"]))) for row in rows], deadline=10
    )
    return {row["id"]: cosine(question, vector) for row, vector in zip(rows, vectors, strict=True)}
