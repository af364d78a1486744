"""What a save must hold, and what it gets when its writer leaves a field out."""

from dataclasses import replace
from datetime import datetime, timedelta

from memory_api.domain.memory import UNSTATED_CONFIDENCE, Draft
from memory_api.domain.policy import Kind, Policy, Ttl
from memory_api.domain.subject import Tier, policy_tier
from memory_api.errors import InvalidRequest

BUILT_IN_KINDS = tuple(
    Kind(name)
    for name in (
        "fact",
        "preference",
        "observation",
        "event",
        "decision",
        "procedure",
        "summary",
        "knowledge_reference",
        "factual",
        "episodic",
        "procedural",
        "semantic",
    )
)
DEFAULT_KIND = "observation"
CLOCK_SKEW = timedelta(minutes=5)


def kinds_of(policy: Policy, tier: Tier) -> list[str]:
    """The kinds that `tier` accepts: the policy's list replaces the built-in one."""
    rule = policy_tier(tier)
    return [kind.name for kind in policy.kinds or BUILT_IN_KINDS if not kind.tiers or rule in kind.tiers]


def admit(draft: Draft, policy: Policy, *, now: datetime) -> Draft:
    """The draft with every field decided: kind, confidence, times and expiry.

    Raises:
        InvalidRequest: a kind that the tier does not accept, or times that cannot be.
    """
    tier = draft.subject.tier
    observed_at = draft.observed_at or now
    if observed_at > now + CLOCK_SKEW:
        raise _invalid("observed_at", "must not be more than 5 minutes ahead: it says when the fact was learnt")
    if draft.valid_from and draft.valid_until and draft.valid_until <= draft.valid_from:
        raise _invalid("valid_until", "must be later than valid_from")
    return replace(
        draft,
        kind=decide_kind(draft.kind, policy, tier),
        confidence=UNSTATED_CONFIDENCE if draft.confidence is None else draft.confidence,
        observed_at=observed_at,
        expires_at=decide_expiry(draft.expires_at, draft.consent_category, policy, tier, now=now),
    )


def decide_kind(stated: str | None, policy: Policy, tier: Tier) -> str:
    """The stated kind when the tier accepts it; unstated: `observation`, else the first that it accepts."""
    accepted = kinds_of(policy, tier)
    if stated is None and accepted:
        return DEFAULT_KIND if DEFAULT_KIND in accepted else accepted[0]
    if stated not in accepted:
        listed = ", ".join(accepted) or "none"
        raise _invalid("type", f"is not a type that the {tier} tier accepts; accepted: {listed}")
    return stated


def decide_expiry(
    stated: datetime | None, category: str | None, policy: Policy, tier: Tier, *, now: datetime
) -> datetime | None:
    """The stated expiry, else `now` + the tier's `ttl.default`; never later than `now` + `ttl.maxAge`."""
    if stated is not None and stated <= now:
        raise _invalid("expires_at", "must be in the future")
    ttl = ttl_of(policy, tier, category)
    expiry = stated if stated is not None else now + ttl.default if ttl.default else None
    if ttl.max_age is None:
        return expiry
    latest = now + ttl.max_age
    return latest if expiry is None else min(expiry, latest)


def ttl_of(policy: Policy, tier: Tier, category: str | None) -> Ttl:
    """The tier's rule, or the category's where the tier has one for it."""
    rules = policy.tiers.get(policy_tier(tier))
    if rules is None:
        return Ttl()
    return rules.per_category.get(category, rules.ttl) if category else rules.ttl


def _invalid(field: str, text: str) -> InvalidRequest:
    return InvalidRequest(f"{field} {text}", [((field,), text)])
