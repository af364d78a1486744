"""The bodies and query strings that the API takes."""

from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import BeforeValidator, Field, StrictBool, model_validator

from memory_api.domain.memory import About, Draft
from memory_api.domain.subject import Subject, Tier
from memory_api.errors import InvalidRequest
from memory_api.http.fields import (
    Content,
    Identifier,
    Instant,
    Metadata,
    Name,
    QueryText,
    Ratio,
    Summary,
    Title,
    Turn,
)
from memory_api.http.subject import AgentBody, AgentFields, SharedBody, SharedFields, Strict, SubjectBody, SubjectFields
from memory_api.services.recall import Lookup

MAX_BATCH = 1000


def _split_commas(value: Any) -> Any:
    """In a query string `type=a,b` and `type=a&type=b` say the same."""
    if isinstance(value, list):
        return [part for item in value for part in (item.split(",") if isinstance(item, str) else [item])]
    return value


Names = Annotated[list[Name], Field(max_length=50)]
Tiers = Annotated[list[Tier], Field(max_length=4)]
QueryNames = Annotated[list[Name], BeforeValidator(_split_commas), Field(max_length=50)]
QueryTiers = Annotated[list[Tier], BeforeValidator(_split_commas), Field(max_length=4)]
Limit = Annotated[int, Field(ge=1, le=100, description="How many to give back, 1 to 100.")]
Offset = Annotated[int, Field(ge=0, le=100_000, description="For Omnia's clients; prefer cursor.")]
CursorText = Annotated[str, Field(min_length=1, max_length=512, description="The next_cursor of the page before.")]


class AboutFields(Strict):
    kind: Name
    key: Identifier


class MemoryFields(Strict):
    """What may be said of a memory, on a save and on a change."""

    type: Annotated[
        Name | None, Field(description="A kind that the tier accepts; see engine-status and the policy.")
    ] = None
    title: Title | None = None
    summary: Summary | None = None
    metadata: Metadata | None = None
    confidence: Annotated[Ratio | None, Field(description="0 to 1; unstated counts as 0.7.")] = None
    about: AboutFields | None = None
    consent_category: Name | None = None
    category: Annotated[Name | None, Field(description="Alias of consent_category.")] = None
    observed_at: Annotated[Instant | None, Field(description="When the fact was learnt; default now.")] = None
    valid_from: Instant | None = None
    valid_until: Instant | None = None
    expires_at: Instant | None = None
    session_id: Identifier | None = None
    turn_range: Annotated[
        tuple[Turn, Turn] | None, Field(description="First and last turn of the conversation, [first, last].")
    ] = None
    provenance: Name | None = None
    purpose: Name | None = None

    @model_validator(mode="after")
    def _turns_in_order(self) -> Self:
        if self.turn_range and self.turn_range[0] > self.turn_range[1]:
            raise ValueError("turn_range must be [first, last] with first <= last")
        return self

    @model_validator(mode="after")
    def _one_category(self) -> Self:
        if "category" in self.model_fields_set:
            if "consent_category" in self.model_fields_set and self.consent_category != self.category:
                raise ValueError("consent_category and category name different values; state one")
            self.consent_category = self.category
        return self


class WholeMemory(MemoryFields):
    """Everything that may be said of a memory when it is saved."""

    content: Content

    def draft(self, subject: Subject) -> Draft:
        return Draft(
            subject=subject,
            content=self.content,
            kind=self.type,
            title=self.title,
            summary=self.summary,
            confidence=self.confidence,
            metadata=self.metadata or {},
            about=About(self.about.kind, self.about.key) if self.about else None,
            consent_category=self.consent_category,
            provenance=self.provenance,
            purpose=self.purpose,
            session_id=self.session_id,
            turn_range=self.turn_range,
            observed_at=self.observed_at,
            valid_from=self.valid_from,
            valid_until=self.valid_until,
            expires_at=self.expires_at,
        )


class SharedSave(WholeMemory, SharedBody):
    """A memory of the institution; the caller answers for the content."""


class AgentSave(WholeMemory, AgentBody):
    """A memory of one agent; agent_id (or agent) is required."""


class Save(WholeMemory, SubjectBody):
    """A memory about a user, an agent, or a user as one agent knows them."""


class BatchSave(Strict):
    """Up to 1,000 saves. Each is held against the schema of a single save by itself."""

    memories: Annotated[list[Any], Field(min_length=1, max_length=MAX_BATCH)]


class Patch(MemoryFields, SubjectBody):
    """Only the fields that are stated change; null clears an optional one."""

    content: Content | None = None

    def changes(self) -> dict[str, Any]:
        """The stated fields by the names of `Draft`."""
        names = (set(MemoryFields.model_fields) - {"category"} | {"content"}) & self.model_fields_set
        said = {("kind" if name == "type" else name): getattr(self, name) for name in names}
        if said.get("about") is not None:
            said["about"] = About(said["about"].kind, said["about"].key)
        return said

    @model_validator(mode="after")
    def _required_stay(self) -> Self:
        for name in ("content", "type", "metadata", "confidence", "observed_at"):
            if name in self.model_fields_set and getattr(self, name) is None:
                raise ValueError(f"{name} cannot be cleared; leave it out to keep it")
        if not self.changes():
            raise ValueError("states no field to change")
        return self


