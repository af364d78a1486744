"""Keyset cursors: opaque to clients, and bound to the list that gave them."""

import base64
import binascii
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from memory_api.errors import UnreadableRequest


@dataclass(frozen=True, slots=True)
class Cursor:
    """The place after one row of a list ordered by (time, id), newest first."""

    time: datetime
    id: UUID


def encode(cursor: Cursor, *, of_list: str) -> str:
    """`of_list` names the list and its filters; `decode` refuses a cursor of another one."""
    packed = json.dumps([of_list, cursor.time.isoformat(), str(cursor.id)], separators=(",", ":"))
    return base64.urlsafe_b64encode(packed.encode()).decode().rstrip("=")


def decode(token: str, *, of_list: str) -> Cursor:
    """The inverse of `encode`.

    Raises:
        UnreadableRequest: not one of our cursors, or one of another list.
    """
    try:
        packed = base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
        origin, time, id_ = json.loads(packed)
        cursor = Cursor(datetime.fromisoformat(time).astimezone(UTC), UUID(id_))
    except (ValueError, TypeError, binascii.Error, AttributeError, RecursionError, OverflowError):
        raise UnreadableRequest("cursor is not one that this list gave; start again without it") from None
    if origin != of_list:
        raise UnreadableRequest("cursor belongs to another list or other filters; start again without it")
    return cursor
