"""What changes where a connection pooler stands between this program and PostgreSQL.

With transaction pooling every transaction may run on another server connection, so nothing may live on one: no named
statement, no session setting. Locks are transaction locks everywhere, and nothing listens.
"""

from collections.abc import Mapping
from typing import Any, Literal, cast

import asyncpg

from memory_api.errors import ConfigurationError

Pooler = Literal["none", "transaction"]

# What PgBouncer keeps for a client by itself; it refuses a connection that starts with any other parameter.
_KEPT_BY_POOLERS = frozenset({"application_name", "timezone"})
_REMEDY = (
    "KEEPSAKE_DATABASE_URL leads to a connection pooler, which gives a session's settings and prepared statements to "
    "others: set KEEPSAKE_DATABASE_POOLER=transaction, or name PostgreSQL itself"
)
_LOST = "KS001"


async def connect_directly(dsn: str, settings: Mapping[str, str], **options: Any) -> Any:
    """A connection whose session has `settings`: they travel in the start-up packet.

    Raises:
        ConfigurationError: a pooler stands in between that refused or dropped them.
    """
    try:
        connection = await asyncpg.connect(dsn, server_settings=dict(settings), **options)
    except asyncpg.ProtocolViolationError as error:
        if "startup parameter" in str(error):
            raise ConfigurationError(_REMEDY) from None
        raise
    # A pooler that was told to ignore parameters takes them and loses them. In a DO block, because a statement that is
    # prepared is what such a pooler may lose next.
    name, value = "plan_cache_mode", settings["plan_cache_mode"]
    try:
        await connection.execute(
            f"do $$ begin if current_setting('{name}') <> '{value}' then raise sqlstate '{_LOST}'; end if; end $$"
        )
    except asyncpg.PostgresError as error:
        connection.terminate()
        if error.sqlstate == _LOST:
            raise ConfigurationError(_REMEDY) from None
        raise
    return connection


async def connect_through_pooler(dsn: str, settings: Mapping[str, str], **options: Any) -> Any:
    """A connection that holds nothing between transactions: each brings `settings` along with its BEGIN."""
    kept = {name: value for name, value in settings.items() if name in _KEPT_BY_POOLERS}
    local = "".join(f" set local {name} = '{value}';" for name, value in settings.items() if name not in kept)
    connection = await asyncpg.connect(
        dsn, server_settings=kept, statement_cache_size=0, connection_class=_PooledConnection, **options
    )
    pooled = cast("_PooledConnection", connection)
    pooled.settings_of_a_transaction = local
    return pooled


def unnamed() -> str:
    """The name of every prepared statement behind a pooler."""
    return ""


class _PooledConnection(asyncpg.Connection):  # type: ignore[misc]
    """Sends the settings in the round trip that begins a transaction."""

    __slots__ = ("settings_of_a_transaction",)

    settings_of_a_transaction: str

    async def execute(self, query: str, *args: Any, timeout: float | None = None) -> str:  # noqa: ASYNC109 (asyncpg's)
        if query.startswith("BEGIN"):
            query += self.settings_of_a_transaction
        return str(await super().execute(query, *args, timeout=timeout))
