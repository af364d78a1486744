"""Rows and callers for the test of visibility, and who may see what by a reference of a few lines."""

import itertools
from dataclasses import dataclass
from typing import Any

from sqlalchemy import text

from api_client import Api

NOWHERE = "018f0000-0000-7000-8000-000000000000"
# Same and other, prefixes of each other (BR-109), and two pairs that join to the same text (BR-111).
SUBJECTS = [
    (None, None),
    ("a", None),
    ("ab", None),
    ("a:b", None),
    (None, "x"),
    (None, "xy"),
    (None, "b:c"),
    ("a", "x"),
    ("a", "xy"),
    ("ab", "x"),
    ("a:b", "c"),
    ("a", "b:c"),
]
FACETS = [None, "project:a", "project:ab"]


@dataclass(frozen=True, slots=True)
class Row:
    id: str
    user: str | None
    agent: str | None
    facet: str | None
    over: bool = False


@dataclass(frozen=True, slots=True)
class Asker:
    user: str | None
    agent: str | None
    facet: str | None

    @property
    def fields(self) -> dict[str, str]:
        said = {"user_id": self.user, "agent_id": self.agent, "facet": self.facet}
        return {name: value for name, value in said.items() if value is not None}


ASKERS = [Asker(*subject, facet) for subject in SUBJECTS for facet in [*FACETS, "project"]]
# For routes that are asked id by id: every subject, and every facet with several of them.
SOME_ASKERS = ASKERS[::3]


def _live(row: Row, asker: Asker) -> bool:
    return not row.over and (asker.facet is None or row.facet in (None, asker.facet))


def recalls(row: Row, asker: Asker) -> bool:
    return _live(row, asker) and row.user in (None, asker.user) and row.agent in (None, asker.agent)


def opens(row: Row, asker: Asker) -> bool:
    mine = asker.user is not None and row.user == asker.user
    return recalls(row, asker) or (_live(row, asker) and mine)


def owns(row: Row, asker: Asker) -> bool:
    if asker.user is not None:
        return _live(row, asker) and row.user == asker.user and asker.agent in (None, row.agent)
    return _live(row, asker) and row.user is None and row.agent == asker.agent


async def a_world(api: Api) -> list[Row]:
    """One row for each subject and facet, and one for each subject that is over."""
    rows = []
    for (user, agent), facet, over in itertools.product(SUBJECTS, FACETS, (False, True)):
        if not (over and facet):
            memory = await api.save("a note about seats", **Asker(user, agent, facet).fields)
            rows.append(Row(memory["id"], user, agent, facet, over))
    assert api.memory_api.standing.context is not None
    async with api.memory_api.standing.context.engine.begin() as connection:
        await connection.execute(
            text("update memories set expires_at = now() where id = any(cast(:ids as uuid[]))"),
            {"ids": [row.id for row in rows if row.over]},
        )
    return rows


def plain(answer: Any) -> tuple[int, bytes, list[tuple[str, str]]]:
    """An answer without what differs between any two."""
    headers = sorted((name, value) for name, value in answer.headers.items() if name not in ("x-request-id", "date"))
    return answer.status_code, answer.content, headers
