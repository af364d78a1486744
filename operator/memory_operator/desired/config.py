"""The ConfigMap that tells memory-api which policy and Provider hold: contract/config.schema.json.

It carries the specs as the API server stored them. memory-api holds them against the same CRDs and reads them as it
reads a manifest, so that there is one meaning of a policy and no second format to keep in step.
"""

import json
from collections.abc import Mapping
from typing import Any

from memory_operator.desired.child import CONFIG_MAP, Child
from memory_operator.desired.group import Group, Referent

FILE = "config.json"
SCHEMA_VERSION = 1


def config_map(group: Group) -> Child:
    """The ConfigMap of one service."""
    metadata = group.metadata("memory-api", group.name)
    text = json.dumps(document(group), indent=2, sort_keys=True) + "\n"
    return Child(CONFIG_MAP, {"metadata": metadata, "data": {FILE: text}})


def document(group: Group) -> dict[str, Any]:
    """What the file says."""
    owner = group.owner
    content: dict[str, Any] = {
        "schemaVersion": SCHEMA_VERSION,
        "workspace": {
            "name": owner.name,
            "namespace": owner.namespace,
            "uid": owner.uid,
            "service": group.service,
        },
    }
    for part, referent in (("policy", group.policy), ("provider", group.provider)):
        if referent is not None:
            content[part] = {"name": referent.name, "generation": referent.generation, "spec": dict(referent.spec)}
    return content


def rendered(config: Mapping[str, Any] | None, part: str) -> Referent | None:
    """`policy` or `provider` as a live ConfigMap still has it: what holds while the object itself is gone."""
    try:
        found = json.loads((config or {})["data"][FILE])[part]
        return Referent(str(found["name"]), int(found["generation"]), dict(found["spec"]))
    except (KeyError, TypeError, ValueError):
        return None
