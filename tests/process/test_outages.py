"""The database away, late or strange, under a running `keepsake serve`: it says so, waits, and needs no restart."""

import os
import signal
from pathlib import Path

import httpx
import psutil
import pytest
from sqlalchemy import make_url

from databases import prepare_template
from embedded.people import servers_below
from memory_api.embedded import EmbeddedPostgres
from process.programs import keepsake, provider_file
from serving_process import Served, served
from waiting import eventually


@pytest.fixture
def settings(tmp_path: Path) -> dict[str, str]:
    return {"KEEPSAKE_PROVIDER_FILE": provider_file(tmp_path), "KEEPSAKE_LOG_LEVEL": "error"}


def get(url: str) -> httpx.Response:
    return httpx.get(url, trust_env=False, timeout=20)


def ready(place: Served) -> tuple[int, str]:
    answer = httpx.get(f"{place.health}/readyz", trust_env=False, timeout=10)
    return answer.status_code, answer.json().get("reason", answer.json()["status"])


def healthy(place: Served) -> bool:
    return all(
        httpx.get(f"{base}/healthz", trust_env=False, timeout=10).status_code == 200
        for base in (place.api, place.health)
    )


def save(place: Served, content: str) -> httpx.Response:
    body = {"content": content, "user_id": "ada"}
    return httpx.post(f"{place.api}/api/v1/memories", json=body, trust_env=False, timeout=20)


@pytest.mark.parametrize("end", ["stop", "kill"])
async def test_br_159_a_database_that_goes_away_is_503_until_it_is_back(
    mortal: EmbeddedPostgres, settings: dict[str, str], end: str
) -> None:
    url = mortal.url("keepsake")
    await prepare_template(url)
    with served(url, settings) as place:
        kept = save(place, "before").json()["memory"]["id"]
        if end == "stop":
            mortal.stop()
        else:
            assert mortal.pid
            os.kill(mortal.pid, signal.SIGKILL)
            eventually(mortal.died)
        eventually(lambda: ready(place) == (503, "DatabaseUnreachable"))
        for answer in (
            save(place, "meanwhile"),
            get(f"{place.api}/api/v1/memories?user_id=ada"),
            get(f"{place.api}/api/v1/memories/search?q=before&user_id=ada"),
        ):
            assert answer.status_code == 503
            assert answer.headers["Content-Type"] == "application/problem+json"
            assert int(answer.headers["Retry-After"]) >= 1
        assert healthy(place)
        assert "keepsake_ready 0.0" in get(f"{place.metrics}/metrics").text
        mortal.start()
        eventually(lambda: ready(place) == (200, "ready"))
        assert save(place, "after").status_code == 201
        listed = get(f"{place.api}/api/v1/memories?user_id=ada").json()["memories"]
        assert [memory["content"] for memory in listed] == ["after", "before"]
        assert listed[1]["id"] == kept


async def test_br_159_a_database_that_stands_still_fails_readiness_and_no_liveness(
    mortal: EmbeddedPostgres, settings: dict[str, str]
) -> None:
    await prepare_template(mortal.url("keepsake"))
    with served(mortal.url("keepsake"), settings) as place:
        stopped = servers_below(mortal.data_dir)
        try:
            for process in stopped:
                process.suspend()
            assert ready(place) == (503, "DatabaseUnreachable")
            assert healthy(place)
        finally:
            for process in stopped:
                process.resume()
        eventually(lambda: ready(place) == (200, "ready"))
        assert save(place, "after").status_code == 201


def test_started_before_server_database_and_schema_it_waits_for_each(place: Path, settings: dict[str, str]) -> None:
    server = EmbeddedPostgres(place / "late", crash_safe=False)
    url = server.url("keepsake")
    with served(url, settings, wait_ready=False) as running, server:
        eventually(lambda: psutil.Process(running.process.pid).is_running() and _answers(running))
        assert ready(running) == (503, "DatabaseUnreachable")
        assert save(running, "too early").status_code == 503
        server.ensure_database("keepsake")
        eventually(lambda: ready(running) == (503, "SchemaNotAtHead"))
        done = keepsake("migrate", KEEPSAKE_DATABASE_URL=url)
        assert done.returncode == 0, done.stderr
        eventually(lambda: ready(running) == (200, "ready"))
        assert save(running, "in time").status_code == 201


def _answers(place: Served) -> bool:
    try:
        return healthy(place)
    except httpx.TransportError:
        return False


def test_br_144_a_newer_schema_than_we_know_is_served(
    database: str, settings: dict[str, str], postgres_cluster: EmbeddedPostgres
) -> None:
    name = str(make_url(database).database)
    postgres_cluster.query("update alembic_version set version_num = '9999'", database=name)
    done = keepsake("migrate", KEEPSAKE_DATABASE_URL=database)
    assert done.returncode == 0, done.stderr
    assert "9999" in done.stdout
    with served(database, settings) as place:
        assert save(place, "on a newer schema").status_code == 201


def test_a_database_url_may_come_from_a_file(database: str, tmp_path: Path, settings: dict[str, str]) -> None:
    file = tmp_path / "url"
    file.write_text(database + "\n")
    with served("", {**settings, "KEEPSAKE_DATABASE_URL_FILE": str(file)}) as place:
        assert save(place, "by file").status_code == 201


def test_another_workspaces_database_is_refused_with_both_named(database: str, settings: dict[str, str]) -> None:
    mine, other = "01890000-0000-7000-8000-000000000001", "01890000-0000-7000-8000-000000000002"
    with served(database, {**settings, "KEEPSAKE_WORKSPACE_UID": mine}):
        pass
    done = keepsake("serve", "--port", "0", **settings, KEEPSAKE_DATABASE_URL=database, KEEPSAKE_WORKSPACE_UID=other)
    assert done.returncode == 2
    refusal = done.stderr.splitlines()[-1]
    assert "WorkspaceMismatch" in refusal
    assert mine in refusal
    assert other in refusal
