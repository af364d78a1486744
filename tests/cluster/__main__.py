"""make apiserver: the control plane of the tests to work with, detached. `down` removes it without a trace."""

import argparse
import shutil
import sys
from contextlib import suppress
from pathlib import Path

import yaml

from tests.cluster import operator_account
from tests.cluster.artifacts import MissingNeedError
from tests.cluster.control_plane import ControlPlane, KubectlError, NotReadyError
from tests.cluster.processes import Processes
from tests.cluster.programs import obtain_programs

ROOT = Path(__file__).parents[2]
# Of this checkout alone: another checkout has its own.
DEFAULT_FOLDER = ROOT / ".keepsake" / "apiserver"
PARTS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok", "volumes")
OPERATOR = "keepsake-operator"


def start_operator(control_plane: ControlPlane) -> None:
    """Run the operator, unless it runs already; it ends with the control plane. Its log is beside the others."""
    if control_plane.processes.running(OPERATOR):
        return
    control_plane.processes.stop(OPERATOR)
    namespace = operator_account.SHIPPED_NAMESPACE
    made = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
    control_plane.kubectl("apply", "--server-side", "-f", "-", text=yaml.safe_dump(made))
    control_plane.run_module(
        OPERATOR,
        "memory_operator.app",
        KUBECONFIG=str(operator_account.install(control_plane, namespace, days=30)),
        KEEPSAKE_OPERATOR_NAMESPACE=namespace,
        KEEPSAKE_OPERATOR_PORT="0",
    )


def up(folder: Path) -> ControlPlane:
    """Start what does not run yet."""
    programs = obtain_programs()
    folder.mkdir(parents=True, exist_ok=True)
    if (folder / "ports.json").exists():
        earlier = ControlPlane(folder, programs).take_up()
        if all(earlier.processes.running(part) for part in PARTS) and earlier.is_ready:
            return earlier
        print("An earlier control plane is not whole any more; starting anew.", flush=True)
    down(folder)
    folder.mkdir(parents=True)
    print("Starting etcd, kube-apiserver, controller-manager, scheduler and kwok ...", flush=True)
    control_plane = ControlPlane(folder, programs).start(detached=True)
    try:
        control_plane.run_pods()
        control_plane.apply_crds()
        control_plane.apply_admission()
    except BaseException:
        control_plane.stop()
        raise
    return control_plane


def down(folder: Path) -> None:
    """End its processes and remove its folder."""
    if folder.exists():
        Processes(folder).stop_all()
        shutil.rmtree(folder)
        with suppress(OSError):  # it holds the data of `make run` as well
            folder.parent.rmdir()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.cluster", description=__doc__)
    parser.add_argument("action", nargs="?", choices=("up", "down"), default="up")
    parser.add_argument("--folder", type=Path, default=DEFAULT_FOLDER, help="default: .keepsake/apiserver")
    options = parser.parse_args()
    if options.action == "down":
        down(options.folder)
        return 0
    try:
        control_plane = up(options.folder.absolute())
        start_operator(control_plane)
    except (MissingNeedError, NotReadyError, KubectlError) as problem:
        print(problem, file=sys.stderr)
        return 2 if isinstance(problem, MissingNeedError) else 1
    print(f"Kubernetes API server: {control_plane.url} (remove it again with: make apiserver-down)")
    print(f"keepsake-operator runs; its log: {control_plane.processes.logs / OPERATOR}.log")
    print(f"kubectl and helm: {control_plane.programs.clients}")
    print(f"export KUBECONFIG={control_plane.kubeconfig}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
