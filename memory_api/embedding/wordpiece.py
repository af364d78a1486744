"""BERT's uncased WordPiece tokenizer in plain Python.

The bundled model comes without a tokenizer, and the usual library for it brings a network client that this product
has no use for. The result equals that library's (`tests/unit/embedding/wordpiece_golden.json`), with one difference on
purpose: `[CLS]`, `[MASK]` and the like in a text are plain words, never control tokens. Some 500 characters that are
newer than Unicode 8, which that library's tables stop at, are told apart as this Python's tables say.
"""

import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from importlib import resources

PAD, UNKNOWN, START, END = 0, 100, 101, 102
_LONGEST_WORD = 100
_CACHED_WORDS = 50_000
_IDEOGRAPHS = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)


class _Characters(dict[int, str]):
    """What a decomposed character becomes; `str.translate` asks once for each and the answer is kept."""

    def __missing__(self, code: int) -> str:
        self[code] = became = _cleaned(chr(code))
        return became


def _cleaned(char: str) -> str:
    category = unicodedata.category(char)
    if char in "\t\n\r":
        return " "
    if char == "\ufffd" or category in ("Cc", "Cf", "Co", "Cs", "Mn"):
        return ""
    if char.isspace():
        return " "
    alone = category[0] == "P" or (char.isascii() and not char.isalnum())
    if alone or any(first <= ord(char) <= last for first, last in _IDEOGRAPHS):
        return f" {char} "
    return char.lower()


class WordPiece:
    """Text to token ids, without the start and end tokens: whoever cuts the windows puts those around each."""

    def __init__(self, vocabulary: Iterable[str]) -> None:
        self._ids = {piece: number for number, piece in enumerate(vocabulary)}
        self._characters = _Characters()
        self._pieces = lru_cache(maxsize=_CACHED_WORDS)(self._split)

    def encode(self, text: str) -> list[int]:
        # Character by character on purpose: the lower-casing of a whole string knows final sigmas, BERT's does not.
        words = unicodedata.normalize("NFD", text).translate(self._characters).split()
        return [piece for word in words for piece in self._pieces(word)]

    def _split(self, word: str) -> tuple[int, ...]:
        """Take the longest known piece again and again; a word with an unknown rest is unknown as a whole."""
        if len(word) > _LONGEST_WORD:
            return (UNKNOWN,)
        pieces: list[int] = []
        start = 0
        while start < len(word):
            prefix = "##" if start else ""
            for end in range(len(word), start, -1):
                found = self._ids.get(prefix + word[start:end])
                if found is not None:
                    pieces.append(found)
                    start = end
                    break
            else:
                return (UNKNOWN,)
        return tuple(pieces)


def bert_uncased() -> WordPiece:
    """Read the vendored vocabulary (30,522 pieces, see NOTICE)."""
    text = resources.files(__package__).joinpath("vocab.txt").read_text(encoding="utf-8")
    return WordPiece(text.removesuffix("\n").split("\n"))