class LookupFields(Strict):
    """Rows wanted by what they are: they follow the hits, beside the limit and within the token budget."""

    user_id: Annotated[Identifier | None, Field(description="The request's own user, if stated.")] = None
    agent_id: Annotated[Identifier | None, Field(description="The request's own agent, if stated.")] = None
    kinds: Names = []
    name_prefix: Annotated[Title | None, Field(description="How the title or the about key begins.")] = None
    purpose: Name | None = None
    limit: Annotated[int, Field(ge=1, le=50, strict=True)] = 10

    def lookup(self, subject: Subject) -> Lookup:
        """The lookup, within the request's subject.

        Raises:
            InvalidRequest: it names another subject.
        """
        for name, said, own in (("user_id", self.user_id, subject.user), ("agent_id", self.agent_id, subject.agent)):
            if said is not None and said != own:
                raise InvalidRequest(
                    f"structured_lookups: {name} must be the request's own {name}",
                    [(("body", "structured_lookups", name), f"must be the request's own {name}")],
                )
        return Lookup(self.kinds, self.name_prefix, self.purpose, self.limit)


class RetrieveByMeaning(SubjectBody):
    """A recall by meaning alone. Times look at observed_at; a window filters, words in the query never do."""

    query: Annotated[QueryText, Field(description="The question; empty gives the newest first.")] = ""
    types: Names = []
    kinds: Annotated[Names, Field(description="Alias of types.")] = []
    tiers: Tiers = []
    purposes: Names = []
    relation_types: Annotated[Names, Field(description="Relations that may be followed; default the policy's.")] = []
    seed_entity_ids: Annotated[list[UUID], Field(max_length=50, description="Memories to walk from as well.")] = []
    structured_lookups: Annotated[list[LookupFields], Field(max_length=10)] = []
    max_graph_hops: Annotated[int | None, Field(ge=0, le=5, strict=True)] = None
    min_confidence: Ratio | None = None
    min_relevance: Annotated[Ratio | None, Field(description="Floor for max(cosine, share of the query's words).")] = (
        None
    )
    limit: Annotated[Limit, Field(strict=True)] = 15
    token_budget: Annotated[
        int | None, Field(ge=1, le=8000, strict=True, description="Most tokens to give back, of 4 characters each.")
    ] = None
    previews: Annotated[StrictBool, Field(description="Large bodies as previews; open gives the rest.")] = False
    fold_similar: Annotated[
        StrictBool, Field(description="Near-identical hits as one; `folded` names what it stands for.")
    ] = False
    since: Instant | None = None
    until: Instant | None = None
    as_of: Annotated[
        Instant | None,
        Field(description="Recall as of then: what was observed, worded and live at that time; decay counts from it."),
    ] = None
    explain: Annotated[StrictBool, Field(description="Say on every hit why it stands where it stands.")] = False


class Retrieve(RetrieveByMeaning):
    """A recall. Times look at observed_at; a window filters, words in the query never do."""

    strategy: Annotated[
        Literal["hybrid", "semantic", "keyword", "recent", "exact"], Field(description="exact is an alias of recent.")
    ] = "hybrid"


class Preview(Retrieve):
    """A recall for the playground."""

    why_not: Annotated[UUID | None, Field(description="Say why this memory is not among the hits.")] = None


class OneSubject(SubjectFields):
    """The query string of a route that needs only a subject."""


class Paging(Strict):
    """Which page of a list."""

    limit: Limit = 20
    offset: Offset = 0
    cursor: CursorText | None = None
    count: Annotated[bool, Field(description="Also give the total.")] = False

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if self.cursor is not None and self.offset:
            raise ValueError("cursor and offset both say where the page begins; state one")
        return self


class ListQuery(SubjectFields, Paging):
    type: QueryNames = []
    tier: QueryTiers = []
    about_kind: Name | None = None
    about_key: Identifier | None = None
    since: Instant | None = None
    until: Instant | None = None
    include_shared: Annotated[bool, Field(description="Also what the subject shares with others.")] = False


class SearchQuery(SubjectFields):
    # A longer one may not fit into the 64 KiB that the HTTP server takes as an address; retrieve takes it in a body.
    q: Annotated[QueryText, Field(min_length=1, max_length=4096)]
    type: QueryNames = []
    tier: QueryTiers = []
    min_confidence: Annotated[float | None, Field(ge=0, le=1, allow_inf_nan=False)] = None
    limit: Limit = 20


class SharedListQuery(SharedFields, Paging):
    type: QueryNames = []


class AgentListQuery(AgentFields, Paging):
    type: QueryNames = []


class RelationSave(SubjectBody):
    source_id: UUID
    target_id: UUID
    relation_type: Name
    weight: Annotated[Ratio, Field(description="How much of a score the edge passes on.")] = 1.0


class RelationListQuery(SubjectFields):
    memory_id: UUID | None = None
    limit: Limit = 20
    cursor: CursorText | None = None
