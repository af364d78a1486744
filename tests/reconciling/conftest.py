"""A namespace with an operator of its own, and the proof that it has nothing more to write."""

import base64
import json
import secrets
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from operator_process import OperatorProcess, eventually
from tests.cluster import operator_account
from tests.cluster.control_plane import ControlPlane
from workspaces import a_service, a_workspace

OURS = "/apis/keepsake.dev/v1alpha1"
ROOTS = {
    "deployments": "/apis/apps/v1",
    "statefulsets": "/apis/apps/v1",
    "networkpolicies": "/apis/networking.k8s.io/v1",
    "roles": "/apis/rbac.authorization.k8s.io/v1",
    "rolebindings": "/apis/rbac.authorization.k8s.io/v1",
    "poddisruptionbudgets": "/apis/policy/v1",
    "horizontalpodautoscalers": "/apis/autoscaling/v2",
    "cronjobs": "/apis/batch/v1",
    "leases": "/apis/coordination.k8s.io/v1",
    "workspaces": OURS,
    "providers": OURS,
}


class Place:
    """One namespace as a person with kubectl has it."""

    def __init__(self, control_plane: ControlPlane, namespace: str) -> None:
        self.control_plane = control_plane
        self.namespace = namespace

    def operator_kubeconfig(self, url: str | None = None) -> Path:
        """Of a service account with the rights that are shipped, and no others."""
        return operator_account.install(self.control_plane, self.namespace, url=url)

    def path(self, plural: str, name: str = "") -> str:
        path = f"{ROOTS.get(plural, '/api/v1')}/namespaces/{self.namespace}/{plural}"
        return f"{path}/{name}" if name else path

    def get(self, plural: str, name: str) -> dict[str, Any] | None:
        answer = self.control_plane.client.get(self.path(plural, name))
        return answer.json() if answer.status_code == 200 else None

    def list(self, plural: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = (
            self.control_plane.client.get(self.path(plural)).raise_for_status().json()["items"]
        )
        return found

    def delete(self, plural: str, name: str, *, policy: str = "Background") -> None:
        body = {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": policy}
        self.control_plane.client.request("DELETE", self.path(plural, name), json=body).raise_for_status()

    def patch(self, plural: str, name: str, body: dict[str, Any], kind: str = "merge") -> dict[str, Any]:
        headers = {"Content-Type": f"application/{kind}-patch+json"}
        answer = self.control_plane.client.patch(self.path(plural, name), content=json.dumps(body), headers=headers)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def rolling(self) -> bool:
        """Whether pods are still to come: also where nobody says Reconciling, because the Workspace is Stalled."""
        return any(
            one["status"].get("observedGeneration", 0) < one["metadata"]["generation"]
            or {one["status"].get(count, 0) for count in ("replicas", "updatedReplicas", "availableReplicas")}
            != {one["spec"]["replicas"]}
            for one in (*self.list("deployments"), *self.list("statefulsets"))
        )

    def apply(self, *manifests: dict[str, Any]) -> str:
        """As kubectl apply; what it warned of."""
        text = yaml.safe_dump_all(manifests)
        return self.control_plane.kubectl("apply", "-n", self.namespace, "-f", "-", text=text).stderr

    def secret(self, name: str, **values: str) -> None:
        data = {key: base64.b64encode(value.encode()).decode() for key, value in values.items()}
        self.apply({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "data": data})

    def provider(self, name: str = "p", **spec: Any) -> None:
        self.apply(manifest("Provider", name, {"type": "mock", **spec}))

    def policy(self) -> None:
        """A MemoryPolicy, which has no namespace, so it is named after the place. It goes with it."""
        self.apply(manifest("MemoryPolicy", self.namespace, {}))

    def workspace(self, *services: dict[str, Any], name: str = "research", **annotations: str) -> str:
        """Apply a Workspace; what the API server warned of."""
        made = a_workspace(*services, name=name, **annotations)
        return self.apply(manifest("Workspace", name, made["spec"], made["metadata"]["annotations"]))

    def ordinary(self) -> None:
        """A Workspace with everything that it names."""
        self.secret("db", uri="postgresql://u:canary-password@h/d")
        self.provider()
        self.workspace(a_service())

    def ready(self, name: str = "research", *, seconds: int = 60) -> None:
        self.control_plane.kubectl(
            "wait", "-n", self.namespace, "--for=condition=Ready", f"mws/{name}", f"--timeout={seconds}s"
        )

    def condition(self, type_: str, name: str = "research") -> tuple[str, str]:
        """Status and reason, as far as they speak of the manifest as it stands."""
        workspace = self.get("workspaces", name) or {}
        generation = workspace.get("metadata", {}).get("generation")
        for one in workspace.get("status", {}).get("conditions", ()):
            if one["type"] == type_ and one["observedGeneration"] == generation:
                return one["status"], one["reason"]
        return "", ""

    def becomes(self, type_: str, status: str, reason: str, name: str = "research", seconds: float = 60) -> None:
        eventually(
            lambda: self.condition(type_, name) == (status, reason),
            seconds=seconds,
            told=lambda: (self.get("workspaces", name) or {}).get("status"),
        )

    def stays_quiet(self, running: OperatorProcess) -> None:
        """Nothing is written any more: not by what is still to come, and not by a pass over everything."""
        seen = running.writes()

        def settled() -> bool:
            nonlocal seen
            before, seen = seen, running.writes()
            found = [
                one["type"] for each in self.list("workspaces") for one in each.get("status", {}).get("conditions", ())
            ]
            return before == seen and "Reconciling" not in found and not self.rolling()

        time.sleep(0.5)
        eventually(settled, every=1.5, seconds=60, told=running.tail)
        before = running.writes()
        for workspace in self.list("workspaces"):
            passes = running.passes()
            poke = {"metadata": {"labels": {"poke": secrets.token_hex(4)}}}
            self.patch("workspaces", workspace["metadata"]["name"], poke)
            eventually(lambda passes=passes: running.passes() > passes, told=running.tail)
        assert running.writes() == before, running.tail()


def manifest(kind: str, name: str, spec: dict[str, Any], annotations: dict[str, str] | None = None) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": name, **({"annotations": annotations} if annotations else {})}
    return {"apiVersion": "keepsake.dev/v1alpha1", "kind": kind, "metadata": metadata, "spec": spec}


@pytest.fixture
def place(control_plane: ControlPlane, namespace: str) -> Iterator[Place]:
    control_plane.run_pods()
    yield Place(control_plane, namespace)
    control_plane.kubectl("delete", "--ignore-not-found", "--wait=false", "mp", namespace)
    operator_account.uninstall(control_plane, namespace)


@pytest.fixture
def operator(place: Place, tmp_path: Path) -> Iterator[OperatorProcess]:
    """The operator of the place. At the end one more pass over every Workspace has to write nothing."""
    with OperatorProcess(place.operator_kubeconfig(), place.namespace, tmp_path / "operator.log") as running:
        yield running
        if running.running:
            place.stays_quiet(running)
    assert "Traceback" not in running.log.read_text(), running.tail()
    assert "canary" not in running.log.read_text()
