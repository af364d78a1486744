"""The seeds' recall, by hand: RRF with k = 60 and weights 1:1, per-tier half-life, tier precedence."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from api_client import memory_api
from memory_api.manifests.schema import shipped
from ranking_files import write_policy

DAY = timedelta(days=1)
# (tier's subject, age in days, words). No two rows share a word of the query with the same rarity by accident:
# zebra stands in 4 rows, lantern in 3, harbor in 1.
ROWS: list[tuple[dict[str, str], float, str]] = [
    ({"user_id": "ada"}, 0, "zebra lantern"),
    ({"user_id": "ada"}, 30, "zebra harbor"),
    ({"user_id": "ada"}, 150, "lantern"),
    ({"user_id": "ada", "agent_id": "bot"}, 15, "zebra"),
    ({"user_id": "ada", "agent_id": "bot"}, 60, "violin"),
    ({"agent_id": "bot"}, 90, "lantern zebra window"),
    ({"agent_id": "bot"}, 9, "marble"),
    ({}, 400, "copper"),
    ({}, 3, "saddle"),
]


async def _saved(api: Any, now: datetime) -> list[dict[str, Any]]:
    return [await api.save(words, **subject, observed_at=(now - age * DAY).isoformat()) for subject, age, words in ROWS]


async def test_the_shipped_seeds_policy_is_the_seeds_formula_to_the_digit(database: str) -> None:
    async with memory_api(database, policy=shipped("samples/seeds.yaml")) as api:
        saved = await _saved(api, datetime.now(UTC))
        found = await api.recall("zebra lantern harbor", user_id="ada", agent_id="bot", limit=100, explain=True)

        assert {memory["id"] for memory in found["memories"]} == {memory["id"] for memory in saved}
        half_life = {"user": 30, "user_for_agent": 30, "agent": 90, "institutional": None}
        for memory in found["memories"]:
            why = memory["explain"]
            ranks = [arm["rank"] for arm in (why.get("lexical"), why.get("vector")) if arm]
            age = (datetime.now(UTC) - datetime.fromisoformat(memory["observed_at"])) / DAY
            decay = 1.0 if half_life[memory["tier"]] is None else 0.5 ** (age / half_life[memory["tier"]])
            assert memory["score"] == pytest.approx(sum(1 / (60 + rank) for rank in ranks) * decay, abs=1e-9)


async def test_the_rarest_words_rank_first_and_a_tie_goes_to_the_younger(database: str) -> None:
    async with memory_api(database, policy=shipped("samples/seeds.yaml"), provider=None) as api:
        saved = await _saved(api, datetime.now(UTC))
        found = await api.recall("zebra lantern harbor", user_id="ada", agent_id="bot", limit=100, explain=True)

        ranks = {memory["id"]: memory["explain"]["lexical"]["rank"] for memory in found["memories"]}
        order = sorted(ranks, key=lambda id_: ranks[id_])
        assert order == [saved[place]["id"] for place in (1, 0, 5, 2, 3)]
        assert sorted(ranks.values()) == [1, 2, 3, 4, 5]


async def test_a_memory_as_old_as_its_half_life_counts_half(database: str) -> None:
    async with memory_api(database, policy=shipped("samples/seeds.yaml")) as api:
        now = datetime.now(UTC)
        await api.save("copper kettle", user_id="ada", observed_at=(now - 30 * DAY).isoformat())
        await api.save("silver kettle", agent_id="bot", observed_at=(now - 90 * DAY).isoformat())
        await api.save("golden kettle", observed_at=(now - 5000 * DAY).isoformat())
        found = await api.recall("kettle", user_id="ada", agent_id="bot", explain=True)

        decays = {memory["tier"]: memory["explain"]["decay"] for memory in found["memories"]}
        assert decays == pytest.approx({"user": 0.5, "agent": 0.5, "institutional": 1.0}, abs=1e-6)


async def test_tier_precedence_multiplies_and_keeps_the_order_within_a_tier(database: str, tmp_path: Path) -> None:
    policy = write_policy(
        tmp_path,
        recall={"halfLife": {"user": "none"}},
        tierPrecedence={"multiplicative": {"user": "0.5", "institutional": "2.5"}},
    )
    async with memory_api(database, policy=policy) as api:
        for words in ("kettle copper", "kettle", "kettle silver spoon"):
            await api.save(words, user_id="ada")
            await api.save(words)
        found = await api.recall("kettle copper", user_id="ada", explain=True, limit=100)

        weights = {memory["tier"]: memory["explain"]["tier_weight"] for memory in found["memories"]}
        assert weights == {"user": 0.5, "institutional": 2.5}
        scores = [memory["score"] for memory in found["memories"]]
        assert scores == sorted(scores, reverse=True)
        for tier in ("user", "institutional"):
            bare = [m["score"] / weights[tier] for m in found["memories"] if m["tier"] == tier]
            assert bare == sorted(bare, reverse=True)
            assert len(bare) == 3
