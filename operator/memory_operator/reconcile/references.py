"""What a service refers to, looked up: policy, Provider and secrets.

What runs is not taken down because something it was made from is gone: a missing policy or Provider is taken from the
ConfigMap that was last rendered, and a missing secret leaves the Deployment as it is.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from memory_operator.api.reasons import ConditionType, Reason
from memory_operator.api.workspace import Memory, Service
from memory_operator.desired import names
from memory_operator.desired.child import CONFIG_MAP, DEPLOYMENT
from memory_operator.desired.config import rendered
from memory_operator.desired.database import connection
from memory_operator.desired.group import Group, Images, Referent
from memory_operator.observe.secrets import combined
from memory_operator.runtime.view import View


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that a person has to mend. `message` names the object and the field."""

    type: ConditionType
    reason: Reason
    message: str


@dataclass(frozen=True, slots=True)
class Resolution:
    """A service in mode managed with what it refers to.

    `held`: the memory-api's objects can be neither built nor taken down, and stay as they are.
    """

    group: Group
    problems: tuple[Problem, ...] = ()
    held: bool = False


@dataclass(slots=True)
class _Search:
    """Collects what is found, and what is not."""

    view: View
    problems: list[Problem] = field(default_factory=list)
    digests: list[str] = field(default_factory=list)

    def miss(self, reason: Reason, message: str, type_: ConditionType = ConditionType.REFERENCES) -> None:
        self.problems.append(Problem(type_, reason, message))

    def secret(self, name: str, key: str, field_: str, *, database: bool = False) -> str:
        """The digest of a value, noted; `""` with a problem where it cannot be used."""
        namespace = self.view.owner.namespace
        secret = self.view.secrets.get(name)
        if secret is None:
            self.miss(Reason.SECRET_NOT_FOUND, f"{field_}: there is no Secret {name} in namespace {namespace}")
            return ""
        value = secret.keys.get(key)
        if value is None:
            there = ", ".join(sorted(secret.keys)) or "none"
            self.miss(Reason.SECRET_KEY_MISSING, f"{field_}: Secret {name} has no key {key}; its keys: {there}")
            return ""
        fault = value.fault or ("does not start with postgresql://" if database and not value.database else "")
        if fault:
            self.miss(Reason.SECRET_VALUE_UNUSABLE, f"{field_}: key {key} of Secret {name} {fault}")
            return ""
        self.digests.append(value.digest)
        return value.digest


def resolve(view: View, service: Service, images: Images) -> Resolution:
    """The service with everything it refers to."""
    memory = service.memory
    if memory is None:
        raise ValueError(f"service {service.name} has no memory: the CRD's rule lets none in")
    search = _Search(view)
    name = names.memory_api(view.owner.name, service.name)
    config = view.child(CONFIG_MAP, name)
    policy, policy_known = _policy(search, memory, config)
    provider, provider_known = _provider(search, memory, config)
    if provider is not None and (credential := provider.spec.get("credential")):
        reference = credential["secretRef"]
        search.secret(reference["name"], reference["key"], f"Provider {provider.name}, spec.credential.secretRef")
    live = view.child(DEPLOYMENT, name)
    group = Group(
        owner=view.owner,
        service=service.name,
        memory=memory,
        images=images,
        provider=provider,
        policy=policy,
        restarted_at=view.restarted_at,
        live_replicas=live["spec"].get("replicas") if live else None,
        scaled_by_other=bool(live and _replicas_are_anothers(live)),
    )
    waiting = _database_secret(search, group)
    unusable = [problem for problem in search.problems if problem.reason in _STOPS]
    held = bool(unusable) or waiting or not policy_known or not provider_known
    if memory.provider_ref is None:
        held = False
    return Resolution(replace(group, secrets=combined(search.digests)), tuple(search.problems), held=held)


_STOPS = frozenset(
    {Reason.SECRET_NOT_FOUND, Reason.SECRET_KEY_MISSING, Reason.SECRET_VALUE_UNUSABLE, Reason.DATABASE_SHARED}
)


def _policy(search: _Search, memory: Memory, config: Mapping[str, Any] | None) -> tuple[Referent | None, bool]:
    """The policy, and whether it is known what holds. Without a reference the defaults do."""
    if memory.policy_ref is None:
        return None, True
    name = memory.policy_ref.name
    live = search.view.policies.get(name)
    if live is not None:
        return _referent(live), True
    last = rendered(config, "policy")
    kept = f"; {last.name} as last rendered holds" if last else ""
    search.miss(Reason.POLICY_NOT_FOUND, f"memory.policyRef: there is no MemoryPolicy {name}{kept}")
    return last, last is not None


def _provider(search: _Search, memory: Memory, config: Mapping[str, Any] | None) -> tuple[Referent | None, bool]:
    if memory.provider_ref is None:
        return None, True
    name, namespace = memory.provider_ref.name, search.view.owner.namespace
    live = search.view.providers.get(name)
    if live is not None:
        return _referent(live), True
    last = rendered(config, "provider")
    kept = f"; {last.name} as last rendered holds" if last else ""
    search.miss(
        Reason.PROVIDER_NOT_FOUND, f"memory.providerRef: there is no Provider {name} in namespace {namespace}{kept}"
    )
    return last, last is not None


def _database_secret(search: _Search, group: Group) -> bool:
    """Look at the database's address; whether it is still to come.

    A managed password is made in the same pass and never changes: it stays out of the digest, which would else differ
    between the first pass and the second.
    """
    database = group.memory.database
    if database.managed is not None:
        return False
    name, key = connection(group)
    if database.cloudnativepg is not None:
        secret = search.view.secrets.get(name)
        if secret is None or key not in secret.keys:
            return True
        search.digests.append(secret.keys[key].digest)
        return False
    digest = search.secret(name, key, "memory.database.external.secretRef", database=True)
    first = search.view.claims.get(digest)
    own = f"{group.owner.namespace}/{group.owner.name}/{group.service}"
    if digest and first not in (None, own):
        search.miss(
            Reason.DATABASE_SHARED,
            f"Secret {name} holds the address that {first} uses already: give each service a database of its own",
            ConditionType.DATABASE,
        )
    return False


def _referent(live: Mapping[str, Any]) -> Referent:
    metadata = live["metadata"]
    return Referent(metadata["name"], int(metadata.get("generation", 0)), live.get("spec") or {})


def _replicas_are_anothers(live: Mapping[str, Any]) -> bool:
    """Whether the number of replicas was written through the scale subresource, as an autoscaler does."""
    return any(
        entry.get("subresource") == "scale" and "f:replicas" in (entry.get("fieldsV1", {}).get("f:spec") or {})
        for entry in live["metadata"].get("managedFields", ())
    )
