"""One PostgreSQL pod of our own image: for trying out and for small use.

The password is drawn once, when the Secret is created, and never applied: an apply from a stale view would change it
under a database that knows the old one. Volumes outlive the StatefulSet unless the deletion policy says otherwise.
"""

from typing import Any

from memory_operator.api.database import FixedStorage, ManagedDatabase
from memory_operator.desired import names
from memory_operator.desired.child import CLAIM, CRON_JOB, NETWORK_POLICY, SECRET, SERVICE, STATEFUL_SET, Child
from memory_operator.desired.group import Group
from memory_operator.desired.security import container_security, pod_security, resources

COMPONENT = "database"
BACKUP = "backup"
URI = "uri"
# Any uid of the image may write to the volumes through this group.
FS_GROUP = 10001
_SECRET_DIR, _DATA_DIR, _BACKUP_DIR = "/etc/keepsake/database", "/var/lib/postgresql/data", "/backups"
# The dump is complete before it bears its name, and old ones go only after a new one is there.
_DUMP = """set -eu
export PGPASSFILE=/tmp/pgpass
printf '%s:5432:*:keepsake:%s' "$PGHOST" "$(cat /etc/keepsake/database/password)" > "$PGPASSFILE"
chmod 0600 "$PGPASSFILE"
name=/backups/keepsake-$(date -u +%Y%m%dT%H%M%SZ).dump
rm -f /backups/*.part
pg_dump --username=keepsake --dbname=keepsake --format=custom --file="$name.part"
mv "$name.part" "$name"
ls -1 /backups/*.dump | sort | head -n "-$KEEP" | xargs -r rm -f
"""


def objects(group: Group, wanted: ManagedDatabase) -> list[Child]:
    """Everything that the database consists of."""
    return [
        secret(group),
        network_policy(group),
        headless_service(group),
        stateful_set(group, wanted),
        backup_claim(group, wanted),
        backup_job(group, wanted),
    ]


def secret(group: Group) -> Child:
    """User, password and address, made once."""
    name = group.database_name
    host = f"{name}.{group.owner.namespace}.svc"
    generated = {
        "username": "keepsake",
        "password": "{password}",
        "uri": f"postgresql://keepsake:{{password}}@{host}:5432/keepsake",
    }
    body = {"metadata": group.data_metadata(COMPONENT, name), "type": "Opaque"}
    return Child(SECRET, body, generated=generated, guards=name)


def headless_service(group: Group) -> Child:
    spec = {
        "clusterIP": "None",
        "selector": group.selector(COMPONENT),
        "ports": [{"name": "postgresql", "port": 5432, "targetPort": "postgresql", "protocol": "TCP"}],
    }
    return Child(SERVICE, {"metadata": group.metadata(COMPONENT, group.database_name), "spec": spec})


def network_policy(group: Group) -> Child:
    """Only this service's memory-api and its backup connect."""
    callers = [{"podSelector": {"matchLabels": group.selector(component)}} for component in ("memory-api", BACKUP)]
    spec = {
        "podSelector": {"matchLabels": group.selector(COMPONENT)},
        "policyTypes": ["Ingress"],
        "ingress": [{"from": callers, "ports": [{"port": 5432, "protocol": "TCP"}]}],
    }
    return Child(NETWORK_POLICY, {"metadata": group.metadata(COMPONENT, group.database_name), "spec": spec})


def stateful_set(group: Group, wanted: ManagedDatabase) -> Child:
    """The StatefulSet. It goes with the Workspace; its volume does so only where the deletion policy says so."""
    name = group.database_name
    template = {"metadata": {"name": "data"}, "spec": _claim(wanted.storage)}
    when_deleted = "Delete" if group.memory.deletion_policy == "Delete" else "Retain"
    spec = {
        "replicas": 1,
        "serviceName": name,
        "selector": {"matchLabels": group.selector(COMPONENT)},
        "persistentVolumeClaimRetentionPolicy": {"whenDeleted": when_deleted, "whenScaled": "Retain"},
        "volumeClaimTemplates": [template],
        "template": {
            "metadata": {"labels": group.labels(COMPONENT)},
            "spec": {
                **_pod(),
                "terminationGracePeriodSeconds": 120,
                "containers": [_postgres(group, wanted)],
                "volumes": [
                    {"name": "secret", "secret": {"secretName": name}},
                    {"name": "tmp", "emptyDir": {}},
                    {"name": "run", "emptyDir": {}},
                ],
            },
        },
    }
    return Child(STATEFUL_SET, {"metadata": group.metadata(COMPONENT, name), "spec": spec})


