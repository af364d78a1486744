"""What is known of the cluster: the newest wins, nothing that is gone comes back, and no secret value is kept."""

import base64
from typing import Any

from memory_operator.desired.objects import desired_objects
from memory_operator.runtime.store import Store
from workspaces import HMAC_KEY, UID, a_group, a_service, a_workspace, live

KEY = ("team", "research")


def an_object(kind: str, name: str, version: int, uid: str = "u", **parts: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "team", "uid": uid, "resourceVersion": str(version)}
    return {"kind": kind, "metadata": metadata, **parts}


def a_stored_workspace(version: int = 1, uid: str = UID, *services: dict[str, Any]) -> dict[str, Any]:
    workspace = a_workspace(*services, uid=uid)
    workspace["metadata"]["resourceVersion"] = str(version)
    return {"kind": "Workspace", **workspace}


def a_store(*bodies: dict[str, Any]) -> Store:
    store = Store(HMAC_KEY)
    for body in bodies:
        store.observe(body)
    return store


def test_an_object_concerns_its_owner_and_those_that_name_it() -> None:
    store = a_store(a_stored_workspace())
    deployment = next(live(child) for child in desired_objects(a_group()) if child.kind.kind == "Deployment")
    assert store.observe(deployment) == {KEY}
    assert store.observe(an_object("Provider", "p", 2, spec={})) == {KEY}
    assert store.observe(an_object("Secret", "db", 3, data={})) == {KEY}
    assert store.observe(an_object("Secret", "other", 4, data={})) == set()
    assert store.observe(an_object("Provider", "other", 5, spec={})) == set()


def test_what_is_left_of_a_workspace_concerns_its_namesake() -> None:
    """It waits for the names to become free."""
    store = a_store(a_stored_workspace(uid="of the new one"))
    deployment = next(live(child) for child in desired_objects(a_group()) if child.kind.kind == "Deployment")
    assert store.observe(deployment) == {KEY}
    assert store.forget(deployment) == {KEY}


def test_a_credential_of_a_provider_concerns_those_that_name_the_provider() -> None:
    provider = an_object("Provider", "p", 2, spec={"credential": {"secretRef": {"name": "key", "key": "k"}}})
    assert a_store(a_stored_workspace(), provider).observe(an_object("Secret", "key", 3, data={})) == {KEY}


def test_what_comes_late_changes_nothing() -> None:
    store = a_store(a_stored_workspace(), an_object("Provider", "p", 9, spec={"new": 1}))
    assert store.observe(an_object("Provider", "p", 8, spec={"old": 1})) == set()
    view = store.view(KEY)
    assert view is not None
    assert view.providers["p"]["spec"] == {"new": 1}


def test_a_late_end_of_an_earlier_namesake_takes_nothing_away() -> None:
    store = a_store(a_stored_workspace(1, "old"), a_stored_workspace(5, "new"))
    assert store.forget(a_stored_workspace(1, "old")) == set()
    assert store.view(KEY) is not None
    assert store.forget(a_stored_workspace(5, "new")) == {KEY}
    assert store.view(KEY) is None


def test_children_of_a_namesake_are_not_in_the_view() -> None:
    store = a_store(a_stored_workspace(), *(live(child) for child in desired_objects(a_group(uid="another"))))
    view = store.view(KEY)
    assert view is not None
    assert view.children == {}


def test_no_value_of_a_secret_is_kept() -> None:
    value = base64.b64encode(b"hunter2").decode()
    store = a_store(an_object("Secret", "db", 1, data={"k": value}))
    assert "hunter2" not in repr(vars(store))
    assert value not in repr(vars(store))


def test_a_database_that_becomes_free_concerns_who_waits_for_it() -> None:
    address = base64.b64encode(b"postgresql://u:p@h/d").decode()
    store = a_store(a_stored_workspace(), an_object("Secret", "db", 1, data={"uri": address}))
    other = {"kind": "Workspace", **a_workspace(a_service(), name="other", uid="other")}
    other["metadata"] |= {"resourceVersion": "2", "namespace": "team"}
    assert store.observe(other) == {("team", "other")}
    assert store.forget(other) == {("team", "other"), KEY}


def test_the_older_workspace_has_the_database() -> None:
    address = base64.b64encode(b"postgresql://h/d").decode()
    older, younger = a_stored_workspace(1, "u1", a_service()), a_stored_workspace(2, "u2", a_service())
    older["metadata"] |= {"name": "older", "creationTimestamp": "2026-01-01T00:00:00Z"}
    younger["metadata"] |= {"name": "a-younger", "creationTimestamp": "2026-01-02T00:00:00Z"}
    store = a_store(younger, older, an_object("Secret", "db", 3, data={"uri": address}))
    view = store.view(("team", "a-younger"))
    assert view is not None
    assert list(view.claims.values()) == ["team/older/default"]
