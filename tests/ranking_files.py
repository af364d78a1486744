"""Policies that the ranking tests write."""

from pathlib import Path
from typing import Any

import yaml


def write_policy(folder: Path, **spec: Any) -> Path:
    """A MemoryPolicy manifest in `folder`."""
    path = folder / "policy.yaml"
    manifest = {
        "apiVersion": "keepsake.dev/v1alpha1",
        "kind": "MemoryPolicy",
        "metadata": {"name": "test"},
        "spec": spec,
    }
    path.write_text(yaml.safe_dump(manifest), encoding="utf-8")
    return path
