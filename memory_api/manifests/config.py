"""The file that the operator renders: policy and Provider of one memory-api (contract/config.schema.json).

The specs in it are held against the same CRDs as manifests are, so that a policy means the same from either side.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from memory_api.domain.policy import Policy
from memory_api.embedding.provider import ProviderConfig
from memory_api.errors import ManifestError
from memory_api.manifests.document import Document, documents_in, read_bytes
from memory_api.manifests.policy import policy_of
from memory_api.manifests.provider import Secrets, provider_of
from memory_api.manifests.verdict import API_VERSION, judged

SCHEMA = Path(__file__).parent.parent / "contract" / "config.schema.json"


def config_policy(path: Path) -> Policy:
    """The policy in the file, the defaults where it has none.

    Raises:
        ManifestError: a file that breaks the contract, or a policy that the API server would refuse.
    """
    return config_policy_in(read_bytes(path), str(path))


def config_policy_in(raw: bytes, source: str) -> Policy:
    """The same for what was read already; `source` is what messages call it.

    Raises:
        ManifestError: as `config_policy`.
    """
    content = _content(raw, source)
    if "policy" not in content:
        return Policy()
    return policy_of(_manifest(source, content["policy"], "MemoryPolicy"))


def config_provider(path: Path, secrets: Secrets) -> ProviderConfig:
    """The Provider in the file, its credential looked up with `secrets(name, key)`.

    Raises:
        ManifestError: a file that breaks the contract, or a Provider that the API server would refuse.
        ConfigurationError: a credential that is not there or cannot be an API key.
    """
    content = _content(read_bytes(path), str(path))
    return provider_of(_manifest(str(path), content["provider"], "Provider"), secrets)


def _manifest(source: str, part: dict[str, Any], kind: str) -> dict[str, Any]:
    data = {"apiVersion": API_VERSION, "kind": kind, "metadata": {"name": part["name"]}, "spec": part["spec"]}
    return judged(Document(f"{source} ({kind} {part['name']})", data, {}), kind)


def _content(raw: bytes, source: str) -> dict[str, Any]:
    documents = documents_in(raw, source)
    if len(documents) != 1:
        raise ManifestError(source, [("", "must hold exactly one document")])
    problems = sorted(_validator().iter_errors(documents[0].data), key=lambda error: list(map(str, error.path)))
    if problems:
        raise ManifestError(
            source,
            [(".".join(map(str, error.path)), f"breaks the contract: {error.validator}") for error in problems],
        )
    return documents[0].data


@cache
def _validator() -> Draft202012Validator:
    return Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))
