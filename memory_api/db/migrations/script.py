"""Running a migration's SQL file."""

from alembic import op


def run(script: str) -> None:
    """Run a script of many statements: asyncpg's simple protocol takes it whole, prepared statements do not."""
    connection = op.get_bind().connection.dbapi_connection
    assert connection is not None  # noqa: S101 (offline mode is refused in env.py)
    connection.run_async(lambda driver: driver.execute(script))
