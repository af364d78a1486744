"""What xdist's scheduler is told: it knows a test by its id alone, and pytest 9.2 has new ids.

xdist 3.8 adds a group to `_nodeid`, which pytest does not read any more, so that groups were spread over the workers.
schemathesis gives one id to all operations of a test, and of tests with one id the scheduler runs one.
"""

from collections import Counter

import pytest


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tell every test apart, and keep the groups together."""
    seen: Counter[str] = Counter()
    for item in items:
        # Where no xdist is at work, nothing has set it.
        group = getattr(item, "_nodeid", "").removeprefix(item.nodeid)
        seen[item.nodeid] += 1
        number = f"[{seen[item.nodeid]}]" if seen[item.nodeid] > 1 else ""
        if number or group:
            item._id = type(item._id).parse(f"{item.nodeid}{number}{group}")  # type: ignore[attr-defined]


def pytest_collection_finish(session: pytest.Session) -> None:
    """Refuse to run fewer tests than were collected."""
    told = Counter(item.nodeid for item in session.items)
    twice = [nodeid for nodeid, times in told.items() if times > 1]
    if twice:
        raise pytest.UsageError(f"several tests have the id {twice[0]}: xdist would run one of them")
