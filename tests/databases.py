"""What a test's database looks like before the test begins."""

import asyncpg


async def prepare_template(url: str) -> None:
    """Bring the database that all others are copied from to its starting state; `url` is SQLAlchemy's."""
    connection = await asyncpg.connect(url.replace("postgresql+asyncpg", "postgresql", 1))
    try:
        await connection.execute("create extension if not exists vector")
    finally:
        await connection.close()
