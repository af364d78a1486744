"""Both arms together: union, exact identifiers, distances, scopes of four tiers, pooled connections."""

from pathlib import Path

import pytest
from sqlalchemy import text

from api_client import Api, memory_api
from memory_api.db.engine import create_engine, reading
from memory_api.embedding.provider import ProviderConfig
from ranking_files import write_policy

TIERS = {
    "user": {"user_id": "ada"},
    "agent": {"agent_id": "bot"},
    "user_for_agent": {"user_id": "ada", "agent_id": "bot"},
    "institutional": {},
}


async def test_br_042_an_exact_identifier_is_first_among_500_alike(api: Api) -> None:
    batch = [
        {"user_id": "ada", "content": f"Error ERR-{number}-QX in the payment flow"} for number in range(4000, 4500)
    ]
    answer = await api.http.post("memories/batch", json={"memories": batch})
    assert {item["status"] for item in answer.json()["results"]} == {201}
    found = await api.recall("what about ERR-4471-QX?", user_id="ada")
    assert found["memories"][0]["content"] == "Error ERR-4471-QX in the payment flow"


@pytest.mark.parametrize(
    ("subject", "seen"),
    [
        ({"user_id": "ada", "agent_id": "bot"}, {"user", "agent", "user_for_agent", "institutional"}),
        ({"user_id": "ada"}, {"user", "institutional"}),
        ({"agent_id": "bot"}, {"agent", "institutional"}),
        ({}, {"institutional"}),
    ],
)
async def test_br_043_each_subject_sees_its_tiers(api: Api, subject: dict[str, str], seen: set[str]) -> None:
    for fields in TIERS.values():
        await api.save("a note on zebras", **fields)
    found = await api.recall("zebra", **subject)
    assert {memory["tier"] for memory in found["memories"]} == seen


async def test_br_058_a_filter_never_leaves_the_result_short(api: Api) -> None:
    others = [{"user_id": f"other{n % 7}", "content": f"zebra note {n}"} for n in range(400)]
    mine = [{"user_id": "ada", "type": "fact" if n % 2 else "event", "content": f"zebra note {n}"} for n in range(60)]
    for batch in (others, mine):
        await api.http.post("memories/batch", json={"memories": batch})
    found = await api.recall("zebra", user_id="ada", types=["fact"], limit=20)
    assert len(found["memories"]) == 20
    assert {(memory["user_id"], memory["type"]) for memory in found["memories"]} == {("ada", "fact")}


async def test_br_060_a_connection_from_the_pool_keeps_its_settings(database: str) -> None:
    engine = create_engine(database, pool_size=1)
    for _ in range(2):
        async with reading(engine) as connection:
            assert await connection.scalar(text("show hnsw.iterative_scan")) == "relaxed_order"
            assert await connection.scalar(text("show hnsw.ef_search")) == "100"
            assert await connection.scalar(text("show jit")) == "off"
    await engine.dispose()


async def test_br_040_the_nearest_vector_ranks_first(api: Api) -> None:
    for words in ("kettle", "kettle copper", "kettle copper spoon marble"):
        await api.save(words, user_id="ada")
    answer = await api.http.post(
        "memories/retrieve/semantic", json={"query": "kettle", "user_id": "ada", "explain": True}
    )
    found = answer.json()
    cosines = [memory["explain"]["vector"]["cosine"] for memory in found["memories"]]
    assert found["strategy_used"] == "semantic"
    assert cosines[0] == pytest.approx(1, abs=1e-3)
    assert cosines == sorted(cosines, reverse=True)


async def test_a_memory_without_words_in_common_is_found_by_meaning(database: str) -> None:
    from api_client import memory_api

    bundled = ProviderConfig(name="bundled", type="transformers", model="all-minilm-l6-v2-int8", dimensions=384)
    async with memory_api(database, provider=bundled) as api:
        await api.save("The physician prescribed pills", user_id="ada")
        await api.save("The train leaves at noon", user_id="ada")
        found = await api.recall("doctor gave medicine", user_id="ada", explain=True)
    assert found["memories"][0]["content"] == "The physician prescribed pills"
    assert "lexical" not in found["memories"][0]["explain"]


async def test_br_031_raw_scores_stand_beside_the_fused_one_and_a_floor_acts_on_them(api: Api) -> None:
    await api.save("zebra lantern", user_id="ada")
    await api.save("saddle", user_id="ada")
    found = await api.recall("zebra lantern", user_id="ada", explain=True, min_relevance=0.9)
    (hit,) = found["memories"]
    assert hit["explain"]["lexical"]["coverage"] == pytest.approx(1)
    assert hit["explain"]["vector"]["cosine"] == pytest.approx(1, abs=1e-3)
    nothing = await api.recall("purple giraffe tax law sonata", user_id="ada", min_relevance=0.9)
    assert (nothing["memories"], nothing["no_relevant"]) == ([], True)


async def test_abstaining_is_for_both_arms_together_and_a_floor_of_the_caller_takes_its_place(
    database: str, tmp_path: Path
) -> None:
    policy = write_policy(tmp_path, recall={"abstainBelow": "1"})
    async with memory_api(database, policy=policy) as api:
        saved = await api.save("zebra", user_id="ada")
        nothing = await api.recall("marble", user_id="ada")
        why = {"query": "marble", "user_id": "ada", "why_not": saved["id"]}
        reason = (await api.http.post("memory/retrieve-preview", json=why)).json()["why_not"]
        assert (nothing["memories"], nothing["no_relevant"], reason["reason"]) == ([], True, "below_relevance")
        assert "abstainBelow 1.000" in reason["detail"]
        for ask in ({"strategy": "semantic"}, {"min_relevance": 0}, {"query": "zebra"}):
            found = await api.recall(**{"query": "marble", "user_id": "ada", **ask})
            assert ([hit["id"] for hit in found["memories"]], found["no_relevant"]) == ([saved["id"]], False)


async def test_a_vector_that_points_away_is_no_reason_to_say_nothing(database: str) -> None:
    """The mock's cosines are as often below zero as above, and its store has no floor."""
    async with memory_api(database) as api:
        for number in range(8):
            await api.save(f"zebra{number}", user_id=f"user{number}")
        totals = [
            (await api.recall("marble", user_id=f"user{number}", strategy=strategy))["total"]
            for number in range(8)
            for strategy in ("hybrid", "semantic")
        ]
        assert totals == [1] * 16
