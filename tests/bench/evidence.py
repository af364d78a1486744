"""Evidence recall of every shipped policy on LoCoMo, through the HTTP API, half-lives off: the ranking alone.

Conversations are years old, so half-lives would measure the calendar. Each policy is written out without them and the
running service takes it up, as it does for any edit.
"""

import time
from pathlib import Path
from typing import Any

import httpx
import yaml
from rich.console import Console
from rich.table import Table

from tests.bench import locomo
from tests.bench.budgets import Figure
from tests.bench.locomo import Question, Scores
from tests.bench.place import Place

_SAMPLES = Path(__file__).parents[2] / "crds" / "samples"
_NO_DECAY = {"user": "none", "agent": "none", "institutional": "none"}


async def measure(place: Place, file: Path, console: Console) -> list[Figure]:
    policies = shipped_policies()
    in_force = place.folder / "policy.yaml"
    _write(in_force, policies["default"])
    url = await place.new_database("locomo")
    bundled = _SAMPLES / "provider-transformers.yaml"
    with (
        place.serving(url, provider=bundled, policy=in_force) as service,
        httpx.Client(base_url=f"{service.api}/api/v1/", timeout=60, trust_env=False) as client,
    ):
        questions = locomo.load(client, locomo.read(file))
        scores: dict[str, Scores] = {}
        for name, policy in policies.items():
            _write(in_force, policy)
            _wait_for(client, policy["metadata"]["name"])
            scores[name] = locomo.ask(client, questions, f"Asking under {name}")
            if name == "default":
                scores["words only"] = locomo.ask(client, questions, "Asking by words only", strategy="keyword")
        for name in ("default", best := max(policies, key=lambda name: scores[name].at[10])):
            _write(in_force, yaml.safe_load((_SAMPLES / f"{name}.yaml").read_text(encoding="utf-8")))
            _wait_for(client, name)
            label = f"{name}, half-lives on, as of each conversation's end"
            scores[label] = locomo.ask(client, questions, "Asking as of the end", at_the_end=True)
    console.print(_table(scores, questions))
    return [
        Figure("locomo.default_at_10", scores["default"].at[10], f"{len(questions)} questions"),
        Figure("locomo.best_at_10", scores[best].at[10], best),
        Figure("locomo.lexical_at_10", scores["words only"].at[10], "strategy keyword, default policy"),
        Figure("locomo.best_session_at_5", scores[best].session_at_5, best),
    ]


def shipped_policies() -> dict[str, dict[str, Any]]:
    """The MemoryPolicy samples by name, without half-lives and renamed, so that engine-status tells them apart."""
    found = {}
    for path in sorted(_SAMPLES.glob("*.yaml")):
        # The quickstart's policy is the default's, beside other kinds.
        for manifest in yaml.safe_load_all(path.read_text(encoding="utf-8")):
            if manifest["kind"] == "MemoryPolicy" and path.stem != "quickstart":
                name = manifest["metadata"]["name"]
                manifest["metadata"]["name"] = f"bench-{name}"
                manifest.setdefault("spec", {}).setdefault("recall", {})["halfLife"] = _NO_DECAY
                found[name] = manifest
    return found


def _write(path: Path, policy: dict[str, Any]) -> None:
    path.write_text(yaml.safe_dump(policy), encoding="utf-8")


def _wait_for(client: httpx.Client, policy: str, *, seconds: float = 20) -> None:
    """Until the service says that it works by this policy."""
    until = time.monotonic() + seconds
    while (found := client.get("memory/engine-status").raise_for_status().json()["policy"])["name"] != policy:
        if time.monotonic() > until:
            raise TimeoutError(f"policy {policy} was not taken up: {found}")
        time.sleep(0.1)


def _table(scores: dict[str, Scores], questions: list[Question]) -> Table:
    table = Table("policy, half-lives none", "recall@5", "recall@10", "recall@25", "session@5")
    table.title = f"Evidence recall, {len(questions)} questions"
    for name, score in scores.items():
        table.add_row(name, *(f"{score.at[k]:.3f}" for k in (5, 10, 25)), f"{score.session_at_5:.3f}")
    return table
