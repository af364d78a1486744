"""How a text that is too long for a model is read: in up to eight windows, head and tail always among them.

A model that cuts a text off never sees its end, and one that refuses it loses the memory (BR-078). The vector of a long
text is the mean of its windows' vectors. The number of windows is bounded, so the cost of one text is; beyond that
bound windows are spread evenly, and what lies between them is found by words only.
"""

from itertools import pairwise
from typing import TypeVar

MOST_WINDOWS = 8
_Sliceable = TypeVar("_Sliceable", str, list[int])


def windows(content: _Sliceable, size: int) -> list[_Sliceable]:
    """Cut into as few pieces of about the same size as can be, each at most `size` long."""
    needed = max(1, -(-len(content) // size))
    if needed <= MOST_WINDOWS:
        bounds = [len(content) * number // needed for number in range(needed + 1)]
        return [content[start:end] for start, end in pairwise(bounds)]
    last_start = len(content) - size
    starts = [last_start * number // (MOST_WINDOWS - 1) for number in range(MOST_WINDOWS)]
    return [content[start : start + size] for start in starts]


def bounded(text: str, *, characters: int) -> str:
    """Keep head, tail and evenly spread stretches of a very long text, so that even reading it has a bounded cost."""
    if len(text) <= characters:
        return text
    return "\n".join(windows(text, characters // MOST_WINDOWS))


def byte_windows(text: str, size: int) -> list[str]:
    """Windows of at most `size` UTF-8 bytes, for models behind an API: no tokenizer makes more tokens than bytes."""
    widest = max(len(char.encode()) for char in set(text)) if not text.isascii() else 1
    longest = len(text.encode())
    if longest <= size:
        return [text]
    return windows(text, max(1, size // widest))
