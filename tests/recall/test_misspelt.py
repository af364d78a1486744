"""A word with one wrong letter is found where nothing is as the query says."""

import pytest

from api_client import Api, memory_api

ROWS = [
    "the harpsichord concert",
    "Kündigungsfrist drei Monate",
    "réunion mensuelle",
    "встреча в пятницу",
    "running shoes",
]


async def _contents(api: Api, query: str, **fields: object) -> list[str]:
    found = await api.recall(query, user_id="ada", strategy="keyword", **fields)
    return [memory["content"] for memory in found["memories"]]


@pytest.fixture
async def filled(api: Api) -> Api:
    for content in [*ROWS, "ERR-4471-QX", "user_id is required", "a zebra"]:
        await api.save(content, user_id="ada")
    return api


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("harpsicord", ROWS[0]),
        ("harpsichordd", ROWS[0]),
        ("harpsichard", ROWS[0]),
        ("harspichord", ROWS[0]),
        ("arpsichord", ROWS[0]),
        ("where is the conert?", ROWS[0]),
        ("Kündigungsfrsit", ROWS[1]),
        ("Kundigungsfirst", ROWS[1]),
        ("réunoin", ROWS[2]),
        ("встрача", ROWS[3]),
        ("runing", ROWS[4]),
        ("zebrra?", "a zebra"),
        ("“zebta”", "a zebra"),
    ],
)
async def test_one_wrong_letter_still_finds(filled: Api, query: str, expected: str) -> None:
    assert await _contents(filled, query) == [expected]


@pytest.mark.parametrize("query", ["ERR-4472-QX", "hrapsichrod", "xyzzy", "usr", "zeb", "4472"])
async def test_numbers_short_words_and_two_wrong_letters_are_not_guessed(filled: Api, query: str) -> None:
    found = await _contents(filled, query)
    assert [content for content in found if content in (*ROWS, "a zebra")] == []


async def test_a_word_that_is_there_is_taken_as_it_is(filled: Api) -> None:
    await filled.save("a debra", user_id="ada")
    assert await _contents(filled, "zebra") == ["a zebra"]
    assert await _contents(filled, "zebra harpsicord") == ["a zebra"]


async def test_what_is_only_in_anothers_memory_helps_nobody(filled: Api) -> None:
    await filled.save("quokka", user_id="bob")
    assert await _contents(filled, "quoka") == []


async def test_a_large_scope_guesses_too(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from memory_api.db import recall

    lowered = recall._STATEMENT.replace(f"limit {recall.LARGE_SCOPE} + 1", "limit 10 + 1")
    lowered = lowered.replace(f"count(*) > {recall.LARGE_SCOPE}", "count(*) > 10")
    assert lowered.count("10 + 1") == lowered.count("count(*) > 10") == 1
    monkeypatch.setattr(recall, "_STATEMENT", lowered)
    async with memory_api(database) as api:
        for number in range(20):
            await api.save(f"note {number}", user_id="ada")
        await api.save("the harpsichord concert", user_id="ada")
        assert await _contents(api, "harpsicord") == ["the harpsichord concert"]
