"""A memory-api beside the API server, as in a pod: its mounted file, its token, and the rights that it is given."""

import base64
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from memory_operator.desired.access import role, role_binding, service_account
from memory_operator.desired.config import FILE, config_map
from memory_operator.desired.group import Group, Owner, Referent
from serving_process import Served, served
from tests.cluster.control_plane import ControlPlane
from workspaces import MOCK, UID, a_group, stored

Json = dict[str, Any]


class Pod:
    """What the kubelet gives a memory-api: a folder for its token, and one for the ConfigMap."""

    def __init__(self, control_plane: ControlPlane, namespace: str, folder: Path) -> None:
        self.control_plane = control_plane
        self.namespace = namespace
        provider = Referent("p", 1, stored("Provider", MOCK)["spec"])
        self.group: Group = replace(a_group(), owner=Owner("research", namespace, UID), provider=provider)
        self.account, self.config = folder / "account", folder / "config"
        self.log = folder / "memory-api.log"
        self.account.mkdir()
        self.config.mkdir()
        for child in (service_account(self.group), role(self.group), role_binding(self.group)):
            self._apply(child.manifest())
        shutil.copy(control_plane.ca, self.account / "ca.crt")
        (self.account / "namespace").write_text(namespace)
        self.tokens: list[str] = []
        self.rotate()

    @property
    def path(self) -> str:
        return f"/api/v1/namespaces/{self.namespace}/configmaps"

    def rotate(self) -> str:
        """Another token, put in place as the kubelet does."""
        self.tokens.append(self.control_plane.token(self.group.name, self.namespace))
        new = self.account / "token.new"
        new.write_text(self.tokens[-1])
        new.replace(self.account / "token")
        return self.tokens[-1]

    def void_tokens(self) -> None:
        """Make every token given so far worthless: the account they were given to is another one now."""
        account = f"/api/v1/namespaces/{self.namespace}/serviceaccounts/{self.group.name}"
        self.control_plane.client.delete(account).raise_for_status()
        self._apply(service_account(self.group).manifest())

    def edit(self, name: str, *, mount: bool = False, **spec: Any) -> str:
        """Bind another policy, as the operator renders it; `mount`: the mounted file shows it as well."""
        bound = replace(self.group, policy=Referent(name, 1, {**stored("MemoryPolicy", {})["spec"], **spec}))
        body = config_map(bound).manifest()
        self._apply(body)
        if mount:
            self.mount(body["data"][FILE])
        return str(body["data"][FILE])

    def mount(self, text: str) -> None:
        new = self.config / "new"
        new.write_text(text, encoding="utf-8")
        new.replace(self.config / FILE)

    def delete(self) -> None:
        self.control_plane.client.delete(f"{self.path}/{self.group.name}").raise_for_status()

    def asked(self) -> set[tuple[str, str]]:
        """What the memory-api has asked the API server for, by the audit log: verb and object."""
        who = f"system:serviceaccount:{self.namespace}:{self.group.name}"
        return {
            (event["verb"], f"{event['objectRef']['resource']}/{event['objectRef'].get('name', '')}")
            for event in self.control_plane.audit_events()
            if event["user"].get("username") == who
        }

    @contextmanager
    def memory_api(self, database: str, *, url: str = "", seconds: float = 300) -> Iterator["Following"]:
        """Run it; `url` where it reaches the API server through a proxy."""
        address = urlsplit(url or self.control_plane.url)
        settings = {
            "KUBERNETES_SERVICE_HOST": str(address.hostname),
            "KUBERNETES_SERVICE_PORT": str(address.port),
            "KEEPSAKE_SERVICE_ACCOUNT_DIR": str(self.account),
            "KEEPSAKE_CONFIG_FILE": str(self.config / FILE),
            "KEEPSAKE_CONFIG_MAP": self.group.name,
            "KEEPSAKE_CONFIG_MAP_SECONDS": str(seconds),
            "KEEPSAKE_LOG_LEVEL": "debug",
        }
        with self.log.open("ab") as log, served(database, settings, log=log) as place:
            yield Following(place)

    def told_no_secret(self) -> bool:
        """Whether no token, whole or in part, is in the log."""
        said = self.log.read_text(encoding="utf-8", errors="replace")
        return not any(part in said for token in self.tokens for part in (*token.split("."), _encoded(token)))

    def _apply(self, body: Json) -> None:
        body["metadata"].pop("ownerReferences", None)  # there is no Workspace: the garbage collector would take it
        self.control_plane.kubectl(
            "apply", "--server-side", "--force-conflicts", "-n", self.namespace, "-f", "-", text=json.dumps(body)
        )


def _encoded(token: str) -> str:
    return base64.b64encode(token.encode()).decode()


@dataclass(frozen=True, slots=True)
class Following:
    """A memory-api that runs, and what it says of its policy."""

    place: Served

    def policy(self) -> Json:
        found: Json = httpx.get(f"{self.place.api}/api/v1/memory/engine-status", timeout=20, trust_env=False).json()
        return dict(found["policy"])

    def degraded(self) -> list[str]:
        answer = httpx.get(f"{self.place.health}/readyz", timeout=20, trust_env=False)
        assert answer.status_code == 200, answer.text
        return list(answer.json()["degraded"])

    def metrics(self) -> str:
        return httpx.get(f"{self.place.metrics}/metrics", timeout=20, trust_env=False).text

    def saves(self) -> bool:
        body = {"content": "Ada prefers window seats", "user_id": "ada"}
        answer = httpx.post(f"{self.place.api}/api/v1/memories", json=body, timeout=20, trust_env=False)
        return answer.status_code == 201
