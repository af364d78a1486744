"""Near-identical hits come as one where the caller asks for it."""

import pytest

from api_client import Api, memory_api
from memory_api.embedding.provider import ProviderConfig, Timeouts

BUNDLED = ProviderConfig(
    name="bundled", type="transformers", model="all-minilm-l6-v2-int8", dimensions=384, timeouts=Timeouts(query=30.0)
)
REPHRASED = [
    "The user prefers window seats on planes.",
    "The user likes window seats on planes best.",
    "On planes, the user prefers a window seat.",
    "User preference: window seat on planes.",
    "When flying, the user prefers window seats.",
    "The user prefers to sit at the window on planes.",
    "Window seats are what the user prefers on planes.",
    "The user would rather have a window seat on a plane.",
    "The user wants window seats when flying.",
    "For planes the user prefers window seats.",
    "The user prefers the window seat on a plane.",
    "The user prefers window seats on any plane.",
    "The user's preference on planes is a window seat.",
    "On a plane the user likes a window seat.",
    "The user always prefers window seats on planes.",
    "Seat preference of the user on planes: window.",
    "The user chooses window seats on planes.",
    "The user prefers window seats on flights.",
    "A window seat is the user's preference on planes.",
    "The user favours window seats on planes.",
]


async def test_br_045_a_different_fact_is_not_crowded_out_by_rephrasings(database: str) -> None:
    async with memory_api(database, provider=BUNDLED) as api:
        for content in REPHRASED:
            await api.save(content, user_id="ada")
        other = await api.save("Meals on planes must be vegetarian for this user.", user_id="ada")
        query = "What does the user prefer on planes?"
        folded = await api.recall(query, user_id="ada", limit=5, fold_similar=True)
        plain = await api.recall(query, user_id="ada", limit=5)

        assert other["id"] in [memory["id"] for memory in folded["memories"]]
        assert other["id"] not in [memory["id"] for memory in plain["memories"]]
        shown = [memory["id"] for memory in folded["memories"]]
        stood_for = [id_ for memory in folded["memories"] for id_ in memory.get("folded", [])]
        assert len({*shown, *stood_for}) == len(shown) + len(stood_for)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The gate code is 4471.", "The gate code is 4472."),
        ("The user likes coriander.", "The user does not like coriander."),
        ("The user's sister is called Anna.", "The user's sister is called Hanna."),
        ("Build the release with client v1.2.3.", "Build the release with client v1.2.4."),
        ("会议在三楼，可以录音。", "会议在三楼，不可以录音。"),
    ],
)
async def test_what_differs_in_a_number_a_name_or_a_denial_stays_apart(database: str, one: str, other: str) -> None:
    async with memory_api(database, provider=BUNDLED) as api:
        await api.save(one, user_id="ada")
        await api.save(other, user_id="ada")
        found = await api.recall(one, user_id="ada", fold_similar=True)
        assert {memory["content"] for memory in found["memories"]} == {one, other}


async def test_the_same_wording_folds_without_vectors_and_names_what_it_stands_for(database: str) -> None:
    async with memory_api(database, provider=None) as api:
        first = await api.save("zebra  crossing", user_id="ada")
        second = await api.save("Zebra crossing", user_id="ada")
        third = await api.save("zebra", user_id="ada")
        found = await api.recall("zebra", user_id="ada", fold_similar=True)
        (pair,) = [memory for memory in found["memories"] if memory.get("folded")]
        assert {pair["id"], *pair["folded"]} == {first["id"], second["id"]}
        assert {memory["id"] for memory in found["memories"]} - {pair["id"]} == {third["id"]}
        assert found["total"] == 2
        why = {"query": "zebra", "user_id": "ada", "fold_similar": True, "why_not": pair["folded"][0]}
        reason = (await api.http.post("memory/retrieve-preview", json=why)).json()["why_not"]
        assert (reason["reason"], pair["id"] in reason["detail"]) == ("folded", True)


async def test_without_asking_nothing_is_folded(api: Api) -> None:
    await api.save("zebra", user_id="ada")
    await api.save("zebra", user_id="ada")
    assert (await api.recall("zebra", user_id="ada"))["total"] == 2
    assert (await api.recall("zebra", user_id="ada", fold_similar=True))["total"] == 1
    assert (await api.recall("", user_id="ada", fold_similar=True))["total"] == 1
