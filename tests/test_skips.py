"""The gate that makes a skipped test a failure, in real pytest sessions of their own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def session(folder: Path, source: str, *, gate: str, options: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """Run pytest on one file of tests with the gate loaded."""
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "test_sample.py").write_text(f"import pytest\n{source}\n")
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    environment |= {"MEMEVAL_FAIL_ON_SKIP": gate, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "pytest", "-p", "tests.skips", "-p", "no:cacheprovider", *options]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


SKIPPED_INSIDE = "def test_passes(): pass\ndef test_skips(): pytest.skip('no chromium here')"
SKIPPED_FILE = "pytest.importorskip('a_module_that_nobody_has')\ndef test_passes(): pass"
LACKS_DATA = "def test_passes(): pass\ndef test_skips(): pytest.skip('set MEMEVAL_TEST_DATA to the data')"
EXPECTED_FAILURE = "def test_passes(): pass\n@pytest.mark.xfail\ndef test_fails(): assert False"


@pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["alone", "xdist"])
@pytest.mark.parametrize("source", [SKIPPED_INSIDE, SKIPPED_FILE], ids=["inside", "whole-file"])
def test_a_skip_fails_the_session(tmp_path: Path, source: str, options: tuple[str, ...]) -> None:
    done = session(tmp_path, source, gate="1", options=options)
    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    assert "1 skipped here, and MEMEVAL_FAIL_ON_SKIP=1 allows only" in done.stdout
    assert "1 skipped" in done.stdout.splitlines()[-1]


@pytest.mark.parametrize("options", [(), ("-n", "2")], ids=["alone", "xdist"])
@pytest.mark.parametrize("source", [LACKS_DATA, EXPECTED_FAILURE], ids=["lacks-data", "expected-failure"])
def test_missing_data_and_expected_failures_are_let_through(
    tmp_path: Path, source: str, options: tuple[str, ...]
) -> None:
    done = session(tmp_path, source, gate="1", options=options)
    assert done.returncode == pytest.ExitCode.OK
    assert "allows only skips" not in done.stdout


def test_without_the_variable_a_skip_is_only_a_skip(tmp_path: Path) -> None:
    assert session(tmp_path, SKIPPED_INSIDE, gate="").returncode == pytest.ExitCode.OK
