"""The size of the vectors: declared, else known by the model's name, else asked for."""

import pytest

from memory_api.embedding.dimensions import resolved_dimensions
from memory_api.embedding.factory import build_provider
from memory_api.embedding.provider import ProviderConfig
from memory_api.errors import ConfigurationError


def a_config(kind: str, model: str, dimensions: int | None = None) -> ProviderConfig:
    return ProviderConfig(name="p", type=kind, model=model, dimensions=dimensions)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("kind", "model", "size"),
    [
        ("openai", "text-embedding-3-small", 1536),
        ("openai", "text-embedding-ada-002", 1536),
        ("openai", "text-embedding-3-large", 3072),
        ("openai", "some-other-model", 1536),
        ("ollama", "nomic-embed-text", 768),
        ("ollama", "nomic-embed-text:latest", 768),
        ("ollama", "mxbai-embed-large", 1024),
        ("ollama", "all-minilm:l6-v2", 384),
    ],
)
def test_known_models_have_known_sizes(kind: str, model: str, size: int) -> None:
    assert resolved_dimensions(a_config(kind, model)) == size


@pytest.mark.parametrize("kind", ["openai", "vllm", "ollama"])
def test_a_declared_size_counts_more_than_the_name(kind: str) -> None:
    assert resolved_dimensions(a_config(kind, "text-embedding-3-large", 256)) == 256


@pytest.mark.parametrize(("kind", "model"), [("vllm", "bge-m3"), ("ollama", "bge-m3"), ("vllm", "nomic-embed-text")])
def test_an_unknown_size_must_be_declared(kind: str, model: str) -> None:
    with pytest.raises(ConfigurationError, match=rf"{model}.*embedding\.dimensions"):
        resolved_dimensions(a_config(kind, model))


@pytest.mark.parametrize("kind", ["openai", "vllm", "ollama", "mock", "transformers"])
@pytest.mark.parametrize("size", [0, -1, 4001])
def test_a_size_that_the_store_cannot_hold_is_refused(kind: str, size: int) -> None:
    with pytest.raises(ConfigurationError, match="between 1 and 4000"):
        build_provider(a_config(kind, "all-minilm-l6-v2-int8", size))


@pytest.mark.parametrize("kind", ["azure", "gemini", "bedrock", ""])
def test_br_076_another_type_is_refused_by_name_and_nothing_stands_in_for_it(kind: str) -> None:
    with pytest.raises(ConfigurationError, match=rf"'{kind}'.*openai, vllm, ollama, transformers, mock"):
        build_provider(a_config(kind, "m"))
