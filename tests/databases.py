"""What a test's database looks like before the test begins."""

from memory_api.db.engine import create_engine
from memory_api.db.migrate import migrate


async def prepare_template(url: str) -> None:
    """Bring the database that all others are copied from to head; `url` is SQLAlchemy's."""
    engine = create_engine(url)
    try:
        await migrate(engine)
    finally:
        await engine.dispose()
