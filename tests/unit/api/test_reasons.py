"""The list of reasons is closed, complete and documented, and conditions move as Kubernetes wants it."""

import re

from manifest_table import ROOT
from memory_operator.api.conditions import Finding, settled
from memory_operator.api.reasons import CAUSES, MEANINGS, ConditionType, Reason

PAGE = (ROOT / "docs" / "conditions.md").read_text(encoding="utf-8")


def test_every_reason_has_a_meaning_and_a_condition() -> None:
    assert set(MEANINGS) == set(Reason)
    for types, meaning in MEANINGS.values():
        assert types
        assert meaning.says.endswith(".")
        assert meaning.remedy.endswith(".")


def test_what_fails_a_cause_may_be_the_reason_of_ready() -> None:
    fine = {Reason.READY, Reason.RESOLVED, Reason.MIGRATED, Reason.AVAILABLE, Reason.EXTERNAL}
    for reason, (types, _) in MEANINGS.items():
        if set(types) & set(CAUSES) and reason not in fine:
            assert ConditionType.READY in types, reason


def test_the_page_says_what_the_code_says_and_nothing_else() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \| (.*?) \| (.*?) \|$", PAGE.split("## Reasons")[1], re.MULTILINE)
    assert {name: (re.findall(r"`(\w+)`", types), says, remedy) for name, types, says, remedy in rows} == {
        reason.value: ([one.value for one in types], meaning.says, meaning.remedy)
        for reason, (types, meaning) in MEANINGS.items()
    }


def test_the_page_has_every_condition() -> None:
    rows = re.findall(r"^\| `(\w+)` \| ", PAGE.split("## Reasons")[0], re.MULTILINE)
    assert rows == [one.value for one in ConditionType]


def test_the_time_of_a_condition_moves_only_with_its_status() -> None:
    old = Finding(ConditionType.READY, "False", Reason.PROVISIONING, "a")
    (before,) = settled([], [old], generation=1, now="2026-01-01T00:00:00Z")
    later = Finding(ConditionType.READY, "False", Reason.MIGRATING, "b")
    (same,) = settled([before], [later], generation=2, now="2026-01-02T00:00:00Z")
    assert (same["lastTransitionTime"], same["reason"], same["observedGeneration"]) == (
        "2026-01-01T00:00:00Z",
        "Migrating",
        2,
    )
    good = Finding(ConditionType.READY, "True", Reason.READY)
    (moved,) = settled([same], [good], generation=2, now="2026-01-03T00:00:00Z")
    assert moved["lastTransitionTime"] == "2026-01-03T00:00:00Z"
