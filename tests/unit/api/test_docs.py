"""Every field of a spec stands in its reference page, with its default."""

import re
from typing import Any

import pytest
import yaml

from manifest_table import ROOT

PAGES = {"memorypolicies": "memorypolicy.md", "providers": "provider.md", "workspaces": "workspace.md"}


def leaves(node: dict[str, Any], path: str) -> dict[str, Any]:
    """Documented path -> schema, for everything that holds a value."""
    found: dict[str, Any] = {}
    for name, part in node.get("properties", {}).items():
        below = f"{path}.{name}" if path else name
        extra = part.get("additionalProperties")
        if part["type"] != "object" or extra:
            found[below] = part
        found |= leaves(part, below)
        found |= leaves(part.get("items", {}), f"{below}[]")
        found |= leaves(extra or {}, f"{below}.<category>")
    return found


@pytest.mark.parametrize(("plural", "page"), PAGES.items())
def test_every_field_is_documented_with_its_default_and_nothing_else_is(plural: str, page: str) -> None:
    crd = yaml.safe_load((ROOT / "crds" / f"{plural}.yaml").read_text(encoding="utf-8"))
    spec = crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    expected = {
        re.sub(r"^tiers\.(user|agent|institutional)\b", "tiers.<tier>", path): str(part.get("default", ""))
        for path, part in leaves(spec, "").items()
    }
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    table = text.split("## Fields of `spec`")[1].split("\n## ")[0]
    cells = re.findall(r"^\| `([^`]+)` \|.*? \| (?:`\"?([^`\"]*)\"?`)? ?\| [A-Z`].*\|$", table, re.MULTILINE)
    assert dict(cells) == expected
