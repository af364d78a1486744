"""Every setting and every metric of the operator is documented, and no other."""

import re

import pytest

from manifest_table import ROOT
from memory_operator.errors import ConfigurationError
from memory_operator.metrics import REGISTRY
from memory_operator.settings import Settings, load_settings

PAGE = (ROOT / "docs" / "operator.md").read_text(encoding="utf-8")


def test_every_setting_is_documented_with_its_default_and_no_other() -> None:
    rows = re.findall(r"^\| `(KEEPSAKE_OPERATOR_\w+)` \| (?:`(.*?)`)? ?\| (.*?) \|$", PAGE, re.MULTILINE)
    assert rows == [
        (f"KEEPSAKE_OPERATOR_{name.upper()}", str(field.default), field.description)
        for name, field in Settings.model_fields.items()
    ]


def test_every_metric_is_documented_and_no_other() -> None:
    rows = re.findall(r"^\| `([a-z_]+)` \| (counter|gauge|histogram) \| (.*?) \|$", PAGE, re.MULTILINE)
    assert rows == [(found.name, found.type, found.documentation) for found in REGISTRY.collect()]


def test_a_setting_that_cannot_be_used_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEEPSAKE_OPERATOR_WORKERS", "none")
    with pytest.raises(ConfigurationError, match="KEEPSAKE_OPERATOR_WORKERS"):
        load_settings()


def test_namespaces_are_a_list() -> None:
    assert Settings(watch_namespaces=" b, a,,b ").namespaces == ("a", "b")
    assert Settings().namespaces == ()
