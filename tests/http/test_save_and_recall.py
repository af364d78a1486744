"""The main job: save a memory, get it back ranked."""

from api_client import Api


async def test_a_saved_memory_comes_back_first(api: Api) -> None:
    await api.save("Ada prefers window seats on long flights", user_id="ada", type="preference")
    await api.save("Refunds are paid within 30 days", type="fact")

    found = await api.recall("which seats does ada prefer", user_id="ada")

    assert found["memories"][0]["content"] == "Ada prefers window seats on long flights"
    assert found["memories"][0]["tier"] == "user"
    assert found["strategy_used"] == "hybrid"
    assert found["degraded"] == []


async def test_the_tier_follows_from_the_subject(api: Api) -> None:
    saved = [
        await api.save("about a user", user_id="ada"),
        await api.save("about an agent", agent_id="bot"),
        await api.save("about a user as one agent knows her", user_id="ada", agent_id="bot"),
        await api.save("about the whole workspace"),
    ]

    assert [memory["tier"] for memory in saved] == ["user", "agent", "user_for_agent", "institutional"]
