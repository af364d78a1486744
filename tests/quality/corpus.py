"""The written set: memories, questions with graded answers, questions that nothing answers, and nonsense.

One YAML file a group under tests/data/quality. A subject is written `user/agent#facet`, each part as needed: `mara`,
`mara/scribe`, `/scribe`, `/` for the institution, `mara#project:heron`. A memory's key is its id, or `id@days` where
its age differs from its block's; in a block with a session the memories are its turns, in order, half a minute apart.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import yaml

FOLDER = Path(__file__).parents[1] / "data" / "quality"
NONSENSE = "nonsense"
UNANSWERED = "unanswered"


@dataclass(frozen=True, slots=True)
class Subject:
    user: str
    agent: str
    facet: str

    @property
    def body(self) -> dict[str, str]:
        """The fields of a request that name it."""
        named = {"user_id": self.user, "agent_id": self.agent, "facet": self.facet}
        return {name: value for name, value in named.items() if value}

    def sees(self, other: "Subject") -> bool:
        """Whether rows of `other` are visible in recall (docs/recall.md, "Who sees what")."""
        return (
            other.user in ("", self.user)
            and other.agent in ("", self.agent)
            and (not self.facet or other.facet in ("", self.facet))
        )


@dataclass(frozen=True, slots=True)
class Memory:
    """`place` is its turn, from 1, where `session` is set; `fields` are further fields of the save."""

    id: str
    subject: Subject
    content: str
    age: timedelta
    session: str | None
    place: int
    fields: dict[str, Any]

    def save(self, *, now: datetime) -> dict[str, Any]:
        """The body of a save, observed as long before `now` as the set says."""
        body = {
            "content": self.content,
            "observed_at": (now - self.age).isoformat(),
            "metadata": {"id": self.id},
            **self.subject.body,
            **self.fields,
        }
        if self.session:
            body |= {"session_id": self.session, "turn_range": [self.place, self.place]}
        return body


@dataclass(frozen=True, slots=True)
class Question:
    """`answers` are the grades by memory id: 2 answers it, 1 helps."""

    id: str
    group: str
    subject: Subject
    query: str
    answers: dict[str, int]

    @property
    def expected(self) -> list[str]:
        return [memory for memory, grade in self.answers.items() if grade == 2]


@dataclass(frozen=True, slots=True)
class Corpus:
    memories: dict[str, Memory]
    questions: list[Question]
    nonsense: list[Question]
    unanswered: list[Question]


def subject_of(written: str) -> Subject:
    owner, _, facet = written.partition("#")
    user, _, agent = owner.partition("/")
    return Subject(user, agent, facet)


def read(folder: Path = FOLDER) -> Corpus:
    """The whole set, in the order of file names; an id that stands twice is an error."""
    memories: dict[str, Memory] = {}
    questions: dict[str, Question] = {}
    for file in sorted(folder.glob("*.yaml")):
        written = yaml.load(file.read_text(encoding="utf-8"), yaml.CSafeLoader)
        for block in written.get("memories", []):
            for memory in _block(block):
                assert memory.id not in memories, f"{file.name}: memory {memory.id} stands twice"
                memories[memory.id] = memory
        for id_, asked in written["questions"].items():
            assert id_ not in questions, f"{file.name}: question {id_} stands twice"
            assert asked.keys() <= {"for", "ask", "answers"}, f"{file.name}: question {id_} has {sorted(asked)}"
            questions[id_] = Question(
                id_, file.stem, subject_of(asked["for"]), asked["ask"], dict(asked.get("answers", {}))
            )
    return Corpus(
        memories,
        [question for question in questions.values() if question.group not in (NONSENSE, UNANSWERED)],
        [question for question in questions.values() if question.group == NONSENSE],
        [question for question in questions.values() if question.group == UNANSWERED],
    )


def _block(block: dict[str, Any]) -> Iterator[Memory]:
    subject, session = subject_of(block["for"]), block.get("session")
    for place, (key, said) in enumerate(block["say"].items(), start=1):
        id_, _, own_age = key.partition("@")
        age = timedelta(days=float(own_age or block["age"]))
        if session:
            age -= timedelta(seconds=30 * place)
        fields = dict(said) if isinstance(said, dict) else {"content": said}
        content = fields.pop("content")
        yield Memory(id_, subject, content, age, session, place, fields)
