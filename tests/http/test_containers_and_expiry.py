"""Whose memories a recall reaches when little is said, containers, and expiry to the instant."""

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from api_client import Api, memory_api
from problems import refused


async def test_br_114_whoever_says_nobody_recalls_the_institution_only(api: Api) -> None:
    shared = await api.save("seats of the institution")
    await api.save("seats of ada", user_id="ada")
    await api.save("seats of bot", agent_id="bot")
    await api.save("seats of ada with bot", user_id="ada", agent_id="bot")

    for strategy in ("hybrid", "semantic", "keyword", "recent"):
        found = (await api.recall("seats", strategy=strategy))["memories"]
        assert [memory["id"] for memory in found] == [shared["id"]]


@pytest.mark.parametrize("strategy", ["hybrid", "semantic", "keyword", "recent"])
async def test_br_115_a_container_holds_in_every_arm_and_along_relations(api: Api, strategy: str) -> None:
    mine = await api.save("Alice's mother is Ruth", user_id="ada", facet="family:one")
    other = await api.save("Alice's mother is Vera", user_id="ada", facet="family:two")
    free = await api.save("Alice's mother likes tea", user_id="ada")
    for target in (other, free):
        ends = {"source_id": mine["id"], "target_id": target["id"]}
        body = {"user_id": "ada", "relation_type": "next", **ends}
        assert (await api.http.post("relations", json=body)).status_code == 201

    found = await api.recall(
        "who is Alice's mother", user_id="ada", facet="family:one", strategy=strategy, max_graph_hops=3, explain=True
    )

    assert {memory["id"] for memory in found["memories"]} == {mine["id"], free["id"]}
    assert other["id"] not in str(found)


@pytest.mark.parametrize("hours", [12, -11, 0])
async def test_br_094_a_memory_ends_at_its_instant_in_whatever_offset_it_was_said(api: Api, hours: int) -> None:
    zone = timezone(timedelta(hours=hours))
    soon = datetime.now(UTC) + timedelta(minutes=5)
    over = datetime.now(UTC) - timedelta(minutes=5)

    saved = await api.save("x1", user_id="ada", expires_at=soon.astimezone(zone).isoformat())

    assert datetime.fromisoformat(saved["expires_at"]) == soon
    assert [memory["id"] for memory in (await api.recall("x1", user_id="ada"))["memories"]] == [saved["id"]]
    body = {"content": "x1", "user_id": "ada", "expires_at": over.astimezone(zone).isoformat()}
    refused(await api.http.post("memories", json=body), 422, "body.expires_at")


async def test_br_046_with_convex_fusion_and_a_recency_floor_an_old_exact_answer_stays_above_new_notes(
    database: str, tmp_path: Path
) -> None:
    policy = tmp_path / "policy.yaml"
    policy.write_text(
        "apiVersion: keepsake.dev/v1alpha1\nkind: MemoryPolicy\nmetadata: {name: floor}\n"
        'spec: {recall: {fusion: convex, recencyFloor: "0.6"}}\n'
    )
    async with memory_api(database, policy=policy) as api:
        long_ago = (datetime.now(UTC) - timedelta(days=180)).isoformat()
        answer = await api.save("The vault code of the Lyon office is ERR-4471", user_id="ada", observed_at=long_ago)
        for number in range(20):
            await api.save(f"Note {number} on the Lyon office", user_id="ada")

        found = await api.recall("vault code of the Lyon office", user_id="ada", strategy="keyword")

    assert found["memories"][0]["id"] == answer["id"]
