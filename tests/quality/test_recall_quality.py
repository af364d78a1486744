"""The quality gate of recall: a written set of memories and graded questions, and the floors that its figures keep.

A change of ranking that loses more than one point of recall@5, nDCG@10 or MRR, in any group or in the whole, fails here
and the failure names the answers that were lost. Where the loss is meant, or after the set or the ranking has changed,
this writes floors.toml and ranks.json anew, for review as a diff; `-s` shows the figures:

    REWRITE=1 .venv/bin/python -m pytest tests/quality -s

The set is in tests/data/quality (its format: corpus.py); what recall does with it: docs/recall.md.
"""

import os
from dataclasses import replace

import pytest

from quality import floors
from quality.conftest import Asked
from quality.corpus import Corpus
from quality.measures import MEASURES

pytestmark = pytest.mark.xdist_group("quality")


def test_the_set_is_what_it_says(written: Corpus) -> None:
    assert len(written.memories) >= 600
    assert len(written.questions) >= 120
    assert len(written.nonsense) == 50
    owners = {frozenset(memory.subject.body) - {"facet"} for memory in written.memories.values()}
    assert owners == set(map(frozenset, ([], ["user_id"], ["agent_id"], ["user_id", "agent_id"])))
    for question in written.questions:
        assert question.expected, f"{question.id} has no answer of grade 2"
        for id_, grade in question.answers.items():
            assert grade in (1, 2), f"{question.id}: {id_} has grade {grade}"
            assert question.subject.sees(written.memories[id_].subject), f"{question.id} cannot see {id_}"
    assert not any(question.answers for question in written.nonsense)


def test_recall_keeps_its_floors_in_every_group_and_in_the_whole(asked: Asked) -> None:
    if os.environ.get("REWRITE"):
        floors.write(asked.answered)
    for group, scores in floors.scores_of(asked.answered).items():
        print(f"{group:12}", *(f"{name} {getattr(scores, name):.3f}" for name in MEASURES))  # noqa: T201

    found = list(floors.complaints(asked.answered, floors.read_floors(), floors.read_ranks()))

    assert not found, "recall lost more than a point\n" + "\n".join(found)


def test_floors_and_ranks_belong_to_this_set(written: Corpus) -> None:
    groups = {question.group for question in written.questions} | {floors.WHOLE}
    assert floors.read_floors().keys() == groups
    assert {id_: set(ranks) for id_, ranks in floors.read_ranks().items()} == {
        question.id: set(question.expected) for question in written.questions
    }


def test_a_lost_answer_fails_its_group_and_is_named_with_what_came_instead(asked: Asked) -> None:
    first = next(one for one in asked.answered if len(one.hits) > 5 and list(one.ranks.values()) == [1])
    lost = replace(first, hits=[*first.hits[1:5], first.hits[0], *first.hits[5:]])
    changed = [lost if one is first else one for one in asked.answered]
    measured = {
        group: {name: getattr(scores, name) for name in MEASURES}
        for group, scores in floors.scores_of(asked.answered).items()
    }

    found = list(floors.complaints(changed, measured, {one.question.id: one.ranks for one in asked.answered}))

    group = next(text for text in found if text.startswith(f"{first.question.group}: "))
    (memory,) = first.ranks
    assert f"{first.question.id} {first.question.query!r}: {memory} was at 1, is at 5" in group
    assert f"instead {', '.join(lost.ids[:3])}" in group
    assert list(floors.complaints(asked.answered, measured, {})) == []


def test_nobody_is_given_what_they_may_not_see(asked: Asked) -> None:
    for one in [*asked.answered, *asked.nonsense]:
        hidden = [id_ for id_ in one.ids if not one.question.subject.sees(asked.corpus.memories[id_].subject)]
        assert not hidden, f"{one.question.id} was given {hidden}"
