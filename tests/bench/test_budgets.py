"""The budgets of `make bench`: read, held, and none of them without a figure or a line of documentation."""

from pathlib import Path

import pytest

from bench import budgets
from bench.budgets import BudgetError, Figure


def test_every_budget_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    assert [name for name in budgets.read() if f"`{name}`" not in page] == []


def test_a_ratio_over_its_limit_breaks_and_a_time_does_not() -> None:
    known = budgets.read()
    assert known["recall.large_over_small"].verdict(1.69) == "holds"
    assert known["recall.large_over_small"].verdict(1.71) == "BROKEN"
    assert known["recall.throughput"].verdict(0.59) == "BROKEN"
    assert known["save.p95"].verdict(1e9) == "over, not held"
    assert known["recall.throughput"].verdict(float("nan")) == "BROKEN"


def test_a_figure_without_a_budget_and_a_budget_without_a_figure_are_errors() -> None:
    known = budgets.read()
    with pytest.raises(BudgetError, match=r"save\.p99 has no budget; save\.p95 was not measured"):
        budgets.check_complete(known, [Figure("save.p50", 1), Figure("save.p99", 1)], topics=["save"], full=True)


def test_an_entry_without_a_limit_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "budgets.toml"
    file.write_text('[save.p50]\nsays = "x"\nunit = "ms"\nkind = "time"\n')
    with pytest.raises(BudgetError, match=r"save\.p50"):
        budgets.read(file)
