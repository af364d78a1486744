"""Vectors of two models never stand side by side, whichever replica writes."""

from sqlalchemy import text

from api_client import memory_api
from memory_api.db.engine import reading
from memory_api.embedding.provider import ProviderConfig

OLD = ProviderConfig(name="old", type="mock", model="old", dimensions=64)
NEW = ProviderConfig(name="new", type="mock", model="new", dimensions=64)


async def test_a_replica_of_the_model_before_writes_texts_and_no_vectors(database: str) -> None:
    async with memory_api(database, provider=OLD, workers=False) as before:
        first = await before.save("zebra", user_id="ada")
        async with memory_api(database, provider=NEW, workers=False, reembed=True) as after:
            late = await before.save("lantern", user_id="ada")
            changed = await before.http.patch(f"memories/{first['id']}", json={"user_id": "ada", "content": "zebras"})
            async with reading(after.memory_api.standing.serving().engine) as connection:
                vectors = await connection.scalar(text("select count(*) from memory_vectors"))
                waiting = await connection.scalar(text("select count(*) from embedding_queue"))

    assert first["embedding"] == "ready"
    assert late["embedding"] == "pending"
    assert changed.json()["memory"]["embedding"] == "pending"
    assert (vectors, waiting) == (0, 2)
