"""Watches that are lost, through the proxy that does harm."""

from pathlib import Path
from typing import Any

from operator_process import OperatorProcess, eventually
from tests.cluster.fault_proxy import FaultProxy
from workspaces import a_service

NAME = "research-default-memory"


def test_br_151_a_watch_that_is_cut_does_not_make_the_operator_blind(
    place: Any, fault_proxy: FaultProxy, tmp_path: Path
) -> None:
    token = place.control_plane.token("operator", place.namespace)
    subject = f"--serviceaccount={place.namespace}:operator"
    place.control_plane.kubectl("create", "clusterrolebinding", place.namespace, "--clusterrole=cluster-admin", subject)
    kubeconfig = fault_proxy.kubeconfig(token)
    with OperatorProcess(kubeconfig, place.namespace, tmp_path / "operator.log") as operator:
        place.ordinary()
        place.ready()
        assert fault_proxy.cut_watches() > 10
        place.workspace(a_service(replicas=3))
        eventually(lambda: place.get("deployments", NAME)["spec"]["replicas"] == 3, told=operator.tail)
        place.ready()
    place.control_plane.kubectl("delete", "clusterrolebinding", place.namespace)
