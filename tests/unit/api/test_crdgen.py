"""The committed CRDs are what the models say, and what the API server can hold."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from manifest_table import ROOT
from memory_operator.api.crdgen import KINDS, main, render, write
from memory_operator.api.group import MEMORY_POLICY, PROVIDER, WORKSPACE, Resource
from memory_operator.api.memorypolicy import MemoryPolicy
from memory_operator.api.provider import Provider
from memory_operator.api.workspace import Workspace

CRDS = ROOT / "crds"
LARGEST = 60 * 1024
RESOURCES = (MEMORY_POLICY, PROVIDER, WORKSPACE)
SMALLEST: dict[str, Any] = {
    "MemoryPolicy": {},
    "Provider": {"type": "mock"},
    "Workspace": {"services": [{"name": "a", "memory": {"database": {"managed": {}}}}]},
}


def crd(resource: Resource) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((CRDS / f"{resource.plural}.yaml").read_text(encoding="utf-8"))
    return loaded


def root_schema(resource: Resource) -> dict[str, Any]:
    schema: dict[str, Any] = crd(resource)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    return schema


def fields(node: dict[str, Any], path: str) -> list[tuple[str, dict[str, Any]]]:
    found = [(path, node)]
    for name, part in node.get("properties", {}).items():
        found += fields(part, f"{path}.{name}")
    for key in ("items", "additionalProperties"):
        if isinstance(node.get(key), dict):
            found += fields(node[key], f"{path}[]")
    return found


@pytest.mark.parametrize(("resource", "model", "columns"), KINDS, ids=lambda part: getattr(part, "kind", ""))
def test_the_committed_file_is_what_make_crds_writes(resource: Any, model: Any, columns: Any) -> None:
    committed = (CRDS / f"{resource.plural}.yaml").read_text(encoding="utf-8")
    assert committed == render(resource, model, columns), "run `make crds` and commit what it writes"


def test_generation_writes_one_small_file_for_each_kind(tmp_path: Path) -> None:
    assert [path.name for path in write(tmp_path)] == ["memorypolicies.yaml", "providers.yaml", "workspaces.yaml"]
    assert all(path.stat().st_size <= LARGEST for path in tmp_path.iterdir())
    assert main([]) == 2


@pytest.mark.parametrize("resource", RESOURCES, ids=lambda resource: resource.kind)
def test_names_are_those_of_the_contract(resource: Resource) -> None:
    spec = crd(resource)["spec"]
    short = {
        "MemoryPolicy": ("mp", "Cluster"),
        "Provider": ("mprov", "Namespaced"),
        "Workspace": ("mws", "Namespaced"),
    }[resource.kind]
    assert (spec["names"]["shortNames"], spec["scope"]) == ([short[0]], short[1])
    assert spec["names"]["categories"] == ["memory"]
    assert spec["group"] == "keepsake.dev"
    (version,) = spec["versions"]
    assert (version["name"], version["subresources"]) == ("v1alpha1", {"status": {}})
    assert {"Ready", "Reason", "Age"} <= {column["name"] for column in version["additionalPrinterColumns"]}


@pytest.mark.parametrize("resource", RESOURCES, ids=lambda resource: resource.kind)
def test_the_schema_is_structural_and_every_cost_is_bounded(resource: Resource) -> None:
    for path, node in fields(root_schema(resource), ""):
        assert not {"$ref", "anyOf", "oneOf", "title", "const"} & set(node), path
        assert "type" in node, path
        under_spec = path.startswith(".spec")
        if under_spec and node["type"] == "string":
            assert "maxLength" in node or "enum" in node, path
        if node["type"] == "array":
            assert "maxItems" in node, path
        if isinstance(node.get("additionalProperties"), dict):
            assert "maxProperties" in node, path
        for rule in node.get("x-kubernetes-validations", []):
            assert 20 < len(rule["message"]) < 250, path


@pytest.mark.parametrize("resource", RESOURCES, ids=lambda resource: resource.kind)
def test_every_field_explains_itself(resource: Resource) -> None:
    for path, node in fields(root_schema(resource), ""):
        if path not in ("", ".metadata") and not path.endswith("[]"):
            assert node.get("description", "").endswith("."), path


@pytest.mark.parametrize(
    ("resource", "model"), [(MEMORY_POLICY, MemoryPolicy), (PROVIDER, Provider), (WORKSPACE, Workspace)]
)
def test_the_models_hold_the_defaults_that_the_schema_fills_in(resource: Resource, model: Any) -> None:
    spec = SMALLEST[resource.kind]
    dumped = model.model_validate({"spec": spec}).model_dump(by_alias=True, exclude_none=True)["spec"]
    assert dumped == filled(root_schema(resource)["properties"]["spec"], spec)


def filled(node: dict[str, Any], value: Any) -> Any:
    """What the API server makes of `value`: defaults filled in, from the outside to the inside."""
    if isinstance(value, list):
        return [filled(node["items"], item) for item in value]
    if not isinstance(value, dict):
        return value
    parts = node["properties"]
    whole = {**{name: part["default"] for name, part in parts.items() if "default" in part}, **value}
    return {name: filled(parts[name], part) for name, part in whole.items()}
