"""`keepsake dev` as a person runs it: a process of its own, on free ports and a folder of its own."""

import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from serving_process import KEEPSAKE, Served, free_port, wait_until_ready


@contextmanager
def dev(*arguments: str) -> Iterator[Served]:
    """Run it until the block ends; it must then stop cleanly on SIGTERM."""
    folder = Path(tempfile.mkdtemp(prefix="keepsake-dev-"))
    folder.chmod(0o755)
    port = free_port()
    process = subprocess.Popen([KEEPSAKE, "dev", "--port", str(port), "--data-dir", str(folder / "data"), *arguments])
    place = Served(
        f"http://127.0.0.1:{port}", f"http://127.0.0.1:{port + 1}", f"http://127.0.0.1:{port + 1010}", process
    )
    try:
        wait_until_ready(place)
        yield place
    finally:
        process.send_signal(signal.SIGTERM)
        code = process.wait(30)
        shutil.rmtree(folder, ignore_errors=True)
    assert code == 0
