"""Reading what an OpenAI-compatible server answers to an embedding request."""

import base64
import binascii
import json
import struct
from email.utils import parsedate_to_datetime
from time import time
from typing import Any

from memory_api.embedding.provider import Vector
from memory_api.embedding.vectors import unit_vector
from memory_api.errors import EmbeddingError


def vectors_of(body: bytes, *, count: int, dimensions: int) -> list[Vector]:
    """The vectors of one answer, placed by the `index` that it states: servers may answer out of order."""
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        raise EmbeddingError("unavailable", "the provider answered with something that is no JSON") from None
    data = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(data, list) or not all(isinstance(entry, dict) for entry in data):
        raise EmbeddingError("bad_vector", "the provider's answer has no list of embeddings")
    if len(data) != count:
        raise EmbeddingError("bad_vector", f"the provider answered with {len(data)} vectors for {count} texts")
    placed: dict[int, Vector] = {}
    for entry in data:
        index = entry.get("index")
        if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < count or index in placed:
            raise EmbeddingError("bad_vector", "the provider's answer has a missing, double or wrong index")
        placed[index] = unit_vector(_numbers(entry.get("embedding")), dimensions=dimensions)
    return [placed[index] for index in range(count)]


def _numbers(raw: Any) -> object:
    """A list as it is; base64 of 32-bit floats, which some gateways prefer, unpacked."""
    if not isinstance(raw, str):
        return raw
    try:
        packed = base64.b64decode(raw, validate=True)
        return struct.unpack(f"<{len(packed) // 4}f", packed)
    except (binascii.Error, ValueError, struct.error):
        return None


def retry_after(headers: Any) -> float:
    """Seconds that the provider asks to wait; 0 when it does not say, or says it in a way that cannot be read."""
    milliseconds, stated = headers.get("retry-after-ms"), headers.get("retry-after")
    try:
        if milliseconds is not None:
            seconds = float(milliseconds) / 1000
        elif stated is None:
            seconds = 0.0
        elif stated.strip().isdigit():
            seconds = float(stated)
        else:
            seconds = parsedate_to_datetime(stated).timestamp() - time()
    except (ValueError, TypeError, OverflowError):
        return 0.0
    return seconds if 0.0 < seconds < float("inf") else 0.0
