"""The lexical arm: any natural question, any script, any identifier; words alone, without an embedder."""

from collections.abc import AsyncIterator

import pytest

from api_client import Api, memory_api


@pytest.fixture
async def words(database: str) -> AsyncIterator[Api]:
    """Run a memory-api without an embedder."""
    async with memory_api(database, provider=None) as opened:
        yield opened


async def _first(api: Api, query: str) -> str | None:
    hits = (await api.recall(query, user_id="ada"))["memories"]
    return hits[0]["content"] if hits else None


async def test_br_026_a_natural_question_finds_what_shares_some_of_its_words(words: Api) -> None:
    await words.save("Caroline went to the LGBTQ support group on 7 May", user_id="ada")
    await words.save("Melanie painted a sunrise", user_id="ada")
    found = await words.recall("When did Caroline go to the support group?", user_id="ada")
    assert found["memories"][0]["content"].startswith("Caroline")
    assert found["strategy_used"] == "keyword"
    assert found["degraded"] == ["embedding:not_configured"]


async def test_br_027_function_words_do_not_decide(words: Api) -> None:
    await words.save("Codey stopped replying after the update", user_id="ada")
    await words.save("Why and how it is not what it was", user_id="ada")
    assert await _first(words, "why is Codey not replying") == await _first(words, "Codey")


async def test_br_028_question_words_of_another_language_do_not_empty_the_result(words: Api) -> None:
    await words.save("A felmondasi ido harminc nap", user_id="ada")
    assert await _first(words, "meddig tart a felmondasi ido") == "A felmondasi ido harminc nap"


async def test_br_030_a_query_that_shares_only_stop_words_finds_nothing(words: Api) -> None:
    await words.save("The meeting is in the large room", user_id="ada")
    found = await words.recall("favorite scuba diving locations in Antarctica", user_id="ada")
    assert found["memories"] == []
    assert found["no_relevant"] is True


@pytest.mark.parametrize("query", ["", "   ", "???", "the of and", "🦊", "___"])
async def test_br_033_a_query_with_nothing_to_search_for_gives_the_newest_first(api: Api, query: str) -> None:
    for number in range(3):
        await api.save(f"note number {number}", user_id="ada", observed_at=f"2026-0{number + 1}-01T00:00:00Z")
    found = await api.recall(query, user_id="ada")
    assert [memory["content"] for memory in found["memories"]] == ["note number 2", "note number 1", "note number 0"]
    assert found["strategy_used"] == "recent"
    assert found["no_relevant"] is False


@pytest.mark.parametrize(
    "identifier",
    ["acpt-probe", "01a22eee-ecab-7533-ae9d-b4e97c13c5a1", "client/acme", "a-b", "a.b:c", "ERR-4471-QX", "v1.2.3"],
)
async def test_br_036_an_identifier_finds_its_row_among_its_likes(words: Api, identifier: str) -> None:
    for other in ("acpt-other", "client/beta", "a-c", "a.b:d", "ERR-4472-QX", "v1.2.4", "a b c client acme err qx"):
        await words.save(f"note about {other}", user_id="ada")
    await words.save(f"note about {identifier}", user_id="ada")
    assert await _first(words, identifier) == f"note about {identifier}"


@pytest.mark.parametrize(
    "query",
    [
        "Downloads/transcripts",
        "don't use agents",
        "ubuntu 20.04",
        "foo,bar",
        '"--error-on-warnings"',
        "a:*",
        "!x & (y",
        "-foo",
        "'; drop table memories; --",
        "\\",
        "' | '",
        "%_%",
        "{}()[]<>&&||!!",
    ],
)
async def test_br_037_no_text_is_a_syntax_error(words: Api, query: str) -> None:
    await words.save(f"before {query} after x1", user_id="ada")
    found = await words.recall(query, user_id="ada")
    assert [memory["content"] for memory in found["memories"]] == [f"before {query} after x1"]


async def test_br_039_only_rows_with_a_word_of_the_query_are_hits(words: Api) -> None:
    await words.save("the zebra crossed", user_id="ada")
    for number in range(9):
        await words.save(f"unrelated note {number}", user_id="ada")
    assert len((await words.recall("zebra", user_id="ada", limit=10))["memories"]) == 1


@pytest.mark.parametrize(
    ("content", "query"),
    [
        ("我们讨论了外币汇率换算的规则", "外币汇率换算"),
        ("新的机器学习算法上线了", "机器学习算法"),
        ("東京の会議は来週です", "東京の会議"),
        ("ผู้ใช้ชอบกาแฟดำ", "กาแฟ"),
        ("회의는 서울에서 열렸다", "서울"),
        ("فضّلت المستخدمة مقعد النافذة", "مقعد النافذة"),
        ("Die Kündigungsfrist beträgt drei Monate", "Wie lange ist die Kundigungsfrist?"),
        ("Ｆｕｌｌ　ｗｉｄｔｈ　ｔｅｘｔ", "full width text"),
    ],
)
async def test_br_084_scripts_without_spaces_accents_and_width_are_found(words: Api, content: str, query: str) -> None:
    await words.save(content, user_id="ada")
    await words.save("something else 别的东西 別のもの อื่น 다른", user_id="ada")
    assert await _first(words, query) == content


async def test_the_tail_of_a_long_body_is_found(words: Api) -> None:
    body = " ".join(f"filler{number}" for number in range(20_000)) + " zanzibar"
    await words.save(body, user_id="ada")
    found = await words.recall("zanzibar", user_id="ada", previews=True)
    assert found["memories"][0]["has_full_body"] is True


async def test_title_summary_about_key_and_tags_are_searched(words: Api) -> None:
    await words.save("plain body one", user_id="ada", title="Quokka handbook")
    await words.save("plain body two", user_id="ada", summary="A word about wombats")
    await words.save("plain body three", user_id="ada", about={"kind": "animal", "key": "platypus"})
    await words.save("plain body four", user_id="ada", metadata={"tags": ["echidna", "spiny"]})
    found = [await _first(words, word) for word in ("quokka", "wombat", "platypus", "echidna")]
    assert found == ["plain body one", "plain body two", "plain body three", "plain body four"]


async def test_a_query_of_two_thousand_words_is_answered(words: Api) -> None:
    await words.save("The zanzibarological almanac", user_id="ada")
    query = " ".join(f"word{number}" for number in range(1_500)) + " zanzibarological"
    assert await _first(words, query) == "The zanzibarological almanac"


async def test_a_word_behind_many_stop_words_is_searched_for(words: Api) -> None:
    await words.save("Ada takes her coffee black", user_id="ada")
    found = await words.recall("the " * 70 + "coffee", user_id="ada")
    assert found["strategy_used"] == "keyword"
    assert [memory["content"] for memory in found["memories"]] == ["Ada takes her coffee black"]


async def test_a_run_of_two_hundred_thousand_characters_without_a_space_is_saved_and_found(words: Api) -> None:
    body = "".join(chr(0x4E00 + number * 7 % 20_000) for number in range(200_000))
    saved = await words.save(body, user_id="ada")
    found = await words.recall(body[150_000:150_008], user_id="ada", previews=True)
    assert found["memories"][0]["id"] == saved["id"]
