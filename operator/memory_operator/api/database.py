"""Where the memories of one service are kept: exactly one of three kinds of PostgreSQL."""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from memory_operator.api.pods import Bytes, Resources
from memory_operator.api.quantities import rule, rules
from memory_operator.api.references import DatabaseSecretRef, ObjectName
from memory_operator.api.resource import Part

_CRON_FIELD = r"[0-9*,/-]{1,32}"
KINDS = ("managed", "cloudnativepg", "external")
_ONE = " + ".join(f"(has(self.{kind}) ? 1 : 0)" for kind in KINDS)
_SAME = " && ".join(f"has(self.{kind}) == has(oldSelf.{kind})" for kind in KINDS)


class FixedStorage(Part):
    """A volume whose claim cannot be changed once it is made."""

    model_config = ConfigDict(
        json_schema_extra=rules(
            rule(
                "self == oldSelf",
                "the volume of a managed database cannot be changed in place: add a service with the new storage, "
                "move the memories with keepsake export and import, and remove the old service",
            )
        )
    )

    size: Bytes = Field(default="10Gi", description="Size of the volume.")
    storage_class_name: ObjectName | None = Field(
        default=None, description="StorageClass of the volume. Left out, the cluster's default one."
    )


class Storage(Part):
    """A volume that may grow."""

    model_config = ConfigDict(
        json_schema_extra=rules(
            rule(
                "!has(self.size) || !has(oldSelf.size) || quantity(self.size).compareTo(quantity(oldSelf.size)) >= 0",
                "volumes only grow: write the size of before or a larger one",
                path=".size",
            )
        )
    )

    size: Bytes = Field(default="10Gi", description="Size of the volume of each instance. It may be raised.")
    storage_class_name: ObjectName | None = Field(
        default=None, description="StorageClass of the volumes. Left out, the cluster's default one."
    )


class Backup(Part):
    """Dumps of a managed database into a volume of their own."""

    schedule: Annotated[str, Field(max_length=165, pattern=rf"^{_CRON_FIELD}( {_CRON_FIELD}){{4}}$")] = Field(
        default="17 3 * * *", description="When to dump, as five cron fields in UTC."
    )
    keep: Annotated[int, Field(ge=1, le=365)] = Field(default=7, description="How many dumps are kept.")
    storage: FixedStorage = Field(default=FixedStorage(), description="The volume that holds the dumps.")


class ManagedDatabase(Part):
    """One PostgreSQL pod run by the operator, for trying out and for small use."""

    storage: FixedStorage = Field(default=FixedStorage(), description="The volume that holds the data.")
    resources: Resources = Field(default=Resources(), description="What the database's pod gets.")
    backup: Backup = Field(default=Backup(), description="Dumps into a volume of their own.")


class CloudNativePgDatabase(Part):
    """A Cluster of CloudNativePG, which brings failover, replicas, backups and growth."""

    instances: Annotated[int, Field(ge=1, le=9)] = Field(
        default=3, description="Pods: one primary, the others replicas that take over."
    )
    storage: Storage = Field(default=Storage(), description="The volume of each instance.")
    image_name: Annotated[str, Field(min_length=1, max_length=512, pattern=r"^[!-~]+$")] | None = Field(
        default=None, description="PostgreSQL image with pgvector. Left out, CloudNativePG's default one."
    )
    resources: Resources = Field(default=Resources(), description="What each pod gets.")


class ExternalDatabase(Part):
    """A PostgreSQL that somebody else runs."""

    secret_ref: DatabaseSecretRef = Field(description="The Secret that holds the address and the password.")


class Database(Part):
    """Exactly one kind of database. Its kind is for good."""

    model_config = ConfigDict(
        json_schema_extra=rules(
            rule(
                f"{_ONE} == 1",
                "write exactly one of managed, cloudnativepg and external: "
                "`managed: {}` runs a small PostgreSQL here, external.secretRef names one of yours",
            ),
            rule(
                _SAME,
                "the kind of a database cannot be changed, its memories would stay behind: add a service with the new "
                "database, move the memories with keepsake export and import, and remove the old service",
            ),
        )
    )

    managed: ManagedDatabase | None = Field(default=None, description="One PostgreSQL pod run by the operator.")
    cloudnativepg: CloudNativePgDatabase | None = Field(
        default=None, description="A Cluster of CloudNativePG, whose operator must be installed."
    )
    external: ExternalDatabase | None = Field(default=None, description="A PostgreSQL that somebody else runs.")

    @property
    def kind(self) -> Literal["managed", "cloudnativepg", "external"]:
        """Which one it is; the CRD's rule leaves no other."""
        if self.managed is not None:
            return "managed"
        return "cloudnativepg" if self.cloudnativepg is not None else "external"
