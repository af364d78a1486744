"""A Provider manifest becomes a configuration, and its credential is found or its absence explained."""

from collections.abc import Callable
from pathlib import Path

import pytest

from manifest_table import ROOT, manifest
from memory_api.embedding.provider import ProviderConfig, Timeouts
from memory_api.errors import ConfigurationError
from memory_api.manifests import load_provider, secret_value

SAMPLES = ROOT / "crds" / "samples"
NAMED = "{type: openai, model: x, credential: {secretRef: {name: gate, key: api-key}}}"


def no_secret(_name: str, _key: str) -> str | None:
    return None


def from_environment(environment: dict[str, str]) -> Callable[[str, str], str | None]:
    return lambda name, key: secret_value(name, key, environment)


def provider(tmp_path: Path, spec: str, secrets: Callable[[str, str], str | None] = no_secret) -> ProviderConfig:
    file = tmp_path / "provider.yaml"
    file.write_text(manifest("Provider", spec), encoding="utf-8")
    return load_provider(file, secrets)


def test_every_field_arrives_as_a_value(tmp_path: Path) -> None:
    spec = (
        "{type: vllm, model: BAAI/bge-m3, baseURL: 'https://gate/v1', headers: {X-Tenant: blue}, "
        "credential: {secretRef: {name: gate, key: api-key}}, "
        "embedding: {dimensions: 1024, queryPrefix: 'query: ', passagePrefix: 'passage: ', batchSize: 8}, "
        "timeouts: {query: 800ms, save: 1s500ms, batch: 2m}}"
    )
    asked: list[tuple[str, str]] = []

    def secrets(name: str, key: str) -> str:
        asked.append((name, key))
        return "sk-1\n"

    assert provider(tmp_path, spec, secrets) == ProviderConfig(
        name="a",
        type="vllm",
        model="BAAI/bge-m3",
        base_url="https://gate/v1",
        headers={"X-Tenant": "blue"},
        api_key="sk-1",
        dimensions=1024,
        query_prefix="query: ",
        passage_prefix="passage: ",
        batch_size=8,
        timeouts=Timeouts(query=0.8, save=1.5, batch=120.0),
    )
    assert asked == [("gate", "api-key")]


def test_defaults_of_the_crd_are_the_defaults_of_the_configuration(tmp_path: Path) -> None:
    assert provider(tmp_path, "{type: mock}") == ProviderConfig(name="a", type="mock", model="mock")


def test_the_bundled_embedder_has_a_model_of_its_own(tmp_path: Path) -> None:
    assert provider(tmp_path, "{type: transformers}").model == "all-minilm-l6-v2-int8"


def test_the_samples_are_admitted() -> None:
    bundled = load_provider(SAMPLES / "provider-transformers.yaml", no_secret)
    assert (bundled.type, bundled.model, bundled.dimensions) == ("transformers", "all-minilm-l6-v2-int8", 384)
    openai = load_provider(SAMPLES / "provider-openai.yaml", lambda name, key: f"{name}/{key}")
    assert (openai.type, openai.dimensions, openai.api_key) == ("openai", 1536, "openai/api-key")


def test_a_missing_credential_names_the_secret_and_every_way_to_give_it(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as caught:
        provider(tmp_path, NAMED)
    for word in (
        "key api-key of secret gate",
        "KEEPSAKE_SECRETS_DIR",
        "KEEPSAKE_PROVIDER_API_KEY",
        "KEEPSAKE_PROVIDER_API_KEY_FILE",
    ):
        assert word in str(caught.value)


def test_the_folder_of_secrets_comes_before_the_variables(tmp_path: Path) -> None:
    (tmp_path / "gate").mkdir()
    (tmp_path / "gate" / "api-key").write_text("from-folder\r\n", encoding="utf-8")
    (tmp_path / "key.txt").write_text("from-file\n", encoding="utf-8")
    environment = {
        "KEEPSAKE_SECRETS_DIR": str(tmp_path),
        "KEEPSAKE_PROVIDER_API_KEY": "from-variable",
        "KEEPSAKE_PROVIDER_API_KEY_FILE": str(tmp_path / "key.txt"),
    }
    assert provider(tmp_path, NAMED, from_environment(environment)).api_key == "from-folder"
    (tmp_path / "gate" / "api-key").unlink()
    assert provider(tmp_path, NAMED, from_environment(environment)).api_key == "from-variable"
    del environment["KEEPSAKE_PROVIDER_API_KEY"]
    assert provider(tmp_path, NAMED, from_environment(environment)).api_key == "from-file"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b"hunter2\xff", "is not UTF-8"),
        (b"hunter2\x07", "holds control characters"),
        (b"hunter2\nX-Evil: 1", "holds control characters"),
        ("hunter2é".encode(), "letters outside ASCII"),
        (b"hunter2" * 10_000, "is larger than 64 KiB"),
    ],
)
def test_a_value_that_cannot_be_a_key_is_refused_without_showing_it(content: bytes, says: str, tmp_path: Path) -> None:
    (tmp_path / "key.txt").write_bytes(content)
    with pytest.raises(ConfigurationError, match=says) as caught:
        provider(tmp_path, NAMED, from_environment({"KEEPSAKE_PROVIDER_API_KEY_FILE": str(tmp_path / "key.txt")}))
    assert "hunter2" not in str(caught.value)


def test_a_named_file_that_is_not_there_is_an_error_and_not_an_absence(tmp_path: Path) -> None:
    environment = {"KEEPSAKE_PROVIDER_API_KEY_FILE": str(tmp_path / "none")}
    with pytest.raises(ConfigurationError, match=r"cannot be read from .*none: No such file"):
        provider(tmp_path, NAMED, from_environment(environment))


def test_a_credential_that_is_not_named_is_not_looked_up(tmp_path: Path) -> None:
    environment = {"KEEPSAKE_PROVIDER_API_KEY": "sk-1"}
    assert provider(tmp_path, "{type: openai, model: x}", from_environment(environment)).api_key is None


def test_the_key_does_not_appear_when_the_configuration_is_shown(tmp_path: Path) -> None:
    config = provider(tmp_path, NAMED, lambda *_: "sk-1")
    assert config.api_key == "sk-1"
    assert "sk-1" not in repr(config)
