"""The three kinds of database behind one front: what to make, and where the address of the database stands."""

from memory_operator.desired.child import Child
from memory_operator.desired.database import cloudnativepg, managed
from memory_operator.desired.group import Group


def database_objects(group: Group) -> list[Child]:
    """What has to exist for the database; nothing where somebody else runs it."""
    database = group.memory.database
    if database.managed is not None:
        return managed.objects(group, database.managed)
    if database.cloudnativepg is not None:
        return cloudnativepg.objects(group, database.cloudnativepg)
    return []


def connection(group: Group) -> tuple[str, str]:
    """Name of the Secret and key in it that hold postgresql://…"""
    database = group.memory.database
    if database.external is not None:
        return database.external.secret_ref.name, database.external.secret_ref.key
    if database.cloudnativepg is not None:
        return cloudnativepg.connection(group)
    return group.database_name, managed.URI
