"""Build the programs of Kubernetes from their Go modules: ten minutes on two cores, once for each version of them.

`python -m tests.cluster.build` builds what the cache lacks; with --in-background it returns at once.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tests.cluster.artifacts import Artifact, MissingNeedError, cache_root, key_of

HERE = Path(__file__).parent
KUBERNETES = "v1.36.3"
_VERSION = "k8s.io/component-base/version"
_PROGRAMS = {
    "kube": ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kube-proxy", "kubelet"),
    # Debian's 3.4 is too old: the API server then lets some watches wait for ten seconds and refuses them.
    "etcd": (),
    "kwok": ("kwok-stages",),
}
_LINKER = {
    "kube": f"-s -w -X {_VERSION}.gitVersion={KUBERNETES} -X {_VERSION}.gitMajor=1 -X {_VERSION}.gitMinor=36",
    "etcd": "-s -w",
    "kwok": "-s -w",
}


def go_artifact(module: str) -> Artifact:
    """The programs of one of the Go modules beside this file; its key holds all that decides what is built."""
    folder = HERE / module
    sources = [(folder / name).read_bytes() for name in ("go.mod", "go.sum", "main.go")]
    go = _go_version(folder)
    return Artifact(module, key_of(*sources, go, *_flags(module), *_PROGRAMS[module]), lambda to: _build(module, to))


def go_artifacts() -> list[Artifact]:
    """Everything that is built here, in the order of need."""
    return [go_artifact(module) for module in _PROGRAMS]


def _flags(module: str) -> list[str]:
    return ["-trimpath", "-buildvcs=false", "-mod=readonly", "-ldflags", _LINKER[module]]


def _go_version(folder: Path) -> str:
    """Go's version and platform as it will build this module."""
    wanted = re.search(r"^go ([\d.]+)$", (folder / "go.mod").read_text(), re.MULTILINE)
    assert wanted is not None
    remedy = f"install Go {wanted[1]} or newer to build Kubernetes {KUBERNETES} for the tests against its API server"
    if shutil.which("go") is None:
        raise MissingNeedError(f"Go is missing: {remedy}")
    asked = subprocess.run(
        ["go", "env", "GOVERSION", "GOOS", "GOARCH"], cwd=folder, capture_output=True, text=True, check=False
    )
    found = re.match(r"go([\d.]+)", asked.stdout)
    if asked.returncode != 0 or found is None or _numbers(found[1]) < _numbers(wanted[1]):
        said = found[1] if found else asked.stderr.strip().splitlines()[-1:]
        raise MissingNeedError(f"Go is too old ({said}): {remedy}")
    return asked.stdout


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".") if part]


def _build(module: str, to: Path) -> None:
    own_cache = cache_root() / "go-build"
    environment = {"GOCACHE": str(own_cache), **os.environ, "CGO_ENABLED": "0", "GOWORK": "off"}
    print(f"Building {', '.join((module, *_PROGRAMS[module]))} for the tests: up to ten minutes ...", flush=True)
    built = subprocess.run(
        ["nice", "-n", "15", "go", "build", *_flags(module), "-o", str(to / module), "."],
        cwd=HERE / module,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if built.returncode != 0:
        raise MissingNeedError(f"go build of tests/cluster/{module} failed:\n{built.stderr.strip()[-2000:]}")
    for name in _PROGRAMS[module]:
        (to / name).symlink_to(module)
    print(f"Built {module}.", flush=True)


def build_all() -> None:
    """Build what the cache lacks, then drop what only the compiler needed (4 GB)."""
    for artifact in go_artifacts():
        artifact.obtain()
    shutil.rmtree(cache_root() / "go-build", ignore_errors=True)


def build_in_background() -> None:
    """Start a build that nobody waits for yet; the tests that need it wait at its lock."""
    if all(artifact.intact() for artifact in go_artifacts()):
        return
    log = cache_root() / "build.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    print(
        f"Building Kubernetes {KUBERNETES} for the tests in the background, up to ten minutes, once (log: {log})",
        flush=True,
    )
    with log.open("w") as output:
        subprocess.Popen(
            [sys.executable, "-m", "tests.cluster.build"],
            cwd=HERE.parents[1],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def main() -> int:
    try:
        if "--in-background" in sys.argv[1:]:
            build_in_background()
        else:
            build_all()
    except MissingNeedError as missing:
        # What cannot be built is told by the tests that need it, which skip, or fail under CI.
        print(f"NOT BUILT: {missing}", file=sys.stderr)
        return 0 if "--in-background" in sys.argv[1:] else 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
