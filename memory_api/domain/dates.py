"""The times that a query speaks of: `13 July 2024`, `in June`, `2026-07-25/26`, `last week`.

They raise what happened then and never filter, so a miss costs a boost and a false hit costs little. Numbers are left
alone unless the words around them make a date of them (BR-049). The readers of free text that were tried take `9077`,
`chunk size of 2000` and `Who may` for dates, a June without a year for this year's, and nothing from `2026-07-25/26`;
so this is a small grammar of our own, in English, German, French, Spanish, Chinese and Japanese.
"""

import re
from calendar import monthrange
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from itertools import chain

Days = tuple[date, date]
"""First and last day, both included."""

# A date without a year is meant in any of these years around the anchor.
_YEARS_BACK, _YEARS_AHEAD = 30, 1
# A question speaks of one or two times, a pasted document of any number: the first ones count, each once.
_MOST_TIMES = 16

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan januar janvier enero",
            "february feb februar fevrier febrero",
            "march mar marz maerz mars marzo",
            "april apr avril abril",
            "may mai mayo",
            "june jun juni juin junio",
            "july jul juli juillet julio",
            "august aug aout agosto",
            "september sep sept septembre septiembre",
            "october oct oktober okt octobre octubre",
            "november nov novembre noviembre",
            "december dec dezember dez decembre diciembre",
        ),
        start=1,
    )
    for name in names.split()
}
# Words of their own, too: a month only beside a number or after a preposition.
_AMBIGUOUS = {"may", "mar", "march", "mars", "mai", "jan", "sep", "dec", "nov", "jul", "jun", "apr", "okt", "dez"}
_MONTH = "(?P<month>" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\b\.?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th|er|\.)?(?:\s*(?:-|–|to|bis|au|al?)\s*(?P<last>\d{1,2})(?:st|nd|rd|th|\.)?)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)\b"
_BEFORE_MONTH = (
    r"(?:in|during|since|of|last|this|next|early|late|mid|by|until|im|seit|ab|ende|anfang|en|au|desde|de)\s+"
)
_NO_MORE = r"(?![\w./:-]*\d)"

_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


@dataclass(frozen=True, slots=True)
class AskedTime:
    """`text` as it stands in the query, and the spans of time it may mean: one, or one a year."""

    text: str
    spans: tuple[tuple[datetime, datetime], ...]


def asked_times(query: str, *, now: datetime) -> list[AskedTime]:
    """The times that `query` speaks of, in its order, days counted in UTC; relative ones are counted from `now`."""
    folded = _fold(query)
    today = now.astimezone(UTC).date()
    taken: list[tuple[int, AskedTime]] = []
    for pattern, read in _GRAMMAR:
        for match in pattern.finditer(folded):
            start, end = match.span()
            days = list(read(match, today))
            if days:
                taken.append((start, AskedTime(query[start:end].strip(), tuple(_span(*span) for span in days))))
                folded = folded[:start] + " " * (end - start) + folded[end:]
    in_order = [time for _, time in sorted(taken, key=lambda one: one[0])]
    return list(dict.fromkeys(in_order))[:_MOST_TIMES]


def _fold(query: str) -> str:
    """Lower case without accents, letter for letter, so that places in it are places in the query."""
    plain = str.maketrans("áàâäãéèêëíîïóôöúùûüñç", "aaaaaeeeeiiiooouuuunc")
    return "".join(letter.lower() if len(letter.lower()) == 1 else letter for letter in query).translate(plain)


def _span(first: date, last: date) -> tuple[datetime, datetime]:
    """The half-open time of the days from `first` to `last`."""
    return (
        datetime(first.year, first.month, first.day, tzinfo=UTC),
        datetime(last.year, last.month, last.day, tzinfo=UTC) + timedelta(days=1),
    )


def _years(year: str | None, today: date) -> Sequence[int]:
    return [int(year)] if year else range(today.year - _YEARS_BACK, today.year + _YEARS_AHEAD + 1)


