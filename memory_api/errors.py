"""The error tree. A class says what the caller can do about it; the text says what happened and the remedy.

KeepsakeError
├── ConfigurationError        exit 2: one line, no trace
│   ├── ManifestError         a MemoryPolicy or Provider manifest that the API server would refuse
│   └── ModelMismatch         the store holds vectors of another model or dimension
├── InvalidRequest            HTTP 422 (readable but wrong)
│   └── UnreadableRequest     HTTP 400 (body, header or cursor that cannot be read)
├── NotFound                  HTTP 404; an id that may not be seen is answered the same
├── PreconditionFailed        HTTP 412 (If-Match)
├── DependencyDown            HTTP 503 with Retry-After
│   └── RolledBack            nothing was written; done once more before a caller hears of it
└── EmbeddingError            never reaches a caller: saves stay pending, recall degrades
"""

from collections.abc import Sequence
from typing import Literal


class KeepsakeError(Exception):
    """Root of every error that Keepsake raises on purpose."""


class ConfigurationError(KeepsakeError):
    """Settings, files or folders that cannot work; the message names the remedy."""


class ManifestError(ConfigurationError):
    """A manifest that does not hold against its CRD.

    `problems` are (field path, message) pairs in the API server's words where it has some; `lines` the line of each,
    where lines are known.
    """

    def __init__(self, source: str, problems: list[tuple[str, str]], lines: Sequence[int] = ()) -> None:
        self.source = source
        self.problems = problems
        self.lines = tuple(lines)
        places = [f"{source}:{line}" for line in self.lines] or [source] * len(problems)
        super().__init__(
            "; ".join(
                f"{place}: {path}: {text}" if path else f"{place}: {text}"
                for place, (path, text) in zip(places, problems, strict=True)
            )
        )


class ModelMismatch(ConfigurationError):  # noqa: N818 (the name is the condition's reason in the contract)
    """The store's vectors were made by another model or have another dimension."""

    def __init__(self, *, stored: str, configured: str) -> None:
        self.stored = stored
        self.configured = configured
        super().__init__(
            f"ModelMismatch: the store holds vectors of {stored}, the Provider is {configured}. "
            "Configure the Provider of before, or start once with --reembed to embed every memory anew."
        )


class InvalidRequest(KeepsakeError):  # noqa: N818
    """A request that can be read but not carried out. `problems` are (location, message) pairs."""

    def __init__(self, detail: str, problems: list[tuple[tuple[str | int, ...], str]] | None = None) -> None:
        self.problems = problems or []
        super().__init__(detail)


class UnreadableRequest(InvalidRequest):
    """A body, header or cursor that cannot be read at all."""


class NotFound(KeepsakeError):  # noqa: N818
    """No such thing for this caller."""


class PreconditionFailed(KeepsakeError):  # noqa: N818
    """If-Match named another revision."""


class DependencyDown(KeepsakeError):  # noqa: N818
    """The database cannot answer now; ask again after `retry_after` seconds."""

    def __init__(self, detail: str, *, retry_after: int = 1) -> None:
        self.retry_after = retry_after
        super().__init__(detail)


class RolledBack(DependencyDown):
    """The database took a transaction back for what others did at the same moment: the same again may go through."""

    TRIES = 3


EmbeddingFault = Literal["timeout", "unavailable", "rate_limited", "rejected", "bad_vector", "reembedding"]


class EmbeddingError(KeepsakeError):
    """The embedding provider gave no usable vectors.

    `fault` is what `degraded` and the metrics say. `rejected` means that the provider refuses these texts (a 4xx other
    than 429) and asking again is no use; every other fault may pass. `reembedding` is ours, not the provider's: the
    store's vectors are being replaced, and a ranking by some of them would hide the others.
    """

    def __init__(self, fault: EmbeddingFault, detail: str) -> None:
        self.fault: EmbeddingFault = fault
        super().__init__(detail)
