"""What a Workspace may say about its pods: resources, replicas and a short list of overrides.

A short list on purpose: a whole PodTemplate in a CRD costs hundreds of kilobytes and lets a manifest undo what the
operator promises about its pods.
"""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from memory_operator.api.quantities import rule, rules
from memory_operator.api.references import ObjectName
from memory_operator.api.resource import Part

CPU_PATTERN = r"^([1-9][0-9]{0,2}(\.[0-9]{1,3})?|0\.[0-9]{1,3}|[1-9][0-9]{0,5}m)$"
BYTES_PATTERN = r"^[1-9][0-9]{0,4}(\.[0-9]{1,3})?(Mi|Gi|Ti|M|G|T)$"
Cpu = Annotated[str, Field(pattern=CPU_PATTERN, max_length=8)]
Bytes = Annotated[str, Field(pattern=BYTES_PATTERN, max_length=12)]

_QUALIFIED = r"^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$"
_OURS = "app.kubernetes.io/|keepsake.dev/"
LabelValue = Annotated[str, Field(max_length=63, pattern=r"^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$")]
# The API server tries a section's rules on its bare default `{}` too.
_BARE = "!has(self.requests) || !has(self.limits)"
_KEY_RULES = rules(
    rule(f"self.all(k, k.matches('{_QUALIFIED}'))", "write keys as Kubernetes does: an optional prefix/ and a name"),
    rule(
        f"!self.exists(k, k.matches('^({_OURS})'))",
        "keys below app.kubernetes.io/ and keepsake.dev/ are the operator's: choose another prefix",
    ),
)
Labels = Annotated[dict[str, LabelValue], Field(max_length=16, json_schema_extra=_KEY_RULES)]
Annotations = Annotated[
    dict[str, Annotated[str, Field(max_length=1024)]], Field(max_length=16, json_schema_extra=_KEY_RULES)
]


class Requests(Part):
    """What the scheduler sets aside for one pod."""

    cpu: Cpu = Field(default="100m", description="Processor time, such as 250m or 1.")
    memory: Bytes = Field(default="512Mi", description="Memory, such as 768Mi.")


class Limits(Part):
    """What one pod may use at most."""

    cpu: Cpu | None = Field(default=None, description="Processor time, such as 2. Left out, there is no limit.")
    memory: Bytes = Field(default="1Gi", description="Memory, such as 2Gi. A pod that takes more is ended.")


class Resources(Part):
    """What one pod gets."""

    model_config = ConfigDict(
        json_schema_extra=rules(
            rule(
                f"{_BARE} || !has(self.requests.memory) || !has(self.limits.memory) || "
                "quantity(self.requests.memory).compareTo(quantity(self.limits.memory)) <= 0",
                "requests.memory must not be more than limits.memory: raise the limit (1Gi when left out) as well",
                path=".requests.memory",
            ),
            rule(
                f"{_BARE} || !has(self.requests.cpu) || !has(self.limits.cpu) || "
                "quantity(self.requests.cpu).compareTo(quantity(self.limits.cpu)) <= 0",
                "requests.cpu must not be more than limits.cpu: raise the limit or leave it out",
                path=".requests.cpu",
            ),
        )
    )

    requests: Requests = Field(default=Requests(), description="What the scheduler sets aside.")
    limits: Limits = Field(default=Limits(), description="What the pod may use at most.")


class Autoscaling(Part):
    """A HorizontalPodAutoscaler instead of a fixed number of replicas."""

    model_config = ConfigDict(
        json_schema_extra=rules(
            rule(
                "!has(self.minReplicas) || !has(self.maxReplicas) || self.minReplicas <= self.maxReplicas",
                "minReplicas must not be more than maxReplicas: swap them or raise maxReplicas",
                path=".minReplicas",
            )
        )
    )

    min_replicas: Annotated[int, Field(ge=1, le=100)] = Field(default=1, description="Never fewer pods than this.")
    max_replicas: Annotated[int, Field(ge=1, le=100)] = Field(description="Never more pods than this.")
    target_cpu_percent: Annotated[int, Field(ge=1, le=100)] = Field(
        default=75, description="Pods are added while their mean use of requests.cpu is above this."
    )


class Toleration(Part):
    """A taint that pods bear."""

    key: Annotated[str, Field(max_length=317)] | None = Field(
        default=None, description="Key of the taint. Left out with operator Exists, every taint is borne."
    )
    operator: Literal["Exists", "Equal"] = Field(default="Equal", description="How value is held against the taint.")
    value: LabelValue | None = Field(default=None, description="Value of the taint, with operator Equal.")
    effect: Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] | None = Field(
        default=None, description="Effect of the taint. Left out, every effect is borne."
    )


class PodOverrides(Part):
    """The short list of what may be changed about the pods."""

    labels: Labels | None = Field(default=None, description="Labels added to the pods.")
    annotations: Annotations | None = Field(default=None, description="Annotations added to the pods.")
    node_selector: Annotated[dict[str, LabelValue], Field(max_length=16)] | None = Field(
        default=None, description="Labels that a node must have."
    )
    tolerations: Annotated[list[Toleration], Field(max_length=16)] | None = Field(
        default=None, description="Taints that the pods bear."
    )
    priority_class_name: ObjectName | None = Field(default=None, description="PriorityClass of the pods.")
    image_pull_secrets: Annotated[list[ObjectName], Field(max_length=8)] | None = Field(
        default=None,
        description="Secrets of type kubernetes.io/dockerconfigjson in the Workspace's namespace.",
        json_schema_extra={"x-kubernetes-list-type": "set"},
    )
