"""What recall must reach: floors of every group and of the whole, and the last known rank of every expected answer.

`floors.toml` holds the figures as measured, less MARGIN; `ranks.json` says where each answer stood then, so that a
failure can name what was lost. Both are written by one command and never by hand; see test_recall_quality.py.
"""

import json
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from quality.asking import Answered
from quality.measures import MEASURES, Scores

FOLDER = Path(__file__).parent
FLOORS = FOLDER / "floors.toml"
RANKS = FOLDER / "ranks.json"
MARGIN = 0.01
WHOLE = "whole"

Ranks = dict[str, dict[str, int | None]]


@dataclass(frozen=True, slots=True)
class Loss:
    """An expected answer that stands lower than it did; None is beyond the hits."""

    answered: Answered
    memory: str
    before: int | None
    now: int | None


def by_group(answered: Iterable[Answered]) -> dict[str, list[Answered]]:
    """The answers of each group and, under WHOLE, all of them."""
    groups: dict[str, list[Answered]] = {WHOLE: []}
    for one in answered:
        groups.setdefault(one.question.group, []).append(one)
        groups[WHOLE].append(one)
    return groups


def scores_of(answered: Iterable[Answered]) -> dict[str, Scores]:
    """The means of every group and of the whole."""
    return {group: Scores.mean(one.scores for one in some) for group, some in by_group(answered).items()}


def read_floors() -> dict[str, dict[str, float]]:
    floors: dict[str, dict[str, float]] = tomllib.loads(FLOORS.read_text(encoding="utf-8"))
    return floors


def read_ranks() -> Ranks:
    ranks: Ranks = json.loads(RANKS.read_text(encoding="utf-8"))
    return ranks


def write(answered: Sequence[Answered]) -> None:
    """Take what holds now as what must hold."""
    lines = [
        "# Written by `REWRITE=1 .venv/bin/python -m pytest tests/quality`: figures of that run less one point,",
        "# in a group less one question: the int8 model rounds a little differently on other processors.",
    ]
    groups = by_group(answered)
    for group, scores in scores_of(answered).items():
        margin = MARGIN if group == WHOLE else max(MARGIN, 1 / len(groups[group]))
        lines += ["", f"[{group}]"]
        lines += [f"{name} = {max(getattr(scores, name) - margin, 0):.4f}" for name in MEASURES]
    FLOORS.write_text("\n".join(lines) + "\n", encoding="utf-8")
    rows = [f"{json.dumps(one.question.id)}: {json.dumps(one.ranks)}" for one in answered]
    RANKS.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")


def complaints(answered: Sequence[Answered], floors: dict[str, dict[str, float]], ranks: Ranks) -> Iterator[str]:
    """One text for each group below a floor: its figures, and every answer of it that was lost, the worst first."""
    groups = by_group(answered)
    for group, scores in scores_of(answered).items():
        below = {name: getattr(scores, name) for name in MEASURES if getattr(scores, name) < floors[group][name]}
        if below:
            figures = ", ".join(f"{name} {value:.4f} < {floors[group][name]:.4f}" for name, value in below.items())
            yield "\n".join([f"{group}: {figures}", *map(_said, losses(groups[group], ranks))])


def losses(answered: Iterable[Answered], ranks: Ranks) -> list[Loss]:
    """The expected answers that stand lower than last known, those that fell furthest in reciprocal rank first."""
    found = [
        Loss(one, memory, before, now)
        for one in answered
        for memory, now in one.ranks.items()
        if _worth(now) < _worth(before := ranks[one.question.id][memory])
    ]
    return sorted(found, key=lambda loss: _worth(loss.now) - _worth(loss.before))


def _worth(rank: int | None) -> float:
    return 1 / rank if rank else 0.0


def _said(loss: Loss) -> str:
    question = loss.answered.question
    instead = [id_ for id_ in loss.answered.ids if id_ != loss.memory][:3]
    return (
        f"  {question.id} {question.query!r}: {loss.memory} was at {loss.before or 'none'}, is at {loss.now or 'none'};"
        f" instead {', '.join(instead) or 'nothing'}"
    )
