"""`keepsake serve` and `keepsake migrate`: memory-api against a database of yours."""

import asyncio
import ipaddress

import click

from memory_api.app import MemoryApi
from memory_api.cli.serving import Ports, bound, serve, stop_signals
from memory_api.db.engine import create_engine
from memory_api.db.migrate import migrate
from memory_api.db.pooler import Pooler
from memory_api.domain.policy import Policy
from memory_api.embedding.provider import ProviderConfig
from memory_api.errors import ConfigurationError
from memory_api.manifests import (
    ConfigMapWatch,
    PolicySource,
    ServiceAccount,
    config_policy_in,
    config_provider,
    load_provider,
    secret_value,
)
from memory_api.settings import Settings, load_settings
from memory_api.telemetry import configure_logs


def run_serve(
    *,
    host: str,
    port: int,
    health_port: int | None,
    metrics_port: int | None,
    workers: bool,
    reembed: bool,
    insecure: bool,
) -> None:
    """Serve until told to stop.

    Raises:
        ConfigurationError: settings, manifests, ports or the store do not allow it.
    """
    settings = load_settings()
    refuse_open_address(host, insecure=insecure)
    configure_logs(settings.log_level)
    provider, policy = _configured(settings)
    with bound(Ports.beside(host, port, health_port, metrics_port)) as listeners:

        async def run() -> None:
            memory_api = MemoryApi(
                settings,
                database_url=settings.resolved_database_url(),
                provider=provider,
                policy=policy,
                workers=workers,
                reembed=reembed,
            )
            with stop_signals() as stop:
                await serve(memory_api, listeners, stop)

        asyncio.run(run())


def _configured(settings: Settings) -> tuple[ProviderConfig, PolicySource | None]:
    """Provider and policy: from the operator's file, else from manifests."""
    if settings.config_file is not None:
        provider = config_provider(settings.config_file, secret_value)
        source = PolicySource(
            settings.config_file, read=config_policy_in, config_map=_config_map(settings), otherwise=Policy()
        )
        return provider, source
    if settings.provider_file is None:
        raise ConfigurationError(
            "no embedding Provider: set KEEPSAKE_PROVIDER_FILE to a Provider manifest (crds/samples has some)"
        )
    policy = PolicySource(settings.policy_file) if settings.policy_file else None
    return load_provider(settings.provider_file, secret_value), policy


def _config_map(settings: Settings) -> ConfigMapWatch | None:
    """Where the file comes from, which is faster to tell of an edit than the mounted file."""
    if not settings.config_map or settings.config_file is None:
        return None
    account = ServiceAccount.of_this_pod(settings.service_account_dir)
    return ConfigMapWatch(
        account, settings.config_map, settings.config_file.name, round_seconds=settings.config_map_seconds
    )


def run_migrate() -> None:
    """Migrate and say where the schema stands.

    Raises:
        ConfigurationError: the server cannot hold the schema.
        DependencyDown: it cannot be reached.
    """
    settings = load_settings()
    url, pooler = settings.resolved_database_url(), settings.database_pooler
    revision = asyncio.run(migrate_database(url, text_config=settings.text_config, pooler=pooler))
    click.echo(f"The schema is at revision {revision}.")


async def migrate_database(url: str, *, text_config: str, pooler: Pooler = "none") -> str:
    """Bring the schema of the database at `url` to head, and return that revision."""
    engine = create_engine(url, pooler=pooler)
    try:
        return await migrate(engine, text_config=text_config)
    finally:
        await engine.dispose()


def refuse_open_address(host: str, *, insecure: bool) -> None:
    """Without authentication only this machine may call.

    Raises:
        ConfigurationError: another address, and --insecure is not given.
    """
    try:
        loopback = ipaddress.ip_address(host).is_loopback
    except ValueError:
        loopback = host == "localhost"
    if not loopback and not insecure:
        raise ConfigurationError(
            f"{host} is not a loopback address and every caller would be admin; "
            "listen on 127.0.0.1, or add --insecure where only trusted callers reach this address"
        )
