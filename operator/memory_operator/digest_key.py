"""The key of the digests of secret values: made once, kept in a Secret of the operator's own."""

import base64
import secrets

from memory_operator.api.group import MANAGER
from memory_operator.errors import AlreadyExists, NotFound
from memory_operator.kube.client import KubeClient
from memory_operator.runtime.kinds import CHILD_ENDPOINTS

NAME = "keepsake-operator-digest-key"


def obtain(client: KubeClient, namespace: str) -> bytes:
    """The key; whichever replica comes first makes it. Blocks."""
    endpoint = CHILD_ENDPOINTS["Secret"]
    try:
        found = client.get(endpoint, NAME, namespace)
    except NotFound:
        body = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": NAME, "namespace": namespace, "labels": {"app.kubernetes.io/part-of": MANAGER}},
            "data": {"key": base64.b64encode(secrets.token_bytes(32)).decode()},
        }
        try:
            found = client.create_unfenced(endpoint, body)
        except AlreadyExists:
            found = client.get(endpoint, NAME, namespace)
    return base64.b64decode(found["data"]["key"])
