"""The ground: memories, their vectors, the embedding queue, relations, and what the store is."""

from pathlib import Path

from alembic import context, op

revision = "0001"
down_revision = None

_HERE = Path(__file__).parent


def upgrade() -> None:
    text_config = context.config.attributes["text_config"]
    op.execute("create extension if not exists vector")
    lexemes = (_HERE.parent / "lexemes.sql").read_text()
    _run(lexemes.replace("{config}", f"'{text_config}'::regconfig"))
    # What the schema was made with; the settings of a later start may say something else.
    _run(
        "create function keepsake_text_config() returns text language sql immutable parallel safe"
        f" as $$ select '{text_config}' $$;"
    )
    _run((_HERE / "0001_memories.sql").read_text())


def downgrade() -> None:
    _run(
        "drop table store, relations, embedding_queue, memory_vectors, memories;"
        "drop function keepsake_touch(), keepsake_text_config(), keepsake_lexemes(text),"
        " keepsake_search(text, text, text, text, text);"
    )


def _run(script: str) -> None:
    """Run a script of many statements: asyncpg's simple protocol takes it whole, prepared statements do not."""
    connection = op.get_bind().connection.dbapi_connection
    assert connection is not None  # noqa: S101 (offline mode is refused in env.py)
    connection.run_async(lambda driver: driver.execute(script))
