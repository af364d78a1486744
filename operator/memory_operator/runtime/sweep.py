"""A look at everything: at the start, so that the first pass knows what is there, and then from time to time.

A watch that lost its place tells of what is there and not of what has gone since; the sweep finds those.
"""

from collections.abc import Iterable
from typing import Any

from memory_operator.errors import NotFound
from memory_operator.kube.client import KubeClient
from memory_operator.runtime.kinds import Watched
from memory_operator.runtime.store import Key, Place, Store, place_of

Json = dict[str, Any]


def listed(client: KubeClient, watched: Watched, namespaces: Iterable[str]) -> list[Json] | None:
    """Every object of a kind; None where the cluster does not know the kind. Blocks."""
    places = list(namespaces) if watched.namespaced else []
    try:
        return [
            body
            for namespace in places or [""]
            for body in client.list(watched.endpoint, namespace, labels=watched.labels, fields=watched.fields)
        ]
    except NotFound:
        if watched.optional:
            return None
        raise


def settle(store: Store, watched: Watched, found: list[Json], before: set[Place]) -> set[Key]:
    """Take in what was listed and let go of what was there `before` the list and is not in it."""
    concerned: set[Key] = set()
    for body in found:
        concerned |= store.observe(body)
    there = {place_of(body) for body in found}
    for place in before - there:
        gone = store.get(place)
        if gone is not None:
            concerned |= store.forget(gone)
    return concerned
