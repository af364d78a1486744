"""Evidence recall on LoCoMo, through the HTTP API: every turn a memory, every question with evidence asked.

The data set is for evaluation only and never part of the repository; its file is named on the command line.
"""

import json
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
from rich.progress import Progress, track

_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")
_DATE = "%I:%M %p on %d %B, %Y"


@dataclass(frozen=True, slots=True)
class Question:
    """`ends` is the time of the conversation's last turn."""

    user: str
    text: str
    category: int
    evidence: frozenset[str]
    ends: str


@dataclass(frozen=True, slots=True)
class Scores:
    """Mean share of a question's evidence in the first k hits, and how often the first 5 sessions hold some of it."""

    at: dict[int, float]
    session_at_5: float
    questions: int


def turns_of(conversation: dict[str, Any], user: str) -> Iterator[dict[str, Any]]:
    """The turns of one conversation as saves: session, turn and time as LoCoMo states them."""
    talk = conversation["conversation"]
    for number in range(1, 100):
        session = talk.get(f"session_{number}")
        if session is None:
            continue
        start = datetime.strptime(talk[f"session_{number}_date_time"], _DATE).replace(tzinfo=UTC)
        for place, turn in enumerate(session, start=1):
            image = f" [image: {turn['blip_caption']}]" if turn.get("blip_caption") else ""
            yield {
                "user_id": user,
                "content": f"{turn['speaker']}: {turn['text']}{image}",
                "session_id": f"{user}-s{number}",
                "turn_range": [place, place],
                "observed_at": (start + timedelta(seconds=30 * place)).isoformat(),
                "metadata": {"dia_id": turn["dia_id"]},
            }


def load(client: httpx.Client, conversations: list[dict[str, Any]]) -> list[Question]:
    """Save every conversation for a user of its own, wait for the vectors, and return the questions to ask."""
    questions = []
    for conversation in track(conversations, "Loading conversations"):
        user = conversation["sample_id"]
        turns = list(turns_of(conversation, user))
        for start in range(0, len(turns), 500):
            answer = client.post("memories/batch", json={"memories": turns[start : start + 500]}).raise_for_status()
            refused = [item for item in answer.json()["results"] if item["status"] != 201]
            if refused:
                raise RuntimeError(f"{len(refused)} turns were refused: {refused[0]}")
        known = {turn["metadata"]["dia_id"] for turn in turns}
        for asked in conversation["qa"]:
            named = {f"D{s}:{t}" for text in asked.get("evidence", []) for s, t in _EVIDENCE.findall(text)}
            if evidence := named & known:
                ends = turns[-1]["observed_at"]
                questions.append(Question(user, asked["question"], asked["category"], frozenset(evidence), ends))
    _wait_for_vectors(client)
    return questions


def _wait_for_vectors(client: httpx.Client, *, seconds: float = 900) -> None:
    until = time.monotonic() + seconds
    with Progress() as progress:
        bar = progress.add_task("Embedding them", total=1.0)
        while not progress.finished:
            vectors = client.get("memory/health").raise_for_status().json()["embeddings"]
            if vectors["failed"] or time.monotonic() > until:
                raise RuntimeError(f"the vectors did not all come: {vectors}")
            progress.update(bar, completed=1.0 if vectors["pending"] == 0 else vectors["coverage"])
            time.sleep(0.2)


def ask(
    client: httpx.Client, questions: list[Question], label: str, *, at_the_end: bool = False, **body: Any
) -> Scores:
    """Ask every question, as of its conversation's end if so wanted, and score the first 25 hits."""
    shares: dict[int, list[float]] = {5: [], 10: [], 25: []}
    sessions = []
    for question in track(questions, label):
        then = {"as_of": question.ends} if at_the_end else {}
        found = client.post(
            "memories/retrieve", json={"query": question.text, "user_id": question.user, "limit": 100, **then, **body}
        )
        hits = [memory["metadata"]["dia_id"] for memory in found.raise_for_status().json()["memories"]]
        for k, values in shares.items():
            values.append(len(question.evidence.intersection(hits[:k])) / len(question.evidence))
        first_sessions = list(dict.fromkeys(hit.split(":")[0] for hit in hits))[:5]
        sessions.append(bool({dia.split(":")[0] for dia in question.evidence}.intersection(first_sessions)))
    mean = {k: sum(values) / len(values) for k, values in shares.items()}
    return Scores(mean, sum(sessions) / len(sessions), len(questions))


def read(path: Path) -> list[dict[str, Any]]:
    conversations: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return conversations
