"""SQL scripts of many statements: asyncpg's simple protocol takes one whole, prepared statements do not."""

from alembic import op

# Building an index over many millions of rows takes longer than any statement of a request may.
SECONDS = 3600


def run(script: str) -> None:
    """Run a script within the migration's transaction."""
    connection = op.get_bind().connection.dbapi_connection
    assert connection is not None  # noqa: S101 (offline mode is refused in env.py)
    connection.run_async(lambda driver: driver.execute(script, timeout=SECONDS))