def backup_claim(group: Group, wanted: ManagedDatabase) -> Child:
    metadata = group.data_metadata(BACKUP, names.backup(group.database_name))
    return Child(CLAIM, {"metadata": metadata, "spec": _claim(wanted.backup.storage)})


def backup_job(group: Group, wanted: ManagedDatabase) -> Child:
    name = names.backup(group.database_name)
    pod = {
        **_pod(),
        "restartPolicy": "Never",
        "containers": [_dumper(group, wanted)],
        "volumes": [
            {"name": "secret", "secret": {"secretName": group.database_name}},
            {"name": "backups", "persistentVolumeClaim": {"claimName": name}},
            {"name": "tmp", "emptyDir": {}},
        ],
    }
    job = {
        "backoffLimit": 2,
        "activeDeadlineSeconds": 6 * 3600,
        "template": {"metadata": {"labels": group.labels(BACKUP)}, "spec": pod},
    }
    spec = {
        "schedule": wanted.backup.schedule,
        "timeZone": "Etc/UTC",
        "concurrencyPolicy": "Forbid",
        "startingDeadlineSeconds": 3600,
        "successfulJobsHistoryLimit": 1,
        "failedJobsHistoryLimit": 1,
        "jobTemplate": {"spec": job},
    }
    return Child(CRON_JOB, {"metadata": group.metadata(BACKUP, name), "spec": spec})


def _pod() -> dict[str, Any]:
    return {
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "securityContext": pod_security(FS_GROUP),
    }


def _claim(storage: FixedStorage) -> dict[str, Any]:
    spec: dict[str, Any] = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": storage.size}},
    }
    if storage.storage_class_name is not None:
        spec["storageClassName"] = storage.storage_class_name
    return spec


def _postgres(group: Group, wanted: ManagedDatabase) -> dict[str, Any]:
    ready = {"exec": {"command": ["pg_isready", "--host=127.0.0.1", "--username=keepsake"]}, "timeoutSeconds": 5}
    return {
        "name": "postgresql",
        "image": group.images.database,
        "imagePullPolicy": group.images.pull_policy,
        "env": [
            {"name": "POSTGRES_USER", "value": "keepsake"},
            {"name": "POSTGRES_DB", "value": "keepsake"},
            {"name": "POSTGRES_PASSWORD_FILE", "value": f"{_SECRET_DIR}/password"},
            {"name": "PGDATA", "value": f"{_DATA_DIR}/pgdata"},
        ],
        "ports": [{"name": "postgresql", "containerPort": 5432, "protocol": "TCP"}],
        "resources": resources(wanted.resources),
        "securityContext": container_security(),
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "startupProbe": {**ready, "periodSeconds": 2, "failureThreshold": 300},
        "livenessProbe": {**ready, "periodSeconds": 20, "failureThreshold": 6},
        "readinessProbe": {**ready, "periodSeconds": 5},
        "volumeMounts": [
            {"name": "data", "mountPath": _DATA_DIR},
            {"name": "secret", "mountPath": _SECRET_DIR, "readOnly": True},
            {"name": "tmp", "mountPath": "/tmp"},  # noqa: S108 (an emptyDir of the pod)
            {"name": "run", "mountPath": "/var/run/postgresql"},
        ],
    }


def _dumper(group: Group, wanted: ManagedDatabase) -> dict[str, Any]:
    return {
        "name": "pg-dump",
        "image": group.images.database,
        "imagePullPolicy": group.images.pull_policy,
        "command": ["/bin/sh", "-c", _DUMP],
        "env": [
            {"name": "PGHOST", "value": f"{group.database_name}.{group.owner.namespace}.svc"},
            {"name": "KEEP", "value": str(wanted.backup.keep)},
        ],
        "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "512Mi"}},
        "securityContext": container_security(),
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": [
            {"name": "secret", "mountPath": _SECRET_DIR, "readOnly": True},
            {"name": "backups", "mountPath": _BACKUP_DIR},
            {"name": "tmp", "mountPath": "/tmp"},  # noqa: S108 (an emptyDir of the pod)
        ],
    }
