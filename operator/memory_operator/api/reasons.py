"""The closed list of conditions and reasons. docs/conditions.md has each with its remedy, and a test says so."""

from dataclasses import dataclass
from enum import StrEnum


class ConditionType(StrEnum):
    """What is observed about an object. `RECONCILING` and `STALLED` are there only while they hold."""

    READY = "Ready"
    REFERENCES = "ReferencesResolved"
    PROVIDER = "EmbeddingProviderReady"
    DATABASE = "DatabaseReady"
    SCHEMA = "SchemaReady"
    MEMORY_API = "MemoryApiAvailable"
    RECONCILING = "Reconciling"
    STALLED = "Stalled"


# What `Ready` sums up, in the order in which causes are named: the first that fails is the one to mend.
CAUSES = (
    ConditionType.REFERENCES,
    ConditionType.PROVIDER,
    ConditionType.DATABASE,
    ConditionType.SCHEMA,
    ConditionType.MEMORY_API,
)


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a reason says, and what a person does about it."""

    says: str
    remedy: str = "Nothing to do."


class Reason(StrEnum):
    """Every reason that a condition, an event or a service's status can have."""

    READY = "Ready"
    RESOLVED = "Resolved"
    EXTERNAL = "External"
    MIGRATED = "Migrated"
    AVAILABLE = "Available"
    POLICY_NOT_FOUND = "PolicyNotFound"
    PROVIDER_NOT_FOUND = "ProviderNotFound"
    SECRET_NOT_FOUND = "SecretNotFound"  # noqa: S105
    SECRET_KEY_MISSING = "SecretKeyMissing"  # noqa: S105
    SECRET_VALUE_UNUSABLE = "SecretValueUnusable"  # noqa: S105
    PROVIDER_NOT_CONFIGURED = "ProviderNotConfigured"
    PROVISIONING = "Provisioning"
    PASSWORD_LOST = "PasswordLost"  # noqa: S105
    CLOUDNATIVEPG_NOT_INSTALLED = "CloudNativePGNotInstalled"
    EXTENSION_MISSING = "ExtensionMissing"
    AUTHENTICATION_FAILED = "AuthenticationFailed"
    OWNED_BY_ANOTHER = "OwnedByAnother"
    DATABASE_SHARED = "DatabaseShared"
    MIGRATING = "Migrating"
    MODEL_MISMATCH = "ModelMismatch"
    NOT_DEPLOYED = "NotDeployed"
    ROLLING_OUT = "RollingOut"
    SCALED_TO_ZERO = "ScaledToZero"
    CRASH_LOOPING = "CrashLooping"
    IMAGE_PULL_FAILED = "ImagePullFailed"
    UNSCHEDULABLE = "Unschedulable"
    PODS_REFUSED = "PodsRefused"
    PROGRESSING = "Progressing"
    BUDGET_WAIT = "BudgetWait"
    ROLLOUT_PAUSED = "RolloutPaused"
    PAUSED = "Paused"
    OBJECT_TAKEN = "ObjectTaken"
    REJECTED = "Rejected"
    FORBIDDEN = "Forbidden"
    NAMESPACE_TERMINATING = "NamespaceTerminating"


