"""The table of manifests has the API server's verdict, and the CRDs are good to live with."""

from pathlib import Path

import pytest
import yaml

from manifest_table import Row, holds_part, rows
from tests.cluster.control_plane import CRDS, ControlPlane

# What may be stored in etcd besides, and what `kubectl apply` without --server-side may put into one annotation.
LARGEST_CRD = 60_000
RESOURCES = {"MemoryPolicy": "memorypolicies", "Provider": "providers", "Workspace": "workspaces"}


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.name)
def test_the_api_server_comes_to_the_same_verdict(row: Row, control_plane: ControlPlane) -> None:
    place = "" if row.kind == "MemoryPolicy" else "namespaces/default/"
    answer = control_plane.client.post(
        f"/apis/keepsake.dev/v1alpha1/{place}{RESOURCES[row.kind]}",
        params={"dryRun": "All", "fieldValidation": "Strict"},
        content=row.text.encode(),
        headers={"Content-Type": "application/yaml"},
    )
    if row.says is None:
        assert answer.status_code == 201, answer.json()["message"]
        assert holds_part(answer.json(), row.stored)
    else:
        assert answer.status_code in (400, 422), answer.text
        assert row.says in answer.json()["message"]


def test_every_sample_is_accepted(control_plane: ControlPlane) -> None:
    control_plane.kubectl("apply", "--dry-run=server", "--validate=strict", f"--filename={CRDS / 'samples'}")


@pytest.mark.parametrize("path", sorted(CRDS.glob("*.yaml")), ids=lambda path: path.stem)
def test_a_crd_is_served_without_complaint_and_not_too_large(path: Path, control_plane: ControlPlane) -> None:
    name = yaml.safe_load(path.read_text(encoding="utf-8"))["metadata"]["name"]
    live = control_plane.client.get(f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}").json()
    conditions = {condition["type"]: condition["status"] for condition in live["status"]["conditions"]}
    assert conditions["Established"] == conditions["NamesAccepted"] == "True"
    assert conditions.get("NonStructuralSchema", "False") == "False"
    assert len(path.read_bytes()) <= LARGEST_CRD


@pytest.mark.parametrize(
    ("field", "says"),
    [
        ("memorypolicies", "KIND:       MemoryPolicy"),
        ("memorypolicies.spec.recall.halfLife", "institutional"),
        ("memorypolicies.spec.recall.rrfK", "<integer>"),
        ("providers.spec.embedding.dimensions", "<integer>"),
        ("workspaces.spec.services.memory.database", "managed"),
    ],
)
def test_kubectl_explains_a_field(field: str, says: str, control_plane: ControlPlane) -> None:
    told = control_plane.kubectl("explain", field).stdout
    assert says in told
    description = told.partition("DESCRIPTION:")[2].strip()
    assert description
    assert not description.startswith("<empty>")


def test_short_names_and_columns_answer_in_kubectl(control_plane: ControlPlane, namespace: str) -> None:
    for kind, short, spec in (("MemoryPolicy", "mp", "{}"), ("Provider", "mprov", "{role: embedding, type: mock}")):
        text = f"apiVersion: keepsake.dev/v1alpha1\nkind: {kind}\nmetadata: {{name: {namespace}}}\nspec: {spec}\n"
        control_plane.kubectl("apply", f"--namespace={namespace}", "-f", "-", text=text)
        shown = control_plane.kubectl("get", short, namespace, f"--namespace={namespace}").stdout.splitlines()
        columns = [
            column["name"].upper()
            for path in CRDS.glob("*.yaml")
            for crd in [yaml.safe_load(path.read_text(encoding="utf-8"))]
            if crd["spec"]["names"]["kind"] == kind
            for column in crd["spec"]["versions"][0]["additionalPrinterColumns"]
            if not column.get("priority")
        ]
        assert columns
        assert all(column in shown[0] for column in columns)
    control_plane.kubectl("delete", "mp", namespace)
