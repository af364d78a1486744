"""The service account that the operator runs as: bound to exactly the Roles that are shipped."""

from pathlib import Path

import yaml

from tests.cluster.control_plane import ROOT, ControlPlane

RIGHTS = ROOT / "operator" / "rbac.yaml"
NAME, SHIPPED_NAMESPACE = "keepsake-operator", "keepsake-system"


def install(control_plane: ControlPlane, namespace: str, *, url: str | None = None, days: float = 1) -> Path:
    """Give the account of this namespace its rights; a kubeconfig with its token, through `url` where one is given."""
    documents = list(yaml.safe_load_all(RIGHTS.read_text().replace(SHIPPED_NAMESPACE, namespace)))
    for document in documents:
        if document["kind"] == "ClusterRoleBinding":
            document["metadata"]["name"] = binding(namespace)
    control_plane.kubectl("apply", "--server-side", "-f", "-", text=yaml.safe_dump_all(documents))
    file = control_plane.folder / f"operator-{namespace}{'-proxied' if url else ''}.kubeconfig"
    token = control_plane.token(NAME, namespace, seconds=int(days * 86400))
    return control_plane.write_kubeconfig(file, token=token, url=url)


def binding(namespace: str) -> str:
    """Several operators on one API server are bound apart."""
    return NAME if namespace == SHIPPED_NAMESPACE else f"{NAME}-{namespace}"


def uninstall(control_plane: ControlPlane, namespace: str) -> None:
    """Take away what does not go with the namespace."""
    control_plane.kubectl("delete", "--ignore-not-found", "clusterrolebinding", binding(namespace))
