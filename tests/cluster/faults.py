"""What the fault proxy can do to a request, and which requests it does it to."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Verb: TypeAlias = Literal["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "other"]
WRITES: frozenset[str] = frozenset({"create", "update", "patch", "delete", "deletecollection"})
_VERBS: dict[str, Verb] = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}


@dataclass(slots=True)
class Request:
    """One request in Kubernetes' own words; `status` is what the client got, 0 while or where it got nothing."""

    verb: Verb
    resource: str
    subresource: str
    group: str
    namespace: str
    name: str
    path: str
    query: dict[str, str]
    user_agent: str
    status: int = 0

    @property
    def is_write(self) -> bool:
        return self.verb in WRITES

    @property
    def counts(self) -> bool:
        """Whether the world may stop at it: how often a Lease is renewed depends on the time that passes."""
        return self.is_write and self.resource != "leases"


def read_request(method: str, path: str, query: dict[str, str], user_agent: str = "") -> Request:
    """Tell the verb and the object from the address, as the API server does."""
    parts = [part for part in path.split("/") if part]
    group = namespace = resource = name = subresource = ""
    if parts[:1] == ["api"] and len(parts) > 2:
        rest = parts[2:]
    elif parts[:1] == ["apis"] and len(parts) > 3:
        group, rest = parts[1], parts[3:]
    else:
        return Request("other", "", "", "", "", "", path, query, user_agent)
    if rest[0] == "namespaces" and len(rest) > 2 and rest[2] not in ("status", "finalize"):
        namespace, rest = rest[1], rest[2:]
    resource, name, subresource = (*rest[:3], "", "", "")[:3]
    verb: Verb = _VERBS.get(method, "other")
    if method == "GET":
        watching = query.get("watch", "").lower() in ("true", "1")
        verb = "watch" if watching else "get" if name else "list"
    elif method == "DELETE" and not name:
        verb = "deletecollection"
    return Request(verb, resource, subresource, group, namespace, name, path, query, user_agent)


@dataclass(frozen=True, slots=True)
class Refuse:
    """Answer with this status, as the API server words it, and do not pass the request on."""

    status: int
    retry_after: int | None = None

    @classmethod
    def conflict(cls) -> "Refuse":
        return cls(409)

    @classmethod
    def too_many(cls, retry_after: int = 1) -> "Refuse":
        return cls(429, retry_after)

    @classmethod
    def gone(cls) -> "Refuse":
        """The resource version is too old: list again. A watch that runs already gets it by `ExpireWatch`."""
        return cls(410)

    @classmethod
    def expired_token(cls) -> "Refuse":
        return cls(401)


@dataclass(frozen=True, slots=True)
class Delay:
    """Pass it on, but only after so many seconds."""

    seconds: float


@dataclass(frozen=True, slots=True)
class LoseAnswer:
    """Pass it on, then close the connection after so many bytes of the answer: a write has happened all the same."""

    after_bytes: int = 0


@dataclass(frozen=True, slots=True)
class FailAfter:
    """Pass it on and answer with this status whatever the API server said: a write has happened all the same."""

    status: int = 504


@dataclass(frozen=True, slots=True)
class Stale:
    """Answer a list or get of objects from the state that was current at this resource version."""

    resource_version: str


@dataclass(frozen=True, slots=True)
class LoseEvents:
    """Leave events out of a watch: those of these types, all for none named. Bookmarks pass; `times` counts events."""

    types: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class ExpireWatch:
    """End a watch by an event that says 410 Gone, when the next event would come."""


@dataclass(frozen=True, slots=True)
class CutWatch:
    """Close the connection of a watch when the next event would come; the event is lost with it."""


Fault: TypeAlias = Refuse | Delay | LoseAnswer | FailAfter | Stale | LoseEvents | ExpireWatch | CutWatch
WATCH_FAULTS = (LoseEvents, ExpireWatch, CutWatch)


@dataclass(slots=True)
class Rule:
    """A fault for the requests that match; the first `skip` of them pass, then `times` are hit (None: all)."""

    fault: Fault
    verbs: frozenset[str] = frozenset()
    resource: str | None = None
    subresource: str | None = None
    namespace: str | None = None
    name: str | None = None
    when: Callable[[Request], bool] | None = None
    times: int | None = None
    skip: int = 0
    hits: int = field(default=0, init=False)
    removed: bool = field(default=False, init=False)

    def covers(self, request: Request) -> bool:
        """Whether such a request is meant, without counting it."""
        wanted = (
            (self.resource, request.resource),
            (self.subresource, request.subresource),
            (self.namespace, request.namespace),
            (self.name, request.name),
        )
        return (
            (not self.verbs or request.verb in self.verbs)
            and all(value is None or value == found for value, found in wanted)
            and (self.when is None or self.when(request))
        )

    def strikes(self) -> bool:
        """Count one occasion, and say whether it is hit."""
        if self.removed:
            return False
        if self.skip > 0:
            self.skip -= 1
            return False
        if self.times is not None and self.hits >= self.times:
            return False
        self.hits += 1
        return True

    def remove(self) -> None:
        """Do no harm from now on."""
        self.removed = True


@dataclass(slots=True)
class WorldStop:
    """After so many writes nothing gets through until it is released: what a crash at that moment would leave."""

    writes: int
    hang: bool
    stopped: bool = False
    released: asyncio.Event = field(default_factory=asyncio.Event)
