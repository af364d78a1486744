"""One schema and golden samples between two programs: the operator renders them, memory-api reads them."""

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from manifest_table import ROOT
from memory_api.domain.policy import Policy
from memory_api.errors import ManifestError
from memory_api.manifests.config import config_policy, config_provider
from memory_operator.desired.config import FILE, config_map
from memory_operator.desired.group import Group, Referent
from workspaces import a_group, stored

GOLDEN = ROOT / "tests" / "data" / "config"
SCHEMA = json.loads((ROOT / "memory_api" / "contract" / "config.schema.json").read_text(encoding="utf-8"))
POLICY = {"recall": {"rrfK": 7}, "tiers": {"user": {"ttl": {"default": "30d"}}}}
OPENAI = {
    "type": "openai",
    "model": "text-embedding-3-small",
    "baseURL": "https://gateway.example.com/v1",
    "credential": {"secretRef": {"name": "openai", "key": "api-key"}},
    "embedding": {"dimensions": 256},
}


def referent(kind: str, name: str, spec: dict[str, Any], generation: int) -> Referent:
    return Referent(name, generation, stored(kind, spec, name)["spec"])


def groups() -> dict[str, Group]:
    bundled = referent("Provider", "bundled", {"type": "transformers"}, 1)
    return {
        "defaults": replace(a_group(), provider=bundled),
        "bound": replace(
            a_group(),
            provider=referent("Provider", "gateway", OPENAI, 4),
            policy=referent("MemoryPolicy", "team", POLICY, 12),
        ),
    }


@pytest.mark.parametrize("name", groups())
def test_the_operator_renders_the_golden_sample(name: str) -> None:
    text = config_map(groups()[name]).body["data"][FILE]
    Draft202012Validator(SCHEMA).validate(json.loads(text))
    assert text == (GOLDEN / f"{name}.json").read_text(encoding="utf-8")


def test_memory_api_reads_the_golden_samples() -> None:
    def key(name: str, key: str) -> str:
        return f"{name}/{key}"

    assert config_policy(GOLDEN / "defaults.json") == Policy()
    assert config_provider(GOLDEN / "defaults.json", key).model == "all-minilm-l6-v2-int8"
    policy, provider = config_policy(GOLDEN / "bound.json"), config_provider(GOLDEN / "bound.json", key)
    assert (policy.name, policy.recall.rrf_k, policy.tiers["user"].ttl.default) == ("team", 7, timedelta(days=30))
    assert (provider.name, provider.dimensions, provider.api_key) == ("gateway", 256, "openai/api-key")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"schemaVersion": 2}, "schemaVersion: breaks the contract"),
        ({"provider": None}, "provider: breaks the contract"),
        ({"policy": {"name": "p", "generation": 1, "spec": {"recall": {"rrfK": 0}}}}, "spec.recall.rrfK"),
        ({"policy": {"name": "p", "generation": 1, "spec": {"later": 1}}}, 'unknown field "spec.later"'),
    ],
)
def test_what_breaks_the_contract_is_refused_by_name(change: dict[str, Any], says: str, tmp_path: Path) -> None:
    content = json.loads((GOLDEN / "bound.json").read_text(encoding="utf-8"))
    file = tmp_path / "config.json"
    file.write_text(json.dumps({**content, **change}), encoding="utf-8")
    with pytest.raises(ManifestError) as caught:
        config_policy(file)
    assert says in str(caught.value)


def test_a_part_of_a_later_operator_is_passed_over(tmp_path: Path) -> None:
    content = json.loads((GOLDEN / "defaults.json").read_text(encoding="utf-8"))
    file = tmp_path / "config.json"
    file.write_text(json.dumps({**content, "later": 1}), encoding="utf-8")
    assert config_policy(file) == Policy()
