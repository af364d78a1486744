"""From a Workspace to objects that are right, on the real API server with pods that seem to run."""

import secrets
import time
from pathlib import Path
from typing import Any

import pytest

from manifest_table import ROOT
from memory_operator.leader import LEASE_SECONDS
from operator_process import OperatorProcess, eventually
from workspaces import a_service

NAME = "research-default-memory"
CHILDREN = {
    "deployments": NAME,
    "services": NAME,
    "serviceaccounts": NAME,
    "roles": NAME,
    "rolebindings": NAME,
    "configmaps": NAME,
    "networkpolicies": NAME,
    "poddisruptionbudgets": NAME,
}


def test_the_quickstart_becomes_ready(place: Any, operator: OperatorProcess) -> None:
    sample = str(ROOT / "crds" / "samples" / "quickstart.yaml")
    place.control_plane.kubectl("apply", "-n", place.namespace, "-f", sample)
    place.ready("quickstart", seconds=60)
    row = place.control_plane.kubectl("get", "-n", place.namespace, "mws").stdout.splitlines()[1].split()
    assert row[:4] == ["quickstart", "True", "Ready", f"http://quickstart-default-memory.{place.namespace}.svc:8080"]
    for plural in ("statefulsets", "cronjobs", "persistentvolumeclaims", "secrets"):
        assert [one for one in place.list(plural) if "quickstart" in one["metadata"]["name"]], plural


def test_every_child_comes_back_and_every_change_is_undone(place: Any, operator: OperatorProcess) -> None:
    place.secret("db", uri="postgresql://u:canary-password@h/d")
    place.provider()
    place.workspace(a_service(replicas=2))
    place.ready()
    for plural, name in CHILDREN.items():
        uid = place.get(plural, name)["metadata"]["uid"]
        place.delete(plural, name)
        eventually(
            lambda p=plural, n=name, u=uid: (place.get(p, n) or {"metadata": {"uid": u}})["metadata"]["uid"] != u,
            told=operator.tail,
        )
    for plural, change in {
        "deployments": {"spec": {"replicas": 5}},
        "services": {"spec": {"ports": [{"name": "api", "port": 9999, "protocol": "TCP"}]}},
        "roles": {"rules": []},
        "configmaps": {"data": {"config.json": "{}"}},
        "networkpolicies": {"spec": {"ingress": [{}]}},
        "poddisruptionbudgets": {"spec": {"maxUnavailable": 2}},
    }.items():
        changed = place.patch(plural, NAME, change)["metadata"]["resourceVersion"]
        eventually(
            lambda p=plural, c=changed: (
                not _holds(place.get(p, NAME), _CHANGES[p]) and place.get(p, NAME)["metadata"]["resourceVersion"] != c
            ),
            told=operator.tail,
        )
    place.ready()


_CHANGES: dict[str, Any] = {
    "deployments": lambda one: one["spec"]["replicas"] == 5,
    "services": lambda one: one["spec"]["ports"][0]["port"] == 9999,
    "roles": lambda one: one.get("rules") in ([], None),
    "configmaps": lambda one: one["data"]["config.json"] == "{}",
    "networkpolicies": lambda one: one["spec"]["ingress"] == [{}],
    "poddisruptionbudgets": lambda one: one["spec"]["maxUnavailable"] == 2,
}


def _holds(live: dict[str, Any] | None, change: Any) -> bool:
    return live is None or bool(change(live))


def test_what_others_add_stays(place: Any, operator: OperatorProcess) -> None:
    place.ordinary()
    place.ready()
    sidecar = {"spec": {"template": {"spec": {"containers": [{"name": "proxy", "image": "proxy:1"}]}}}}
    place.patch("deployments", NAME, sidecar, kind="strategic-merge")
    place.patch("deployments", NAME, {"metadata": {"labels": {"foreign": "yes"}}})
    place.workspace(a_service(deletionPolicy="Retain", replicas=2))
    place.ready()
    live = place.get("deployments", NAME)
    assert live["spec"]["replicas"] == 2
    assert {one["name"] for one in live["spec"]["template"]["spec"]["containers"]} == {"memory-api", "proxy"}
    assert live["metadata"]["labels"]["foreign"] == "yes"


