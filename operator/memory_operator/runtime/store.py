"""What is known of the cluster, trimmed to what is read, and what each object means for which Workspace.

An object may come from a watch, from the sweep or from the answer to our own write, in any order: the newest wins by
resource version, and an object that was deleted comes back only under another uid or a newer version.
"""

import threading
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from memory_operator.api.group import LABEL_WORKSPACE, LABEL_WORKSPACE_UID
from memory_operator.desired.child import KINDS, SECRET
from memory_operator.observe.secrets import SecretFacts, secret_facts
from memory_operator.runtime.view import View

Live = Mapping[str, Any]
Key = tuple[str, str]  # namespace and name of a Workspace
Place = tuple[str, str, str]  # kind, namespace, name
_KEPT_METADATA = (
    "name", "namespace", "uid", "labels", "annotations", "ownerReferences", "generation", "resourceVersion",
    "deletionTimestamp", "creationTimestamp",
)  # fmt: skip
_CHILD_KINDS = frozenset(kind.kind for kind in KINDS)


def place_of(body: Live) -> Place:
    metadata = body["metadata"]
    return body["kind"], metadata.get("namespace", ""), metadata["name"]


def trimmed(body: Live) -> dict[str, Any]:
    """The object without what is never read. Of who manages what, only who scales is."""
    metadata = body["metadata"]
    kept = {name: metadata[name] for name in _KEPT_METADATA if name in metadata}
    scaling = [entry for entry in metadata.get("managedFields", ()) if entry.get("subresource") == "scale"]
    if scaling:
        kept["managedFields"] = scaling
    if body["kind"] == SECRET.kind:
        return {"kind": SECRET.kind, "metadata": kept}
    return {**{name: part for name, part in body.items() if name != "metadata"}, "metadata": kept}


