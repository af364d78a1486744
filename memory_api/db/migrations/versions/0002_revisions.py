"""Earlier wordings of memories are kept, and a recall can look back at them."""

from pathlib import Path

from memory_api.db.migrations.script import run

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    run((Path(__file__).parent / "0002_revisions.sql").read_text())


def downgrade() -> None:
    run(
        "drop table memory_revisions;"
        "drop trigger memories_touch_revision on memories; drop function keepsake_touch_revision();"
        "alter table memories drop column live_from;"
    )
