"""The times a query speaks of, and the numbers that are no times."""

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_api.domain.dates import asked_times

NOW = datetime(2026, 12, 1, 10, tzinfo=UTC)


def days(query: str) -> list[tuple[str, str]]:
    """First and last day of each time's only span."""
    return [
        (span[0].date().isoformat(), (span[1] - timedelta(days=1)).date().isoformat())
        for time in asked_times(query, now=NOW)
        for span in time.spans
    ]


@pytest.mark.parametrize(
    "query",
    [
        "port 9077",
        "release notes 2023",
        "config for room 2099",
        "chunk size of 2000 tokens",
        "Who may approve a release?",
        "Is Sat nav on?",
        "ERR-4471-QX",
        "release v1.2.3",
        "call 030/12/345",
        "the march of the penguins",
        "we decided that you may",
        "Welche Farbe haben die Fliesen?",
        "2026-13-45",
        "in 2000ms",
        "192.168.10.2024",
        "",
        "???",
    ],
)
def test_br_049_numbers_and_words_that_are_no_times(query: str) -> None:
    assert asked_times(query, now=NOW) == []


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("meeting on 13 July 2024", ("2024-07-13", "2024-07-13")),
        ("meeting on July 13, 2024", ("2024-07-13", "2024-07-13")),
        ("July 13th 2024", ("2024-07-13", "2024-07-13")),
        ("the 13th of July, 2024", ("2024-07-13", "2024-07-13")),
        ("13-15 July 2024", ("2024-07-13", "2024-07-15")),
        ("July 13–15, 2024", ("2024-07-13", "2024-07-15")),
        ("am 13. Juli 2024", ("2024-07-13", "2024-07-13")),
        ("am 13.07.2024", ("2024-07-13", "2024-07-13")),
        ("el 3 de mayo de 2023", ("2023-05-03", "2023-05-03")),
        ("le 1er août 2023", ("2023-08-01", "2023-08-01")),
        ("le 12 février 2024", ("2024-02-12", "2024-02-12")),
        ("am 5. März 2024", ("2024-03-05", "2024-03-05")),
        ("2024年7月13日开会", ("2024-07-13", "2024-07-13")),
        ("2024年7月", ("2024-07-01", "2024-07-31")),
        ("what happened on 2026-07-25?", ("2026-07-25", "2026-07-25")),
        ("what happened on 2026-07-25/26?", ("2026-07-25", "2026-07-26")),
        ("2026-07-30/08-02", ("2026-07-30", "2026-08-02")),
        ("logs of 2026/07/25.", ("2026-07-25", "2026-07-25")),
        ("in 2026-07", ("2026-07-01", "2026-07-31")),
        ("in May 2024", ("2024-05-01", "2024-05-31")),
        ("What did we do in 2023?", ("2023-01-01", "2023-12-31")),
        ("what did I say yesterday", ("2026-11-30", "2026-11-30")),
        ("was war gestern", ("2026-11-30", "2026-11-30")),
        ("昨天说了什么", ("2026-11-30", "2026-11-30")),
        ("last week", ("2026-11-23", "2026-11-29")),
        ("letzte Woche", ("2026-11-23", "2026-11-29")),
        ("le mois dernier", ("2026-11-01", "2026-11-30")),
        ("next month", ("2027-01-01", "2027-01-31")),
        ("el año pasado", ("2025-01-01", "2025-12-31")),
        ("last Friday", ("2026-11-27", "2026-11-27")),
        ("last tuesday", ("2026-11-24", "2026-11-24")),
        ("3 days ago", ("2026-11-28", "2026-11-28")),
    ],
)
def test_br_051_a_time_is_as_long_as_it_says(query: str, expected: tuple[str, str]) -> None:
    assert days(query) == [expected]


def test_br_052_a_month_or_day_without_a_year_is_meant_in_any_year() -> None:
    (june,) = asked_times("What date was the BBQ event in June?", now=NOW)
    (march,) = asked_times("What happened on March 18?", now=NOW)
    assert june.text == "in June"
    assert {span[0].date() for span in june.spans} >= {date(year, 6, 1) for year in range(2000, 2028)}
    assert {span[0].date() for span in march.spans} >= {date(year, 3, 18) for year in range(2000, 2028)}


def test_both_readings_of_an_ambiguous_date_are_meant() -> None:
    assert sorted(days("on 3/4/2024")) == [("2024-03-04", "2024-03-04"), ("2024-04-03", "2024-04-03")]


def test_several_times_come_in_the_order_of_the_query() -> None:
    times = asked_times("yesterday, 2024-01-02 or in June 2023?", now=NOW)
    assert [time.text for time in times] == ["yesterday", "2024-01-02", "June 2023"]


def test_a_pasted_document_counts_with_its_first_times_and_each_once() -> None:
    query = "in June 2023, " * 100 + " ".join(f"2024-01-{day:02}" for day in range(1, 29))
    texts = [time.text for time in asked_times(query, now=NOW)]
    assert texts == ["June 2023", *(f"2024-01-{day:02}" for day in range(1, 16))]


@given(
    st.text(max_size=200),
    st.dates(min_value=date(1970, 1, 1), max_value=date(2200, 1, 1)),
)
def test_any_text_is_read_without_a_fault(query: str, day: date) -> None:
    for time in asked_times(query, now=datetime(day.year, day.month, day.day, tzinfo=UTC)):
        assert time.spans
        assert all(start < end for start, end in time.spans)


@given(st.dates(min_value=date(1970, 1, 1), max_value=date(2099, 12, 31)))
def test_every_day_is_read_back(day: date) -> None:
    for form in (
        day.isoformat(),
        f"{day.day} {day:%B} {day.year}",
        f"{day:%B} {day.day}, {day.year}",
        f"{day:%d.%m.%Y}",
    ):
        assert days(f"what about {form}?") == [(day.isoformat(), day.isoformat())]
