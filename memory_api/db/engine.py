"""The engine: one pool, and the settings that every connection of ours carries.

Settings travel in the start-up packet, so they are the session's defaults: `RESET ALL`, with which asyncpg returns a
connection to the pool, brings them back instead of losing them.
"""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from memory_api.errors import ConfigurationError, DependencyDown

POOL_SIZE = 10
POOL_TIMEOUT_SECONDS = 3.0
STATEMENT_TIMEOUT = "30s"

_SESSION = {
    "application_name": "keepsake",
    "timezone": "UTC",
    "jit": "off",
    "statement_timeout": STATEMENT_TIMEOUT,
    "idle_in_transaction_session_timeout": "60s",
    # Recall's plans depend on the size of the caller's scope: a generic plan was measured slower (docs/adr/0002).
    "plan_cache_mode": "force_custom_plan",
    # Filters outlive the index scan: with it off, HNSW gives 1 row for a limit of 10 (BR-058).
    "hnsw.iterative_scan": "relaxed_order",
    "hnsw.ef_search": "100",
}


def create_engine(url: str, *, pool_size: int = POOL_SIZE) -> AsyncEngine:
    """An engine for `postgresql://…` or `postgresql+asyncpg://…`. The password never appears in an error or a log.

    Raises:
        ConfigurationError: the URL cannot be read or is not PostgreSQL's.
    """
    try:
        parsed = make_url(url)
    except Exception as error:
        raise ConfigurationError(
            "KEEPSAKE_DATABASE_URL cannot be read; write postgresql://USER:PASSWORD@HOST:PORT/DATABASE "
            "and percent-encode special characters of the password"
        ) from error
    if parsed.get_backend_name() not in ("postgresql", "postgres"):
        raise ConfigurationError(f"KEEPSAKE_DATABASE_URL must start with postgresql://, not {parsed.drivername}://")
    return create_async_engine(
        parsed.set(drivername="postgresql+asyncpg"),
        pool_size=pool_size,
        max_overflow=0,
        pool_timeout=POOL_TIMEOUT_SECONDS,
        connect_args={"server_settings": _SESSION, "timeout": 5, "command_timeout": 60},
        hide_parameters=True,
    )


@asynccontextmanager
async def transaction(engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
    """One transaction; a database that is away becomes `DependencyDown`, so that the edge can answer 503.

    Never hold it across a call to the embedding provider: at pool size the whole server would stand still (BR-133).
    """
    with _outages_named():
        async with engine.begin() as connection:
            yield connection


@asynccontextmanager
async def reading(engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
    """A connection for statements that stand alone: each is its own snapshot and one round trip, not three."""
    with _outages_named():
        async with engine.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
            yield connection


@contextmanager
def _outages_named() -> Iterator[None]:
    try:
        yield
    except (PoolTimeoutError, OSError) as error:
        raise DependencyDown("the database cannot be reached or has no free connection; try again") from error
    except (InterfaceError, OperationalError) as error:
        raise DependencyDown("the database cannot be reached; try again") from error
    except DBAPIError as error:
        if error.connection_invalidated or _is_outage(error):
            raise DependencyDown("the database closed the connection; try again") from error
        raise


def _is_outage(error: DBAPIError) -> bool:
    """Whether SQLSTATE says that the server is away or refuses work for now, not that the statement is wrong.

    08 connection, 57P shutdown and start-up, 53 out of resources (PostgreSQL, appendix A).
    """
    state = getattr(error.orig, "sqlstate", None) or ""
    return state.startswith(("08", "57P", "53")) or state == "57014"
