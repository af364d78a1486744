"""The written set in a store of its own, asked once for all tests of the folder."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from api_client import Api, memory_api
from memory_api.embedded import EmbeddedPostgres
from memory_api.embedding.provider import ProviderConfig, Timeouts
from quality import corpus
from quality.asking import Answered, ask, fill
from quality.corpus import Corpus

# A busy machine must not turn a question into one of words only.
BUNDLED = ProviderConfig(
    name="bundled", type="transformers", model="all-minilm-l6-v2-int8", dimensions=384, timeouts=Timeouts(query=30.0)
)
DEFAULT_POLICY = Path(__file__).parents[2] / "crds" / "samples" / "default.yaml"


@dataclass(frozen=True, slots=True)
class Asked:
    """Every question with its hits, and the store they came from."""

    corpus: Corpus
    answered: list[Answered]
    nonsense: list[Answered]
    api: Api


@pytest.fixture(scope="session")
def written() -> Corpus:
    return corpus.read()


@pytest.fixture(scope="session")
async def quality_database(postgres_cluster: EmbeddedPostgres, database_template: str) -> AsyncIterator[str]:
    postgres_cluster.query(f'create database quality template "{database_template}"')
    yield postgres_cluster.url("quality")
    postgres_cluster.query("drop database quality with (force)")


@pytest.fixture(scope="session")
async def asked(quality_database: str, written: Corpus) -> AsyncIterator[Asked]:
    """Load the set under the default policy and ask everything."""
    async with memory_api(quality_database, provider=BUNDLED, policy=DEFAULT_POLICY) as api:
        await fill(api, written.memories.values())
        yield Asked(written, await ask(api, written.questions), await ask(api, written.nonsense), api)
