"""The checks of `apiVersion`, `kind` and `metadata` that the API server does for every object."""

import json
import re
from collections.abc import Iterator
from typing import Any

from memory_api.manifests.problem import Problem
from memory_api.manifests.validation import type_name

_FIELDS = frozenset(
    {
        "annotations",
        "creationTimestamp",
        "deletionGracePeriodSeconds",
        "deletionTimestamp",
        "finalizers",
        "generateName",
        "generation",
        "labels",
        "managedFields",
        "name",
        "namespace",
        "ownerReferences",
        "resourceVersion",
        "selfLink",
        "uid",
    }
)
_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = re.compile(rf"{_LABEL}(\.{_LABEL})*", re.ASCII)
_NAME_PART = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]", re.ASCII)
_LABEL_VALUE = re.compile(r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?", re.ASCII)
_DNS_NAME = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com')"
)


def unknown_metadata(metadata: Any) -> list[str]:
    """Fields of metadata that no object has."""
    return [key for key in metadata if key not in _FIELDS] if isinstance(metadata, dict) else []


def metadata_problems(metadata: Any) -> Iterator[Problem]:
    """What is wrong with an object's metadata; a file needs a name of its own, so generateName does not serve."""
    if metadata is not None and not isinstance(metadata, dict):
        yield Problem(("metadata",), f"must be an object, not {type_name(metadata)}")
        return
    metadata = metadata or {}
    name = metadata.get("name")
    if name is None or name == "":
        yield Problem(("metadata", "name"), "Required value: name or generateName is required")
    elif not isinstance(name, str):
        yield Problem(("metadata", "name"), f"Invalid value: must be of type string, not {type_name(name)}")
    elif len(name) > 253:
        yield Problem(("metadata", "name"), "Too long: may not be more than 253 bytes")
    elif not _SUBDOMAIN.fullmatch(name):
        yield Problem(("metadata", "name"), _DNS_NAME, value=json.dumps(name, ensure_ascii=False))
    for field in ("labels", "annotations"):
        yield from _pairs(field, metadata.get(field))


def _pairs(field: str, pairs: Any) -> Iterator[Problem]:
    if pairs is None:
        return
    if not isinstance(pairs, dict):
        yield Problem(("metadata", field), f"must be an object of strings, not {type_name(pairs)}")
        return
    for key, value in pairs.items():
        if not _qualified(key.lower() if field == "annotations" else key):
            yield Problem(
                ("metadata", field, key),
                f'Invalid value: "{key}": name part must consist of alphanumeric '
                "characters, '-', '_' or '.', and must start and end with an alphanumeric character",
            )
        if value is not None and not isinstance(value, str):
            yield Problem(("metadata", field, key), f"Invalid value: must be of type string, not {type_name(value)}")
        elif field == "labels" and value is not None and not (_LABEL_VALUE.fullmatch(value) and len(value) <= 63):
            yield Problem(
                ("metadata", field),
                f'Invalid value: "{value}": a valid label must be an empty string or at '
                "most 63 alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
                "character",
            )


def _qualified(key: str) -> bool:
    prefix, slash, name = key.rpartition("/")
    if slash and not (len(prefix) <= 253 and _SUBDOMAIN.fullmatch(prefix)):
        return False
    return len(name) <= 63 and _NAME_PART.fullmatch(name) is not None
