"""Words find their rows in the default install, whatever the language: a table of questions, a rate for each group."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from api_client import Api, memory_api
from memory_api.embedded import EmbeddedPostgres

TABLE: dict[str, Any] = yaml.safe_load((Path(__file__).parents[1] / "data" / "words.yaml").read_text(encoding="utf-8"))
COPIES = 5

pytestmark = pytest.mark.xdist_group("hit rate")


@pytest.fixture(scope="module")
async def filled(postgres_cluster: EmbeddedPostgres, database_template: str) -> Any:
    """One user's store with every group of the table, without an embedder."""
    postgres_cluster.query(f'create database hit_rate template "{database_template}"')
    async with memory_api(postgres_cluster.url("hit_rate"), provider=None, workers=False) as api:
        rows = [memory for group in TABLE.values() for memory in group["find"]]
        rows += [f"{row} {copy}" for group in TABLE.values() for row in group["among"] for copy in range(COPIES)]
        saves = [{"content": row, "user_id": "ada"} for row in rows]
        answer = await api.http.post("memories/batch", json={"memories": saves})
        assert {result["status"] for result in answer.json()["results"]} == {201}
        yield api
    postgres_cluster.query("drop database hit_rate with (force)")


@pytest.mark.parametrize("group", TABLE)
async def test_nineteen_of_twenty_questions_find_their_row_among_the_first_ten(filled: Api, group: str) -> None:
    missed = []
    for memory, question in TABLE[group]["find"].items():
        found = await filled.recall(question, user_id="ada", limit=10)
        if memory not in [hit["content"] for hit in found["memories"]]:
            missed.append(question)
    assert len(missed) <= 0.05 * len(TABLE[group]["find"]), missed


async def test_an_identifier_is_first_among_its_likes(filled: Api) -> None:
    for memory, question in TABLE["identifiers"]["find"].items():
        found = await filled.recall(question, user_id="ada", limit=1)
        assert [hit["content"] for hit in found["memories"]] == [memory]
