"""Recall's ranking once more, slowly and in plain Python: what the SQL statement is held against.

It knows rows as dictionaries and nothing of the database. Words are taken as they are, so the tests use words that no
stemmer changes.
"""

import math
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Rules:
    """A policy's recall part; half-lives in days, None for no decay."""

    fusion: str = "rrf"
    k: float = 60
    lexical: float = 1.0
    vector: float = 1.0
    phrase: float = 0.0
    title: float = 1.0
    date: float = 0.0
    neighbours: int = 0
    neighbour_weight: float = 0.3
    session_weight: float = 0.0
    floor: float = 0.0
    half_life: dict[str, float | None] = field(
        default_factory=lambda: {"user": 30.0, "user_for_agent": 30.0, "agent": 90.0, "institutional": None}
    )
    weight: dict[str, float] = field(default_factory=lambda: defaultdict(lambda: 1.0))


def cosine(one: Any, other: Any) -> float:
    """As pgvector sees it: both sides rounded to half precision."""
    a, b = (np.asarray(side, np.float16).astype(np.float64) for side in (one, other))
    return float(a @ b / math.sqrt((a @ a) * (b @ b)))


def lexical_scores(rows: list[dict[str, Any]], words: list[str], rules: Rules) -> dict[str, float]:
    """Sum of IDF of the words present; a hit lends weight / distance of it to the turns beside it in its session."""
    held = {row["id"]: {*row["content"].split(), *(row.get("title") or "").split()} for row in rows}
    idf = {}
    for word in words:
        df = sum(word in words_of for words_of in held.values())
        idf[word] = math.log(1 + (len(rows) - df + 0.5) / (df + 0.5))
    own = {}
    for row in rows:
        titled = set((row.get("title") or "").split())
        # The words of title and content follow each other.
        spoken = [*(row.get("title") or "").split(), *row["content"].split()]
        own[row["id"]] = sum(
            idf[word] * (rules.title if word in titled else 1.0) for word in words if word in held[row["id"]]
        ) + sum(rules.phrase * (idf[a] + idf[b]) / 2 for a, b in pairwise(words) if (a, b) in set(pairwise(spoken)))
    total = dict(own)
    sessions = defaultdict(list)
    for row in rows:
        if row.get("session_id"):
            sessions[row["session_id"]].append(row)
    for members in sessions.values():
        members.sort(key=lambda row: (row["turn_range"][0], row["observed_at"], row["id"]))
        for place, row in enumerate(members):
            for step in range(-rules.neighbours, rules.neighbours + 1):
                if step and 0 <= place + step < len(members):
                    total[row["id"]] += own[members[place + step]["id"]] * rules.neighbour_weight / abs(step)
    return {id_: score for id_, score in total.items() if score > 0}


def _places(scores: dict[str, float], rows: dict[str, dict[str, Any]]) -> dict[str, int]:
    ordered = sorted(scores, key=lambda id_: (scores[id_], rows[id_]["observed_at"], id_), reverse=True)
    return {id_: place for place, id_ in enumerate(ordered, start=1)}


def rank(
    rows: list[dict[str, Any]], words: list[str], cosines: dict[str, float], rules: Rules, now: datetime
) -> dict[str, float]:
    """The final score of every row that an arm found, by id."""
    by_id = {row["id"]: row for row in rows}
    lexical = lexical_scores(rows, words, rules) if words else {}
    fused = _fuse(lexical, cosines, by_id, rules)
    lifted = _lift(fused, by_id, rules)
    final = {}
    for id_, score in lifted.items():
        row = by_id[id_]
        half_life = rules.half_life[row["tier"]]
        age = (now - row["observed_at"]).total_seconds() / 86400
        decay = 1.0 if half_life is None else rules.floor + (1 - rules.floor) * 2 ** (-max(age, 0) / half_life)
        final[id_] = score * decay * rules.weight[row["tier"]]
    return final


def _fuse(
    lexical: dict[str, float], cosines: dict[str, float], rows: dict[str, dict[str, Any]], rules: Rules
) -> dict[str, float]:
    found = lexical.keys() | cosines.keys()
    if rules.fusion == "rrf":
        words, meaning = _places(lexical, rows), _places(cosines, rows)
        return {
            id_: (rules.lexical / (rules.k + words[id_]) if id_ in words else 0)
            + (rules.vector / (rules.k + meaning[id_]) if id_ in meaning else 0)
            for id_ in found
        }
    most = max(lexical.values(), default=0)
    low, high = min(cosines.values(), default=0), max(cosines.values(), default=0)
    return {
        id_: (
            rules.lexical * (lexical.get(id_, 0) / most if most else 0)
            + rules.vector * ((cosines[id_] - low) / (high - low) if id_ in cosines and high > low else 0)
        )
        / (rules.lexical + rules.vector)
        for id_ in found
    }


def _lift(fused: dict[str, float], rows: dict[str, dict[str, Any]], rules: Rules) -> dict[str, float]:
    if not rules.session_weight:
        return fused
    session = {id_: rows[id_].get("session_id") or id_ for id_ in fused}
    best: dict[str, tuple[float, datetime]] = {}
    for id_, name in session.items():
        score, latest = best.get(name, (-math.inf, rows[id_]["observed_at"]))
        best[name] = (max(score, fused[id_]), max(latest, rows[id_]["observed_at"]))
    if rules.fusion == "convex":
        return {id_: score + rules.session_weight * best[session[id_]][0] for id_, score in fused.items()}
    order = sorted(best, key=lambda name: best[name], reverse=True)
    place = {name: number for number, name in enumerate(order, start=1)}
    return {id_: score + rules.session_weight / (rules.k + place[session[id_]]) for id_, score in fused.items()}
