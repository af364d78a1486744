"""The table of manifests and verdicts, for every judge that must come to the same ones."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parent.parent
TABLE = Path(__file__).parent / "data" / "manifests.yaml"


@dataclass(frozen=True, slots=True)
class Row:
    """One manifest; `says` is part of the refusal, None where it is accepted."""

    name: str
    kind: str
    text: str
    says: str | None = None
    stored: dict[str, Any] = field(default_factory=dict)


def manifest(kind: str, spec: str, name: str = "a") -> str:
    """The text of an object with this spec, on the fifth line."""
    return f"apiVersion: keepsake.dev/v1alpha1\nkind: {kind}\nmetadata:\n  name: {name}\nspec: {spec}\n"


def rows() -> list[Row]:
    """Every row of the table."""
    entries = yaml.safe_load(TABLE.read_text(encoding="utf-8"))
    return [
        Row(
            name=entry["name"],
            kind=entry["kind"],
            text=entry.get("manifest") or manifest(entry["kind"], entry["spec"]),
            says=entry.get("says"),
            stored=entry.get("object", {}),
        )
        for entry in entries
    ]


def holds_part(whole: Any, part: Any) -> bool:
    """Whether everything in `part` stands in `whole`, types included."""
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(key in whole and holds_part(whole[key], part[key]) for key in part)
    return type(whole) is type(part) and bool(whole == part)
