"""The memory: what is saved and what is given back, as plain values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from memory_api.domain.subject import Subject, Tier

UNSTATED_CONFIDENCE = 0.7
MAX_CONTENT_CHARACTERS = 1_048_576

EmbeddingState = Literal["ready", "pending", "failed", "none"]


@dataclass(frozen=True, slots=True)
class About:
    """What an observation is about: the key under which a newer one replaces it."""

    kind: str
    key: str


@dataclass(frozen=True, slots=True)
class Draft:
    """A memory as its writer states it. Fields left None take the rule of the policy in force."""

    subject: Subject
    content: str
    kind: str | None = None
    title: str | None = None
    summary: str | None = None
    confidence: float | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    about: About | None = None
    consent_category: str | None = None
    provenance: str | None = None
    purpose: str | None = None
    session_id: str | None = None
    turn_range: tuple[int, int] | None = None
    observed_at: datetime | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    expires_at: datetime | None = None

    @property
    def text_to_embed(self) -> str:
        """What the vector stands for: the title leads where there is one."""
        return f"{self.title}\n{self.content}" if self.title else self.content


@dataclass(frozen=True, slots=True)
class Memory:
    """A memory as it is stored. `content` is empty and `preview` set when only a preview was read."""

    id: UUID
    tier: Tier
    subject: Subject
    kind: str
    title: str | None
    content: str
    summary: str | None
    confidence: float
    metadata: Mapping[str, Any]
    about: About | None
    consent_category: str | None
    provenance: str | None
    purpose: str | None
    session_id: str | None
    turn_range: tuple[int, int] | None
    observed_at: datetime
    valid_from: datetime | None
    valid_until: datetime | None
    created_at: datetime
    updated_at: datetime
    confirmed_at: datetime
    expires_at: datetime | None
    evidence_count: int
    revision: int
    body_size_bytes: int
    embedding: EmbeddingState
    preview: str | None = None


@dataclass(frozen=True, slots=True)
class Relation:
    """A typed edge from one memory to another; `weight` is 0 to 1."""

    id: UUID
    source_id: UUID
    target_id: UUID
    relation_type: str
    weight: float
    created_at: datetime
