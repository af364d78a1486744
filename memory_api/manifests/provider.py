"""A Provider manifest as the facts that choose and reach an embedder."""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from memory_api.embedding.provider import ProviderConfig, Timeouts
from memory_api.errors import ConfigurationError
from memory_api.manifests.quantities import duration
from memory_api.manifests.secrets import HOW_TO_GIVE, checked_secret
from memory_api.manifests.verdict import admitted

Secrets = Callable[[str, str], str | None]

# The names that the store records for the two types that bring their own model.
_OWN_MODEL = {"transformers": "all-minilm-l6-v2-int8", "mock": "mock"}


def load_provider(path: Path, secrets: Secrets) -> ProviderConfig:
    """The provider in the file, its credential looked up with `secrets(name, key)`.

    Raises:
        ManifestError: a manifest that the API server would refuse.
        ConfigurationError: a credential that is not there or cannot be an API key.
    """
    return provider_of(admitted(path, "Provider"), secrets)


def provider_of(manifest: Mapping[str, Any], secrets: Secrets) -> ProviderConfig:
    """The values of an admitted manifest, in which every default is filled in."""
    spec = manifest["spec"]
    embedding, timeouts = spec["embedding"], spec["timeouts"]
    return ProviderConfig(
        name=manifest["metadata"]["name"],
        type=spec["type"],
        model=spec.get("model") or _OWN_MODEL[spec["type"]],
        base_url=spec.get("baseURL"),
        headers=MappingProxyType(dict(spec.get("headers", {}))),
        api_key=_api_key(spec, secrets),
        dimensions=embedding.get("dimensions"),
        query_prefix=embedding.get("queryPrefix", ""),
        passage_prefix=embedding.get("passagePrefix", ""),
        batch_size=embedding["batchSize"],
        timeouts=Timeouts(**{name: duration(timeouts[name]).total_seconds() for name in ("query", "save", "batch")}),
    )


def _api_key(spec: Mapping[str, Any], secrets: Secrets) -> str | None:
    if "credential" not in spec:
        return None
    reference = spec["credential"]["secretRef"]
    name, key = reference["name"], reference["key"]
    value = secrets(name, key)
    if value is None:
        raise ConfigurationError(f"no value for key {key} of secret {name}, which the Provider names: {HOW_TO_GIVE}")
    return checked_secret(value, f"key {key} of secret {name}")
