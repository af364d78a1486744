"""Run a statement without an event loop, with the psql that came along: for set-up, never for what users send."""

import subprocess
from pathlib import Path


class StatementFailed(Exception):  # noqa: N818 (inner; becomes a ConfigurationError)
    """What psql said."""


def run_statement(psql: Path, dsn: str, statement: str) -> str:
    """Run one statement and give its rows as psql's unaligned text."""
    done = subprocess.run(  # noqa: S603 (our own psql)
        [psql, "-XAtqw", "-v", "ON_ERROR_STOP=1", "-d", dsn, "-c", statement],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
        cwd="/",
        env={"PGCONNECT_TIMEOUT": "30", "PGCLIENTENCODING": "UTF8"},
    )
    if done.returncode:
        raise StatementFailed(done.stderr)
    return done.stdout.strip()


def literal(text: str) -> str:
    """Quote a value."""
    return "'" + text.replace("'", "''") + "'"


def identifier(text: str) -> str:
    """Quote a name."""
    return '"' + text.replace('"', '""') + '"'
