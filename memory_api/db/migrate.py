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
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
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
    """Bring the schema to head and return the revision it stands at: head, or what a newer replica made of it.

    `text_config` counts only for the first run: it becomes part of the schema.

    Raises:
        ConfigurationError: the server is too old, has no pgvector, or does not know `text_config`.
        DependencyDown: the database cannot be reached.
    """
    async with transaction(engine) as connection:
        # What a request may take is too little for an index over millions of rows.
        await connection.execute(text("set local statement_timeout = 0"))
        await connection.execute(text("select pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        await connection.run_sync(_check_server, text_config)
        await connection.run_sync(_upgrade, text_config)
        return str(await connection.scalar(text("select version_num from alembic_version")))


def _check_server(connection: Connection, text_config: str) -> None:
    version = connection.scalar(text("select current_setting('server_version_num')::int"))
    if version is None or version < 160000:
        raise ConfigurationError(f"PostgreSQL 16 or newer is needed, this server is {(version or 0) // 10000}")
    if connection.scalar(text("select current_setting('server_encoding')")) != "UTF8":
        raise ConfigurationError("the database's encoding must be UTF8: create it with encoding 'UTF8'")
    _check_pgvector(connection)
    if not connection.scalar(text("select 1 from pg_ts_config where cfgname = :name"), {"name": text_config}):
        raise ConfigurationError(
            f"KEEPSAKE_TEXT_CONFIG={text_config} is not a text search configuration of this server; "
            "`select cfgname from pg_ts_config` lists them"
        )


def _check_pgvector(connection: Connection) -> None:
    row = connection.execute(
        text("select default_version, installed_version from pg_available_extensions where name = 'vector'")
    ).first()
    if row is None:
        raise ConfigurationError("the server has no pgvector: install the extension 'vector', 0.8.0 or newer")
    if _parts(row.default_version) < (0, 8):
        raise ConfigurationError(f"pgvector 0.8.0 or newer is needed, this server has {row.default_version}")
    if row.installed_version is not None:
        if _parts(row.installed_version) < (0, 8):
            raise ConfigurationError(
                f"pgvector 0.8.0 or newer is needed, this database has {row.installed_version}: "
                "run `alter extension vector update` in it"
            )
        return
    # "trusted" extensions may be made by the database's owner; pgvector's control file leaves that to the packager.
    allowed = connection.scalar(
        text(
            "select v.superuser is false or r.rolsuper"
            " or (v.trusted and has_database_privilege(current_database(), 'create'))"
            " from pg_available_extension_versions v, pg_roles r"
            " where v.name = 'vector' and v.version = :version and r.rolname = current_user"
        ),
        {"version": row.default_version},
    )
    if not allowed:
        raise ConfigurationError(
            "this role may not create the extension pgvector: have a superuser run `create extension vector` "
            "in the database once"
        )


def _parts(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".")[:2])


def _upgrade(connection: Connection, text_config: str) -> None:
    here = MigrationContext.configure(connection).get_current_revision()
    if here is not None and here not in known_revisions():
        return  # a newer replica has been here: its migrations only widen, so this program goes on (BR-144)
    config = _config()
    config.attributes["connection"] = connection
    config.attributes["text_config"] = text_config
    command.upgrade(config, "head")
