"""`keepsake dev`, the main job: from an empty folder to a shown recall, and through every way of ending."""

import signal
import socket
from pathlib import Path

import httpx
import psutil
import pytest

from process.programs import dev, keepsake, one_line, policy_file, provider_file
from serving_process import free_port
from waiting import eventually

UP = "Ctrl-C stops it"


def test_from_an_empty_folder_it_shows_one_recall_and_comes_back_with_its_data(place: Path) -> None:
    with dev(place / "data") as first:
        assert first.says("Starting PostgreSQL") < 60
        assert first.says(UP) < 60
        assert "Recall for user ada" in first.said
        assert "meaning rank" in first.said
        assert "x decay" in first.said
        assert "strategy hybrid\n" in first.said
        first.call("POST", "memories", json={"content": "Ada keeps bees on her roof", "user_id": "ada"})
        assert first.ends(signal.SIGINT) == 0
        assert first.ended_cleanly(), first.said
    with dev(place / "data") as second:
        assert second.says(UP) < 15  # alone it is up within 5 s: `make bench` holds that
        found = second.call("POST", "memories/retrieve", json={"query": "bees", "user_id": "ada"})
        assert found["memories"][0]["content"] == "Ada keeps bees on her roof"
        assert "sample memories" not in second.said
        assert second.ends(signal.SIGTERM) == 0
        assert second.ended_cleanly(), second.said


def test_the_samples_are_of_all_four_tiers(place: Path) -> None:
    with dev(place / "data", "--provider", provider_file(place)) as running:
        running.says(UP)
        ask = {"query": "Ada refunds booking Atlas", "user_id": "ada", "agent_id": "concierge", "limit": 50}
        found = running.call("POST", "memories/retrieve", json=ask)
    assert {memory["tier"] for memory in found["memories"]} == {"user", "agent", "user_for_agent", "institutional"}


def test_a_stop_while_postgresql_starts_is_a_clean_end(place: Path) -> None:
    with dev(place / "data") as running:
        running.says("Starting PostgreSQL")
        assert running.ends(signal.SIGINT) == 0
        assert running.ended_cleanly(), running.said


def test_kill_9_loses_nothing_that_was_acknowledged(place: Path) -> None:
    provider = provider_file(place)
    with dev(place / "data", "--no-sample", "--provider", provider) as running:
        running.says(UP)
        ids = [
            running.call("POST", "memories", json={"content": f"number {n}", "user_id": "ada"})["memory"]["id"]
            for n in range(30)
        ]
        running.process.kill()
        assert running.process.wait(10) == -signal.SIGKILL
    with dev(place / "data", "--no-sample", "--provider", provider) as again:
        again.says(UP)
        kept = again.call("GET", "memories", params={"user_id": "ada", "limit": 100})
    assert {memory["id"] for memory in kept["memories"]} == set(ids)


def test_a_second_copy_on_the_same_folder_is_refused_in_one_line(place: Path) -> None:
    with dev(place / "data", "--no-sample", "--provider", provider_file(place)) as running:
        running.says(UP)
        done = keepsake("dev", "--port", "0", "--data-dir", place / "data")
        assert done.returncode == 2
        assert f"in use by another Keepsake (pid {running.process.pid})" in one_line(done)


def test_a_busy_port_is_refused_in_one_line_before_anything_starts(place: Path) -> None:
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        done = keepsake("dev", "--port", str(busy.getsockname()[1]), "--data-dir", place / "data")
    assert done.returncode == 2
    assert "cannot listen on 127.0.0.1" in one_line(done)
    assert not (place / "data").exists()


def test_the_ports_follow_the_api_port(place: Path) -> None:
    port = str(free_port())
    with dev(place / "data", "--no-sample", "--provider", provider_file(place), "--port", port) as running:
        running.says(UP)
        assert running.api == f"http://127.0.0.1:{port}/api/v1"
        assert httpx.get(f"http://127.0.0.1:{int(port) + 1}/readyz", trust_env=False).status_code == 200
        metrics = httpx.get(f"http://127.0.0.1:{int(port) + 1010}/metrics", trust_env=False)
        assert "keepsake_ready 1.0" in metrics.text


def test_a_policy_without_the_samples_kinds_only_leaves_samples_out(place: Path) -> None:
    policy = policy_file(place, "{schema: {kinds: [{name: fact}], relationTypes: [{name: blocks}]}}")
    with dev(place / "data", "--policy", policy, "--provider", provider_file(place)) as running:
        running.says(UP)
        assert "Left out: " in running.said
        assert running.ends(signal.SIGINT) == 0
        assert running.ended_cleanly(), running.said


def test_a_killed_database_is_started_again_under_it(place: Path) -> None:
    with dev(place / "data", "--no-sample", "--provider", provider_file(place)) as running:
        running.says(UP)
        saved = running.call("POST", "memories", json={"content": "it survives", "user_id": "ada"})["memory"]
        postmaster = int((place / "data" / "postgres" / "postmaster.pid").read_text().splitlines()[0])
        psutil.Process(postmaster).kill()
        running.says("starting it again")
        eventually(lambda: httpx.get(running.health, trust_env=False, timeout=10).status_code == 200, within=30)
        assert running.call("GET", f"memories/{saved['id']}", params={"user_id": "ada"})["memory"]["id"] == saved["id"]
        assert running.ends(signal.SIGTERM) == 0


@pytest.mark.parametrize("option", ["--policy", "--provider"])
def test_a_broken_manifest_is_refused_in_one_line_that_names_the_place(place: Path, option: str) -> None:
    kind = "MemoryPolicy" if option == "--policy" else "Provider"
    broken = place / "broken.yaml"
    broken.write_text(f"apiVersion: keepsake.dev/v1alpha1\nkind: {kind}\nmetadata:\n  name: a\nspec:\n  nonsense: 1\n")
    done = keepsake("dev", "--port", "0", "--data-dir", place / "data", option, broken)
    assert done.returncode == 2
    assert f"{broken}:" in one_line(done)
    assert "nonsense" in done.stderr
