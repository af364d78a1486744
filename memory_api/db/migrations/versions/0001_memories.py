"""The ground: memories, their vectors, the embedding queue, relations, and what the store is."""

from pathlib import Path

from alembic import context, op

from memory_api.db.migrations.script import run

revision = "0001"
down_revision = None

_HERE = Path(__file__).parent


def upgrade() -> None:
    text_config = context.config.attributes["text_config"]
    op.execute("create extension if not exists vector")
    lexemes = (_HERE.parent / "lexemes.sql").read_text()
    run(lexemes.replace("{config}", f"'{text_config}'::regconfig"))
    # What the schema was made with; the settings of a later start may say something else.
    run(
        "create function keepsake_text_config() returns text language sql immutable parallel safe"
        f" as $$ select '{text_config}' $$;"
    )
    run((_HERE / "0001_memories.sql").read_text())


def downgrade() -> None:
    run(
        "drop table store, relations, embedding_queue, memory_vectors, memories;"
        "drop function keepsake_touch(), keepsake_text_config(), keepsake_lexemes(text),"
        " keepsake_search(text, text, text, text, text);"
    )
