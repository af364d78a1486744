"""What makes a vector usable, in one place for every provider.

A zero, NaN or infinite vector that reaches the store is invisible or sorts first everywhere (BR-072), and a number
that is fine as a double may not survive the store's 16-bit floats. Unit length solves both ends: no component is above
1, and the largest of at most 4,000 is above 0.01, so nothing overflows and nothing rounds to all zeros. Ranking is by
cosine, which does not see the length.
"""

import math
from collections.abc import Sequence

from memory_api.embedding.provider import Vector
from memory_api.errors import EmbeddingError


def unit_vector(raw: object, *, dimensions: int) -> Vector:
    """Check one vector as a provider gave it and bring it to unit length."""
    if not isinstance(raw, Sequence) or isinstance(raw, str | bytes):
        raise EmbeddingError("bad_vector", "the provider answered with something that is no list of numbers")
    if len(raw) != dimensions:
        raise EmbeddingError(
            "bad_vector",
            f"embedding dimension mismatch: the provider answered with {len(raw)} numbers, not "
            f"{dimensions}. Set embedding.dimensions to what the model gives.",
        )
    numbers = [_number(entry) for entry in raw]
    largest = max(map(abs, numbers))
    if largest == 0.0:
        raise EmbeddingError("bad_vector", "the provider answered with a vector of zeros")
    # Scaled first: the squares of very large or very small numbers would overflow or vanish.
    scaled = [number / largest for number in numbers]
    length = math.hypot(*scaled)
    return [number / length for number in scaled]


def _number(entry: object) -> float:
    if isinstance(entry, int | float) and not isinstance(entry, bool):
        try:
            number = float(entry)
        except OverflowError:
            number = math.inf
        if math.isfinite(number):
            return number
    raise EmbeddingError("bad_vector", "the provider answered with a vector that holds NaN, infinity or no number")


def mean_vector(vectors: Sequence[Vector]) -> Vector:
    """Pool the unit vectors of the windows of one text, each with the same say."""
    if len(vectors) == 1:
        return vectors[0]
    return unit_vector([math.fsum(column) for column in zip(*vectors, strict=True)], dimensions=len(vectors[0]))