def test_replicas_are_the_autoscalers(place: Any, operator: OperatorProcess) -> None:
    place.secret("db", uri="postgresql://u:canary-password@h/d")
    place.provider()
    place.workspace(a_service(autoscaling={"minReplicas": 2, "maxReplicas": 5}))
    place.ready()
    assert place.get("deployments", NAME)["spec"]["replicas"] == 2
    place.patch("deployments", f"{NAME}/scale", {"spec": {"replicas": 4}})
    place.ready()
    time.sleep(1)
    assert place.get("deployments", NAME)["spec"]["replicas"] == 4
    place.workspace(a_service(replicas=1))
    eventually(lambda: place.get("deployments", NAME)["spec"]["replicas"] == 1)
    eventually(lambda: place.get("horizontalpodautoscalers", NAME) is None)


def test_removed_parts_remove_their_objects_and_data_stays(place: Any, operator: OperatorProcess) -> None:
    place.secret("db", uri="postgresql://u:canary-password@h/d")
    place.provider()
    place.workspace(a_service(), a_service("second", database={"managed": {}}))
    eventually(lambda: len(place.list("statefulsets")) == 1 and len(place.list("deployments")) == 2)
    (claim,) = [
        one["metadata"]["name"] for one in place.list("persistentvolumeclaims") if "backup" in one["metadata"]["name"]
    ]
    place.workspace(a_service())
    eventually(lambda: not place.list("statefulsets") and len(place.list("deployments")) == 1)
    assert place.get("persistentvolumeclaims", claim) is not None
    assert place.get("secrets", claim.removesuffix("-backup")) is not None


def test_broken_references_are_named_and_mending_them_is_enough(place: Any, operator: OperatorProcess) -> None:
    place.workspace(a_service())
    place.becomes("Ready", "False", "ProviderNotFound")
    place.provider()
    place.becomes("Ready", "False", "SecretNotFound")
    place.secret("db", url="postgresql://u:canary-password@h/d")
    place.becomes("Ready", "False", "SecretKeyMissing")
    place.secret("db", uri="postgresql://u:canary-password@h/d")
    place.ready()
    place.delete("providers", "p")
    place.becomes("Ready", "False", "ProviderNotFound")
    assert place.get("deployments", NAME) is not None
    place.provider()
    place.ready()


def test_no_provider_no_memory_api(place: Any, operator: OperatorProcess) -> None:
    place.ordinary()
    place.ready()
    place.workspace(a_service(providerRef=None))
    place.becomes("EmbeddingProviderReady", "False", "ProviderNotConfigured")
    eventually(lambda: place.get("deployments", NAME) is None and place.get("configmaps", NAME) is None)


def test_a_config_map_of_somebody_else_is_left_alone(place: Any, operator: OperatorProcess) -> None:
    theirs = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": NAME}, "data": {"mine": "yes"}}
    place.apply(theirs)
    place.ordinary()
    place.becomes("Stalled", "True", "ObjectTaken")
    assert place.get("configmaps", NAME)["data"] == {"mine": "yes"}


def test_a_rotated_secret_replaces_the_pods_and_shows_nowhere(place: Any, operator: OperatorProcess) -> None:
    place.ordinary()
    place.ready()
    before = place.get("deployments", NAME)["spec"]["template"]["metadata"]["annotations"]
    place.secret("db", uri="postgresql://u:canary-second@h/d")
    eventually(lambda: place.get("deployments", NAME)["spec"]["template"]["metadata"]["annotations"] != before)
    eventually(lambda: place.condition("Reconciling") == ("", ""))
    place.ready()
    everything = [
        place.control_plane.client.get(place.path(plural)).text
        for plural in ("workspaces", "deployments", "configmaps", "events", "pods", "networkpolicies")
    ]
    assert not any("canary" in text for text in everything)


def test_paused_and_restarted(place: Any, operator: OperatorProcess) -> None:
    place.ordinary()
    place.ready()
    place.workspace(a_service(), paused="true")
    place.becomes("Stalled", "True", "Paused")
    place.delete("services", NAME)
    time.sleep(1)
    assert place.get("services", NAME) is None
    described = place.control_plane.kubectl("describe", "-n", place.namespace, "mws", "research").stdout
    assert "remove it to go on" in described
    place.workspace(a_service(), restarted_at="2026-01-01T00:00:00Z")
    eventually(lambda: place.get("services", NAME) is not None)
    annotations = "2026-01-01T00:00:00Z"
    eventually(
        lambda: (
            place.get("deployments", NAME)["spec"]["template"]["metadata"]["annotations"].get(
                "keepsake.dev/restarted-at"
            )
            == annotations
        )
    )
    place.ready()


