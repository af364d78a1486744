"""The statements that a service really sends, and what PostgreSQL does with them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import event
from sqlalchemy.ext.asyncio import AsyncEngine

Sent = tuple[str, Any]


@contextmanager
def recorded(engine: AsyncEngine) -> Iterator[list[Sent]]:
    """Every statement with its parameters, in the order in which the driver got them."""
    sent: list[Sent] = []

    def note(_conn: Any, _cursor: Any, statement: str, parameters: Any, _context: Any, _many: bool) -> None:
        sent.append((statement, parameters))

    event.listen(engine.sync_engine, "before_cursor_execute", note)
    try:
        yield sent
    finally:
        event.remove(engine.sync_engine, "before_cursor_execute", note)


async def nodes_run(engine: AsyncEngine, sent: Sent) -> list[dict[str, Any]]:
    """The plan's nodes that did run, with their relation and index, from EXPLAIN ANALYZE of that very statement."""
    async with engine.connect() as connection:
        driver = (await connection.get_raw_connection()).driver_connection
        assert driver is not None
        # SQLAlchemy's driver reads JSON by itself.
        answer = await driver.fetchval(f"explain (analyze, format json) {sent[0]}", *sent[1])
    (plan,) = answer
    return [node for node in _walk(plan["Plan"]) if node["Actual Loops"] > 0]


def _walk(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node.get("Plans", []):
        yield from _walk(child)
