"""What one user's recall reads in a store of many users, told by the plans of the very statements that it sends."""

from collections.abc import Iterator
from typing import Any

from tests.bench.asking import bare_connections, body_of, sent_by
from tests.bench.budgets import Figure
from tests.bench.filling import CALLER, LINKED, Store, Stores
from tests.bench.place import Place
from tests.sent_statements import Sent

Plan = dict[str, Any]
_TABLES = ("memories", "memory_vectors", "relations")
_QUESTIONS = 6
_HEAVY = ("tsvector", "halfvec", "vector")


async def measure(place: Place, stores: Stores) -> list[Figure]:
    small, large = await stores.get("small"), await stores.get("large")
    questions = stores.language.questions(_QUESTIONS)
    mine = [body_of(question, user_id=CALLER) for question in questions]
    linked = await _explained(large, await sent_by(large.url, [body_of(questions[0], user_id=LINKED)]))
    sent = await sent_by(large.url, mine)
    in_large = await _explained(large, sent)
    in_small = await _explained(small, await sent_by(small.url, mine))
    plans = [*in_large, *linked]
    whole = sorted({str(node["Relation Name"]) for plan in plans for node in nodes(plan) if _scans_whole(node)})
    async with bare_connections(large.url) as (bare,):
        heavy = [name for name in await bare.types_of(sent[0][0]) if name in _HEAVY]
    bodies = sum(
        max((node["Actual Rows"] for node in nodes(plan) if _carries_body(node)), default=0) for plan in in_large
    )
    rows = sum(plan["Actual Rows"] for plan in in_large)
    most, least = (sum(map(_blocks, found)) // _QUESTIONS for found in (in_large, in_small))
    return [
        Figure("plans.whole_scans", len(whole), ", ".join(whole)),
        Figure("plans.blocks_large_over_small", most / least, f"{most:,} and {least:,} blocks a recall"),
        Figure("plans.bodies", bodies / rows, f"{bodies:.0f} bodies for {rows:.0f} rows"),
        Figure("plans.heavy_columns", len(heavy), ", ".join(heavy)),
    ]


async def _explained(store: Store, recalls: list[list[Sent]]) -> list[Plan]:
    async with bare_connections(store.url) as (bare,):
        return [await bare.explain(sent) for recall in recalls for sent in recall]


def nodes(plan: Plan) -> Iterator[Plan]:
    yield plan
    for child in plan.get("Plans", ()):
        yield from nodes(child)


def _scans_whole(node: Plan) -> bool:
    return node["Node Type"] == "Seq Scan" and node["Relation Name"] in _TABLES and node["Actual Loops"] > 0


def _carries_body(node: Plan) -> bool:
    """Whether a body passes through; a scan itself only points into its page, and reads no body to do so."""
    return "Scan" not in node["Node Type"] and any(".content" in column for column in node.get("Output", ()))


def _blocks(plan: Plan) -> int:
    return int(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"])
