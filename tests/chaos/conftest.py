"""A namespace whose pods seem to run."""

import pytest

from tests.cluster.control_plane import ControlPlane
from tests.reconciling.conftest import Place


@pytest.fixture
def place(control_plane: ControlPlane, namespace: str) -> Place:
    control_plane.run_pods()
    return Place(control_plane, namespace)
