"""Every hard case has a test that bears its id, or waits for a feature that is not there yet."""

import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from http_routes import api_routes
from memory_api.app import api_app
from memory_api.services.standing import Standing
from memory_api.telemetry import Metrics

TESTS = Path(__file__).parent
ROOT = TESTS.parent
ALL = (TESTS / "data" / "cases.txt").read_text().split()
WAITING: dict[str, str] = tomllib.loads((TESTS / "cases_waiting.toml").read_text())
TESTED = {
    f"BR-{number}"
    for file in TESTS.rglob("test_*.py")
    for name in re.findall(r"def (test_\w+)", file.read_text())
    for number in re.findall(r"br_(\d{3})", name)
}
APP = api_app(Standing(), Metrics())
DOCUMENT = APP.openapi()
CRDS = {
    crd["spec"]["names"]["kind"]: crd for crd in map(yaml.safe_load, (p.read_text() for p in ROOT.glob("crds/*.y*ml")))
}


def _route(method: str, path: str) -> Callable[[], bool]:
    return lambda: (method, f"/api/v1/{path}") in api_routes(APP)


def _field(schema: str, name: str) -> Callable[[], bool]:
    return lambda: name in DOCUMENT["components"]["schemas"][schema]["properties"]


def _spec(kind: str) -> dict[str, Any]:
    version: dict[str, Any] = CRDS[kind]["spec"]["versions"][0]
    fields: dict[str, Any] = version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    return fields


def _policy_field(name: str) -> Callable[[], bool]:
    return lambda: name in _spec("MemoryPolicy")


def _path(path: str) -> Callable[[], bool]:
    return (ROOT / path).exists


def _idempotency() -> bool:
    parameters = DOCUMENT["paths"]["/api/v1/memories"]["post"].get("parameters", [])
    return any(parameter["name"].lower() == "idempotency-key" for parameter in parameters)


# How to tell that a feature is there: one thing that comes with it.
FEATURES: dict[str, Callable[[], bool]] = {
    "similarity dedup": _policy_field("dedup"),
    "maintenance": _policy_field("maintenance"),
    "idempotency keys": _idempotency,
    "rerank": lambda: "rerank" in _spec("Provider")["role"]["enum"],
    "export": _route("GET", "memories/export"),
    "forget all": _route("DELETE", "memories"),
    "studio": _path("memory_api/studio"),
    "trash": _route("GET", "trash"),
    "redaction": _path("memory_api/privacy"),
    "reinforcement": _field("Save", "dedup"),
    "consolidation": _policy_field("consolidation"),
    "backup": _path("memory_api/cli/backup.py"),
    "mcp": _path("memory_api/mcp"),
    "injection scan": _field("MemoryOut", "flagged"),
    "policy conditions": _path("operator/memory_operator/reconcile/memorypolicy.py"),
    "junk report": _route("GET", "memories/junk"),
    "background jobs": _route("GET", "memory/jobs"),
    "helm chart": _path("charts"),
    "authentication": lambda: "securitySchemes" in DOCUMENT["components"],
}


@pytest.mark.parametrize("case", ALL)
def test_a_case_has_either_a_test_or_a_feature_that_it_waits_for(case: str) -> None:
    assert (case in TESTED) != (case in WAITING), "in both" if case in TESTED else "in neither"


def test_only_known_cases_are_named() -> None:
    assert len(set(ALL)) == len(ALL)
    assert set(WAITING) <= set(ALL)
    assert set(ALL) >= TESTED


def test_every_feature_that_is_waited_for_is_known_and_every_known_one_is_waited_for() -> None:
    assert set(WAITING.values()) == set(FEATURES)


@pytest.mark.parametrize("feature", FEATURES)
def test_no_case_waits_for_a_feature_that_is_there(feature: str) -> None:
    waiting = [case for case, wanted in WAITING.items() if wanted == feature]

    assert not FEATURES[feature](), f"{feature} is there: write the tests of {', '.join(waiting)}"
