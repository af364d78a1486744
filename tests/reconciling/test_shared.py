"""MemoryPolicies and Providers: who uses them is seen, and to delete one in use breaks nothing that runs."""

from pathlib import Path
from typing import Any

from operator_process import OperatorProcess, eventually
from workspaces import a_service

NAME = "research-default-memory"


def test_who_is_used_is_seen_and_deleting_it_takes_nothing_down(place: Any, tmp_path: Path) -> None:
    place.control_plane.apply_admission()
    place.secret("db", uri=f"postgresql://u:canary-password@{place.namespace}/d")
    place.secret("db2", uri=f"postgresql://u:canary-password@{place.namespace}/d2")
    place.provider()
    place.policy()
    policy = {"name": place.namespace}
    second = {"external": {"secretRef": {"name": "db2"}}}
    with OperatorProcess(
        place.operator_kubeconfig(), place.namespace, tmp_path / "operator.log", WATCH_NAMESPACES=""
    ) as operator:
        place.workspace(a_service(policyRef=policy))
        place.workspace(a_service(policyRef=policy, database=second), name="other")
        place.ready()
        place.ready("other")
        eventually(lambda: shown(place, "mp", place.namespace) == ["True", "Ready", "2"], told=operator.tail)
        eventually(lambda: shown(place, "mprov", "p") == ["mock", "True", "Ready", "2"], told=operator.tail)

        place.delete("workspaces", "other")
        eventually(lambda: shown(place, "mp", place.namespace) == ["True", "Ready", "1"], told=operator.tail)

        config = place.get("configmaps", NAME)["data"]
        deployment = place.get("deployments", NAME)["metadata"]["generation"]
        warned = place.control_plane.kubectl("delete", "mp", place.namespace).stderr
        assert "number of Workspaces that name it: 1" in warned
        place.becomes("ReferencesResolved", "False", "PolicyNotFound")
        assert place.get("configmaps", NAME)["data"] == config
        assert place.get("deployments", NAME)["metadata"]["generation"] == deployment

        place.policy()
        place.ready()
        eventually(lambda: shown(place, "mp", place.namespace) == ["True", "Ready", "1"], told=operator.tail)
        place.stays_quiet(operator)
    assert "canary" not in operator.log.read_text()


def shown(place: Any, kind: str, name: str) -> list[str]:
    """The row of kubectl get, without the name and the age."""
    row = place.control_plane.kubectl("get", "-n", place.namespace, kind, name, "--no-headers").stdout.split()
    return row[1:-1]
