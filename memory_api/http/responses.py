"""The bodies that the API gives: models for the OpenAPI document, and the one way from a memory to its JSON."""

from typing import Any, Literal
from urllib.parse import urlencode
from uuid import UUID

from fastapi import Response
from pydantic import AwareDatetime, BaseModel, ConfigDict
from pydantic_core import to_json

from memory_api.domain.memory import EmbeddingState, Memory, Relation
from memory_api.domain.subject import Tier


class _Out(BaseModel):
    model_config = ConfigDict(extra="forbid")


class RelationOut(_Out):
    id: UUID
    source_id: UUID
    target_id: UUID
    relation_type: str
    weight: float
    created_at: AwareDatetime


class ArmOut(_Out):
    rank: int
    score: float
    coverage: float | None = None


class VectorArmOut(_Out):
    rank: int
    cosine: float


class ViaOut(_Out):
    memory_id: UUID
    relation_type: str


class ExplainOut(_Out):
    """score = (fused + what the session adds) x decay x tier_weight; an arm that did not find the memory is absent."""

    lexical: ArmOut | None = None
    vector: VectorArmOut | None = None
    session_rank: int | None = None
    in_asked_time: bool | None = None
    fused: float | None = None
    decay: float
    tier_weight: float
    via: ViaOut | None = None
    lookup: int | None = None


class AboutOut(_Out):
    kind: str
    key: str


class MemoryOut(_Out):
    id: UUID
    tier: Tier
    type: str
    title: str | None = None
    content: str
    content_preview: str | None = None
    has_full_body: bool | None = None
    summary: str | None = None
    confidence: float
    metadata: dict[str, Any]
    user_id: str | None = None
    agent_id: str | None = None
    facet: str | None = None
    about: AboutOut | None = None
    consent_category: str | None = None
    provenance: str | None = None
    purpose: str | None = None
    session_id: str | None = None
    turn_range: tuple[int, int] | None = None
    observed_at: AwareDatetime
    valid_from: AwareDatetime | None = None
    valid_until: AwareDatetime | None = None
    created_at: AwareDatetime
    updated_at: AwareDatetime
    confirmed_at: AwareDatetime
    expires_at: AwareDatetime | None = None
    evidence_count: int
    revision: int
    embedding: EmbeddingState
    body_size_bytes: int
    score: float | None = None
    explain: ExplainOut | None = None
    related: list[RelationOut] | None = None
    folded: list[UUID] | None = None


class Opened(_Out):
    memory: MemoryOut


class SavedOut(_Out):
    memory: MemoryOut
    action: str
    supersedes: list[UUID]
    supersede_reason: str | None = None
    potential_duplicates: list[Any]


class BatchItem(_Out):
    status: int
    memory: MemoryOut | None = None
    action: str | None = None
    error: dict[str, Any] | None = None


class BatchOut(_Out):
    results: list[BatchItem]


class ListOut(_Out):
    memories: list[MemoryOut]
    next_cursor: str | None = None
    total: int | None = None


class RecallOut(_Out):
    memories: list[MemoryOut]
    total: int
    degraded: list[str]
    strategy_used: str
    no_relevant: bool
    asked_times: list[str]
    none_in_time: bool


class WhyNotOut(_Out):
    """Why a memory is not among the hits; `place` of `of` in the whole ranking where it is ranked at all."""

    id: UUID
    reason: str
    detail: str
    place: int | None = None
    of: int | None = None
    explain: ExplainOut | None = None


class PreviewOut(RecallOut):
    why_not: WhyNotOut | None = None


class RelationsOut(_Out):
    relations: list[RelationOut]
    next_cursor: str | None = None


class ForgottenOut(_Out):
    id: UUID
    outcome: str


class EmbeddingsOut(_Out):
    ready: int
    pending: int
    failed: int
    coverage: float
    oldest_pending_seconds: float


class MemoryHealthOut(_Out):
    status: Literal["ok", "degraded"]
    degraded: list[str]
    memories: int
    embeddings: EmbeddingsOut


class WorkspaceOut(_Out):
    name: str
    uid: UUID


class OffOut(_Out):
    extension: str
    brings: str


class StoreOut(_Out):
    server_version: str
    text_config: str
    extensions: dict[str, str]
    off: list[OffOut]


class EmbedderOut(_Out):
    model: str | None
    dimensions: int | None
    last_fault: str | None


class PolicyOut(_Out):
    name: str
    state: str
    error: str | None
    watch_fault: str | None
    may_merge: bool


class EngineStatusOut(MemoryHealthOut):
    workspace: WorkspaceOut
    answering: str
    why: str
    store: StoreOut
    embedding: EmbedderOut
    policy: PolicyOut


def reply(body: dict[str, Any], status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """JSON as it is: absent fields are absent, text is UTF-8, times carry their offset. No proxy may keep it."""
    return Response(to_json(body), status, {"Cache-Control": "no-store", **(headers or {})}, "application/json")


def etag(memory: Memory) -> str:
    """What If-Match takes."""
    return f'"{memory.revision}"'


def location(memory: Memory) -> str:
    """Where the memory can be opened, with the subject that may see it."""
    subject = {"user_id": memory.subject.user, "agent_id": memory.subject.agent, "facet": memory.subject.facet}
    query = urlencode({name: value for name, value in subject.items() if value is not None})
    return f"/api/v1/memories/{memory.id}" + (f"?{query}" if query else "")


def memory_json(memory: Memory) -> dict[str, Any]:
    """A memory as the contract shows it. Fields without a value are left out."""
    subject = memory.subject
    body: dict[str, Any] = {
        "id": memory.id,
        "tier": memory.tier,
        "type": memory.kind,
        "title": memory.title,
        "content": memory.content,
        "content_preview": memory.preview,
        "has_full_body": True if memory.preview is not None else None,
        "summary": memory.summary,
        "confidence": memory.confidence,
        "metadata": {**memory.metadata, "evidence_count": memory.evidence_count},
        "user_id": subject.user,
        "agent_id": subject.agent,
        "facet": subject.facet,
        "about": {"kind": memory.about.kind, "key": memory.about.key} if memory.about else None,
        "consent_category": memory.consent_category,
        "provenance": memory.provenance,
        "purpose": memory.purpose,
        "session_id": memory.session_id,
        "turn_range": memory.turn_range,
        "observed_at": memory.observed_at,
        "valid_from": memory.valid_from,
        "valid_until": memory.valid_until,
        "created_at": memory.created_at,
        "updated_at": memory.updated_at,
        "confirmed_at": memory.confirmed_at,
        "expires_at": memory.expires_at,
        "evidence_count": memory.evidence_count,
        "revision": memory.revision,
        "embedding": memory.embedding,
        "body_size_bytes": memory.body_size_bytes,
    }
    return {key: value for key, value in body.items() if value is not None}


def relation_json(relation: Relation) -> dict[str, Any]:
    return {
        "id": relation.id,
        "source_id": relation.source_id,
        "target_id": relation.target_id,
        "relation_type": relation.relation_type,
        "weight": relation.weight,
        "created_at": relation.created_at,
    }
