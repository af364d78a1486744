"""The only module that knows kopf: its watches feed the store, and nothing else of it is used.

A handler cannot fail: it puts the object into the store and the Workspaces that it concerns into the queue. kopf writes
nothing: no finalizers, no annotations, no peering, no events.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import kopf

from memory_operator.api.group import GROUP
from memory_operator.metrics import EVENTS
from memory_operator.runtime.kinds import WATCHED

Seen = Callable[[str, Mapping[str, Any]], None]


def settings(*, listed: bool) -> kopf.OperatorSettings:
    """What kopf is told; research/operator.md says why. `listed`: only namespaces that are named are served."""
    chosen = kopf.OperatorSettings()
    # Who serves named namespaces may not read all of them, and kopf would ask ten times before it went on. Kinds that
    # are installed later are then found by the sweep alone.
    chosen.scanning.disabled = listed
    chosen.persistence.finalizer = f"{GROUP}/kopf"
    chosen.persistence.progress_storage = kopf.AnnotationsProgressStorage(prefix=GROUP)
    chosen.persistence.diffbase_storage = kopf.AnnotationsDiffBaseStorage(prefix=GROUP)
    chosen.networking.request_timeout = 30
    chosen.networking.connect_timeout = 5
    chosen.networking.error_backoffs = [1, 2, 3, 5, 8, 13, 21, 34, 55]
    chosen.watching.chunk_size = 500
    chosen.posting.enabled = False
    chosen.posting.loggers = False
    chosen.peering.standalone = True
    chosen.queueing.exit_timeout = 5
    chosen.process.ultimate_exiting_timeout = 20
    for watched in WATCHED:
        group, _, version = watched.endpoint.api_version.rpartition("/")
        if watched.labels:
            chosen.watching.label_selectors[group, version, watched.endpoint.plural] = watched.labels
        if watched.fields:
            chosen.watching.field_selectors[group, version, watched.endpoint.plural] = watched.fields
    return chosen


def registry(seen: Seen) -> kopf.OperatorRegistry:
    """One event handler for each kind that is watched."""
    handlers = kopf.OperatorRegistry()
    # In the cluster the service account, else KUBECONFIG: read by the same library as our own client.
    kopf.on.login(id="login", registry=handlers)(kopf.login_via_client)
    for watched in WATCHED:
        group, _, version = watched.endpoint.api_version.rpartition("/")
        kopf.on.event(group, version, watched.endpoint.plural, id=f"see-{watched.endpoint.plural}", registry=handlers)(
            _handler(watched.endpoint.kind, watched.endpoint.api_version, seen)
        )
    return handlers


def _handler(kind: str, api_version: str, seen: Seen) -> Callable[..., Any]:
    async def see(event: Mapping[str, Any], **_: Any) -> None:
        EVENTS.labels(kind).inc()
        # Lists leave out what kind their items are.
        seen(str(event.get("type") or ""), {"apiVersion": api_version, "kind": kind, **event["object"]})

    return see


async def watch(seen: Seen, namespaces: Iterable[str], stop: asyncio.Event) -> None:
    """Watch until `stop`; returns or raises early when kopf cannot go on."""
    chosen = tuple(namespaces)
    await kopf.operator(
        registry=registry(seen),
        settings=settings(listed=bool(chosen)),
        clusterwide=not chosen,
        namespaces=chosen,
        standalone=True,
        stop_flag=stop,
    )
