"""What every figure may be, and whether it is.

Budgets live in budgets.toml. Ratios, counts and plans are taken in one run on one machine and can fail it; times depend
on the machine and on its other load, so they are only printed beside what they should be.
"""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

FILE = Path(__file__).with_name("budgets.toml")
_KINDS = ("ratio", "count", "plan", "time")
_FIELDS = {"says", "unit", "kind", "most", "least", "when"}

Verdict = Literal["holds", "BROKEN", "over, not held"]


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured value, by the name of its budget; `note` says what it was taken from."""

    name: str
    value: float
    note: str = ""


@dataclass(frozen=True, slots=True)
class Budget:
    name: str
    says: str
    unit: str
    kind: Literal["ratio", "count", "plan", "time"]
    limit: float
    upper: bool
    when: Literal["full", "locomo"] | None

    @property
    def topic(self) -> str:
        return self.name.partition(".")[0]

    @property
    def text(self) -> str:
        return f"{'<=' if self.upper else '>='} {self.limit:g} {self.unit}".rstrip()

    def verdict(self, value: float) -> Verdict:
        # Written so that a figure which is not a number breaks its budget.
        if (value <= self.limit) if self.upper else (value >= self.limit):
            return "holds"
        return "over, not held" if self.kind == "time" else "BROKEN"


class BudgetError(Exception):
    """budgets.toml and the figures do not fit together."""


def read(path: Path = FILE) -> dict[str, Budget]:
    """All budgets by name.

    Raises:
        BudgetError: an entry is not what the file's first lines say.
    """
    topics = tomllib.loads(path.read_text(encoding="utf-8"))
    return {
        f"{topic}.{name}": _budget(f"{topic}.{name}", entry)
        for topic, entries in topics.items()
        for name, entry in entries.items()
    }


def check_complete(budgets: dict[str, Budget], figures: Iterable[Figure], *, topics: Iterable[str], full: bool) -> None:
    """Every figure has a budget, and every budget of the topics that ran has its figure.

    Raises:
        BudgetError: names those that are missing.
    """
    measured = {figure.name for figure in figures}
    due = {
        budget.name for budget in budgets.values() if budget.topic in set(topics) and (budget.when != "full" or full)
    }
    wrong = [f"{name} has no budget" for name in sorted(measured - budgets.keys())]
    wrong += [f"{name} was not measured" for name in sorted(due - measured)]
    if wrong:
        raise BudgetError(f"{FILE.name}: {'; '.join(wrong)}")


def _budget(name: str, entry: dict[str, Any]) -> Budget:
    limits = [key for key in ("most", "least") if key in entry]
    if (
        entry.keys() - _FIELDS
        or not {"says", "unit", "kind"} <= entry.keys()
        or entry["kind"] not in _KINDS
        or len(limits) != 1
    ):
        raise BudgetError(f"{FILE.name}: [{name}] needs says, unit, kind ({', '.join(_KINDS)}) and one of most, least")
    if entry.get("when") not in (None, "full", "locomo"):
        raise BudgetError(f"{FILE.name}: [{name}] when is 'full', 'locomo' or absent")
    return Budget(
        name=name,
        says=entry["says"],
        unit=entry["unit"],
        kind=entry["kind"],
        limit=float(entry[limits[0]]),
        upper=limits[0] == "most",
        when=entry.get("when"),
    )
