"""What every embedding provider is, and the facts that choose one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal, Protocol

ProviderType = Literal["openai", "vllm", "ollama", "transformers", "mock"]
Vector = list[float]


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds until a call is given up: for the query of a recall, for a save, for a batch of the backfill."""

    query: float = 1.5
    save: float = 3.0
    batch: float = 60.0


@dataclass(frozen=True, slots=True)
class ProviderConfig:
    """A Provider manifest, resolved. `api_key` never appears in `repr`."""

    name: str
    type: ProviderType
    model: str
    base_url: str | None = None
    headers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}), repr=False)
    api_key: str | None = field(default=None, repr=False)
    dimensions: int | None = None
    query_prefix: str = ""
    passage_prefix: str = ""
    batch_size: int = 32
    timeouts: Timeouts = Timeouts()


class EmbeddingProvider(Protocol):
    """Text in, vectors out. Every call raises `EmbeddingError` and nothing else when there is no usable vector.

    Vectors that come back are checked: `dimensions` finite numbers, not all zero.
    """

    @property
    def model(self) -> str:
        """The name that the store records beside its vectors, such as `all-minilm-l6-v2-int8`."""

    @property
    def dimensions(self) -> int: ...

    async def embed_query(self, text: str) -> Vector:
        """One query, within `timeouts.query`, through the cache."""

    async def embed_passages(self, texts: Sequence[str], *, deadline: float) -> list[Vector]:
        """Vectors in the order of `texts`, within `deadline` seconds; all of them or an error."""

    async def warm_up(self) -> None:
        """Load what the first call would have to wait for; may be left out. Raises `EmbeddingError`."""

    async def aclose(self) -> None: ...
