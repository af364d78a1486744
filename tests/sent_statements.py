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
    """The plan's nodes that did run, with relation and index: of that very statement, prepared as it was sent."""
    async with engine.connect() as connection:
        driver = (await connection.get_raw_connection()).driver_connection
        assert driver is not None
        await driver.execute(f"prepare as_sent as {sent[0]}")
        arguments = ", ".join(_literal(value) for value in sent[1])
        answer = await driver.fetchval(f"explain (analyze, format json) execute as_sent({arguments})")
        await driver.execute("deallocate as_sent")
    # SQLAlchemy's driver reads JSON by itself.
    (plan,) = answer
    return [node for node in _walk(plan["Plan"]) if node["Actual Loops"] > 0]


def _literal(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool | int | float):
        return str(value)
    if isinstance(value, list):
        # Of no stated type: it takes the parameter's.
        quoted = (str(item).replace("\\", "\\\\").replace('"', '\\"') for item in value)
        return _literal("{" + ",".join(f'"{item}"' for item in quoted) + "}")
    return "'" + str(value).replace("'", "''") + "'"


def _walk(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node.get("Plans", []):
        yield from _walk(child)
