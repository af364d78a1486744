"""`keepsake dev`: everything on this machine, from an empty folder to a shown recall."""

import asyncio
import ipaddress
import os
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click
import httpx

from memory_api.app import MemoryApi
from memory_api.cli import samples
from memory_api.cli.server import migrate_database, refuse_open_address
from memory_api.cli.serving import Ports, bound, port_of, serve, stop_signals
from memory_api.embedded import EmbeddedPostgres, default_data_dir
from memory_api.errors import ConfigurationError
from memory_api.manifests import PolicySource, load_provider, secret_value
from memory_api.manifests.schema import shipped
from memory_api.settings import load_settings
from memory_api.telemetry import configure_logs

DATABASE = "keepsake"
_WATCH_SECONDS = 0.5


def run_dev(
    *,
    host: str,
    port: int,
    health_port: int | None,
    metrics_port: int | None,
    data_dir: str | None,
    policy: str | None,
    provider: str | None,
    sample: bool,
    reembed: bool,
    insecure: bool,
) -> None:
    """Start, show, serve until told to stop, and shut the database down cleanly.

    Raises:
        ConfigurationError: folder, port, manifest or store do not allow it.
    """
    started = time.monotonic()
    settings = load_settings()
    configure_logs(settings.log_level if "KEEPSAKE_LOG_LEVEL" in os.environ else "warning")
    refuse_open_address(host, insecure=insecure)
    source = PolicySource(Path(policy) if policy else shipped("samples/default.yaml"))
    config = load_provider(Path(provider) if provider else shipped("samples/provider-transformers.yaml"), secret_value)
    with bound(Ports.beside(host, port, health_port, metrics_port)) as listeners:
        database = EmbeddedPostgres(Path(data_dir) if data_dir else default_data_dir(Path.cwd()))
        url = database.url(DATABASE)

        async def up() -> None:
            await _show(listeners, sample=sample, started=started)

        async def run() -> None:
            with stop_signals() as stop:
                async with _running(database, stop):
                    if stop.is_set():
                        return
                    database.ensure_database(DATABASE)
                    _step("Bringing the schema to head")
                    await migrate_database(url, text_config=settings.text_config)
                    _step(f"Starting memory-api with policy {source.policy.name} and embedder {config.model}")
                    memory_api = MemoryApi(settings, database_url=url, provider=config, policy=source, reembed=reembed)
                    await serve(memory_api, listeners, stop, once_up=up)

        asyncio.run(run())


@asynccontextmanager
async def _running(database: EmbeddedPostgres, stop: asyncio.Event) -> AsyncIterator[None]:
    """The database for the time of the block; `stop` during its start ends that, and the block sees `stop` set."""
    _step(f"Starting PostgreSQL with pgvector in {database.data_dir}")
    starting = asyncio.create_task(asyncio.to_thread(database.start))
    stopping = asyncio.create_task(stop.wait())
    await asyncio.wait([starting, stopping], return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    if stop.is_set():
        await asyncio.to_thread(database.stop)
        await asyncio.gather(starting, return_exceptions=True)
    else:
        starting.result()
    watching = asyncio.create_task(_keep_running(database))
    try:
        yield
    finally:
        _step("Stopping; the data stays")
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
        await asyncio.to_thread(database.stop)


async def _keep_running(database: EmbeddedPostgres) -> None:
    """Start the database anew when somebody else ended it; memory-api comes back by itself."""
    while True:
        await asyncio.sleep(_WATCH_SECONDS)
        if database.died():
            _step("PostgreSQL has ended; starting it again")
            try:
                await asyncio.to_thread(database.start)
            except ConfigurationError as error:
                _step(str(error))


async def _show(listeners: list[socket.socket], *, sample: bool, started: float) -> None:
    """Greet a person: samples and a recall when asked for, then where everything is."""
    address = listeners[0].getsockname()[0]
    host = f"http://[{address}]" if ":" in address else f"http://{address}"
    api, health, metrics = (f"{host}:{port_of(listener)}" for listener in listeners)
    if sample:
        await _show_samples(api)
    click.echo(f"\nKeepsake is up after {time.monotonic() - started:.1f} s.")
    click.echo(f"  API       {api}/api/v1   (documentation: {api}/docs)")
    click.echo(f"  health    {health}/readyz")
    click.echo(f"  metrics   {metrics}/metrics")
    who = "on this machine" if ipaddress.ip_address(address).is_loopback else "who reaches this address"
    click.echo(f"No credentials: every caller {who} is admin. Ctrl-C stops it; the data stays.")


async def _show_samples(base: str) -> None:
    """Save the samples when the store is empty, over HTTP as an agent would, and show one recall."""
    async with httpx.AsyncClient(base_url=f"{base}/api/v1/", timeout=60, trust_env=False) as client:
        health = (await client.get("memory/health")).raise_for_status().json()
        if health["memories"] == 0:
            _step(f"Saving {len(samples.MEMORIES)} sample memories of all four tiers")
            ids = [await _save(client, *sample) for sample in samples.MEMORIES]
            for source, target, relation_type in samples.RELATIONS:
                edge = {"source_id": ids[source], "target_id": ids[target], "relation_type": relation_type}
                if ids[source] and ids[target]:
                    _accepted(await client.post("relations", json=edge))
        ask = {
            "query": samples.QUESTION,
            "user_id": samples.USER,
            "agent_id": samples.AGENT,
            "limit": 5,
            "explain": True,
        }
        found = (await client.post("memories/retrieve", json=ask)).raise_for_status().json()
    click.echo(f'\nRecall for user {samples.USER} and agent {samples.AGENT}: "{samples.QUESTION}"')
    for place, memory in enumerate(found["memories"], start=1):
        click.echo(f"  {place}. {memory['score']:.4f}  {memory['tier']:<14} {memory['content']}")
        click.echo(f"     {_why(memory['explain'])}")
    click.echo(f"  strategy {found['strategy_used']}" + "".join(f", without {what}" for what in found["degraded"]))


async def _save(client: httpx.AsyncClient, route: str, days: int, body: dict[str, Any]) -> str | None:
    learnt = datetime.now(UTC) - timedelta(days=days)
    saved = _accepted(await client.post(route, json={**body, "observed_at": learnt.isoformat()}))
    return str(saved["memory"]["id"]) if saved else None


def _accepted(answer: httpx.Response) -> dict[str, Any] | None:
    """What was made of a sample; a policy of the user's own need not have the samples' kinds."""
    if answer.status_code == httpx.codes.UNPROCESSABLE_ENTITY:
        _step(f"Left out: {answer.json()['detail']}")
        return None
    made: dict[str, Any] = answer.raise_for_status().json()
    return made


def _why(explain: dict[str, Any]) -> str:
    parts = []
    if words := explain.get("lexical"):
        parts.append(f"words rank {words['rank']} ({words['score']:.2f})")
    if meaning := explain.get("vector"):
        parts.append(f"meaning rank {meaning['rank']} (cosine {meaning['cosine']:.2f})")
    if session := explain.get("session_rank"):
        parts.append(f"session rank {session}")
    if via := explain.get("via"):
        parts.append(f"related by {via['relation_type']}")
    return f"{', '.join(parts)}; x decay {explain['decay']:.2f} x tier weight {explain['tier_weight']:g}"


def _step(text: str) -> None:
    click.echo(f"{text} ...")
