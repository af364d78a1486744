"""From a resolved Provider manifest to the provider of the service."""

from typing import get_args

from memory_api.embedding.dimensions import checked_dimensions
from memory_api.embedding.embedder import Embedder
from memory_api.embedding.guard import GuardedProvider, Observer
from memory_api.embedding.mock import MockEmbedder
from memory_api.embedding.provider import ProviderConfig, ProviderType
from memory_api.errors import ConfigurationError


def build_provider(config: ProviderConfig, *, observer: Observer | None = None) -> GuardedProvider:
    """Choose by `config.type`; there is no default to fall back to (BR-076).

    Raises `ConfigurationError` for what cannot work; contacts nobody and loads nothing yet.
    """
    return GuardedProvider(_embedder(config), config, observer=observer)


def _embedder(config: ProviderConfig) -> Embedder:
    # Imported here: each type has libraries of its own, and only the chosen one's need to be installed.
    checked_dimensions(config)
    match config.type:
        case "openai" | "vllm" | "ollama":
            from memory_api.embedding.openai import OpenAIEmbedder

            return OpenAIEmbedder(config)
        case "transformers":
            from memory_api.embedding.local import LocalEmbedder

            return LocalEmbedder(config)
        case "mock":
            return MockEmbedder(config)
        case other:
            raise ConfigurationError(
                f"Provider {config.name!r}: type {other!r} gives no embeddings here; use one of "
                f"{', '.join(get_args(ProviderType))}"
            )
