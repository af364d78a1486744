"""A query whose words are not found is asked once more, one letter off."""

from pathlib import Path

from memory_api.db.migrations.script import run

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    run((Path(__file__).parent / "0003_misspelt.sql").read_text())


def downgrade() -> None:
    run("drop function keepsake_misspelt(text);")
