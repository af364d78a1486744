"""The CRDs that come with Keepsake, and what the API server does with an object before it validates it.

Order and rules are those of the API server for structural schemas: unknown fields are refused by name, nulls are
dropped where nothing may be null, then defaults are filled in, from the outside to the inside.
"""

import copy
from collections.abc import Iterator
from functools import cache
from pathlib import Path as FilePath
from typing import Any

import yaml

from memory_api.manifests.problem import Path

Schema = dict[str, Any]

GROUP = "keepsake.dev"
VERSION = "v1alpha1"
_PLURALS = {"MemoryPolicy": "memorypolicies", "Provider": "providers", "Workspace": "workspaces"}
_ROOT_FIELDS = ("apiVersion", "kind", "metadata")


def shipped(name: str) -> FilePath:
    """A file of `crds/`: inside the installed package, or at the root of a checkout."""
    package = FilePath(__file__).resolve().parent.parent
    installed = package / "crds" / name
    return installed if installed.is_file() else package.parent / "crds" / name


@cache
def schema_of(kind: str) -> Schema:
    """The structural schema of the version that this program reads."""
    crd = yaml.safe_load(shipped(f"{_PLURALS[kind]}.yaml").read_text(encoding="utf-8"))
    (version,) = (one for one in crd["spec"]["versions"] if one["name"] == VERSION)
    schema: Schema = version["schema"]["openAPIV3Schema"]
    return schema


def unknown_fields(value: Any, schema: Schema | None, path: Path = ()) -> Iterator[Path]:
    """Every field that the schema does not have, the outermost only."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from unknown_fields(item, _items(schema), (*path, index))
    if not isinstance(value, dict):
        return
    for key, part in value.items():
        if not path and key in _ROOT_FIELDS:
            continue
        known, below = _field(key, schema)
        if known:
            yield from unknown_fields(part, below, (*path, key))
        else:
            yield (*path, key)


def drop_nulls(value: Any, schema: Schema | None) -> None:
    """Remove nulls that no default replaces, in place. Those of lists stay, and fail as a value of the wrong type."""
    if isinstance(value, list):
        for item in value:
            drop_nulls(item, _items(schema))
    if not isinstance(value, dict):
        return
    for key in list(value):
        _, below = _field(key, schema)
        if value[key] is None and below is not None and not below.get("nullable") and "default" not in below:
            del value[key]
        else:
            drop_nulls(value[key], below)


def fill_defaults(value: Any, schema: Schema | None) -> None:
    """Put in what is left out or null and has a default, in place."""
    if isinstance(value, list):
        for item in value:
            fill_defaults(item, _items(schema))
    if not isinstance(value, dict) or schema is None:
        return
    for key, below in schema.get("properties", {}).items():
        if "default" in below and (key not in value or (value[key] is None and not below.get("nullable"))):
            value[key] = copy.deepcopy(below["default"])
    for key, part in value.items():
        fill_defaults(part, _field(key, schema)[1])


def _field(key: str, schema: Schema | None) -> tuple[bool, Schema | None]:
    """Whether the schema knows `key`, and what it says of its value."""
    if schema is None:
        return False, None
    if key in schema.get("properties", {}):
        return True, schema["properties"][key]
    extra = schema.get("additionalProperties")
    return (True, extra) if isinstance(extra, dict) else (False, None)


def _items(schema: Schema | None) -> Schema | None:
    return schema.get("items") if schema is not None else None
