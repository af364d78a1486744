"""A real control plane on loopback: etcd, kube-apiserver and kube-controller-manager, ready in seconds.

Nothing in it runs a container. `run_pods` adds the scheduler and kwok, whose fake node makes pods seem to run. Which
ports and files it has is written down in its folder, so that another process can take it up again (`take_up`).
"""

import json
import os
import shutil
import ssl
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import httpx
import yaml

from tests.cluster import launch
from tests.cluster.certificates import Authority, Pair
from tests.cluster.processes import Keeper, Processes
from tests.cluster.programs import Programs
from tests.serving_process import free_port

ROOT = Path(__file__).parents[2]
CRDS = ROOT / "crds"
FAKE_NODE = "fake-node"


class NotReadyError(Exception):
    """A part did not come up; the text holds the end of its log."""


class KubectlError(AssertionError):
    """kubectl refused; the text is what it said."""


class ControlPlane:
    """A Kubernetes API server and what it needs, in one folder."""

    def __init__(self, folder: Path, programs: Programs) -> None:
        self.folder = folder
        self.programs = programs
        self.processes = Processes(folder)
        self.kubeconfig = folder / "kubeconfig"
        self.audit_log = folder / "audit.log"
        self.ca = folder / "pki" / "ca.crt"
        self._keeper: Keeper | None = None
        self._authority: Authority | None = None
        self._client: httpx.Client | None = None

    # -- life ---------------------------------------------------------------------------------------------------

    def start(self, *, detached: bool = False) -> Self:
        """Come up and be ready for every request. Detached, it outlives this process."""
        if not detached:
            self._keeper = Keeper(self.folder)
        try:
            self._start()
        except BaseException:
            self.stop()
            raise
        return self

    def _start(self) -> None:
        self._authority = Authority(self.folder / "pki")
        self._ports = {name: free_port() for name in ("etcd", "kube-apiserver")}
        (self.folder / "ports.json").write_text(json.dumps(self._ports))
        self._authority.server("kube-apiserver", launch.FIRST_SERVICE_ADDRESS)
        self._authority.signing_key("service-accounts")
        self.write_kubeconfig(self.kubeconfig, pair=self._authority.client("admin", "system:masters"))
        for user in launch.CLIENTS:
            pair = self._authority.client(f"system:{user}", *launch.CLIENTS[user])
            self.write_kubeconfig(self.folder / f"{user}.kubeconfig", pair=pair)
        self._run("etcd", launch.etcd(self.folder, self._ports["etcd"]), self.programs.etcd)
        self.start_apiserver()
        self._run_kube("kube-controller-manager", launch.controller_manager(self.folder))

    def take_up(self) -> Self:
        """Speak for a control plane that an earlier process started in this folder, alive or not."""
        self._ports = json.loads((self.folder / "ports.json").read_text())
        return self

    def stop(self) -> None:
        """End every process and remove the folder."""
        if self._client is not None:
            self._client.close()
        self.processes.stop_all()
        if self._keeper is not None:
            self._keeper.dismiss()
        shutil.rmtree(self.folder, ignore_errors=True)

    def start_apiserver(self) -> None:
        """Start it on its port and wait until it is ready."""
        self._run_kube(
            "kube-apiserver", launch.apiserver(self.folder, self._ports["kube-apiserver"], self._ports["etcd"])
        )
        self._wait_ready(60)

    def stop_apiserver(self, *, force: bool = False) -> None:
        """Stop it, or with `force` kill it; etcd and the others go on."""
        self.processes.stop("kube-apiserver", force=force)

    def restart_apiserver(self, *, force: bool = False) -> None:
        """Come back on the same port with the same data."""
        self.stop_apiserver(force=force)
        self.start_apiserver()

    def run_pods(self) -> None:
        """Add the scheduler, kwok, its fake node and volumes: pods get scheduled and seem to run. Twice is once."""
        if self.processes.running("kwok"):
            return
        self._run_kube("kube-scheduler", launch.scheduler(self.folder))
        kwok = self.programs.kwok
        printed = subprocess.run([kwok / "kwok-stages"], check=True, capture_output=True, text=True)
        (self.folder / "stages.yaml").write_text(printed.stdout)
        self._run("kwok", launch.kwok(self.folder), kwok / "kwok")
        self.run_module("volumes", "tests.cluster.volumes", str(self.folder))
        self.kubectl("apply", "--server-side", "-f", "-", text=yaml.safe_dump(launch.fake_node(FAKE_NODE)))
        self.kubectl("wait", "--for=condition=Ready", f"node/{FAKE_NODE}", "--timeout=60s")

    def run_module(self, name: str, module: str, *arguments: str, **environment: str) -> None:
        """Run a program of this repository beside the control plane, by the Python that runs this."""
        path = os.pathsep.join(str(ROOT / part) for part in ("", "operator"))
        env = {"PYTHONPATH": path, **environment}
        self.processes.start(name, [sys.executable, "-m", module, *arguments], env=env)

    def apply_crds(self, folder: Path = CRDS) -> None:
        """Install the CRDs and wait until their kinds are served."""
        files = [f"--filename={path}" for path in sorted(folder.glob("*.yaml"))]
        self.kubectl("apply", "--server-side", *files)
        self.kubectl("wait", "--for=condition=Established", "--timeout=60s", *files)

    def apply_admission(self, folder: Path = CRDS / "admission") -> None:
        """Install the policies that warn."""
        self.kubectl("apply", "--server-side", f"--filename={folder}")

    # -- ways in ------------------------------------------------------------------------------------------------

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self._ports['kube-apiserver']}"

    @property
    def is_ready(self) -> bool:
        """Whether the API server answers that it is; the body of /readyz says ok long before its status does."""
        try:
            return self.client.get("/readyz", timeout=5).status_code == 200
        except httpx.TransportError:
            return False

    @property
    def client(self) -> httpx.Client:
        """The API server as the administrator sees it."""
        if self._client is None:
            context = ssl.create_default_context(cafile=self.ca)
            context.load_cert_chain(self.folder / "pki" / "admin.crt", self.folder / "pki" / "admin.key")
            self._client = httpx.Client(base_url=self.url, verify=context, trust_env=False, timeout=30)
        return self._client

    def kubectl(self, *arguments: str, text: str | None = None, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run kubectl as the administrator; `text` is its input. Refusals raise with what it said."""
        done = subprocess.run(
            [self.programs.kubectl, f"--kubeconfig={self.kubeconfig}", *arguments],
            input=text,
            capture_output=True,
            text=True,
            check=False,
        )
        if check and done.returncode != 0:
            raise KubectlError(f"kubectl {' '.join(arguments)}: {done.stderr.strip()}")
        return done

    def token(self, service_account: str, namespace: str, *, seconds: int = 3600) -> str:
        """A token of this service account, made where it does not exist; 600 seconds is the shortest life."""
        place = f"/api/v1/namespaces/{namespace}/serviceaccounts"
        made = self.client.post(place, json={"metadata": {"name": service_account}})
        assert made.status_code in (201, 409), made.text
        asked = self.client.post(f"{place}/{service_account}/token", json={"spec": {"expirationSeconds": seconds}})
        assert asked.status_code == 201, asked.text
        token: str = asked.json()["status"]["token"]
        return token

    def kubeconfig_of(self, user: str, *groups: str) -> Path:
        """A kubeconfig of a person: no rights but those given to the user or the groups."""
        assert self._authority is not None, "only who started the control plane can sign"
        return self.write_kubeconfig(
            self.folder / f"{user.replace(':', '-')}.kubeconfig", pair=self._authority.client(user, *groups)
        )

    def server_certificate(self) -> Pair:
        """What the API server shows; good for anything else on loopback too."""
        return Pair(self.folder / "pki" / "kube-apiserver.crt", self.folder / "pki" / "kube-apiserver.key")

    def write_kubeconfig(
        self,
        file: Path,
        *,
        pair: Pair | None = None,
        token: str | None = None,
        url: str | None = None,
        namespace: str = "",
    ) -> Path:
        """Write a kubeconfig for a certificate or a token; `url` for one who goes through a proxy."""
        user = {"token": token}
        if pair is not None:
            user = {"client-certificate": str(pair.certificate), "client-key": str(pair.key)}
        context = {"cluster": "test", "user": "test", **({"namespace": namespace} if namespace else {})}
        cluster = {"server": url or self.url, "certificate-authority": str(self.ca)}
        document = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "test",
            "clusters": [{"name": "test", "cluster": cluster}],
            "users": [{"name": "test", "user": user}],
            "contexts": [{"name": "test", "context": context}],
        }
        file.touch(mode=0o600)
        file.write_text(yaml.safe_dump(document))
        return file

    def audit_events(self) -> list[dict[str, Any]]:
        """Every request that was answered so far, as the API server's audit log tells it (metadata only)."""
        return [json.loads(line) for line in self.audit_log.read_text().splitlines()]

    # -- parts --------------------------------------------------------------------------------------------------

    def _run_kube(self, name: str, flags: Sequence[str]) -> None:
        self._run(name, flags, self.programs.kube / name)

    def _run(self, name: str, flags: Sequence[str], program: Path) -> None:
        self.processes.start(name, [program, *flags])

    def _wait_ready(self, seconds: float) -> None:
        give_up = time.monotonic() + seconds
        while not self.is_ready:
            for part in ("etcd", "kube-apiserver"):
                if self.processes.running(part) is None:
                    raise NotReadyError(f"{part} ended:\n{self.processes.log(part)}")
            if time.monotonic() > give_up:
                raise NotReadyError(f"/readyz was not 200 in {seconds} s:\n{self.processes.log('kube-apiserver')}")
            time.sleep(0.05)
