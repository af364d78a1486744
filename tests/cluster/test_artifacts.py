"""The cache of programs: keyed by content, trusted by sums alone, made once however many ask."""

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.cluster import build
from tests.cluster.artifacts import Artifact, MissingNeedError, cache_root, key_of
from tests.cluster.build import go_artifact, go_artifacts
from waiting import eventually


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give an empty cache of the test's own."""
    monkeypatch.setenv("KEEPSAKE_TEST_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


class Maker:
    """Make a program and count how often."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self, to: Path) -> None:
        self.times += 1
        time.sleep(0.05)
        (to / "program").write_text("works")
        (to / "another-name").symlink_to("program")


def test_it_is_made_once_and_kept(cache: Path) -> None:
    make = Maker()
    folder = Artifact("thing", "k1", make).obtain()
    assert Artifact("thing", "k1", make).obtain() == folder == cache / "thing-k1"
    assert (folder / "another-name").read_text() == "works"
    assert make.times == 1


def test_many_that_ask_at_once_get_the_same_one() -> None:
    make = Maker()
    with ThreadPoolExecutor(8) as pool:
        folders = set(pool.map(lambda _: Artifact("thing", "k1", make).obtain(), range(8)))
    assert (len(folders), make.times) == (1, 1)


@pytest.mark.parametrize("harm", ["changed", "missing", "added", "relinked", "no sums"])
def test_what_is_not_what_was_made_is_made_anew(harm: str) -> None:
    make = Maker()
    folder = Artifact("thing", "k1", make).obtain()
    if harm == "changed":
        (folder / "program").write_text("broken")
    elif harm == "missing":
        (folder / "program").unlink()
    elif harm == "added":
        (folder / "more").write_text("")
    elif harm == "relinked":
        (folder / "another-name").unlink()
        (folder / "another-name").symlink_to("/bin/true")
    else:
        (folder / "SHA256SUMS").unlink()
    assert not Artifact("thing", "k1", make).intact()
    Artifact("thing", "k1", make).obtain()
    assert (folder / "program").read_text() == "works"
    assert make.times == 2


def test_a_failed_making_leaves_nothing_behind(cache: Path) -> None:
    def fail(to: Path) -> None:
        (to / "half").write_text("")
        raise MissingNeedError("no compiler")

    with pytest.raises(MissingNeedError):
        Artifact("thing", "k1", fail).obtain()
    assert [path.name for path in cache.iterdir()] == ["thing.lock"]
    Artifact("thing", "k1", Maker()).obtain()


def test_versions_that_nobody_used_for_a_month_go() -> None:
    old, recent = (Artifact("thing", key, Maker()).obtain() for key in ("old", "recent"))
    long_ago = time.time() - 31 * 24 * 3600
    os.utime(old, (long_ago, long_ago))
    Artifact("thing", "new", Maker()).obtain()
    assert not old.exists()
    assert recent.exists()


def test_the_cache_is_where_the_environment_says(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    assert cache_root() == cache
    monkeypatch.delenv("KEEPSAKE_TEST_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert cache_root() == Path("/somewhere/keepsake/tests")


def test_a_key_tells_its_parts_apart() -> None:
    assert key_of("ab", "c") != key_of("a", "bc")
    assert key_of("a", b"b") == key_of("a", "b")


@pytest.fixture
def go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in for the go command: it says which version it is and builds nothing."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    return folder / "go"


def _is(go: Path, version: str) -> None:
    go.write_text(f"#!/bin/sh\necho go{version}; echo linux; echo amd64\n")
    go.chmod(0o755)


def test_the_key_of_a_build_holds_the_version_of_go_and_the_sources(go: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _is(go, "1.26.8")
    key = go_artifact("kube").key
    assert go_artifact("kube").key == key
    _is(go, "1.27.0")
    assert go_artifact("kube").key != key
    _is(go, "1.26.8")
    monkeypatch.setitem(build._LINKER, "kube", "-s")
    assert go_artifact("kube").key != key


@pytest.mark.parametrize(("version", "says"), [(None, "Go is missing"), ("1.25.9", "Go is too old (1.25.9)")])
def test_without_a_good_go_the_remedy_is_named(version: str | None, says: str, go: Path) -> None:
    go.parent.mkdir(exist_ok=True)
    if version is not None:
        _is(go, version)
    elif any((Path(place) / "go").exists() for place in ("/usr/bin", "/bin")):
        pytest.skip("Go is installed where every program is")
    with pytest.raises(MissingNeedError, match=r"install Go 1\.26\.0 or newer") as missing:
        go_artifact("kube")
    assert says in str(missing.value)


def test_a_build_that_fails_says_what_the_compiler_said(go: Path) -> None:
    go.write_text('#!/bin/sh\n[ "$1" = env ] && { echo go1.26.8; exit; }\necho "undefined: x" >&2; exit 1\n')
    go.chmod(0o755)
    with pytest.raises(MissingNeedError, match="undefined: x"):
        go_artifact("kwok").obtain()


def test_the_background_build_is_told_and_leaves_a_log(go: Path, cache: Path) -> None:
    go.write_text(
        '#!/bin/sh\n[ "$1" = env ] && { echo go1.26.8; exit; }\n'
        'while [ "$1" != -o ]; do shift; done\necho made > "$2"\n'
    )
    go.chmod(0o755)
    command = [sys.executable, "-m", "tests.cluster.build", "--in-background"]
    root = Path(__file__).parents[2]
    first = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True)
    assert "up to ten minutes, once (log: " in first.stdout
    eventually(lambda: "Built kwok" in (cache / "build.log").read_text())
    eventually(lambda: all(artifact.intact() for artifact in go_artifacts()))
    assert [(artifact.folder / artifact.name).read_text() for artifact in go_artifacts()] == ["made\n"] * 3
    again = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True)
    assert again.stdout == ""
