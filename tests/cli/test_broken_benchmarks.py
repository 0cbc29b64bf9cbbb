"""A benchmark that cannot be used: one warning, and the command does its work."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.packages import with_package

SAYS = "the benchmark torchy@1 of memeval-torchy 0.3 cannot be used: torchy:Torchy fails (SystemExit: no torch)."


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Return an environment with a package that ends the process when it is imported."""
    folder = tmp_path / "package"
    folder.mkdir()
    (folder / "torchy.py").write_text('import sys\n\nsys.exit("no torch")\n')
    (folder / "pyproject.toml").write_text(
        '[project]\nname = "memeval-torchy"\nversion = "0.3"\n'
        '[project.entry-points."memeval.benchmarks"]\n"torchy@1" = "torchy:Torchy"\n'
    )
    return with_package(folder, tmp_path / "metadata")


def memeval(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "memeval", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)


def test_a_command_that_needs_all_benchmarks_warns_once(environment: dict[str, str]) -> None:
    done = memeval(environment, "data", "list")
    assert done.returncode == 0 and "locomo@1" in done.stdout
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"memeval: warning: {SAYS}")


def test_a_command_that_asks_for_it_fails_and_says_why_once(environment: dict[str, str]) -> None:
    done = memeval(environment, "data", "list", "torchy")
    (line,) = done.stderr.splitlines()
    assert done.returncode == 2 and line.startswith(f"memeval: {SAYS}")
