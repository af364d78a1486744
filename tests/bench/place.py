"""Where a run happens: a folder outside the checkout, one PostgreSQL that keeps what it promised, services on it."""

import asyncio
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from memory_api.db.engine import create_engine
from memory_api.db.migrate import migrate
from memory_api.embedded import EmbeddedPostgres
from tests.serving_process import Served, served

# Recall's and save's figures leave the embedder out: this one costs next to nothing.
_MOCK = """\
apiVersion: keepsake.dev/v1alpha1
kind: Provider
metadata: {name: bench}
spec: {type: mock, embedding: {dimensions: 384}}
"""


@dataclass(frozen=True, slots=True)
class Place:
    """`quick` asks for smaller stores and fewer rounds."""

    folder: Path
    cluster: EmbeddedPostgres
    quick: bool

    @property
    def mock_provider(self) -> Path:
        return self.folder / "provider.yaml"

    async def new_database(self, name: str) -> str:
        """SQLAlchemy's URL of a database whose schema is at head."""
        await asyncio.to_thread(self.cluster.ensure_database, name)
        url = self.cluster.url(name)
        engine = create_engine(url)
        try:
            await migrate(engine)
        finally:
            await engine.dispose()
        return url

    @contextmanager
    def serving(
        self, url: str, *, provider: Path | None = None, policy: Path | None = None, workers: bool = True
    ) -> Iterator[Served]:
        """Run `keepsake serve` on a database until the block ends."""
        environment = {"KEEPSAKE_PROVIDER_FILE": str(provider or self.mock_provider)}
        if policy:
            environment["KEEPSAKE_POLICY_FILE"] = str(policy)
        with served(url, environment, *([] if workers else ["--no-workers"])) as service:
            yield service


@contextmanager
def bench_folder() -> Iterator[Path]:
    """A folder that the user may enter whom root runs PostgreSQL as; gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="keepsake-bench-"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def bench_place(*, quick: bool) -> Iterator[Place]:
    with bench_folder() as folder, EmbeddedPostgres(folder / "data", crash_safe=True) as cluster:
        place = Place(folder, cluster, quick)
        place.mock_provider.write_text(_MOCK)
        yield place
