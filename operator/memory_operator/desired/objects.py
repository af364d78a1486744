"""Everything that should exist for one service."""

from memory_operator.desired.access import role, role_binding, service_account
from memory_operator.desired.child import Child
from memory_operator.desired.config import config_map
from memory_operator.desired.database import database_objects
from memory_operator.desired.group import Group
from memory_operator.desired.memory_api import deployment
from memory_operator.desired.network import network_policy, service
from memory_operator.desired.scaling import autoscaler, disruption_budget


def desired_objects(group: Group) -> list[Child]:
    """The service's objects in the order in which they are written.

    Without a Provider there is no memory-api, but there is the database: it takes longest to come up.
    """
    found = database_objects(group)
    if group.provider is not None:
        found += [
            service_account(group),
            role(group),
            role_binding(group),
            network_policy(group),
            config_map(group),
            service(group),
            deployment(group),
        ]
        found += [child for child in (disruption_budget(group), autoscaler(group)) if child is not None]
    return sorted(found, key=lambda child: (child.kind.order, child.name))
