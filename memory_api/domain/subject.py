"""Whom a memory is about, and which of the four tiers follows from it.

The tier is never stated, it is derived: a user only, an agent only, both, or neither (contract, section 2).
"""

import re
import unicodedata
from dataclasses import dataclass
from typing import Literal

Tier = Literal["user", "agent", "user_for_agent", "institutional"]
TIERS: tuple[Tier, ...] = ("user", "agent", "user_for_agent", "institutional")

MAX_ID_LENGTH = 253
FACET_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}$"
# Hangul fillers and the braille blank count as letters and symbols, and show nothing.
_UNSEEN_LETTERS = frozenset("\u115f\u1160\u3164\uffa0\u2800")
_FACET = re.compile(FACET_PATTERN.replace("$", r"\Z"))


@dataclass(frozen=True, slots=True)
class Subject:
    """A user, an agent, both or neither, and the container (`facet`) that a request stays in."""

    user: str | None = None
    agent: str | None = None
    facet: str | None = None

    @property
    def tier(self) -> Tier:
        if self.user and self.agent:
            return "user_for_agent"
        if self.user:
            return "user"
        return "agent" if self.agent else "institutional"


def policy_tier(tier: Tier) -> Literal["user", "agent", "institutional"]:
    """The tier whose rules hold: `user_for_agent` takes the user's (seed 001, Memory Tiers)."""
    return "user" if tier == "user_for_agent" else tier


def shows_something(value: str) -> bool:
    """Whether a reader sees anything of it: white space, zero-width and other invisible characters alone are blank."""
    return any(
        unicodedata.category(character)[0] not in "ZC" and character not in _UNSEEN_LETTERS for character in value
    )


def check_id(value: str) -> str:
    """An id of a user, agent or session: 1 to 253 characters, none of them a control character, no outer blanks.

    Blank ids are refused rather than dropped, because dropping one would widen the scope.

    Raises:
        ValueError: with the rule that is broken.
    """
    if not shows_something(value):
        raise ValueError("must not be blank; leave the field out instead")
    if value != value.strip():
        raise ValueError("must not begin or end with white space")
    if len(value) > MAX_ID_LENGTH:
        raise ValueError(f"must have at most {MAX_ID_LENGTH} characters")
    if any(unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") for character in value):
        raise ValueError("must not hold control characters")
    return value


def check_facet(value: str) -> str:
    """A container's name, compared exactly (seed 001, Containers).

    Raises:
        ValueError: when it is not 1 to 128 of the characters that a facet may have.
    """
    if not _FACET.match(value):
        raise ValueError(
            "must be 1 to 128 ASCII letters, digits and . _ : / - and begin with a letter or digit (project:apollo)"
        )
    return value
