"""The engine: one pool, and the settings that every connection of ours carries.

Settings travel in the start-up packet, so they are the session's defaults: `RESET ALL`, with which asyncpg returns a
connection to the pool, brings them back instead of losing them. Behind a pooler each transaction sets them for itself.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any, TypeVar

import asyncpg
from sqlalchemy import event
from sqlalchemy.dialects.postgresql.asyncpg import AsyncAdapt_asyncpg_dbapi
from sqlalchemy.engine import ExceptionContext, make_url
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from memory_api.db.pooler import Pooler, connect_directly, connect_through_pooler, unnamed
from memory_api.errors import ConfigurationError, DependencyDown, RolledBack

T = TypeVar("T")

POOL_SIZE = 10
POOL_TIMEOUT_SECONDS = 3.0
CONNECT_SECONDS = 5
COMMAND_SECONDS = 60
STATEMENT_TIMEOUT = "30s"

_UNUSABLE = (
    asyncpg.exceptions.ClientConfigurationError,
    asyncpg.UndefinedObjectError,
    asyncpg.InvalidParameterValueError,
    asyncpg.CantChangeRuntimeParamError,
)
_DATATYPE_MISMATCH = "42804"
_POOLED = "keepsake_pooled"
_SESSION = {
    "application_name": "keepsake",
    "timezone": "UTC",
    "jit": "off",
    "statement_timeout": STATEMENT_TIMEOUT,
    "idle_in_transaction_session_timeout": "60s",
    # A generic plan saves 2 of 6 ms and loses the HNSW index where a scope is large (docs/adr/0002).
    "plan_cache_mode": "force_custom_plan",
    # Filters outlive the index scan: with it off, HNSW gives 1 row for a limit of 10 (BR-058).
    "hnsw.iterative_scan": "relaxed_order",
    "hnsw.ef_search": "100",
}


def create_engine(url: str, *, pool_size: int = POOL_SIZE, pooler: Pooler = "none") -> AsyncEngine:
    """An engine for `postgresql://…` or `postgresql+asyncpg://…`. The password never appears in an error or a log.

    Raises:
        ConfigurationError: the URL cannot be read or is not PostgreSQL's. A first connection may raise it, too: for a
            parameter that cannot be used, or a pooler that was not announced.
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
    # The driver reads the URL itself: it knows what libpq puts into one (sslmode, sslrootcert, several hosts …), and
    # the engine's own URL, which errors may show, holds no password.
    dsn = parsed.set(drivername="postgresql").render_as_string(hide_password=False)
    pooled = pooler == "transaction"

    async def connect() -> Any:
        open_connection = connect_through_pooler if pooled else connect_directly
        with _parameters_named():
            return await open_connection(dsn, _SESSION, timeout=CONNECT_SECONDS, command_timeout=COMMAND_SECONDS)

    engine = create_async_engine(
        "postgresql+asyncpg://",
        async_creator=connect,
        connect_args={"prepared_statement_cache_size": 0, "prepared_statement_name_func": unnamed} if pooled else {},
        execution_options={_POOLED: pooled},
        pool_size=pool_size,
        max_overflow=0,
        pool_timeout=POOL_TIMEOUT_SECONDS,
        hide_parameters=True,
    )
    event.listen(engine.sync_engine, "handle_error", _renew_sessions)
    return engine


def _renew_sessions(context: ExceptionContext) -> None:
    """Let go of the pool's sessions, whose triggers were planned for a column's type of before: nothing else helps."""
    if _has_stale_trigger(context.original_exception):
        context.is_disconnect = True


def _has_stale_trigger(error: BaseException | None) -> bool:
    return getattr(error, "sqlstate", None) == _DATATYPE_MISMATCH and "preparing the plan" in str(error)


@contextmanager
def _parameters_named() -> Iterator[None]:
    """Tell parameters of the URL that can never work from a server that is away."""
    try:
        yield
    except _UNUSABLE as error:
        # The driver's own words and the server's name the parameter; neither repeats the URL.
        raise ConfigurationError(f"KEEPSAKE_DATABASE_URL has a parameter that cannot be used: {error}") from None


@asynccontextmanager
async def transaction(engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
    """One transaction; a database that is away becomes `DependencyDown`, so that the edge can answer 503.

    Never hold it across a call to the embedding provider: at pool size the whole server would stand still (BR-133).
    """
    with _outages_named():
        async with engine.begin() as connection:
            yield connection


async def carry_out(engine: AsyncEngine, work: Callable[[AsyncConnection], Awaitable[T]]) -> T:
    """`work` in one transaction, once more when the database took it back: for what no caller would ask for again."""
    for _ in range(RolledBack.TRIES - 1):
        with suppress(RolledBack):
            async with transaction(engine) as connection:
                return await work(connection)
    async with transaction(engine) as connection:
        return await work(connection)


@asynccontextmanager
async def reading(engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
    """A connection for statements that stand alone: each is its own snapshot and one round trip, not three.

    Behind a pooler it is a transaction, because only a transaction has our settings there.
    """
    with _outages_named():
        if engine.get_execution_options()[_POOLED]:
            async with engine.begin() as connection:
                yield connection
            return
        async with engine.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
            yield connection


@contextmanager
def _outages_named() -> Iterator[None]:
    try:
        yield
    except (PoolTimeoutError, OSError) as error:
        raise DependencyDown("the database cannot be reached or has no free connection; try again") from error
    except asyncpg.PostgresError as error:
        raise _outage(error.sqlstate) or error from error
    except (InterfaceError, OperationalError) as error:
        state = getattr(error.orig, "sqlstate", None)
        raise _outage(state) or DependencyDown("the database cannot be reached; try again") from error
    except DBAPIError as error:
        stale_statement = isinstance(error.orig, AsyncAdapt_asyncpg_dbapi.InvalidCachedStatementError)
        if stale_statement or _has_stale_trigger(error.orig):
            # A migration changed what a prepared statement gives. SQLAlchemy has dropped all of them by now.
            raise RolledBack("the schema changed at this moment; try again") from error
        outage = _outage(getattr(error.orig, "sqlstate", None))
        if outage is None and error.connection_invalidated:
            outage = DependencyDown("the database closed the connection; try again")
        if outage is None:
            raise
        raise outage from error


# SQLSTATEs (PostgreSQL, appendix A) that say that the server is away or refuses us, not that a statement is wrong.
_OUTAGES = {
    "08": "the database cannot be reached; try again",
    "28": "the database does not accept our user or password; mend KEEPSAKE_DATABASE_URL or the role",
    "3D": "the server has no database of that name; create it",
    "53": "the database is out of connections, memory or disk; try again",
    "57P": "the database is starting or stopping; try again",
    "57014": "the database took too long; try again",
}


def _outage(state: str | None) -> DependencyDown | None:
    if state in ("40001", "40P01"):
        return RolledBack("another request changed the same memories at the same moment; try again")
    detail = next((text for prefix, text in _OUTAGES.items() if (state or "").startswith(prefix)), None)
    return DependencyDown(detail) if detail else None
