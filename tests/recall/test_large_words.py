"""Words in a large scope: common ones are left out while rarer ones find enough, and never asked of every row."""

from collections.abc import AsyncIterator

import pytest
from sqlalchemy import text

from api_client import Api, memory_api
from memory_api.db.engine import transaction
from memory_api.db.recall import LARGE_SCOPE, MOST_MATCHES

ROWS = max(LARGE_SCOPE, MOST_MATCHES) + 10_000


@pytest.fixture
async def store(database: str) -> AsyncIterator[Api]:
    """Give a store in which every shared row says "zebra" and three in four "lantern", and bob alone has a quokka."""
    async with memory_api(database, provider=None, workers=False) as api:
        async with transaction(api.memory_api.standing.serving().engine) as connection:
            await connection.execute(
                text(
                    "insert into memories (id, kind, content, confidence, observed_at, confirmed_at, created_at)"
                    " select gen_random_uuid(), 'fact',"
                    " 'zebra ' || case when n % 4 > 0 then 'lantern ' else '' end || n, 0.7, at, at, at"
                    " from generate_series(1, :rows) as n"
                    " cross join lateral (select now() - n * interval '1 second' as at) as made"
                ),
                {"rows": ROWS},
            )
            await connection.execute(text("analyze memories"))
        await api.save("quokka", user_id="bob")
        yield api


async def test_one_word_that_every_row_holds_gives_the_newest(store: Api) -> None:
    found = await store.recall("zebra", limit=5)
    assert [memory["content"].split()[-1] for memory in found["memories"]] == ["1", "2", "3", "4", "5"]


async def test_a_rare_word_that_is_nowhere_to_be_seen_falls_back_to_the_least_common_of_the_others(store: Api) -> None:
    found = await store.recall("zebra lantern quokka", limit=5, user_id="ada")
    assert len(found["memories"]) == 5
    assert all("lantern" in memory["content"] for memory in found["memories"])


async def test_a_rare_word_that_is_found_comes_first_and_common_ones_fill_up(store: Api) -> None:
    found = await store.recall("zebra quokka", limit=5, user_id="bob", explain=True)
    contents = [memory["content"] for memory in found["memories"]]
    assert contents[0] == "quokka"
    assert len(contents) == 5
    scores = [memory["explain"]["lexical"]["score"] for memory in found["memories"]]
    assert scores[0] > scores[1] > 0
