"""make bench: every figure beside its budget. Exit code 1 when a budget is broken that may fail a run.

Everything runs in a temporary folder outside the checkout; what was started is stopped by its process id.
"""

import argparse
import asyncio
import os
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

from memory_api.telemetry import configure_logs
from tests.bench import (
    budgets,
    bulk,
    embedding,
    everything,
    evidence,
    extremes,
    plans,
    recall,
    save,
    soak,
    startup,
    trips,
)
from tests.bench.budgets import Budget, Figure
from tests.bench.filling import Stores
from tests.bench.place import Place, bench_place

Topic = Callable[[Place, Stores], Awaitable[list[Figure]]]
# In this order: what adds rows comes after what compares stores, and what changes all of them comes last.
TOPICS: dict[str, Topic] = {
    "recall": recall.measure,
    "plans": plans.measure,
    "trips": trips.measure,
    "extremes": extremes.measure,
    "save": save.measure,
    "soak": soak.measure,
    "startup": startup.measure,
    "embedding": embedding.measure,
    "bulk": bulk.measure,
    "everything": everything.measure,
}
_COLOURS = {"holds": "green", "BROKEN": "bold red", "over, not held": "yellow"}


def main() -> int:
    options = _options()
    configure_logs("warning")
    # A log keeps whole lines; a terminal decides for itself.
    console = Console(width=None if sys.stdout.isatty() else 180)
    started = time.monotonic()
    known = budgets.read()
    figures = asyncio.run(_measure(options, console))
    budgets.check_complete(known, figures, topics=options.topics, full=not options.quick)
    console.print(_table(known, figures))
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    console.print(
        f"{'Quick' if options.quick else 'Full'} run, {time.monotonic() - started:.0f} s, "
        f"{os.cpu_count()} cores, load {load}"
    )
    broken = [figure.name for figure in figures if known[figure.name].verdict(figure.value) == "BROKEN"]
    if broken:
        console.print(f"[bold red]Broken budgets: {', '.join(broken)}")
    return 1 if broken else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description="Every figure beside its budget.")
    parser.add_argument("--quick", action="store_true", help="smaller stores and fewer rounds: two to three minutes")
    parser.add_argument("--locomo", type=Path, metavar="FILE", help="add evidence recall on this LoCoMo file")
    parser.add_argument("--only", action="append", metavar="NAME", help=f"one of {', '.join([*TOPICS, 'locomo'])}")
    options = parser.parse_args()
    if options.locomo and not options.locomo.is_file():
        parser.error(f"--locomo: there is no file {options.locomo}")
    wanted = options.only or [*TOPICS, "locomo"]
    if unknown := set(wanted) - {*TOPICS, "locomo"}:
        parser.error(f"--only: unknown {', '.join(sorted(unknown))}; one of {', '.join([*TOPICS, 'locomo'])}")
    if "locomo" in wanted and not options.locomo:
        print("No evidence recall: name a LoCoMo file with --locomo FILE (make bench LOCOMO=FILE).")  # noqa: T201
    options.topics = [name for name in wanted if name in TOPICS or options.locomo]
    return options


async def _measure(options: argparse.Namespace, console: Console) -> list[Figure]:
    figures: list[Figure] = []
    with bench_place(quick=options.quick) as place:
        stores = Stores(place)
        for name, topic in TOPICS.items():
            if name in options.topics:
                console.rule(name)
                figures += await topic(place, stores)
        if "locomo" in options.topics:
            console.rule("locomo")
            figures += await evidence.measure(place, options.locomo, console)
    return figures


def _table(known: dict[str, Budget], figures: list[Figure]) -> Table:
    table = Table("figure", "value", "budget", "verdict", "says", "taken from", box=box.SIMPLE)
    for column in table.columns[:4]:
        column.no_wrap = True
    for figure in figures:
        budget = known[figure.name]
        verdict = budget.verdict(figure.value)
        colour = _COLOURS[verdict]
        value = f"{figure.value:.3g} {budget.unit}".rstrip()
        table.add_row(figure.name, value, budget.text, f"[{colour}]{verdict}[/]", budget.says, figure.note)
    return table


if __name__ == "__main__":
    sys.exit(main())
