"""Times and numbers in a query raise what fits them, and never leave anything out."""

from pathlib import Path

import pytest

from api_client import Api, memory_api
from ranking_files import write_policy

DAYS = {
    "barbecue with the neighbours": "2023-06-17T18:00:00Z",
    "barbecue with the rowing club": "2024-09-07T18:00:00Z",
    "barbecue at the office": "2025-01-18T12:00:00Z",
    "kettle": "2023-06-02T12:00:00Z",
}


async def _saved(api: Api, **times: str) -> None:
    for content, observed_at in {**DAYS, **times}.items():
        await api.save(content, user_id="ada", observed_at=observed_at)


async def _contents(api: Api, query: str, **fields: object) -> list[str]:
    return [memory["content"] for memory in (await api.recall(query, user_id="ada", **fields))["memories"]]


@pytest.mark.parametrize(
    "query", ["port 9077", "release notes 2023", "config for room 2099", "chunk size of 2000 tokens"]
)
@pytest.mark.parametrize("strategy", ["hybrid", "keyword"])
async def test_br_049_a_number_is_no_time_and_filters_nothing(api: Api, query: str, strategy: str) -> None:
    await api.save(f"note: {query}", user_id="ada", observed_at="2021-05-05T12:00:00Z")
    found = await api.recall(query, user_id="ada", strategy=strategy)
    assert [memory["content"] for memory in found["memories"]] == [f"note: {query}"]
    assert (found["asked_times"], found["none_in_time"]) == ([], False)


@pytest.mark.parametrize("strategy", ["hybrid", "keyword", "semantic"])
async def test_br_051_a_day_raises_that_day_alone(api: Api, strategy: str) -> None:
    for day in (12, 13, 14):
        await api.save(f"standup number {day}", user_id="ada", observed_at=f"2024-07-{day}T09:00:00Z")
    found = await api.recall("standup on 13 July 2024", user_id="ada", strategy=strategy, explain=True)
    assert found["memories"][0]["content"] == "standup number 13"
    in_time = {memory["content"]: memory["explain"]["in_asked_time"] for memory in found["memories"]}
    assert in_time == {"standup number 12": False, "standup number 13": True, "standup number 14": False}


async def test_br_052_a_month_without_a_year_finds_any_year(api: Api) -> None:
    await _saved(api)
    found = await api.recall("What date was the barbecue in June?", user_id="ada", strategy="keyword")
    assert found["memories"][0]["content"] == "barbecue with the neighbours"
    assert {m["content"] for m in found["memories"]} >= {content for content in DAYS if "barbecue" in content}
    assert found["asked_times"] == ["in June"]


async def test_br_054_an_abbreviated_range_is_understood(api: Api) -> None:
    for day in (24, 25, 26, 27):
        await api.save(f"standup number {day}", user_id="ada", observed_at=f"2026-07-{day}T09:00:00Z")
    contents = await _contents(api, "what happened on 2026-07-25/26?")
    assert set(contents[:2]) == {"standup number 25", "standup number 26"}


@pytest.mark.parametrize("strategy", ["hybrid", "keyword"])
async def test_br_055_it_says_when_nothing_lies_in_the_asked_time(api: Api, strategy: str) -> None:
    for day in ("08", "09"):
        await api.save(f"what happened on the {day}", user_id="ada", observed_at=f"2026-03-{day}T09:00:00Z")
    missed = await api.recall("What happened on March 18?", user_id="ada", strategy=strategy)
    met = await api.recall("What happened on March 8?", user_id="ada", strategy=strategy)

    assert (missed["asked_times"], missed["none_in_time"]) == (["March 18"], True)
    assert all(memory["observed_at"].startswith("2026-03-0") for memory in missed["memories"])
    assert (met["none_in_time"], met["memories"][0]["content"]) == (False, "what happened on the 08")


async def test_a_time_alone_finds_what_shares_no_word_with_it(database: str) -> None:
    async with memory_api(database, provider=None) as api:
        await _saved(api)
        assert set(await _contents(api, "June 2023")) == {"barbecue with the neighbours", "kettle"}


async def test_the_time_for_which_a_memory_is_valid_counts(api: Api) -> None:
    stay = {"valid_from": "2024-02-01T00:00:00Z", "valid_until": "2024-05-01T00:00:00Z"}
    await api.save("standup in Ghent", user_id="ada", observed_at="2022-01-01T00:00:00Z", **stay)
    await api.save("standup in Porto", user_id="ada", observed_at="2026-01-01T00:00:00Z")
    assert (await _contents(api, "standup in March 2024"))[0] == "standup in Ghent"


async def test_what_happened_in_the_asked_time_does_not_fade(api: Api) -> None:
    await _saved(api)
    found = await api.recall("barbecue in June 2023", user_id="ada", explain=True)
    assert found["memories"][0]["content"] == "barbecue with the neighbours"
    decays = {memory["content"]: memory["explain"]["decay"] for memory in found["memories"]}
    assert decays["barbecue with the neighbours"] == decays["kettle"] == 1
    assert decays["barbecue at the office"] < 1e-6


async def test_relative_times_count_from_as_of(api: Api) -> None:
    await _saved(api)
    contents = await _contents(api, "the barbecue last month", as_of="2024-10-05T00:00:00Z")
    assert contents[0] == "barbecue with the rowing club"


async def test_without_a_weight_no_date_is_read(database: str, tmp_path: Path) -> None:
    async with memory_api(database, policy=write_policy(tmp_path, recall={"weights": {"date": "0"}})) as api:
        await _saved(api)
        assert (await api.recall("barbecue in June", user_id="ada"))["asked_times"] == []


async def test_only_a_window_of_the_caller_filters(api: Api) -> None:
    await _saved(api)
    window = {"since": "2024-01-01T00:00:00Z", "until": "2025-01-01T00:00:00Z"}
    assert await _contents(api, "barbecue in June 2023", **window) == ["barbecue with the rowing club"]
