"""The operator reads what the API server stores, samples included, and the status that it wrote itself."""

from typing import Any

import pytest
import yaml

from manifest_table import ROOT, rows
from memory_operator.api.memorypolicy import MemoryPolicy
from memory_operator.api.provider import Provider
from memory_operator.api.workspace import Workspace

MODELS: dict[str, Any] = {"MemoryPolicy": MemoryPolicy, "Provider": Provider, "Workspace": Workspace}
SAMPLES = sorted((ROOT / "crds" / "samples").glob("*.yaml"))


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_every_sample_is_read(path: Any) -> None:
    for manifest in yaml.safe_load_all(path.read_text(encoding="utf-8")):
        model = MODELS[manifest["kind"]].model_validate(manifest)
        written = model.model_dump(by_alias=True, exclude_unset=True, exclude_none=True)
        assert written["spec"] == manifest["spec"]


def test_every_row_that_stores_fields_is_read() -> None:
    for row in rows():
        if row.says is None and row.stored:
            MODELS[row.kind].model_validate({"spec": {"type": "mock", **row.stored["spec"]}})


def test_fields_of_a_later_version_are_passed_over() -> None:
    policy = MemoryPolicy.model_validate({"spec": {"later": 1}, "status": {"later": 2}})
    assert policy.spec.recall.rrf_k == 60


def test_conditions_are_read() -> None:
    condition = {
        "type": "Ready",
        "status": "True",
        "reason": "Valid",
        "message": "",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    provider = Provider.model_validate({"spec": {"type": "mock"}, "status": {"conditions": [condition]}})
    assert provider.status is not None
    assert provider.status.conditions[0].reason == "Valid"
