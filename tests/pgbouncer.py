"""Debian's PgBouncer before a test's PostgreSQL."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import psutil
from sqlalchemy import make_url

from serving_process import free_port
from waiting import eventually

PROGRAM = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


@contextmanager
def pooled(url: str, *, servers: int = 2, **settings: str) -> Iterator[str]:
    """Run one in transaction mode with `servers` connections to the database of `url`; give the URL through it."""
    assert PROGRAM
    direct = make_url(url)
    socket = parse_qs(urlsplit(url).query)["host"][0]
    port = free_port()
    folder = Path(tempfile.mkdtemp(prefix="keepsake-pgbouncer-"))
    folder.chmod(0o755)
    said = {
        "listen_addr": "127.0.0.1",
        "listen_port": str(port),
        "unix_socket_dir": "",
        "auth_type": "any",
        "pool_mode": "transaction",
        "max_client_conn": "200",
        "default_pool_size": str(servers),
        **settings,
    }
    lines = "\n".join(f"{name} = {value}" for name, value in said.items())
    file = folder / "pgbouncer.ini"
    file.write_text(f"[databases]\n* = host={socket} port=5432 user={direct.username}\n[pgbouncer]\n{lines}\n")
    # The server's socket is its user's alone, and PgBouncer does not run as root.
    owner = psutil.Process(int((Path(socket) / ".s.PGSQL.5432.lock").read_text().split()[0])).username()
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [PROGRAM, *(["-u", owner] if os.geteuid() == 0 else []), file], stdout=log, stderr=log, cwd="/"
        )
    try:
        eventually(lambda: b"process up" in (folder / "log").read_bytes() or process.poll() is not None)
        assert process.poll() is None, (folder / "log").read_text()
        through = direct.set(host="127.0.0.1", port=port, query={})
        yield through.render_as_string(hide_password=False)
    finally:
        process.terminate()
        process.wait(10)
        shutil.rmtree(folder, ignore_errors=True)
