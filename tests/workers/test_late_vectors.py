"""A vector that comes late is held to the wording it was made of, and to nothing else."""

from typing import Any

import pytest

from api_client import memory_api
from memory_api.db import embeddings
from memory_api.db.engine import transaction
from memory_api.services.context import Context


async def _change_under_a_lease(ctx: Context, api: Any, changes: dict[str, Any]) -> tuple[int, str]:
    """Change a memory while its job is leased; how many vectors were written then, and the memory's state."""
    saved = await api.save("Ada prefers window seats", user_id="ada")
    async with transaction(ctx.engine) as connection:
        (job,) = await embeddings.lease(connection, limit=10)
    answer = await api.http.patch(f"memories/{saved['id']}", json={"user_id": "ada", **changes})
    assert answer.status_code == 200, answer.text
    async with transaction(ctx.engine) as connection:
        written = await embeddings.finish(connection, [job], [[0.1] * 384], model="mock")
    opened = await api.http.get(f"memories/{saved['id']}", params={"user_id": "ada"})
    return written, opened.json()["memory"]["embedding"]


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"confidence": 0.2}, (1, "ready")),
        ({"metadata": {"tags": ["seat"]}}, (1, "ready")),
        ({"content": "Ada prefers aisle seats"}, (0, "pending")),
        ({"title": "Seats"}, (0, "pending")),
    ],
)
async def test_only_a_new_wording_makes_a_vector_stale(
    database: str, changes: dict[str, Any], expected: tuple[int, str]
) -> None:
    async with memory_api(database):
        pass  # the store takes the mock's vectors
    async with memory_api(database, provider=None, workers=False) as api:
        assert await _change_under_a_lease(api.memory_api.standing.serving(), api, changes) == expected
