"""What answers, and why: read-only and free of provider calls."""

from typing import Any

from memory_api.db import store
from memory_api.db.engine import reading
from memory_api.services.context import Context
from memory_api.services.standing import Standing


async def memory_health(ctx: Context, standing: Standing) -> dict[str, Any]:
    """Coverage: how many memories there are, and how many have their vector."""
    async with reading(ctx.engine) as connection:
        coverage = await store.coverage(connection)
    degraded = standing.degraded()
    return {
        "status": "degraded" if degraded else "ok",
        "degraded": degraded,
        "memories": coverage.memories,
        "embeddings": {
            "ready": coverage.ready,
            "pending": coverage.pending,
            "failed": coverage.failed,
            "coverage": coverage.ready / coverage.memories if coverage.memories else 1.0,
            "oldest_pending_seconds": coverage.oldest_pending_seconds,
        },
    }


async def engine_status(ctx: Context, standing: Standing) -> dict[str, Any]:
    """Which arms of recall answer and why, what the store is, and what is off.

    `off` names what this store has to do without; pgvector is all that it needs, so that today it is empty everywhere.
    """
    async with reading(ctx.engine) as connection:
        facts = await store.facts(connection)
    provider, policy = ctx.provider, ctx.policy()
    if provider is None:
        answering, why = "keyword", "no embedding Provider is configured"
    elif standing.reembedding:
        answering, why = "keyword", "the vectors of another model are being replaced; words answer until all are there"
    elif standing.embedding_fault:
        answering, why = "keyword", f"the embedding Provider's last call failed: {standing.embedding_fault}"
    else:
        answering, why = "hybrid", "the embedding Provider answers; words and meaning are fused"
    return {
        "workspace": {"name": ctx.workspace_name, "uid": str(ctx.workspace_uid)},
        "answering": answering,
        "why": why,
        "store": {
            "server_version": facts["server_version"],
            "text_config": facts["text_config"],
            "extensions": facts["extensions"],
            "off": [],
        },
        "embedding": {
            "model": facts["embedding_model"],
            "dimensions": facts["embedding_dimensions"],
            "last_fault": standing.embedding_fault,
        },
        "policy": {
            "name": policy.name,
            "state": "last good kept" if standing.policy_error else "active",
            "error": standing.policy_error,
            "watch_fault": standing.policy_fault,
            "may_merge": standing.policy is None or standing.policy.may_merge,
        },
        **await memory_health(ctx, standing),
    }