def test_br_118_a_namesake_made_later_adopts_no_data(place: Any, operator: OperatorProcess) -> None:
    place.provider()
    place.workspace(a_service(database={"managed": {}}))
    eventually(lambda: len(place.list("statefulsets")) == 1)
    (first,) = [one["metadata"]["name"] for one in place.list("statefulsets")]
    password = place.get("secrets", first)["data"]["password"]
    place.delete("workspaces", "research")
    place.workspace(a_service(database={"managed": {}}))
    eventually(lambda: [one["metadata"]["name"] for one in place.list("statefulsets")] not in ([first], []))
    eventually(lambda: len(place.list("statefulsets")) == 1)
    (second,) = [one["metadata"]["name"] for one in place.list("statefulsets")]
    assert second != first
    assert place.get("secrets", first)["data"]["password"] == password
    assert place.get("secrets", second)["data"]["password"] != password


def test_br_154_the_last_of_three_quick_edits_holds(place: Any, operator: OperatorProcess) -> None:
    place.ordinary()
    place.ready()
    for replicas in (5, 4, 3):
        services = [{**a_service(replicas=replicas)}]
        place.patch("workspaces", "research", {"spec": {"services": services}})
    eventually(lambda: place.get("deployments", NAME)["spec"]["replicas"] == 3)
    place.ready()
    found = place.get("workspaces", "research")
    assert found["status"]["observedGeneration"] == found["metadata"]["generation"]


def test_br_153_a_namespace_goes_without_the_operator(place: Any, operator: OperatorProcess) -> None:
    place.ordinary()
    place.ready()
    operator.stop(kill=True)
    for workspace in place.list("workspaces"):
        assert "finalizers" not in workspace["metadata"]
    place.control_plane.kubectl("delete", "ns", place.namespace, "--wait=false")
    eventually(
        lambda: place.control_plane.client.get(f"/api/v1/namespaces/{place.namespace}").status_code == 404, seconds=60
    )


def test_a_restart_writes_nothing(place: Any, operator: OperatorProcess, tmp_path: Path) -> None:
    place.secret("db", uri="postgresql://u:canary-password@h/d")
    place.provider()
    for number in range(3):
        place.secret(f"db{number}", uri=f"postgresql://u:canary-password@h/d{number}")
        place.workspace(a_service(database={"external": {"secretRef": {"name": f"db{number}"}}}), name=f"w{number}")
    for number in range(3):
        place.ready(f"w{number}")
    operator.stop()
    with OperatorProcess(place.operator_kubeconfig(), place.namespace, tmp_path / "second.log") as second:
        eventually(lambda: second.passes() >= 3)
        time.sleep(1)
        assert second.writes() == 0, second.tail()


@pytest.mark.parametrize("kill", [False, True], ids=["exit", "kill"])
def test_another_replica_takes_over(place: Any, operator: OperatorProcess, tmp_path: Path, kill: bool) -> None:
    place.ordinary()
    place.ready()
    with OperatorProcess(place.operator_kubeconfig(), place.namespace, tmp_path / "second.log") as second:
        assert second.metric("leader_election_master_status") == 0
        operator.stop(kill=kill)
        seconds = eventually(lambda: second.metric("leader_election_master_status") == 1, seconds=60)
        # Given up, it is taken at the next look; of one that was killed it first has to run out.
        assert kill or seconds < LEASE_SECONDS
        place.delete("services", NAME)
        eventually(lambda: place.get("services", NAME) is not None, told=second.tail)
        place.stays_quiet(second)


def test_the_admission_answer_says_that_callers_are_not_authenticated(place: Any) -> None:
    files = str(ROOT / "crds" / "admission")
    place.control_plane.kubectl("apply", "--server-side", "-f", files)
    place.provider()

    def warned() -> bool:
        # kubectl sends nothing where nothing has changed, and then nobody warns.
        return "callers are not authenticated" in place.workspace(a_service(), again=secrets.token_hex(4))

    # The API server takes a moment to load a policy.
    eventually(warned, every=0.3)
    eventually(lambda: "ModelMismatch" in place.apply(_provider(8)) + place.apply(_provider(9)), every=0.3)


def _provider(dimensions: int) -> dict[str, Any]:
    spec = {"type": "mock", "embedding": {"dimensions": dimensions}}
    return {"apiVersion": "keepsake.dev/v1alpha1", "kind": "Provider", "metadata": {"name": "p"}, "spec": spec}
