"""Indexes that lists and graph expansion are read from in order, so that their cost follows what is returned."""

from pathlib import Path

from memory_api.db.migrations.script import run

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    run((Path(__file__).parent / "0004_plans.sql").read_text())


def downgrade() -> None:
    run(
        "create index memories_scope on memories (user_id, agent_id, created_at desc, id desc);"
        "create index relations_target on relations (target_id);"
        "drop index memories_listed, memories_about, relations_from, relations_to;"
    )
