"""The keepsake command. Exit codes: 0 good, 2 wrong usage or configuration (one line), 1 anything else."""

import sys
from collections.abc import Callable
from typing import Any

import click

from memory_api import __version__
from memory_api.errors import ConfigurationError, DependencyDown

_CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 110, "show_default": True}


@click.group(context_settings=_CONTEXT)
@click.version_option(__version__, prog_name="keepsake")
def keepsake() -> None:
    """Durable, ranked memory for AI agents.

    `keepsake dev` tries it on this machine; `keepsake migrate` and `keepsake serve` run it against a database.
    """


@keepsake.command()
@click.option("--host", default="127.0.0.1", help="Address to listen on.")
@click.option("--port", default=8080, type=click.IntRange(0, 65535), help="API port; 0 takes any free one.")
@click.option("--health-port", type=click.IntRange(0, 65535), help="Default: API port + 1.")
@click.option("--metrics-port", type=click.IntRange(0, 65535), help="Default: API port + 1010.")
@click.option("--data-dir", type=click.Path(), help="Where the data lives.  [default: .keepsake]")
@click.option(
    "--policy", type=click.Path(), help="MemoryPolicy manifest, watched for edits.  [default: the shipped one]"
)
@click.option("--provider", type=click.Path(), help="Provider manifest.  [default: the bundled embedder]")
@click.option("--sample/--no-sample", default=True, help="Save sample memories when the store is empty, show a recall.")
@click.option("--reembed", is_flag=True, help="Let go of another model's vectors and embed every memory anew.")
@click.option("--insecure", is_flag=True, help="Serve an address that is not loopback, without authentication.")
def dev(**options: Any) -> None:
    """Run everything on this machine: an embedded PostgreSQL, the bundled embedder, memory-api, samples."""
    from memory_api.cli.dev import run_dev

    _run(run_dev, **options)


@keepsake.command()
@click.option("--host", default="127.0.0.1", help="Address to listen on.")
@click.option("--port", default=8080, type=click.IntRange(0, 65535), help="API port; 0 takes any free one.")
@click.option("--health-port", type=click.IntRange(0, 65535), help="Default: API port + 1.")
@click.option("--metrics-port", type=click.IntRange(0, 65535), help="Default: API port + 1010.")
@click.option("--workers/--no-workers", default=True, help="Run the background work in this process too.")
@click.option("--reembed", is_flag=True, help="Let go of another model's vectors and embed every memory anew.")
@click.option("--insecure", is_flag=True, help="Serve an address that is not loopback, without authentication.")
def serve(**options: Any) -> None:
    """Serve memory-api against KEEPSAKE_DATABASE_URL; settings come from KEEPSAKE_… variables."""
    from memory_api.cli.server import run_serve

    _run(run_serve, **options)


@keepsake.command()
def migrate() -> None:
    """Bring the schema of KEEPSAKE_DATABASE_URL to head; safe to run twice and beside running replicas."""
    from memory_api.cli.server import run_migrate

    _run(run_migrate)


def _run(command: Callable[..., None], **options: Any) -> None:
    """A user's mistake is one line and exit 2; a database that is away is one line and exit 1."""
    try:
        command(**options)
    except ConfigurationError as error:
        click.echo(f"keepsake: {error}", err=True)
        sys.exit(2)
    except DependencyDown as error:
        click.echo(f"keepsake: {error}", err=True)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)


def main() -> None:
    """Entry point of the `keepsake` script."""
    keepsake()