def _month(year: int, month: int) -> Days:
    return date(year, month, 1), date(year, month, monthrange(year, month)[1])


def _days(year: int, month: int, first: int, last: int) -> Iterator[Days]:
    """Nothing where the calendar has no such day."""
    if 1 <= month <= 12 and 1 <= first <= last <= monthrange(year, month)[1]:
        yield date(year, month, first), date(year, month, last)


def _read_iso(match: re.Match[str], _: date) -> Iterator[Days]:
    year, month, day = int(match["year"]), int(match["month"]), int(match["day"])
    to_month, to_day = int(match["to_month"] or month), int(match["to_day"] or day)
    first, last = list(_days(year, month, day, day)), list(_days(year, to_month, to_day, to_day))
    if first and last and first[0][0] <= last[0][1]:
        yield first[0][0], last[0][1]


def _read_iso_month(match: re.Match[str], _: date) -> Iterator[Days]:
    if 1 <= int(match["month"]) <= 12:
        yield _month(int(match["year"]), int(match["month"]))


def _read_numbers(match: re.Match[str], today: date) -> Iterator[Days]:
    """`3/4/2024` is the third of April or the fourth of March; with dots the day comes first."""
    day, month = int(match["day"]), int(match["month"])
    for year in _years(match["year"], today):
        yield from _days(year, month, day, day)
        if match["dot"] != "." and day != month:
            yield from _days(year, day, month, month)


def _read_day(match: re.Match[str], today: date) -> Iterator[Days]:
    day = int(match["day"])
    for year in _years(match["year"], today):
        yield from _days(year, _MONTHS[match["month"]], day, int(match["last"] or day))


def _read_month(match: re.Match[str], today: date) -> Iterator[Days]:
    name, groups = match["month"], match.groupdict()
    if name in _AMBIGUOUS and not groups.get("before") and not groups.get("year"):
        return
    for year in _years(groups.get("year"), today):
        yield _month(year, _MONTHS[name])


def _read_cjk(match: re.Match[str], today: date) -> Iterator[Days]:
    month, day = match["month"], match["day"]
    for year in _years(match["year"], today):
        if day:
            yield from _days(year, int(month), int(day), int(day))
        elif month and 1 <= int(month) <= 12:
            yield _month(year, int(month))
        elif match["year"]:
            yield date(year, 1, 1), date(year, 12, 31)


def _read_year(match: re.Match[str], _: date) -> Iterator[Days]:
    yield date(int(match["year"]), 1, 1), date(int(match["year"]), 12, 31)


