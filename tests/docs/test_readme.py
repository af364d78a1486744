"""What the README tells people to type works, and the files it points to exist."""

import json
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from process.programs import dev

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def _commands(block: str) -> list[str]:
    return [line.split("#")[0].strip() for line in block.replace("\\\n", " ").splitlines() if line.strip()]


def test_the_readme_leads_with_the_two_commands() -> None:
    first = re.search(r"```sh\n(.*?)```", README, re.DOTALL)
    assert first is not None
    assert _commands(first[1]) == ["make run", "make test"]


@pytest.fixture
def folder() -> Iterator[Path]:
    """Give a data folder that the database's own user can enter."""
    place = Path(tempfile.mkdtemp(prefix="keepsake-readme-"))
    place.chmod(0o755)
    yield place / "data"
    shutil.rmtree(place, ignore_errors=True)


def test_the_readmes_curls_save_a_memory_and_find_it_first(folder: Path) -> None:
    blocks = re.findall(r"```sh\n(curl.*?)```", README, re.DOTALL)
    assert len(blocks) == 2
    with dev(folder, "--no-sample") as running:
        running.says("Keepsake is up")
        save, recall = (block.replace("http://127.0.0.1:8080/api/v1", running.api) for block in blocks)
        saved = json.loads(subprocess.run(["sh", "-c", save], check=True, capture_output=True, text=True).stdout)
        found = json.loads(subprocess.run(["sh", "-c", recall], check=True, capture_output=True, text=True).stdout)
        assert running.ends(signal.SIGTERM) == 0
    assert saved["action"] == "added"
    assert found["memories"][0]["id"] == saved["memory"]["id"]
    assert "explain" in found["memories"][0]


def test_every_target_the_documentation_names_exists() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    named = {name for page in pages for name in re.findall(r"`make ([a-z-]+)", page.read_text(encoding="utf-8"))}
    assert named
    assert named <= targets


def test_every_link_between_the_pages_leads_somewhere() -> None:
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    broken = [
        f"{page.name} -> {link}"
        for page in pages
        for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8"))
        if not (page.parent / link).exists()
    ]
    assert broken == []
