"""Small scopes are searched exactly, large ones by index: the choice is ours, and both find what is there."""

import random
from typing import Any

from sqlalchemy import text

from api_client import Api
from memory_api.db.engine import transaction
from memory_api.db.recall import LARGE_SCOPE
from sent_statements import Sent, nodes_run, recorded

WORDS = ["zebra", "lantern", "harbor", "violin", "marble", "copper", "saddle", "window", "kettle", "spoon"]


async def _fill(api: Api, rows: int, owners: int) -> None:
    """`rows` memories of four words each with random vectors: institutional for no owners, else of that many users."""
    chance = random.Random(7)
    async with transaction(api.memory_api.standing.serving().engine) as connection:
        # A busy machine may take longer to build the index than a request may.
        await connection.execute(text("set local statement_timeout = 0"))
        await connection.execute(text("drop index memory_vectors_nearest"))
        await connection.execute(
            text(
                "insert into memories (id, user_id, kind, content, confidence, observed_at, confirmed_at)"
                " select gen_random_uuid(), case when n <= 60 then 'ada' when :owners > 0 then 'user' || n % :owners"
                " else '' end, 'fact', words, 0.7, now(), now()"
                " from unnest(cast(:contents as text[])) with ordinality as filled(words, n)"
            ),
            {"contents": [" ".join(chance.sample(WORDS, 4)) for _ in range(rows)], "owners": owners},
        )
        await connection.execute(
            text(
                "insert into memory_vectors select id, (select array_agg(random() - 0.5)"
                " from generate_series(1, 384) where m.id is not null)::real[]::vector(384)::halfvec from memories m"
            )
        )
        await connection.execute(
            text("create index memory_vectors_nearest on memory_vectors using hnsw (embedding halfvec_cosine_ops)")
        )
        await connection.execute(text("analyze memories"))
        await connection.execute(text("analyze memory_vectors"))


async def _recall_ran(api: Api, sent: list[Sent]) -> list[dict[str, Any]]:
    (recall,) = [one for one in sent if "scope as materialized" in one[0]]
    return await nodes_run(api.memory_api.standing.serving().engine, recall)


async def test_a_large_scope_is_searched_by_index_and_a_small_one_exactly(api: Api) -> None:
    await _fill(api, LARGE_SCOPE + 100, 0)
    needle = await api.save("quokka handbook", type="event")
    engine = api.memory_api.standing.serving().engine
    ask = {"query": "quokka handbook", "user_id": "ada", "limit": 50}
    ran, found = [], []
    for _ in range(2):
        with recorded(engine) as sent:
            answer = await api.http.post("memories/retrieve/semantic", json=ask)
        found.append(answer.json()["memories"])
        ran.append({node.get("Index Name") for node in await _recall_ran(api, sent)})
        async with transaction(engine) as connection:
            await connection.execute(
                text("delete from memories where id in (select id from memories where kind = 'fact' limit 200)")
            )

    assert ["memory_vectors_nearest" in indexes for indexes in ran] == [True, False]
    assert [len(hits) for hits in found] == [50, 50]
    assert [hits[0]["id"] for hits in found] == [needle["id"]] * 2


async def test_a_large_scope_keeps_filters_and_rare_words(api: Api) -> None:
    await _fill(api, LARGE_SCOPE + 100, 0)
    needle = await api.save("zebra lantern harbor quokka")

    mine = await api.recall("zebra lantern", user_id="ada", tiers=["user"], limit=60)
    rare = await api.recall("zebra lantern harbor violin quokka", strategy="keyword")

    assert [memory["tier"] for memory in mine["memories"]] == ["user"] * 60
    assert rare["memories"][0]["id"] == needle["id"]


async def test_a_word_of_more_rows_than_the_statistics_know_is_found(api: Api) -> None:
    async with transaction(api.memory_api.standing.serving().engine) as connection:
        await connection.execute(
            text(
                "insert into memories (id, kind, content, confidence, observed_at, confirmed_at)"
                " select gen_random_uuid(), 'fact', 'quokka note', 0.7, now(), now() from generate_series(1, :rows)"
            ),
            {"rows": LARGE_SCOPE + 5_000},
        )

    found = await api.recall("quokka", strategy="keyword", explain=True)

    assert len(found["memories"]) == 15
    assert all(memory["explain"]["lexical"]["score"] > 0 for memory in found["memories"])


async def test_a_users_recall_never_scans_the_store(api: Api) -> None:
    await _fill(api, 5_000, 50)
    with recorded(api.memory_api.standing.serving().engine) as sent:
        await api.recall("zebra lantern", user_id="ada")
    scans = {node.get("Relation Name") for node in await _recall_ran(api, sent) if node["Node Type"] == "Seq Scan"}
    assert scans.isdisjoint({"memories", "memory_vectors"})


async def test_br_063_a_hub_of_many_relations_costs_its_heaviest_edges_only(api: Api) -> None:
    await _fill(api, 3_000, 0)
    hub = await api.save("quokka handbook")
    engine = api.memory_api.standing.serving().engine
    async with transaction(engine) as connection:
        await connection.execute(
            text(
                "insert into relations (id, source_id, target_id, relation_type, weight)"
                " select gen_random_uuid(), case when n = 1 then cast(:hub as uuid) else other.id end, m.id, 'r' || n,"
                " 0.5 + 0.4 * random() from generate_series(1, 20) as n"
                " cross join (select id, row_number() over (order by id) as k from memories where user_id = '') m"
                " join (select id, row_number() over (order by id desc) as k from memories where user_id = '') as other"
                " on other.k = m.k and other.id <> m.id where m.id <> :hub"
            ),
            {"hub": hub["id"]},
        )
        await connection.execute(text("analyze relations"))
    with recorded(engine) as sent:
        found = await api.recall("quokka handbook", strategy="keyword", limit=100)
    (walk,) = [one for one in sent if "as hub" in one[0]]
    ran = await nodes_run(engine, walk)

    assert len(found["memories"]) <= 51
    assert len(found["memories"][0]["related"]) == 3
    assert [node for node in ran if node["Node Type"] == "Seq Scan" and node.get("Relation Name") == "relations"] == []
