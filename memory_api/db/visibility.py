"""The one visibility predicate: which rows of `memories m` a subject may see or own.

Every read and write of memories uses it (rule 1 of the house). Nothing else in the code compares user_id or agent_id.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from memory_api.domain.subject import Subject

# recall: the subject's rows of all four tiers, a missing user or agent meaning "none".
# open:   the same, and all rows of the user, whatever their agent.
# own:    only the subject's own rows: a user's whatever their agent, else the agent's, else the institutional ones.
Reach = Literal["recall", "open", "own"]


@dataclass(frozen=True, slots=True)
class Fragment:
    """A piece of SQL and the values of its named parameters."""

    sql: str
    params: dict[str, Any]


_SHARED_AND_MINE = "m.user_id = any(cast(:see_users as text[])) and m.agent_id = any(cast(:see_agents as text[]))"


def visible(subject: Subject, reach: Reach, *, as_of: datetime | None = None, expired_too: bool = False) -> Fragment:
    """The predicate for `subject`; parameters start with `see_`. A row is seen until it expires, as of `as_of` or now.

    `expired_too` is for saying why a row is not seen.
    """
    clauses = []
    params: dict[str, Any] = {}
    if reach in ("recall", "open"):
        clause = _SHARED_AND_MINE
        params["see_users"] = sorted({"", subject.user or ""})
        params["see_agents"] = sorted({"", subject.agent or ""})
        if reach == "open" and subject.user:
            clause = f"({clause} or m.user_id = :see_user)"
            params["see_user"] = subject.user
        clauses.append(clause)
    elif subject.user:
        # The second half is what makes the partial index memories_user usable.
        clauses.append("m.user_id = :see_user and m.user_id <> ''")
        params["see_user"] = subject.user
        if subject.agent:
            clauses.append("m.agent_id = :see_agent")
            params["see_agent"] = subject.agent
    else:
        clauses.append("m.user_id = '' and m.agent_id = :see_agent")
        params["see_agent"] = subject.agent or ""
    if subject.facet:
        clauses.append("m.facet = any(cast(:see_facets as text[]))")
        params["see_facets"] = ["", subject.facet]
    if not expired_too:
        clauses.append(f"(m.expires_at is null or m.expires_at > {'now()' if as_of is None else ':see_at'})")
        params |= {} if as_of is None else {"see_at": as_of}
    return Fragment(" and ".join(clauses), params)
