"""Who is used by how many, and whether it can be used."""

import base64
from datetime import UTC, datetime
from typing import Any

import pytest

from memory_operator.errors import NotFound
from memory_operator.reconcile.tally import Tally
from memory_operator.runtime.store import Store
from workspaces import HMAC_KEY, a_service, a_workspace

NOW = datetime(2026, 1, 1, tzinfo=UTC)


class Client:
    """Answers as the API server does to an applied status."""

    def __init__(self, store: Store, *, gone: bool = False) -> None:
        self.store, self.gone = store, gone
        self.written: list[dict[str, Any]] = []

    def apply_status(self, _: Any, body: dict[str, Any]) -> dict[str, Any]:
        if self.gone:
            raise NotFound("gone")
        self.written.append(body)
        metadata = {**body["metadata"], "resourceVersion": str(100 + len(self.written)), "generation": 1}
        known = self.store.get((body["kind"], metadata.get("namespace", ""), metadata["name"]))
        assert known is not None
        return {**known, "metadata": metadata, "status": body["status"]}


def an_object(kind: str, name: str, namespace: str = "", **parts: Any) -> dict[str, Any]:
    metadata = {"name": name, "uid": f"uid-of-{name}", "resourceVersion": "1", "generation": 1}
    return {"kind": kind, "metadata": {**metadata, **({"namespace": namespace} if namespace else {})}, **parts}


def a_provider(credential: dict[str, Any] | None = None) -> dict[str, Any]:
    return an_object(
        "Provider", "p", "team", spec={"type": "openai", **({"credential": credential} if credential else {})}
    )


def a_store(*bodies: dict[str, Any]) -> Store:
    store = Store(HMAC_KEY)
    for number, name in enumerate(("one", "two")):
        services = [a_service(policyRef={"name": "rules"}), a_service("more", policyRef={"name": "rules"})]
        workspace = a_workspace(*services, name=name, uid=f"uid-{number}")
        workspace["metadata"]["resourceVersion"] = "1"
        store.observe({"kind": "Workspace", **workspace})
    for body in bodies:
        store.observe(body)
    return store


def tally(store: Store, client: Client, *, everywhere: bool = True) -> dict[str, Any]:
    """Count twice: the second time nothing is left to write. What was written, by kind."""
    for _ in range(2):
        Tally(store, client, everywhere=everywhere, clock=lambda: NOW).write()  # type: ignore[arg-type]
    assert len(client.written) == len({body["kind"] for body in client.written})
    return {body["kind"]: body["status"] for body in client.written}


def test_a_workspace_counts_once_however_many_of_its_services_name_it() -> None:
    store = a_store(an_object("MemoryPolicy", "rules", spec={}), a_provider())
    found = tally(store, Client(store))
    assert {kind: status["workspaces"] for kind, status in found.items()} == {"MemoryPolicy": 2, "Provider": 2}


def test_who_sees_some_namespaces_counts_no_policies() -> None:
    store = a_store(an_object("MemoryPolicy", "rules", spec={}), a_provider())
    assert set(tally(store, Client(store), everywhere=False)) == {"Provider"}


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (None, "SecretNotFound"),
        ({"other": "x"}, "SecretKeyMissing"),
        ({"key": " "}, "SecretValueUnusable"),
        ({"key": "x"}, "Ready"),
    ],
)
def test_a_provider_needs_its_credential(data: dict[str, str] | None, reason: str) -> None:
    store = a_store(a_provider({"secretRef": {"name": "api", "key": "key"}}))
    if data is not None:
        encoded = {key: base64.b64encode(value.encode()).decode() for key, value in data.items()}
        store.observe(an_object("Secret", "api", "team", data=encoded))
    (ready,) = tally(store, Client(store))["Provider"]["conditions"]
    assert (ready["type"], ready["reason"]) == ("Ready", reason)
    assert ready["status"] == ("True" if reason == "Ready" else "False")


def test_what_is_gone_by_then_is_passed_over() -> None:
    store = a_store(a_provider())
    assert tally(store, Client(store, gone=True)) == {}
