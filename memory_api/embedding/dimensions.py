"""How many numbers a vector has: what the Provider declares, else what its model is known to give."""

from memory_api.embedding.provider import ProviderConfig
from memory_api.errors import ConfigurationError

LARGEST = 4000
_OPENAI = {"text-embedding-3-small": 1536, "text-embedding-ada-002": 1536, "text-embedding-3-large": 3072}
_OPENAI_OTHERS = 1536
_OLLAMA = {"nomic-embed-text": 768, "mxbai-embed-large": 1024, "all-minilm": 384}


def checked_dimensions(config: ProviderConfig) -> int | None:
    """The declared value, if any, inside the range that the store can hold."""
    declared = config.dimensions
    if declared is not None and not 1 <= declared <= LARGEST:
        raise ConfigurationError(
            f"Provider {config.name!r}: embedding.dimensions is {declared}; it must be between 1 and {LARGEST}"
        )
    return declared


def resolved_dimensions(config: ProviderConfig) -> int:
    """For a model behind an API. A gateway that serves another model under type openai must declare its size."""
    declared = checked_dimensions(config)
    if declared is not None:
        return declared
    if config.type == "openai":
        return _OPENAI.get(config.model, _OPENAI_OTHERS)
    known = _OLLAMA.get(config.model.partition(":")[0]) if config.type == "ollama" else None
    if known is None:
        raise ConfigurationError(
            f"Provider {config.name!r}: the size of the vectors of {config.model!r} is not known; "
            "set embedding.dimensions to it"
        )
    return known
