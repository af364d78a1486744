"""Volumes for claims, because nothing in the control plane makes any: kwok plays nodes, and no storage.

Each claim gets a PersistentVolume of its size that leads nowhere; Kubernetes' own controllers bind the two, and the
scheduler waits for that. With the claim the volume goes. `python -m tests.cluster.volumes FOLDER` does it for the
control plane of that folder until it is ended.
"""

import json
import ssl
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import yaml

_CLAIMS, _VOLUMES = "/api/v1/persistentvolumeclaims", "/api/v1/persistentvolumes"


def volume(claim: dict[str, Any]) -> dict[str, Any]:
    """The volume that only this claim may have."""
    metadata, spec = claim["metadata"], claim["spec"]
    reference = {name: metadata[name] for name in ("namespace", "name", "uid")}
    return {
        "metadata": {"name": _name(claim)},
        "spec": {
            "capacity": spec["resources"]["requests"],
            "accessModes": spec["accessModes"],
            "storageClassName": spec.get("storageClassName") or "",
            "claimRef": {"apiVersion": "v1", "kind": "PersistentVolumeClaim", **reference},
            # Kubernetes would not know how to empty it; it goes when its claim does.
            "persistentVolumeReclaimPolicy": "Retain",
            "hostPath": {"path": f"/nowhere/{metadata['uid']}"},
        },
    }


def provide(client: httpx.Client) -> None:
    """Look at what is there, then follow; returns when the API server ends the watch."""
    found = client.get(_CLAIMS).raise_for_status().json()
    for claim in found["items"]:
        _make(client, claim)
    for event in _events(client, found["metadata"]["resourceVersion"]):
        if event["type"] == "ERROR":
            return
        if event["type"] == "DELETED":
            client.delete(f"{_VOLUMES}/{_name(event['object'])}")
        else:
            _make(client, event["object"])


def _make(client: httpx.Client, claim: dict[str, Any]) -> None:
    if not claim["spec"].get("volumeName") and "deletionTimestamp" not in claim["metadata"]:
        client.post(_VOLUMES, json=volume(claim))  # 409 where it is there already


def _events(client: httpx.Client, version: str) -> Iterator[dict[str, Any]]:
    query = {"watch": "1", "resourceVersion": version}
    with client.stream("GET", _CLAIMS, params=query, timeout=httpx.Timeout(30, read=None)) as answer:
        answer.raise_for_status()
        for line in answer.iter_lines():
            yield json.loads(line)


def _name(claim: dict[str, Any]) -> str:
    return f"pvc-{claim['metadata']['uid']}"


def _client(kubeconfig: Path) -> httpx.Client:
    config = yaml.safe_load(kubeconfig.read_text())
    cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    context = ssl.create_default_context(cafile=cluster["certificate-authority"])
    context.load_cert_chain(user["client-certificate"], user["client-key"])
    return httpx.Client(base_url=cluster["server"], verify=context, trust_env=False, timeout=30)


def main() -> None:
    with _client(Path(sys.argv[1]) / "volumes.kubeconfig") as client:
        while True:
            try:
                provide(client)
            except httpx.HTTPError:
                time.sleep(0.5)  # the API server is away for a moment: look again at what is there


if __name__ == "__main__":
    main()
