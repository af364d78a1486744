"""How much text an answer may carry."""

import math
from collections.abc import Iterable, Sequence

CHARACTERS_PER_TOKEN = 4


def tokens_of(texts: Iterable[str | None]) -> int:
    """ceil(characters / 4) of what is returned of one memory (contract, retrieve)."""
    return math.ceil(sum(len(text) for text in texts if text) / CHARACTERS_PER_TOKEN)


def within_budget(costs: Sequence[int], budget: int) -> list[int]:
    """Places of the items to keep, in order: the first always, then each that still fits; what does not is skipped."""
    kept: list[int] = []
    left = budget
    for place, cost in enumerate(costs):
        if place == 0 or cost <= left:
            kept.append(place)
            left -= cost
    return kept
