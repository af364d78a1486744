"""A memory-api in this process, over a real database, for tests that speak HTTP to it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from memory_api.app import MemoryApi
from memory_api.embedding.provider import ProviderConfig
from memory_api.manifests import PolicySource
from memory_api.settings import Settings

MOCK = ProviderConfig(name="mock", type="mock", model="mock")


@dataclass(frozen=True, slots=True)
class Api:
    """`http` speaks to /api/v1, `health` to the health port's app."""

    http: httpx.AsyncClient
    health: httpx.AsyncClient
    memory_api: MemoryApi

    async def save(self, content: str, **fields: Any) -> dict[str, Any]:
        """Save through the route that fits the subject, and give the memory back."""
        route = "memories"
        if "user_id" not in fields:
            route = "agent-memories" if "agent_id" in fields else "institutional/memories"
        answer = await self.http.post(route, json={"content": content, **fields})
        assert answer.status_code == 201, answer.text
        memory: dict[str, Any] = answer.json()["memory"]
        return memory

    async def recall(self, query: str, **fields: Any) -> dict[str, Any]:
        answer = await self.http.post("memories/retrieve", json={"query": query, **fields})
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found


@asynccontextmanager
async def memory_api(
    url: str,
    *,
    provider: ProviderConfig | None = MOCK,
    policy: Path | None = None,
    workers: bool = True,
    settings: Settings | None = None,
    **options: Any,
) -> AsyncIterator[Api]:
    """Open one over the database at `url`; policy file, provider and workers as the test wants them."""
    opened = MemoryApi(
        settings or Settings(),
        database_url=url,
        provider=provider,
        policy=PolicySource(policy, interval=0.05) if policy else None,
        workers=workers,
        **options,
    )
    async with (
        opened,
        httpx.AsyncClient(
            transport=httpx.ASGITransport(opened.api, raise_app_exceptions=False), base_url="http://memory-api/api/v1/"
        ) as http,
        httpx.AsyncClient(transport=httpx.ASGITransport(opened.health), base_url="http://memory-api/") as health,
    ):
        yield Api(http, health, opened)
