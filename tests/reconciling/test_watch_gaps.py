"""Watches that are lost."""

from typing import Any

from operator_process import OperatorProcess, eventually
from workspaces import a_service

NAME = "research-default-memory"


def test_br_151_lost_watches_do_not_make_the_operator_blind(place: Any, operator: OperatorProcess) -> None:
    place.ordinary()
    place.ready()
    place.control_plane.restart_apiserver(force=True)
    place.workspace(a_service(replicas=3))
    eventually(lambda: place.get("deployments", NAME)["spec"]["replicas"] == 3, seconds=40, told=operator.tail)
    place.delete("services", NAME)
    eventually(lambda: place.get("services", NAME) is not None, seconds=40, told=operator.tail)
    place.ready()
