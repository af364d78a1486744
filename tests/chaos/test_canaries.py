"""Known secret values show nowhere, through a whole life of a Workspace."""

import base64
from pathlib import Path
from typing import Any

import httpx

from operator_process import OperatorProcess, eventually
from serving_process import served
from tests.chaos.snapshot import owned
from tests.chaos.sweep import PROVIDER
from tests.reconciling.conftest import Place
from workspaces import a_service

NAME = "research-default-memory"


def forms(value: str) -> set[str]:
    """The value as it may show: bare, and within base64 at any of its three places."""
    found = {value}
    for before in range(3):
        text = base64.b64encode(b"\0" * before + value.encode()).decode()
        found.add(text[4 if before else 0 : -4])
    return found


def everything(place: Place) -> str:
    """Every object of the namespace but Secrets, events among them."""
    served_here = place.control_plane.kubectl(
        "api-resources", "--namespaced", "--verbs=list", "--output=name"
    ).stdout.split()
    kinds = ",".join(sorted({kind for kind in served_here if kind != "secrets"}))
    return place.control_plane.kubectl(
        "get", kinds, "-n", place.namespace, "-o", "yaml", "--show-managed-fields"
    ).stdout


def roll(place: Place) -> Any:
    live = place.get("deployments", NAME)
    return live and live["spec"]["template"]["metadata"]["annotations"]["keepsake.dev/secrets"]


def test_no_secret_value_shows_anywhere(place: Place, tmp_path: Path, database: str) -> None:
    values = {
        "canary-database-first", "canary-database-second", "canary-key-first", "canary-key-second", "canary-served-key"
    }  # fmt: skip
    said: list[str] = []
    log = tmp_path / "operator.log"
    with OperatorProcess(place.control_plane.kubeconfig, place.namespace, log, LOG_LEVEL="debug") as operator:
        place.secret("db", uri="postgresql://u:canary-database-first@h/d")
        place.secret("key", key="canary-key-first")
        place.provider(**PROVIDER)
        place.workspace(a_service(), a_service("extra", database={"managed": {}}))
        eventually(lambda: place.get("deployments", NAME) and place.list("cronjobs"), seconds=60, told=operator.tail)
        for one in place.list("secrets"):
            if "password" in (one.get("data") or {}):
                values.add(base64.b64decode(one["data"]["password"]).decode())
            if one["metadata"]["name"] == "keepsake-operator-digest-key":
                values.add(base64.b64decode(one["data"]["key"]).hex())
        assert len(values) == 7, len(values)
        said.append(everything(place))
        for name, key, value in (
            ("db", "uri", "postgresql://u:canary-database-second@h/d"),
            ("key", "key", "canary-key-second"),
        ):
            before = roll(place)
            place.secret(name, **{key: value})
            eventually(lambda before=before: roll(place) != before, seconds=60, told=operator.tail)
        said.append(everything(place))
        place.secret("db", uri="canary-database-first is no address")
        place.becomes("Ready", "False", "SecretValueUnusable", seconds=60)
        place.secret("key", other="canary-key-first")
        place.becomes("ReferencesResolved", "False", "SecretKeyMissing", seconds=60)
        said += [everything(place), operator._get("/metrics").text]
        config = place.get("configmaps", NAME)
        assert config is not None
        place.delete("workspaces", "research")
        eventually(lambda: not [one for one in owned(place) if one["kind"] == "Deployment"], seconds=60)
        said.append(everything(place))
    said.append(log.read_text())
    said.append(memory_api_says(config["data"]["config.json"], database, tmp_path))
    shown = [value for value in values for form in forms(value) for text in said if form in text]
    assert not shown, shown
    assert all(len(text) > 500 for text in said), [len(text) for text in said]
    print(f"canaries {len(values)} of {len(values)} unseen in {len(said)} texts")  # noqa: T201


def memory_api_says(config: str, database: str, folder: Path) -> str:
    """Logs, metrics and answers of a memory-api with this configuration, whose Provider does not answer."""
    (folder / "config.json").write_text(config)
    (folder / "secrets" / "key").mkdir(parents=True)
    (folder / "secrets" / "key" / "key").write_text("canary-served-key\n")
    settings = {
        "KEEPSAKE_CONFIG_FILE": str(folder / "config.json"),
        "KEEPSAKE_SECRETS_DIR": str(folder / "secrets"),
        "KEEPSAKE_LOG_LEVEL": "debug",
    }
    url = database.replace("postgres@", "postgres:canary-database-first@", 1)
    assert url != database
    log = folder / "memory-api.log"
    with log.open("wb") as out, served(url, settings, log=out) as place:
        body = {"content": "Ada prefers window seats", "user_id": "ada"}
        saved = httpx.post(f"{place.api}/api/v1/memories", json=body, timeout=30, trust_env=False)
        told = [saved.text]
        for address in (
            f"{place.api}/api/v1/memory/engine-status",
            f"{place.health}/readyz",
            f"{place.metrics}/metrics",
        ):
            told.append(httpx.get(address, timeout=30, trust_env=False).text)
    return log.read_text() + "\n".join(told)
