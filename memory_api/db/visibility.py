"""The one visibility predicate: which rows of `memories m` a subject may see or own.

Every read and write of memories uses it (rule 1 of the house). Nothing else in the code compares user_id or agent_id.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from memory_api.domain.subject import Subject, Tier

# recall: the subject's rows of all four tiers, a missing user or agent meaning "none".
# open:   the same, and all rows of the user, whatever their agent.
# own:    only the subject's own rows: a user's whatever their agent, else the agent's, else the institutional ones.
Reach = Literal["recall", "open", "own"]


@dataclass(frozen=True, slots=True)
class Fragment:
    """A piece of SQL and the values of its named parameters.

    `branches` say the same in parts that exclude each other, each of which an index can give in order: what is read a
    page at a time is read from them.
    """

    sql: str
    params: dict[str, Any]
    branches: tuple[str, ...] = ()


# By tier, whether a row of it has a user and an agent.
_OWNERS: dict[Tier, tuple[bool, bool]] = {
    "institutional": (False, False),
    "agent": (False, True),
    "user": (True, False),
    "user_for_agent": (True, True),
}
_SHARED_AND_MINE = "m.user_id = any(cast(:see_users as text[])) and m.agent_id = any(cast(:see_agents as text[]))"


def visible(
    subject: Subject,
    reach: Reach,
    *,
    tiers: Sequence[Tier] = (),
    as_of: datetime | None = None,
    expired_too: bool = False,
) -> Fragment:
    """The predicate for `subject`; parameters start with `see_`. A row is seen until it expires, as of `as_of` or now.

    `tiers` narrows it to what rows of them can be: a filter on tiers is still needed, but no longer spans the others.
    `expired_too` is for saying why a row is not seen.
    """
    if reach == "own":
        clause, branches, params = _own(subject)
    else:
        clause, branches, params = _shared_too(subject, reach, tiers)
    more = []
    if subject.facet:
        more.append("m.facet = any(cast(:see_facets as text[]))")
        params["see_facets"] = ["", subject.facet]
    if not expired_too:
        more.append(f"(m.expires_at is null or m.expires_at > {'now()' if as_of is None else ':see_at'})")
        params |= {} if as_of is None else {"see_at": as_of}
    return Fragment(" and ".join([clause, *more]), params, tuple(" and ".join([branch, *more]) for branch in branches))


def _own(subject: Subject) -> tuple[str, list[str], dict[str, Any]]:
    if subject.user:
        # The second half is what makes the partial index memories_user usable.
        clause, params = "m.user_id = :see_user and m.user_id <> ''", {"see_user": subject.user}
        if subject.agent:
            clause, params = f"{clause} and m.agent_id = :see_agent", {**params, "see_agent": subject.agent}
    else:
        clause, params = "m.user_id = '' and m.agent_id = :see_agent", {"see_agent": subject.agent or ""}
    return clause, [clause], params


def _shared_too(subject: Subject, reach: Reach, tiers: Sequence[Tier]) -> tuple[str, list[str], dict[str, Any]]:
    owners = [
        owner
        for owner in (_OWNERS[tier] for tier in tiers or _OWNERS)
        if (subject.user or not owner[0]) and (subject.agent or not owner[1])
    ]
    every_agent = reach == "open" and subject.user and (not tiers or any(_OWNERS[tier][0] for tier in tiers))
    clause = _SHARED_AND_MINE
    params: dict[str, Any] = {
        "see_users": sorted({subject.user or "" if user else "" for user, _ in owners}),
        "see_agents": sorted({subject.agent or "" if agent else "" for _, agent in owners}),
        "see_user": subject.user or "",
        "see_agent": subject.agent or "",
    }
    if every_agent:
        clause = f"({clause} or m.user_id = :see_user)"
    branches = [
        f"m.user_id = {':see_user' if user else chr(39) * 2} and m.agent_id = {':see_agent' if agent else chr(39) * 2}"
        for user, agent in dict.fromkeys(owners)
        if not (every_agent and user)
    ]
    if every_agent:
        branches.append("m.user_id = :see_user and m.user_id <> ''")
    return clause, branches or ["false"], params
