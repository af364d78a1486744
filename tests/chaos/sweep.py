"""The crash sweep: an operation is cut after its k-th write, for every k, and the operator starts again."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from operator_process import eventually
from tests.chaos.crashing import MortalOperator
from tests.chaos.snapshot import orphans, passwords, snapshot
from tests.cluster.fault_proxy import FaultProxy
from tests.reconciling.conftest import Place, manifest
from workspaces import a_service

SECONDS = 90.0
Act = Callable[["Stage"], str]  # does it, and says which Workspace to look at
Harm = Callable[["Stage"], None]


def services(*, cpu: str = "100m", replicas: int = 2, extra: bool = True, deletion: str = "Retain") -> list[Any]:
    """Both kinds of database in one Workspace: one that somebody else runs, and one of ours."""
    resources = {"requests": {"cpu": cpu, "memory": "512Mi"}}
    found = [a_service(replicas=replicas, resources=resources, policyRef={"name": "sweep"})]
    if extra:
        found.append(a_service("extra", database={"managed": {}}, deletionPolicy=deletion))
    return found


@dataclass(slots=True)
class Stage:
    """A namespace, the proxy in front of the API server, and the operator behind it."""

    place: Place
    proxy: FaultProxy
    operator: MortalOperator
    number: int = 0
    version: str = ""
    secrets_seen: dict[str, str] = field(default_factory=dict)

    def reaches(self, name: str, expected: dict[str, Any]) -> None:
        """The Workspace becomes as expected, by whatever number of operators it takes."""

        def same() -> bool:
            self.operator.revive()
            return snapshot(self.place, name) == expected

        def told() -> str:
            live = [
                (one["metadata"]["name"], one["metadata"]["resourceVersion"], one["status"])
                for one in self.place.list("deployments")
                if one["metadata"]["name"].startswith(name)
            ]
            return f"{_difference(expected, snapshot(self.place, name))}\n{live}\n{self.operator.tail()}"

        eventually(same, seconds=SECONDS, told=told, every=0.1)

    def settles(self, name: str) -> dict[str, Any]:
        """What the Workspace is like once nothing is written any more."""
        seen: list[Any] = []

        def quiet() -> bool:
            self.operator.revive()
            found = snapshot(self.place, name)
            conditions = found["Workspace"]["conditions"] if found else []
            seen.append((len(self.writes()), found))
            turning = any(one[0] == "Reconciling" for one in conditions) or not conditions
            return not turning and len(seen) > 4 and all(one == seen[-1] for one in seen[-4:])

        eventually(quiet, seconds=SECONDS, told=self.operator.tail, every=0.4)
        found: dict[str, Any] = seen[-1][1]
        return found

    def writes(self) -> list[Any]:
        return [one for one in self.proxy.writes() if one.counts]

    def keeps_passwords(self) -> None:
        """No password that was ever seen is another one now."""
        now = passwords(self.place)
        changed = [uid for uid, text in self.secrets_seen.items() if uid in now and now[uid] != text]
        assert not changed, changed
        self.secrets_seen |= now

    def apply(self, name: str, wanted: list[Any]) -> None:
        self.place.workspace(*wanted, name=name)


@contextmanager
def stage(
    place: Place, proxy: FaultProxy, folder: Path, *, skew: float = 0, sweep_seconds: float = 600
) -> Iterator[Stage]:
    """Everything that the Workspaces of the sweep name, and an operator that may do all."""
    binding = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": f"chaos-{place.namespace}"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"kind": "ServiceAccount", "name": "operator", "namespace": place.namespace}],
    }
    token = place.control_plane.token("operator", place.namespace)
    place.apply(binding)
    place.secret("db", uri="postgresql://u:canary-password@h/d")
    place.secret("key", key="canary-key-0")
    place.provider(**PROVIDER)
    place.apply(manifest("MemoryPolicy", "sweep", {}))
    kubeconfig = proxy.kubeconfig(token, namespace=place.namespace)
    try:
        with MortalOperator(
            kubeconfig, place.namespace, folder / "operator.log", skew=skew, SWEEP_SECONDS=str(sweep_seconds)
        ) as operator:
            yield Stage(place, proxy, operator)
    finally:
        place.control_plane.client.delete(
            f"/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/chaos-{place.namespace}"
        )


PROVIDER = {
    "type": "openai",
    "model": "m",
    "baseURL": "https://gateway.example.com/v1",
    "credential": {"secretRef": {"name": "key", "key": "key"}},
    "embedding": {"dimensions": 8},
}


def cut_after(stage: Stage, k: int, act: Act, expected: dict[str, Any], harm: Harm | None = None) -> bool:
    """Do it, crash after the k-th write, start again, and see that it ends as expected. False: it has fewer writes."""
    stage.version = _now(stage)
    stage.proxy.stop_world_after(k)
    name = act(stage)

    def over() -> bool:
        stage.operator.revive()
        return stage.proxy.world_stopped or snapshot(stage.place, name) == expected

    eventually(over, seconds=SECONDS, told=stage.operator.tail, every=0.1)
    if not stage.proxy.world_stopped:
        time.sleep(0.3)  # an event may follow the status
    stopped = stage.proxy.world_stopped
    if stopped:
        stage.operator.crash()
        stage.keeps_passwords()
        if harm is not None:
            harm(stage)
        stage.proxy.release()
        stage.operator.start()
    stage.proxy.release()
    stage.reaches(name, expected)
    stage.keeps_passwords()
    return stopped


def _now(stage: Stage) -> str:
    """The resource version of this moment."""
    answer = stage.place.control_plane.client.get(stage.place.path("configmaps"), params={"limit": 1})
    return str(answer.raise_for_status().json()["metadata"]["resourceVersion"])


def no_orphans(stage: Stage) -> None:
    eventually(lambda: not orphans(stage.place), seconds=SECONDS, told=lambda: orphans(stage.place), every=0.3)


def _difference(expected: dict[str, Any], found: dict[str, Any] | None) -> str:
    if found is None:
        return "there is no such Workspace"
    missing, more = sorted(expected.keys() - found.keys()), sorted(found.keys() - expected.keys())
    other = {
        key: (json.dumps(expected[key])[:1500], json.dumps(found[key])[:1500])
        for key in expected.keys() & found.keys()
        if expected[key] != found[key]
    }
    return f"missing {missing}, too many {more}, different {other}"