_T = ConditionType
MEANINGS: dict[Reason, tuple[tuple[ConditionType, ...], Meaning]] = {
    Reason.READY: ((_T.READY, _T.PROVIDER, _T.DATABASE), Meaning("It can be used.")),
    Reason.RESOLVED: ((_T.REFERENCES,), Meaning("Everything that the Workspace names is there.")),
    Reason.EXTERNAL: (
        (_T.PROVIDER, _T.DATABASE, _T.SCHEMA, _T.MEMORY_API),
        Meaning("Somebody else runs every service of the Workspace; nothing is checked here."),
    ),
    Reason.MIGRATED: (
        (_T.SCHEMA,),
        Meaning("The schema is at head and its vectors are those of the Provider's model."),
    ),
    Reason.AVAILABLE: ((_T.MEMORY_API,), Meaning("Every pod of the memory-api is new and ready.")),
    Reason.POLICY_NOT_FOUND: (
        (_T.READY, _T.REFERENCES),
        Meaning(
            "There is no MemoryPolicy of this name. A service that runs keeps the policy it last had.",
            "Create the MemoryPolicy, or correct `memory.policyRef.name`.",
        ),
    ),
    Reason.PROVIDER_NOT_FOUND: (
        (_T.READY, _T.REFERENCES, _T.PROVIDER),
        Meaning(
            "There is no Provider of this name in the Workspace's namespace. A service that runs keeps the one it had.",
            "Create the Provider in this namespace, or correct `memory.providerRef.name`.",
        ),
    ),
    Reason.SECRET_NOT_FOUND: (
        (_T.READY, _T.REFERENCES),
        Meaning(
            "There is no Secret of this name in the Workspace's namespace.",
            "Create the Secret in this namespace, or correct the `secretRef` that names it.",
        ),
    ),
    Reason.SECRET_KEY_MISSING: (
        (_T.READY, _T.REFERENCES),
        Meaning("The Secret has no such key.", "Add the key to the Secret, or correct `secretRef.key`."),
    ),
    Reason.SECRET_VALUE_UNUSABLE: (
        (_T.READY, _T.REFERENCES),
        Meaning(
            "The value under the key is empty, is not text, or is no address of a database.",
            "Write the value anew: `kubectl create secret generic NAME --from-literal=KEY=VALUE` adds no line break.",
        ),
    ),
    Reason.PROVIDER_NOT_CONFIGURED: (
        (_T.READY, _T.PROVIDER),
        Meaning(
            "The service names no Provider, so it gets no memory-api.",
            "Create a Provider (`crds/samples` has some) and name it in `memory.providerRef`.",
        ),
    ),
    Reason.PROVISIONING: (
        (_T.READY, _T.DATABASE),
        Meaning(
            "The database is being made, or its pod is not ready.",
            "Wait; if it stays, look at the pods and volumes of the database with `kubectl describe`.",
        ),
    ),
    Reason.PASSWORD_LOST: (
        (_T.READY, _T.DATABASE),
        Meaning(
            "The Secret with the password of a managed database was deleted while the database lives.",
            "Put the Secret back from a backup. To start with an empty database instead, delete the StatefulSet and "
            "its volume claim: a new password is drawn then.",
        ),
    ),
    Reason.CLOUDNATIVEPG_NOT_INSTALLED: (
        (_T.READY, _T.DATABASE),
        Meaning(
            "The cluster does not know the kinds of CloudNativePG.",
            "Install CloudNativePG 1.26 or newer, or use `managed` or `external`.",
        ),
    ),
    Reason.EXTENSION_MISSING: (
        (_T.READY, _T.DATABASE),
        Meaning(
            "The PostgreSQL has no pgvector, or not the one that is needed.",
            "Name an image with pgvector 0.8 or newer in `cloudnativepg.imageName`, or install it in the database.",
        ),
    ),
    Reason.AUTHENTICATION_FAILED: (
        (_T.READY, _T.DATABASE),
        Meaning(
            "The database refuses the user or the password.",
            "Correct the value in the Secret; pods are replaced by themselves.",
        ),
    ),
    Reason.OWNED_BY_ANOTHER: (
        (_T.READY, _T.DATABASE),
        Meaning(
            "The database holds the memories of another Workspace.",
            "Give this Workspace a database of its own. To go on with the memories of a deleted Workspace, move them "
            "with `keepsake export` and `keepsake import`.",
        ),
    ),
    Reason.DATABASE_SHARED: (
        (_T.READY, _T.DATABASE),
        Meaning(
            "Another service, made earlier, uses a Secret with the same address.",
            "Give each service a database of its own: create one and put its address into a Secret of its own.",
        ),
    ),
    Reason.MIGRATING: (
        (_T.READY, _T.SCHEMA),
        Meaning(
            "The schema is being brought to head, or the database cannot be reached yet.",
            "Wait; if it stays, read `kubectl logs -c migrate` of the newest pod.",
        ),
    ),
    Reason.MODEL_MISMATCH: (
        (_T.READY, _T.SCHEMA),
        Meaning(
            "The store's vectors are of another model or size than the Provider says. Old pods go on serving.",
            "Put the Provider's model and dimensions back, or start once with `keepsake serve --reembed`.",
        ),
    ),
    Reason.NOT_DEPLOYED: (
        (_T.READY, _T.MEMORY_API, _T.SCHEMA),
        Meaning("There is no memory-api yet.", "Mend what the conditions before this one name."),
    ),
    Reason.ROLLING_OUT: ((_T.READY, _T.MEMORY_API), Meaning("Pods are being started or replaced.", "Wait.")),
    Reason.SCALED_TO_ZERO: (
        (_T.READY, _T.MEMORY_API),
        Meaning("The service asks for no pods.", "Set `memory.replicas` to 1 or more."),
    ),
    Reason.CRASH_LOOPING: (
        (_T.READY, _T.MEMORY_API, _T.DATABASE),
        Meaning("A pod ends again and again.", "Read the message, and `kubectl logs --previous` of the pod it names."),
    ),
    Reason.IMAGE_PULL_FAILED: (
        (_T.READY, _T.MEMORY_API, _T.DATABASE),
        Meaning(
            "A node cannot get the image.",
            "Make the image reachable, or name pull secrets in `memory.podOverrides.imagePullSecrets`.",
        ),
    ),
    Reason.UNSCHEDULABLE: (
        (_T.READY, _T.MEMORY_API, _T.DATABASE),
        Meaning(
            "No node has room for a pod, or none meets its demands.",
            "Lower `resources.requests`, mend `podOverrides`, or add nodes.",
        ),
    ),
    Reason.PODS_REFUSED: (
        (_T.READY, _T.MEMORY_API, _T.DATABASE),
        Meaning(
            "The API server refuses the pods, for a quota or an admission policy.",
            "Raise the quota or mend the policy that the message names.",
        ),
    ),
    Reason.PROGRESSING: (
        (_T.RECONCILING,),
        Meaning("What the manifest asks for is being brought about.", "Wait."),
    ),
    Reason.BUDGET_WAIT: (
        (_T.RECONCILING,),
        Meaning("Other Workspaces are rolling out; this one waits for its turn.", "Wait."),
    ),
    Reason.ROLLOUT_PAUSED: (
        (_T.RECONCILING,),
        Meaning(
            "A rollout over many Workspaces failed at the one that the message names; the others keep what they have.",
            "Mend that one, or annotate it with `keepsake.dev/rollout-resume` and the time of now.",
        ),
    ),
    Reason.PAUSED: (
        (_T.READY, _T.STALLED),
        Meaning(
            "The annotation `keepsake.dev/paused` stops every write to the Workspace's objects.",
            "Remove the annotation: `kubectl annotate mws NAME keepsake.dev/paused-`.",
        ),
    ),
    Reason.OBJECT_TAKEN: (
        (_T.READY, _T.STALLED),
        Meaning(
            "An object of the name that is needed belongs to somebody else. It is left alone.",
            "Rename or delete that object, or rename the Workspace or the service.",
        ),
    ),
    Reason.REJECTED: (
        (_T.READY, _T.STALLED),
        Meaning("The API server refuses an object.", "Mend the field of the Workspace that the message speaks of."),
    ),
    Reason.FORBIDDEN: (
        (_T.READY, _T.STALLED),
        Meaning(
            "The operator lacks a right.",
            "Install the operator's Roles again, or grant the verb that the message names.",
        ),
    ),
    Reason.NAMESPACE_TERMINATING: (
        (_T.READY, _T.STALLED),
        Meaning("The namespace is being deleted, so nothing new can be made in it."),
    ),
}
