"""What two texts must not differ in to say the same: numbers, names and whether something is denied.

A vector hardly tells `the gate code is 4471` from `4472`, or `likes` from `does not like`; this does.
"""

import re
from dataclasses import dataclass

# Digits with what ties them together: 4471, 3.14, 2024-07-13, 10:30, v1.2, ERR-4471-QX.
_NUMBER = re.compile(r"\w*\d(?:[\w.,:/-]*\w)?")
_SENTENCE = re.compile(r"[.!?。！？\n]+\s*")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_DENIALS = frozenset(
    [
        *("no", "not", "never", "none", "nobody", "nothing", "neither", "nor", "without", "cannot"),
        *("kein", "keine", "keinen", "keinem", "keiner", "nicht", "nie", "niemals", "niemand", "nichts", "ohne"),
        *("ne", "pas", "jamais", "aucun", "aucune", "rien", "sans"),
        *("nunca", "nadie", "nada", "ningun", "ninguna", "sin"),
    ]
)
_DENIALS_WITHOUT_SPACES = re.compile(r"[不没沒非無未]|ない|ません|않|안 |없")


@dataclass(frozen=True, slots=True)
class Particulars:
    numbers: frozenset[str]
    names: frozenset[str]
    denied: bool

    def covers(self, other: "Particulars") -> bool:
        """Whether nothing particular of `other` is lost where only this text is shown."""
        return self.denied == other.denied and self.numbers >= other.numbers and self.names >= other.names


def particulars(text: str) -> Particulars:
    """A name is a word with a capital that does not begin a sentence; so German nouns count as names, to be safe."""
    numbers = frozenset(match.group().casefold() for match in _NUMBER.finditer(text))
    names: set[str] = set()
    denied = bool(_DENIALS_WITHOUT_SPACES.search(text))
    for sentence in _SENTENCE.split(text):
        for place, match in enumerate(_WORD.finditer(sentence)):
            word = match.group()
            folded = word.casefold().replace("’", "'")
            denied |= folded in _DENIALS or folded.endswith("n't")
            if place and word[0].isupper() and folded not in ("i", "i'm", "i've", "i'd", "i'll"):
                names.add(folded.removesuffix("'s"))
    return Particulars(numbers, frozenset(names), denied)
