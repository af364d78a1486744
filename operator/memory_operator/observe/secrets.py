"""What the operator keeps of a Secret: a keyed digest of each value and what is wrong with it, never the value.

A bare hash of a weak password in an annotation that anybody may read could be tried out at leisure; the key makes that
impossible without the operator's own Secret.
"""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

_DATABASE_SCHEMES = ("postgresql://", "postgres://")


@dataclass(frozen=True, slots=True)
class SecretKey:
    """One value: `digest` tells two values apart; `fault` says why it cannot be used at all, `""` when it can."""

    digest: str
    fault: str
    database: bool


@dataclass(frozen=True, slots=True)
class SecretFacts:
    """A Secret without its values."""

    name: str
    keys: Mapping[str, SecretKey]


def secret_facts(body: Mapping[str, Any], key: bytes) -> SecretFacts:
    """The facts of a Secret as the API server sends it, its values in base64."""
    values = body.get("data") or {}
    return SecretFacts(body["metadata"]["name"], {name: _facts(value, key) for name, value in values.items()})


def combined(digests: Iterable[str]) -> str:
    """One digest for several values, whatever their order."""
    return hashlib.sha256("\n".join(sorted(digests)).encode()).hexdigest()[:32]


def _facts(encoded: str, key: bytes) -> SecretKey:
    try:
        raw = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        return SecretKey("", "is not base64", database=False)
    fault = ""
    try:
        text = raw.decode("utf-8").strip()
    except UnicodeDecodeError:
        text, fault = "", "is not UTF-8"
    if not fault and not text:
        fault = "is empty"
    digest = hmac.new(key, raw, hashlib.sha256).hexdigest()[:32]
    return SecretKey(digest, fault, database=text.startswith(_DATABASE_SCHEMES))
