"""The only way to the API server: a few verbs of the official client, counted, and fenced where they write.

Calls block; callers run them in threads. Answers are plain objects as JSON has them. Server-side apply goes out under
one field manager and takes over fields that others set, because only fields that we mean to own are sent.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any

import urllib3
from kubernetes import client, config
from kubernetes.client.exceptions import ApiException
from kubernetes.dynamic import DynamicClient
from kubernetes.dynamic.exceptions import DynamicApiError

from memory_operator.api.group import MANAGER, STATUS_MANAGER
from memory_operator.errors import (
    AlreadyExists,
    ApiError,
    Conflict,
    Fenced,
    Forbidden,
    NotFound,
    Rejected,
    Transient,
)
from memory_operator.kube.paths import Endpoint
from memory_operator.metrics import REQUESTS

Json = dict[str, Any]
SECONDS = (5, 30)  # to connect, to answer
PAGE = 500


def connected() -> client.ApiClient:
    """A client for the cluster that this process is in, or else for the one that KUBECONFIG names."""
    settings = client.Configuration()
    try:
        config.load_incluster_config(client_configuration=settings)  # type: ignore[no-untyped-call]
    except config.ConfigException:
        config.load_kube_config(client_configuration=settings)  # type: ignore[no-untyped-call]
    settings.connection_pool_maxsize = 64
    settings.retries = urllib3.Retry(0)
    return client.ApiClient(settings)


class KubeClient:
    """The verbs. `may_write` is asked before each write."""

    def __init__(self, api: client.ApiClient, may_write: Callable[[], bool] = lambda: True) -> None:
        # Paths are known, so nothing has to be discovered: the discoverer is one that does not look.
        self._dynamic = DynamicClient(api, discoverer=lambda *_: None)  # type: ignore[no-untyped-call]
        self.may_write = may_write

    def get(self, endpoint: Endpoint, name: str, namespace: str = "") -> Json:
        """One object."""
        return self._send("get", endpoint, endpoint.path(namespace, name))

    def list(self, endpoint: Endpoint, namespace: str = "", *, labels: str = "", fields: str = "") -> Iterator[Json]:
        """All objects, page by page; kind and apiVersion are filled in, which lists leave out."""
        following = ""
        while True:
            answer = self._send(
                "list",
                endpoint,
                endpoint.path(namespace),
                label_selector=labels or None,
                field_selector=fields or None,
                limit=PAGE,
                _continue=following or None,
            )
            for item in answer.get("items") or ():
                yield {"apiVersion": endpoint.api_version, "kind": endpoint.kind, **item}
            following = (answer.get("metadata") or {}).get("continue", "")
            if not following:
                return

    def create(self, endpoint: Endpoint, body: Json) -> Json:
        """Make an object that is not there yet.

        Raises:
            AlreadyExists: there is one of this name.
        """
        path = endpoint.path(body["metadata"].get("namespace", ""))
        return self._write("create", endpoint, path, body, field_manager=MANAGER)

    def create_unfenced(self, endpoint: Endpoint, body: Json) -> Json:
        """Make what decides who may write, or what every replica needs: a Lease, the key of digests."""
        path = endpoint.path(body["metadata"].get("namespace", ""))
        return self._send("create", endpoint, path, body=body, field_manager=MANAGER)

    def apply(self, endpoint: Endpoint, body: Json) -> Json:
        """Bring an object to what `body` says, and own what it says."""
        path = endpoint.path(body["metadata"].get("namespace", ""), body["metadata"]["name"])
        return self._apply(endpoint, path, body, MANAGER)

    def overwrite(self, endpoint: Endpoint, body: Json) -> Json:
        """Put what `body` says over what is there, lists as a whole: what others added to them goes."""
        path = endpoint.path(body["metadata"].get("namespace", ""), body["metadata"]["name"])
        content_type = "application/merge-patch+json"
        return self._write("patch", endpoint, path, body, field_manager=MANAGER, content_type=content_type)

    def apply_status(self, endpoint: Endpoint, body: Json) -> Json:
        """Bring the status of an object to what `body` says."""
        path = endpoint.path(body["metadata"].get("namespace", ""), body["metadata"]["name"]) + "/status"
        return self._apply(endpoint, path, body, STATUS_MANAGER)

    def replace(self, endpoint: Endpoint, body: Json) -> Json:
        """Write the whole object over the version that `body` bears.

        Raises:
            Conflict: it has changed since.
        """
        path = endpoint.path(body["metadata"].get("namespace", ""), body["metadata"]["name"])
        return self._write("update", endpoint, path, body)

    def delete(self, endpoint: Endpoint, name: str, namespace: str, *, uid: str) -> None:
        """Remove the object of this uid, and no namesake made since."""
        body = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "propagationPolicy": "Background",
            "preconditions": {"uid": uid},
        }
        self._write("delete", endpoint, endpoint.path(namespace, name), body)

    def _apply(self, endpoint: Endpoint, path: str, body: Json, manager: str) -> Json:
        return self._write(
            "apply",
            endpoint,
            path,
            body,
            field_manager=manager,
            force_conflicts="true",
            content_type="application/apply-patch+yaml",
        )

    def _write(self, verb: str, endpoint: Endpoint, path: str, body: Json, **parameters: Any) -> Json:
        if verb != "update" and not self.may_write():
            raise Fenced("the Lease is lost: nothing is written any more")
        return self._send(verb, endpoint, path, body=body, **parameters)

    def _send(self, verb: str, endpoint: Endpoint, path: str, **parameters: Any) -> Json:
        code = "0"
        try:
            answer = self._dynamic.request(
                _METHODS[verb], path, serialize=False, _request_timeout=SECONDS, query_params=[], **parameters
            )
            code = str(answer.status)
            loaded: Json = json.loads(answer.data)
        except (DynamicApiError, ApiException) as error:
            code = str(error.status)
            raise _meaning(error, verb, path) from None
        except (urllib3.exceptions.HTTPError, OSError, ValueError) as error:
            raise Transient(f"{verb} {path}: {type(error).__name__}") from None
        finally:
            REQUESTS.labels(verb, endpoint.plural, code).inc()
        return loaded


_METHODS = {
    "get": "get",
    "list": "get",
    "create": "post",
    "apply": "patch",
    "patch": "patch",
    "update": "put",
    "delete": "delete",
}


def _meaning(error: ApiException, verb: str, path: str) -> ApiError:
    status, message, causes = int(error.status or 0), "", ()
    try:
        answer = json.loads(error.body or "{}")
        message = str(answer.get("message", ""))
        causes = tuple(cause.get("reason") for cause in (answer.get("details") or {}).get("causes") or ())
    except (ValueError, AttributeError, TypeError):
        message = "no answer that can be read"
    said = f"{verb} {path}: {status} {message[:600]}"
    if status == 403:
        return Forbidden(said, terminating="NamespaceTerminating" in causes)
    if status == 404:
        return NotFound(said)
    if status == 409:
        return AlreadyExists(said) if verb == "create" else Conflict(said)
    if status in (400, 405, 413, 415, 422):
        return Rejected(said)
    # Of a token that has run out (401) nobody has to be told: its file holds another one by now.
    return Transient(said, _seconds(error))


def _seconds(error: ApiException) -> float:
    headers = error.headers or {}
    try:
        return min(float(headers.get("Retry-After") or 0), 60.0)
    except (TypeError, ValueError):
        return 0.0
