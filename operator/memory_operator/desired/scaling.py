"""How many pods a memory-api has, and how many may be away at once."""

from memory_operator.api.workspace import Memory
from memory_operator.desired.child import AUTOSCALER, DISRUPTION_BUDGET, Child
from memory_operator.desired.group import Group
from memory_operator.desired.memory_api import COMPONENT


def fewest(memory: Memory) -> int:
    """The number of pods that is always there."""
    return memory.replicas if memory.autoscaling is None else memory.autoscaling.min_replicas


def disruption_budget(group: Group) -> Child | None:
    """One pod at a time. None with a single pod: a budget would only keep its node from being drained."""
    if fewest(group.memory) < 2:
        return None
    spec = {"maxUnavailable": 1, "selector": {"matchLabels": group.selector(COMPONENT)}}
    return Child(DISRUPTION_BUDGET, {"metadata": group.metadata(COMPONENT, group.name), "spec": spec})


def autoscaler(group: Group) -> Child | None:
    """The HorizontalPodAutoscaler, where the service asks for one."""
    wanted = group.memory.autoscaling
    if wanted is None:
        return None
    target = {"type": "Utilization", "averageUtilization": wanted.target_cpu_percent}
    spec = {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": group.name},
        "minReplicas": wanted.min_replicas,
        "maxReplicas": wanted.max_replicas,
        "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": target}}],
    }
    return Child(AUTOSCALER, {"metadata": group.metadata(COMPONENT, group.name), "spec": spec})