def _relative(name: str) -> Callable[[re.Match[str], date], Iterator[Days]]:
    """Reads a phrase that means `name`, such as `last week`."""

    which, _, unit = name.partition(" ")

    def read(_: re.Match[str], today: date) -> Iterator[Days]:
        step = {"last": -1, "this": 0, "next": 1}.get(which, 0)
        if unit == "week":
            monday = today + timedelta(days=7 * step - today.weekday())
            yield monday, monday + timedelta(days=6)
        elif unit == "month":
            months = today.year * 12 + today.month - 1 + step
            yield _month(months // 12, months % 12 + 1)
        elif unit == "year":
            yield date(today.year + step, 1, 1), date(today.year + step, 12, 31)
        else:
            day = today + timedelta(days=_NAMED_DAYS[name])
            yield day, day

    return read


_NAMED_DAYS = {"today": 0, "yesterday": -1, "two days ago": -2, "tomorrow": 1}


def _read_ago(match: re.Match[str], today: date) -> Iterator[Days]:
    """`3 weeks ago` is a day give or take half the unit."""
    unit = {"d": 1, "w": 7, "m": 30, "y": 365}[match["unit"][0]]
    day = today - timedelta(days=min(int(match["count"]) * unit, 36_500))
    yield day - timedelta(days=unit // 2), day + timedelta(days=unit // 2)


def _read_weekday(match: re.Match[str], today: date) -> Iterator[Days]:
    back = (today.weekday() - _WEEKDAYS.index(match["weekday"]) - 1) % 7 + 1
    yield today - timedelta(days=back), today - timedelta(days=back)


_PHRASES = {
    "today": r"today|heute|aujourd'hui|hoy\b|今天|今日",
    "yesterday": r"yesterday|gestern|ayer|昨天|昨日",
    "two days ago": r"the day before yesterday|vorgestern|avant-hier|anteayer|前天|一昨日",
    "tomorrow": r"tomorrow|demain|manana por|明天|明日",
    "last week": r"last week|(?:letzte|vorige)n? woche|la semaine derniere|la semana pasada|上周|上个星期|先週",
    "this week": r"this week|diese woche|cette semaine|esta semana|这周|本周|今週",
    "next week": r"next week|nachste woche|la semaine prochaine|la proxima semana|下周|来週",
    "last month": r"last month|(?:letzte|vorige)[nm] monat|le mois dernier|el mes pasado|上个月|先月",
    "this month": r"this month|diese[nm] monat|ce mois-ci|este mes|这个月|今月",
    "next month": r"next month|nachste[nm] monat|le mois prochain|el proximo mes|下个月|来月",
    "last year": r"last year|(?:letzte|vorige)[sn] jahr|l'annee derniere|el ano pasado|去年|昨年",
    "this year": r"this year|dieses jahr|cette annee|este ano|今年",
    "next year": r"next year|nachstes jahr|l'annee prochaine|el proximo ano|明年|来年",
}
# Longer forms first: what one of them has read, the later ones do not see.
_GRAMMAR: list[tuple[re.Pattern[str], Callable[[re.Match[str], date], Iterator[Days]]]] = [
    (re.compile(pattern), read)
    for pattern, read in chain(
        [
            (
                r"(?<![\w.-])(?P<year>(?:19|20)\d\d)[-/](?P<month>\d\d?)[-/](?P<day>\d\d?)"
                rf"(?:\s*(?:/|–|\.\.)\s*(?:(?P<to_month>\d\d)-)?(?P<to_day>\d\d))?{_NO_MORE}",
                _read_iso,
            ),
            (rf"(?<![\w.-])(?P<year>(?:19|20)\d\d)-(?P<month>\d\d){_NO_MORE}", _read_iso_month),
            (rf"(?<![\w./-])(?P<day>\d\d?)(?P<dot>[./])(?P<month>\d\d?)(?P=dot){_YEAR}", _read_numbers),
            (r"(?P<year>(?:19|20)\d\d)\s*年(?:\s*(?P<month>\d\d?)\s*月(?:\s*(?P<day>\d\d?)\s*[日号])?)?", _read_cjk),
            (r"(?P<year>(?!))?(?P<month>\d\d?)\s*月(?:\s*(?P<day>\d\d?)\s*[日号])?", _read_cjk),
            (rf"\b{_DAY}\s*(?:of\s+|de\s+)?{_MONTH}(?:,?\s*(?:of\s+|de\s+)?{_YEAR})?", _read_day),
            (rf"\b{_MONTH}\s*{_DAY}\b(?:,?\s*{_YEAR})?", _read_day),
            (rf"\b{_MONTH},?\s*(?:of\s+|de\s+)?{_YEAR}", _read_month),
            (rf"\b(?P<before>{_BEFORE_MONTH})?{_MONTH}", _read_month),
            (rf"\b(?:in|since|during|im jahr|seit|en|depuis|annee|ano|year)\s+{_YEAR}{_NO_MORE}", _read_year),
            (r"\b(?P<count>\d{1,3})\s+(?P<unit>day|week|month|year)s?\s+ago\b", _read_ago),
            (rf"\blast\s+(?P<weekday>{'|'.join(_WEEKDAYS)})\b", _read_weekday),
        ],
        ((pattern, _relative(name)) for name, pattern in _PHRASES.items()),
    )
]
