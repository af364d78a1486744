"""Schema to head: one runner at a time, safe to repeat, safe beside old replicas."""

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text
from sqlalchemy.ext.asyncio import AsyncEngine

from memory_api.db.engine import transaction
from memory_api.errors import ConfigurationError

# Any number that no other program on the same server takes for its advisory lock.
_LOCK = 0x6B656570


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.set_main_option("path_separator", "os")
    return config


def head() -> str:
    """The newest revision this program knows. Two heads raise, which a test turns into a red build (BR-145)."""
    revision = ScriptDirectory.from_config(_config()).get_current_head()
    if revision is None:
        raise RuntimeError("the package holds no migrations")
    return revision


def known_revisions() -> set[str]:
    return {script.revision for script in ScriptDirectory.from_config(_config()).walk_revisions()}


async def current(engine: AsyncEngine) -> str | None:
    """The revision the database stands at; None before the first migration."""
    async with transaction(engine) as connection:
        return await connection.run_sync(lambda sync: MigrationContext.configure(sync).get_current_revision())


async def migrate(engine: AsyncEngine, *, text_config: str = "english") -> str:
    """Bring the schema to head and return that revision.

    `text_config` counts only for the first run: it becomes part of the schema.

    Raises:
        ConfigurationError: the server is too old, has no pgvector, or does not know `text_config`.
        DependencyDown: the database cannot be reached.
    """
    async with transaction(engine) as connection:
        await connection.execute(text("select pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        await connection.run_sync(_check_server, text_config)
        await connection.run_sync(_upgrade, text_config)
    return head()


def _check_server(connection: Connection, text_config: str) -> None:
    version = connection.scalar(text("select current_setting('server_version_num')::int"))
    if version is None or version < 160000:
        raise ConfigurationError(f"PostgreSQL 16 or newer is needed, this server is {(version or 0) // 10000}")
    if connection.scalar(text("select current_setting('server_encoding')")) != "UTF8":
        raise ConfigurationError("the database's encoding must be UTF8: create it with encoding 'UTF8'")
    available = connection.scalar(text("select default_version from pg_available_extensions where name = 'vector'"))
    if available is None:
        raise ConfigurationError("the server has no pgvector: install the extension 'vector', 0.8.0 or newer")
    if tuple(int(part) for part in available.split(".")[:2]) < (0, 8):
        raise ConfigurationError(f"pgvector 0.8.0 or newer is needed, this server has {available}")
    if not connection.scalar(text("select 1 from pg_ts_config where cfgname = :name"), {"name": text_config}):
        raise ConfigurationError(
            f"KEEPSAKE_TEXT_CONFIG={text_config} is not a text search configuration of this server; "
            "`select cfgname from pg_ts_config` lists them"
        )


def _upgrade(connection: Connection, text_config: str) -> None:
    here = MigrationContext.configure(connection).get_current_revision()
    if here is not None and here not in known_revisions():
        return  # a newer replica has been here: its migrations only widen, so this program goes on (BR-144)
    config = _config()
    config.attributes["connection"] = connection
    config.attributes["text_config"] = text_config
    command.upgrade(config, "head")
