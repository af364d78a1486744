"""The command lines of a control plane for tests. Every port is on loopback; what need not listen does not."""

from pathlib import Path
from typing import Any

SERVICE_ADDRESSES = "10.96.0.0/16"
FIRST_SERVICE_ADDRESS = "10.96.0.1"
# Users of the parts (below `system:`) and their groups; kwok plays the kubelet of its nodes, volumes the storage.
CLIENTS: dict[str, tuple[str, ...]] = {
    "kube-controller-manager": (),
    "kube-scheduler": (),
    "kwok": ("system:masters",),
    "volumes": ("system:masters",),
}
# One line for each answered request, without bodies; watches also when they begin.
_AUDIT_POLICY = """\
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- {level: None, users: ["system:apiserver", "system:kube-controller-manager", "system:kube-scheduler"]}
- {level: None, users: ["system:kwok", "system:volumes"]}
- {level: None, userGroups: ["system:serviceaccounts:kube-system"]}
- {level: None, nonResourceURLs: ["/readyz*", "/livez*", "/healthz*"]}
- {level: Metadata}
"""


def etcd(folder: Path, port: int) -> list[str]:
    """Without fsync: the data is thrown away, and the disk is what etcd waits for."""
    url = f"http://127.0.0.1:{port}"
    # The neighbour of a free port is free as well; with one member nobody calls there.
    peers = f"http://127.0.0.1:{port + 1}"
    return [
        f"--data-dir={folder / 'etcd'}",
        f"--listen-client-urls={url}",
        f"--advertise-client-urls={url}",
        f"--listen-peer-urls={peers}",
        f"--initial-advertise-peer-urls={peers}",
        f"--initial-cluster=default={peers}",
        "--unsafe-no-fsync",
        "--log-level=warn",
    ]


def apiserver(folder: Path, port: int, etcd_port: int) -> list[str]:
    """RBAC, an audit log that is written before the answer, and no endpoint of its own: that may not be loopback."""
    pki = folder / "pki"
    policy = folder / "audit-policy.yaml"
    policy.write_text(_AUDIT_POLICY)
    return [
        f"--etcd-servers=http://127.0.0.1:{etcd_port}",
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        "--endpoint-reconciler-type=none",
        f"--secure-port={port}",
        f"--tls-cert-file={pki / 'kube-apiserver.crt'}",
        f"--tls-private-key-file={pki / 'kube-apiserver.key'}",
        f"--client-ca-file={pki / 'ca.crt'}",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-key-file={pki / 'service-accounts.key'}",
        f"--service-account-signing-key-file={pki / 'service-accounts.key'}",
        f"--service-cluster-ip-range={SERVICE_ADDRESSES}",
        "--authorization-mode=Node,RBAC",
        f"--audit-policy-file={policy}",
        f"--audit-log-path={folder / 'audit.log'}",
        "--audit-log-mode=blocking",
        "--allow-privileged",
        "--profiling=false",
    ]


def controller_manager(folder: Path) -> list[str]:
    """Every controller, with client limits that a test does not wait for."""
    return [
        *_component(folder, "kube-controller-manager"),
        f"--service-account-private-key-file={folder / 'pki' / 'service-accounts.key'}",
        f"--root-ca-file={folder / 'pki' / 'ca.crt'}",
        "--use-service-account-credentials",
        "--kube-api-qps=500",
        "--kube-api-burst=1000",
    ]


def scheduler(folder: Path) -> list[str]:
    """The scheduler as it comes."""
    return _component(folder, "kube-scheduler")


def kwok(folder: Path) -> list[str]:
    """Only nodes that ask for it by annotation are fake: a real node beside them stays real."""
    return [
        f"--kubeconfig={folder / 'kwok.kubeconfig'}",
        f"--config={folder / 'stages.yaml'}",
        # Without a lease to renew the node is given up after 50 s, and its pods with it.
        "--node-lease-duration-seconds=40",
        "--manage-all-nodes=false",
        "--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake",
    ]


def fake_node(name: str) -> dict[str, Any]:
    """A node that kwok keeps Ready and whose pods run at once."""
    room = {"cpu": "64", "memory": "256Gi", "pods": "1000"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "annotations": {"kwok.x-k8s.io/node": "fake"},
            "labels": {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "type": "kwok"},
        },
        "status": {"allocatable": room, "capacity": room},
    }


def _component(folder: Path, name: str) -> list[str]:
    config = folder / f"{name}.kubeconfig"
    return [f"--kubeconfig={config}", "--leader-elect=false", "--secure-port=0", "--profiling=false"]
