"""How a memory-api is reached, and by whom."""

from typing import Any

from memory_operator.desired.child import NETWORK_POLICY, SERVICE, Child
from memory_operator.desired.group import Group
from memory_operator.desired.memory_api import COMPONENT

# Namespaces that scrape metrics bear this label.
MONITORING = {"keepsake.dev/monitoring": "true"}


def service(group: Group) -> Child:
    """The Service in front of the memory-api."""
    ports = [_port("api", 8080), _port("metrics", 9090)]
    spec = {"type": "ClusterIP", "selector": group.selector(COMPONENT), "ports": ports}
    return Child(SERVICE, {"metadata": group.metadata(COMPONENT, group.name), "spec": spec})


def network_policy(group: Group) -> Child:
    """Callers are not authenticated, so only pods of the Workspace's own namespace may call; monitoring may scrape."""
    same_namespace: dict[str, Any] = {"podSelector": {}}
    spec = {
        "podSelector": {"matchLabels": group.selector(COMPONENT)},
        "policyTypes": ["Ingress"],
        "ingress": [
            {"from": [same_namespace], "ports": [_allowed(8080), _allowed(9090)]},
            {"from": [{"namespaceSelector": {"matchLabels": MONITORING}}], "ports": [_allowed(9090)]},
            # Probes come from the node, which network plugins do not count as a pod of any namespace.
            {"ports": [_allowed(8081)]},
        ],
    }
    return Child(NETWORK_POLICY, {"metadata": group.metadata(COMPONENT, group.name), "spec": spec})


def _port(name: str, number: int) -> dict[str, Any]:
    return {"name": name, "port": number, "targetPort": name, "protocol": "TCP"}


def _allowed(number: int) -> dict[str, Any]:
    return {"port": number, "protocol": "TCP"}
