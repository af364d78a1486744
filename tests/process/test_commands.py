"""The edges of the command line: help, refusals, and what `make` hands on."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from manifest_table import ROOT
from process.programs import environment, keepsake, one_line, provider_file

FAKE = """#!/bin/sh
for word in "$@"; do printf '%s\\n' "$word"; done
"""


def make(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    known = environment(**variables)
    for name in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "HOST", "PORT", "DATA_DIR", "POLICY", "PROVIDER", "SAMPLE"):
        known.pop(name, None)
    return subprocess.run(
        ["make", *arguments], cwd=folder, env={**known, **variables}, capture_output=True, text=True, timeout=60,
        check=False,
    )  # fmt: skip


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Give a checkout's Makefile and requirements, without an environment."""
    shutil.copy(ROOT / "Makefile", tmp_path)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copytree(ROOT / "requirements", tmp_path / "requirements")
    return tmp_path


@pytest.fixture
def installed(checkout: Path) -> Path:
    """Give one whose environment is made, with a `keepsake` that prints what it is given."""
    programs = checkout / ".venv" / "bin"
    programs.mkdir(parents=True)
    for name in ("uv", "keepsake"):
        (programs / name).write_text(FAKE)
        (programs / name).chmod(0o755)
    (checkout / ".venv" / "run.stamp").touch()
    return checkout


@pytest.mark.parametrize("command", [(), ("dev",), ("serve",), ("migrate",)])
def test_help_of_every_command_explains_it_and_each_option(command: tuple[str, ...]) -> None:
    done = keepsake(*command, "--help")
    assert done.returncode == 0
    assert "Usage: keepsake" in done.stdout
    options = [line for line in done.stdout.splitlines() if line.startswith("  -")]
    assert options
    assert all(len(line.split("  ")) > 2 or "," in line for line in options), done.stdout


@pytest.mark.parametrize("command", ["dev", "serve"])
@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.0.2.1", "example.org"])
def test_an_address_that_is_not_loopback_is_refused_without_insecure(tmp_path: Path, command: str, host: str) -> None:
    done = keepsake(command, "--host", host, "--port", "0", KEEPSAKE_PROVIDER_FILE=provider_file(tmp_path))
    assert done.returncode == 2
    assert "--insecure" in one_line(done)


@pytest.mark.parametrize("command", ["serve", "migrate"])
def test_no_database_is_one_line_that_names_the_settings(tmp_path: Path, command: str) -> None:
    done = keepsake(command, KEEPSAKE_PROVIDER_FILE=provider_file(tmp_path), KEEPSAKE_DATABASE_URL="")
    assert done.returncode == 2
    assert "KEEPSAKE_DATABASE_URL" in one_line(done)


def test_a_setting_that_cannot_be_used_is_named_without_its_value() -> None:
    done = keepsake("migrate", KEEPSAKE_WORKSPACE_UID="not-a-uuid-canary", KEEPSAKE_LOG_LEVEL="loud")
    assert done.returncode == 2
    assert "KEEPSAKE_WORKSPACE_UID" in one_line(done)
    assert "KEEPSAKE_LOG_LEVEL" in done.stderr
    assert "canary" not in done.stderr


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://u:s3cr3t-p%40ss@127.0.0.1:1/x",
        "postgresql://u:s3cr3t-p%40ss@127.0.0.1:1/x?sslmode=require",
        "postgresql://u:s3cr3t-p@ss/w:rd@127.0.0.1:1/x",
        "mysql://u:s3cr3t@127.0.0.1/x",
        "s3cr3t",
    ],
)
def test_br_148_no_refusal_of_a_database_url_shows_its_password(url: str) -> None:
    done = keepsake("migrate", KEEPSAKE_DATABASE_URL=url)
    assert done.returncode in (1, 2)
    one_line(done)
    assert "s3cr3t" not in done.stdout + done.stderr


@pytest.mark.parametrize("parameter", ["sslmode=bogus", "target_session_attrs=bogus", "bogus=1", "work_mem=lots"])
def test_a_parameter_of_the_database_url_that_cannot_be_used_is_exit_2_and_one_line(
    empty_database: str, parameter: str
) -> None:
    url = empty_database.replace("+asyncpg", "") + f"&{parameter}"
    done = keepsake("migrate", KEEPSAKE_DATABASE_URL=url)
    assert done.returncode == 2
    assert parameter.split("=")[0] in one_line(done)


def test_make_alone_lists_every_target_that_is_for_people(checkout: Path) -> None:
    done = make(checkout)
    assert done.returncode == 0
    for target in ("run", "test", "check", "bench"):
        assert f"make {target} " in done.stdout


def test_make_run_hands_its_variables_on_spaces_and_all(installed: Path) -> None:
    done = make(
        installed, "run", "HOST=127.0.0.2", "PORT=9000", "DATA_DIR=/a b/c", "POLICY=p q.yaml", "PROVIDER=r s.yaml",
        "SAMPLE=0",
    )  # fmt: skip
    assert done.stdout.splitlines() == [
        "dev", "--host", "127.0.0.2", "--port", "9000", "--data-dir", "/a b/c", "--policy", "p q.yaml",
        "--provider", "r s.yaml", "--no-sample",
    ]  # fmt: skip


def test_make_run_takes_no_host_from_an_environment_that_means_something_else(installed: Path) -> None:
    assert make(installed, "run", HOST="x86_64-conda-linux-gnu").stdout.splitlines() == ["dev"]


@pytest.mark.parametrize(
    ("lacks", "remedy"), [("version_info", "PYTHON=/path/to/python3.12"), ("ensurepip", "apt-get install python3-venv")]
)
def test_a_python_that_cannot_do_it_gets_the_line_that_mends_it(checkout: Path, lacks: str, remedy: str) -> None:
    python = checkout / "python"
    python.write_text(f'#!/bin/sh\ncase "$*" in *{lacks}*) exit 1 ;; esac\nexit 0\n')
    python.chmod(0o755)
    done = make(checkout, "run", f"PYTHON={python}")
    assert done.returncode == 2
    assert remedy in done.stderr.splitlines()[0]
    assert not os.path.exists(checkout / ".venv")
