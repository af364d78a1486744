"""The tables as SQLAlchemy knows them. The migrations make them; a test holds the two side by side."""

from pgvector.sqlalchemy import HALFVEC
from sqlalchemy import (
    Boolean,
    Column,
    Computed,
    DateTime,
    Double,
    FetchedValue,
    ForeignKey,
    Integer,
    MetaData,
    Table,
    Text,
    Uuid,
)
from sqlalchemy.dialects.postgresql import JSONB, TSVECTOR

metadata = MetaData()
_Instant = DateTime(timezone=True)

memories = Table(
    "memories",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("user_id", Text, nullable=False),
    Column("agent_id", Text, nullable=False),
    Column("facet", Text, nullable=False),
    Column("tier", Text, Computed("…", persisted=True), nullable=False),
    Column("kind", Text, nullable=False),
    Column("title", Text),
    Column("content", Text, nullable=False),
    Column("summary", Text),
    Column("confidence", Double, nullable=False),
    Column("metadata", JSONB, nullable=False),
    Column("about_kind", Text),
    Column("about_key", Text),
    Column("consent_category", Text),
    Column("provenance", Text),
    Column("purpose", Text),
    Column("session_id", Text),
    Column("turn_first", Integer),
    Column("turn_last", Integer),
    Column("observed_at", _Instant, nullable=False),
    Column("valid_from", _Instant),
    Column("valid_until", _Instant),
    Column("created_at", _Instant, FetchedValue(), nullable=False),
    Column("updated_at", _Instant, FetchedValue(), nullable=False),
    Column("confirmed_at", _Instant, nullable=False),
    Column("expires_at", _Instant),
    Column("evidence_count", Integer, FetchedValue(), nullable=False),
    Column("revision", Integer, FetchedValue(), nullable=False),
    Column("body_size_bytes", Integer, Computed("…", persisted=True), nullable=False),
    Column("search", TSVECTOR, Computed("…", persisted=True), nullable=False),
    Column("live_from", _Instant),
)

# What a change leaves as it is stays with the memory.
_OF_THE_MEMORY = ("id", "user_id", "agent_id", "facet", "tier", "created_at", "revision", "live_from")
memory_revisions = Table(
    "memory_revisions",
    metadata,
    Column("memory_id", Uuid, ForeignKey("memories.id", ondelete="CASCADE"), primary_key=True),
    Column("revision", Integer, primary_key=True),
    Column("live_from", _Instant, nullable=False),
    Column("live_until", _Instant, nullable=False),
    *(
        Column(column.name, column.type, nullable=column.nullable)
        for column in memories.columns
        if column.name not in _OF_THE_MEMORY
    ),
    Column("embedding", HALFVEC),
)

memory_vectors = Table(
    "memory_vectors",
    metadata,
    Column("memory_id", Uuid, ForeignKey("memories.id", ondelete="CASCADE"), primary_key=True),
    Column("embedding", HALFVEC, nullable=False),
)

embedding_queue = Table(
    "embedding_queue",
    metadata,
    Column("memory_id", Uuid, ForeignKey("memories.id", ondelete="CASCADE"), primary_key=True),
    Column("revision", Integer, nullable=False),
    Column("attempts", Integer, FetchedValue(), nullable=False),
    Column("queued_at", _Instant, FetchedValue(), nullable=False),
    Column("next_attempt_at", _Instant, FetchedValue(), nullable=False),
    Column("failed", Boolean, FetchedValue(), nullable=False),
)

relations = Table(
    "relations",
    metadata,
    Column("id", Uuid, primary_key=True),
    Column("source_id", Uuid, ForeignKey("memories.id", ondelete="CASCADE"), nullable=False),
    Column("target_id", Uuid, ForeignKey("memories.id", ondelete="CASCADE"), nullable=False),
    Column("relation_type", Text, nullable=False),
    Column("weight", Double, nullable=False),
    Column("created_at", _Instant, FetchedValue(), nullable=False),
)

store = Table(
    "store",
    metadata,
    Column("only_row", Boolean, FetchedValue(), primary_key=True),
    Column("workspace_name", Text, nullable=False),
    Column("workspace_uid", Uuid, nullable=False),
    Column("text_config", Text, nullable=False),
    Column("embedding_model", Text),
    Column("embedding_dimensions", Integer),
    Column("reembedding", Boolean, FetchedValue(), nullable=False),
    Column("claimed_at", _Instant, FetchedValue(), nullable=False),
)