class Store:
    """Objects by place, and by the Workspace that they belong to."""

    def __init__(self, hmac_key: bytes) -> None:
        # Watches write in the loop's thread, passes read and write in theirs.
        self._lock = threading.RLock()
        self._hmac_key = hmac_key
        self._objects: dict[Place, Live] = {}
        self._secrets: dict[Key, SecretFacts] = {}
        self._owned: dict[str, set[Place]] = {}
        self._names: dict[tuple[str, str], set[str]] = {}
        self._first_users: dict[str, str] | None = None
        self.cnpg_installed = False

    def observe(self, body: Live) -> set[Key]:
        """Take in an object; the Workspaces that it concerns, none where nothing is new."""
        with self._lock:
            place, found = place_of(body), trimmed(body)
            before = self._objects.get(place)
            if before is not None and not _newer(found, before):
                return set()
            concerned = self.concerned(before) if before is not None else set()
            users, freed = self._first_users, self._addresses_of(before)
            self._drop(place)
            self._first_users = users
            self._objects[place] = found
            self._names.setdefault(place[:2], set()).add(place[2])
            if place[0] == SECRET.kind:
                self._secrets[place[1:]] = secret_facts(body, self._hmac_key)
            if uid := _workspace_uid(found):
                self._owned.setdefault(uid, set()).add(place)
            if place[0] == SECRET.kind or (place[0] == "Workspace" and _generation(found) != _generation(before)):
                self._first_users = None
            return concerned | self.concerned(found) | self._sharing(freed - self._addresses_of(found))

    def forget(self, body: Live) -> set[Key]:
        """Let go of an object; a namesake made since stays."""
        with self._lock:
            place = place_of(body)
            known = self._objects.get(place)
            if known is None or known["metadata"].get("uid") != body["metadata"].get("uid"):
                return set()
            concerned, freed = self.concerned(known), self._addresses_of(known)
            self._drop(place)
            return concerned | self._sharing(freed)

    def places(self, kind: str, namespaces: Iterable[str] = ()) -> list[Place]:
        """Every place of a kind, in all namespaces or in these."""
        with self._lock:
            among = set(namespaces)
            return [place for place in self._objects if place[0] == kind and (not among or place[1] in among)]

    def get(self, place: Place) -> Live | None:
        return self._objects.get(place)

    def of_kind(self, kind: str) -> list[Live]:
        """Every object of a kind."""
        with self._lock:
            spaces = [(space, names) for space, names in self._names.items() if space[0] == kind]
            return [self._objects[(*space, name)] for space, names in spaces for name in names]

    def secret(self, namespace: str, name: str) -> SecretFacts | None:
        """What is known of a Secret."""
        return self._secrets.get((namespace, name))

    def owned(self, uid: str) -> list[Live]:
        """Everything of the Workspace of this uid, and the Workspace itself."""
        with self._lock:
            return [self._objects[place] for place in self._owned.get(uid, ())]

    def workspace_of(self, uid: str) -> Key | None:
        """Where the Workspace of this uid is."""
        return next((place[1:] for place in self._owned.get(uid, ()) if place[0] == "Workspace"), None)

    def concerned(self, body: Live) -> set[Key]:
        """The Workspaces for which an object counts: its owner's, and those that name it."""
        kind, namespace, name = place_of(body)
        if kind == "Workspace":
            return {(namespace, name)}
        uid = _workspace_uid(body)
        found = {owner} if uid and (owner := self.workspace_of(uid)) else set()
        if uid and not found:
            # Left over from a Workspace that is gone: a namesake made since waits for the names to become free.
            namesake = (namespace, str((body["metadata"].get("labels") or {}).get(LABEL_WORKSPACE)))
            found = {namesake} if ("Workspace", *namesake) in self._objects else set()
        if kind in ("Provider", "MemoryPolicy", "Secret"):
            found |= {place_of(one)[1:] for one in self._naming(kind, namespace, name)}
        return found

    def view(self, key: Key) -> View | None:
        """Everything around one Workspace, frozen; None when it is gone."""
        with self._lock:
            workspace = self._objects.get(("Workspace", *key))
            if workspace is None:
                return None
            owned = self.owned(workspace["metadata"]["uid"])
            namespace = key[0]
            return View(
                workspace=workspace,
                policies=self._by_name("MemoryPolicy", ""),
                providers=self._by_name("Provider", namespace),
                secrets={name: self._secrets[namespace, name] for name in self._names.get(("Secret", namespace), ())},
                children={(one["kind"], one["metadata"]["name"]): one for one in owned if one["kind"] in _CHILD_KINDS},
                pods=tuple(one for one in owned if one["kind"] == "Pod"),
                cnpg_installed=self.cnpg_installed,
                claims=self._claims(),
            )

    def _by_name(self, kind: str, namespace: str) -> dict[str, Live]:
        return {name: self._objects[kind, namespace, name] for name in self._names.get((kind, namespace), ())}

    def _naming(self, kind: str, namespace: str, name: str) -> Iterator[Live]:
        for workspace in self.of_kind("Workspace"):
            if kind != "MemoryPolicy" and workspace["metadata"].get("namespace") != namespace:
                continue
            if (kind, name) in self._named(workspace):
                yield workspace

    def _named(self, workspace: Live) -> set[tuple[str, str]]:
        namespace, found = workspace["metadata"].get("namespace", ""), set()
        for service in workspace.get("spec", {}).get("services", ()):
            memory = service.get("memory") or {}
            if policy := memory.get("policyRef"):
                found.add(("MemoryPolicy", policy["name"]))
            if external := memory.get("database", {}).get("external"):
                found.add(("Secret", external["secretRef"]["name"]))
            if provider := memory.get("providerRef"):
                found.add(("Provider", provider["name"]))
                live = self._objects.get(("Provider", namespace, provider["name"]), {})
                if credential := live.get("spec", {}).get("credential"):
                    found.add(("Secret", credential["secretRef"]["name"]))
            if "cloudnativepg" in memory.get("database", {}):
                found |= {
                    ("Secret", name) for name in self._names.get(("Secret", namespace), ()) if name.endswith("-db-app")
                }
        return found

    def _claims(self) -> dict[str, str]:
        """Which service was the first to use the address of a database."""
        if self._first_users is not None:
            return self._first_users
        claims: dict[str, str] = {}
        for workspace in sorted(self.of_kind("Workspace"), key=_age):
            metadata = workspace["metadata"]
            for service, digest in self._addresses(workspace):
                claims.setdefault(digest, f"{metadata['namespace']}/{metadata['name']}/{service}")
        self._first_users = claims
        return claims

    def _addresses(self, workspace: Live) -> Iterator[tuple[str, str]]:
        """Each service with the digest of the address of its database, where somebody else runs that."""
        for service in workspace.get("spec", {}).get("services", ()):
            external = ((service.get("memory") or {}).get("database") or {}).get("external")
            if not external:
                continue
            reference = external["secretRef"]
            facts = self._secrets.get((workspace["metadata"]["namespace"], reference["name"]))
            value = facts.keys.get(reference.get("key", "uri")) if facts else None
            if value is not None:
                yield service["name"], value.digest

    def _addresses_of(self, body: Live | None) -> set[str]:
        """Digests of the addresses that a Workspace claims, or that a Secret may hold."""
        if body is not None and body["kind"] == "Workspace":
            return {digest for _, digest in self._addresses(body)}
        facts = self._secrets.get(place_of(body)[1:]) if body is not None and body["kind"] == SECRET.kind else None
        return {value.digest for value in facts.keys.values()} if facts is not None else set()

    def _sharing(self, digests: set[str]) -> set[Key]:
        """The Workspaces that wait for one of these addresses to become free, or have it."""
        if not digests:
            return set()
        users = (one for one in self.of_kind("Workspace") if digests & self._addresses_of(one))
        return {place_of(one)[1:] for one in users}

    def _drop(self, place: Place) -> None:
        body = self._objects.pop(place, None)
        if body is None:
            return
        self._names[place[:2]].discard(place[2])
        if place[0] == SECRET.kind:
            self._secrets.pop(place[1:], None)
        if place[0] in (SECRET.kind, "Workspace"):
            self._first_users = None
        if uid := _workspace_uid(body):
            self._owned[uid].discard(place)
            if not self._owned[uid]:
                del self._owned[uid]


def _generation(body: Live | None) -> int | None:
    return body["metadata"].get("generation") if body is not None else None


def _age(workspace: Live) -> tuple[str, str, str]:
    metadata = workspace["metadata"]
    return metadata.get("creationTimestamp", ""), metadata.get("namespace", ""), metadata["name"]


def _workspace_uid(body: Live) -> str | None:
    metadata = body["metadata"]
    if body["kind"] == "Workspace":
        uid: str = metadata["uid"]
        return uid
    label = (metadata.get("labels") or {}).get(LABEL_WORKSPACE_UID)
    if label:
        return str(label)
    owners = metadata.get("ownerReferences") or ()
    return next((str(one["uid"]) for one in owners if one.get("kind") == "Workspace"), None)


def _newer(body: Live, known: Live) -> bool:
    """Resource versions of one resource are numbers that grow: what comes late is told from what is new."""
    return int(body["metadata"].get("resourceVersion") or 0) > int(known["metadata"].get("resourceVersion") or 0)
