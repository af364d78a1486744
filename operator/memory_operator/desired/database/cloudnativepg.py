"""A Cluster of CloudNativePG and the Database in it, with the vector extension.

CloudNativePG deletes the volumes together with the Cluster, so the Cluster itself is data: it stays unless the deletion
policy says otherwise.
"""

from typing import Any

from memory_operator.api.database import CloudNativePgDatabase
from memory_operator.desired.child import CLUSTER, DATABASE, Child
from memory_operator.desired.group import Group
from memory_operator.desired.security import resources

COMPONENT = "database"
NAME = "keepsake"


def objects(group: Group, wanted: CloudNativePgDatabase) -> list[Child]:
    """The Cluster and the Database."""
    return [cluster(group, wanted), database(group)]


def connection(group: Group) -> tuple[str, str]:
    """The Secret that CloudNativePG makes for the application, and its key."""
    return f"{group.database_name}-app", "uri"


def cluster(group: Group, wanted: CloudNativePgDatabase) -> Child:
    storage: dict[str, Any] = {"size": wanted.storage.size}
    if wanted.storage.storage_class_name is not None:
        storage["storageClass"] = wanted.storage.storage_class_name
    spec: dict[str, Any] = {
        "instances": wanted.instances,
        "storage": storage,
        "bootstrap": {"initdb": {"database": NAME, "owner": NAME}},
        "resources": resources(wanted.resources),
    }
    if wanted.image_name is not None:
        spec["imageName"] = wanted.image_name
    return Child(CLUSTER, {"metadata": group.data_metadata(COMPONENT, group.database_name), "spec": spec})


def database(group: Group) -> Child:
    spec = {
        "cluster": {"name": group.database_name},
        "name": NAME,
        "owner": NAME,
        "ensure": "present",
        "databaseReclaimPolicy": "retain",
        "extensions": [{"name": "vector", "ensure": "present"}],
    }
    return Child(DATABASE, {"metadata": group.data_metadata(COMPONENT, group.database_name), "spec": spec})
