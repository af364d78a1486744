"""The policy file followed through edits: good ones act, broken ones never take rules away."""

import asyncio
import contextlib
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from manifest_table import manifest
from memory_api.domain.policy import Policy
from memory_api.errors import ManifestError
from memory_api.manifests import PolicySource


def write(file: Path, spec: str) -> None:
    file.write_text(manifest("MemoryPolicy", spec), encoding="utf-8")


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.now += timedelta(seconds=1)
        return self.now


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "policy.yaml"
    write(path, "{recall: {rrfK: 10}}")
    return path


def test_a_good_edit_acts_and_is_told_once(file: Path) -> None:
    seen: list[Policy] = []
    source = PolicySource(file, on_change=seen.append, clock=Clock())
    before = source.since
    source.check_once()
    assert (source.policy.recall.rrf_k, seen, source.since) == (10, [], before)
    write(file, "{recall: {rrfK: 20}}")
    source.check_once()
    source.check_once()
    assert [policy.recall.rrf_k for policy in seen] == [20]
    assert source.policy is seen[0]
    assert source.since > before


def test_a_broken_edit_keeps_the_last_good_policy_and_says_why(file: Path) -> None:
    seen: list[Policy] = []
    source = PolicySource(file, on_change=seen.append, clock=Clock())
    write(file, "\n  recall:\n    rrfK: 0")
    source.check_once()
    assert source.policy.recall.rrf_k == 10
    assert source.error is not None
    assert source.error.startswith(f"{file}:7: spec.recall.rrfK: Invalid value: 0")
    broken_since = source.since
    source.check_once()
    assert source.since == broken_since
    write(file, "{recall: {rrfK: 10}}")
    source.check_once()
    assert (source.error, seen) == (None, [])
    assert source.since > broken_since


def test_a_deleted_file_keeps_the_last_good_policy_until_it_is_back(file: Path) -> None:
    source = PolicySource(file)
    file.unlink()
    source.check_once()
    assert source.policy.recall.rrf_k == 10
    assert source.error == f"{file}: cannot be read: No such file or directory"
    write(file, "{recall: {rrfK: 30}}")
    source.check_once()
    assert (source.policy.recall.rrf_k, source.error) == (30, None)


def test_the_swap_of_a_mounted_config_map_is_seen(tmp_path: Path) -> None:
    for version, k in (("v1", 10), ("v2", 20)):
        (tmp_path / version).mkdir()
        write(tmp_path / version / "policy.yaml", f"{{recall: {{rrfK: {k}}}}}")
    (tmp_path / "..data").symlink_to("v1")
    (tmp_path / "policy.yaml").symlink_to("..data/policy.yaml")
    source = PolicySource(tmp_path / "policy.yaml")
    (tmp_path / "..next").symlink_to("v2")
    (tmp_path / "..next").rename(tmp_path / "..data")
    source.check_once()
    assert source.policy.recall.rrf_k == 20


def test_each_transition_is_logged_once_and_without_contents(file: Path) -> None:
    source = PolicySource(file)
    with capture_logs() as logs:
        for text in ("{recall: {fusion: secretive}}", "{recall: {fusion: secretive2}}", "{recall: {rrfK: 40}}"):
            write(file, text)
            source.check_once()
            source.check_once()
    assert [entry["log_level"] for entry in logs] == ["warning", "info"]
    assert logs[0]["fields"] == ["spec.recall.fusion"]
    assert "secretive" not in str(logs)


def test_a_broken_file_at_the_start_is_an_error(file: Path) -> None:
    write(file, "{recall: {rrfK: 0}}")
    with pytest.raises(ManifestError):
        PolicySource(file)


async def test_run_follows_the_file_until_it_is_cancelled(file: Path) -> None:
    changed = asyncio.Event()
    source = PolicySource(file, interval=0.01, on_change=lambda _policy: changed.set())
    task = asyncio.create_task(source.run())
    write(file, "{recall: {rrfK: 50}}")
    await asyncio.wait_for(changed.wait(), 5)
    assert source.policy.recall.rrf_k == 50
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
    assert task.cancelled()
