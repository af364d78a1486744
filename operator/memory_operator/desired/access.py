"""What a memory-api may ask of the API server: its own ConfigMap, and nothing else."""

from memory_operator.desired.child import ROLE, ROLE_BINDING, SERVICE_ACCOUNT, Child
from memory_operator.desired.group import Group
from memory_operator.desired.memory_api import COMPONENT


def service_account(group: Group) -> Child:
    """Whom the pods are. The token is mounted by the pods that need it, not by everyone who names the account."""
    metadata = group.metadata(COMPONENT, group.name)
    return Child(SERVICE_ACCOUNT, {"metadata": metadata, "automountServiceAccountToken": False})


def role(group: Group) -> Child:
    """Reading and following exactly one ConfigMap. It is never listed: the watch begins at the present state."""
    rule = {
        "apiGroups": [""],
        "resources": ["configmaps"],
        "resourceNames": [group.name],
        "verbs": ["get", "watch"],
    }
    return Child(ROLE, {"metadata": group.metadata(COMPONENT, group.name), "rules": [rule]})


def role_binding(group: Group) -> Child:
    """The Role for the account."""
    return Child(
        ROLE_BINDING,
        {
            "metadata": group.metadata(COMPONENT, group.name),
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": group.name},
            "subjects": [{"kind": "ServiceAccount", "name": group.name, "namespace": group.owner.namespace}],
        },
    )
