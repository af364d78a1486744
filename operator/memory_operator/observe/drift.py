"""Whether a live object still says everything that the operator means to own.

The API server fills in defaults, others add sidecars, labels and fields: so the question is never "equal?" but "is what
we own in there?". Lists follow the API server's own merge keys; quantities are compared as amounts.
"""

from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

# What tells the items of a list apart when several managers share it. A list that is not here has one owner.
_KEYS: dict[str, tuple[str, ...]] = {
    "containers": ("name",),
    "initContainers": ("name",),
    "env": ("name",),
    "volumes": ("name",),
    "volumeMounts": ("mountPath",),
    "imagePullSecrets": ("name",),
    "ownerReferences": ("uid",),
    "topologySpreadConstraints": ("topologyKey", "whenUnsatisfiable"),
}
_PORT_KEYS = {"container": ("containerPort", "protocol"), "service": ("port", "protocol")}
_AMOUNTS = frozenset({"cpu", "memory", "storage", "ephemeral-storage", "size"})
_UNITS = {
    "": Decimal(1),
    "m": Decimal("0.001"),
    "k": Decimal(1000),
    **{letter: Decimal(1000) ** power for power, letter in enumerate("MGTP", 2)},
    **{f"{letter}i": Decimal(1024) ** power for power, letter in enumerate("KMGTP", 1)},
}


def first_difference(wanted: Any, live: Any, path: str = "") -> str | None:
    """The path of the first value of `wanted` that `live` does not have, None when it has all."""
    if isinstance(wanted, Mapping):
        if not isinstance(live, Mapping):
            # The API server leaves out what is empty.
            return None if not wanted and live is None else path
        for name, value in wanted.items():
            if difference := first_difference(value, live.get(name), f"{path}.{name}" if path else name):
                return difference
        return None
    if isinstance(wanted, list):
        return _list_difference(wanted, live, path)
    return None if _same(wanted, live, path) else path


def _list_difference(wanted: list[Any], live: Any, path: str) -> str | None:
    if not isinstance(live, list):
        return None if not wanted and live is None else path
    field = path.rpartition(".")[2].partition("[")[0]
    identity = _identity(field, wanted)
    if identity is None:
        if len(wanted) != len(live):
            return path
        pairs = list(zip(wanted, live, strict=True))
    else:
        found = {identity(item): item for item in live if isinstance(item, Mapping)}
        pairs = [(item, found.get(identity(item))) for item in wanted]
    for index, (item, other) in enumerate(pairs):
        if difference := first_difference(item, other, f"{path}[{index}]"):
            return difference
    return None


def _identity(field: str, items: list[Any]) -> Callable[[Mapping[str, Any]], tuple[Any, ...]] | None:
    names = _KEYS.get(field)
    if field == "ports" and items and isinstance(items[0], Mapping):
        # Ports of a NetworkPolicy have neither key and belong to one owner.
        names = next((keys for keys in _PORT_KEYS.values() if keys[0] in items[0] and "name" in items[0]), None)
    if names is None:
        return None
    return lambda item: tuple(item.get(name) for name in names)


def _same(wanted: Any, live: Any, path: str) -> bool:
    if wanted == live and isinstance(wanted, bool) == isinstance(live, bool):
        return True
    if wanted == "" and live is None:
        return True
    if path.rpartition(".")[2] in _AMOUNTS:
        amounts = _amount(wanted), _amount(live)
        return amounts[0] is not None and amounts[0] == amounts[1]
    return False


def _amount(text: Any) -> Decimal | None:
    digits = str(text).rstrip("mkMGTPKi")
    unit = str(text)[len(digits) :]
    try:
        return Decimal(digits) * _UNITS[unit]
    except (InvalidOperation, KeyError):
        return None
