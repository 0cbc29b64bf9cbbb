"""What holds for all tests, in real pytest sessions of their own: skips, products, and a home for each test."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from memeval.storage import cache_home

ROOT = Path(__file__).resolve().parents[1]


def session(
    folder: Path, *sources: str, gate: str = "", options: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    """Run pytest on files of tests with the gate loaded."""
    (folder / "pytest.ini").write_text("[pytest]\n")
    for number, source in enumerate(sources):
        (folder / f"test_sample_{number}.py").write_text(f"import pytest\n{source}\n")
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    # What is loaded hangs on no other plugin, and looking for all that are installed takes most of a small session.
    environment |= {"MEMEVAL_FAIL_ON_SKIP": gate, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    loaded = ("-p", "tests.skips", "-p", "tests.support.products", "-p", "no:cacheprovider")
    command = [sys.executable, "-m", "pytest", *loaded, *options]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


SKIPPED_INSIDE = "def test_passes(): pass\ndef test_skips(): pytest.skip('no chromium here')"
SKIPPED_FILE = "pytest.importorskip('a_module_that_nobody_has')\ndef test_passes(): pass"
LET_THROUGH = """
def test_passes(): pass
def test_lacks_data(): pytest.skip('set MEMEVAL_TEST_DATA to the data')
@pytest.mark.xfail
def test_fails(): assert False
"""
ON_WORKERS = ("-p", "xdist", "-n", "2")


@pytest.mark.parametrize(
    ("sources", "options"),
    [((SKIPPED_FILE,), ()), ((SKIPPED_INSIDE, SKIPPED_FILE), ON_WORKERS)],
    ids=["nothing-else", "tests-and-files-on-workers"],
)
def test_a_skip_fails_the_session(tmp_path: Path, sources: tuple[str, ...], options: tuple[str, ...]) -> None:
    done = session(tmp_path, *sources, gate="1", options=options)
    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    assert f"{len(sources)} skipped here, and MEMEVAL_FAIL_ON_SKIP=1 allows only" in done.stdout
    assert f"{len(sources)} skipped" in done.stdout.splitlines()[-1]


def test_missing_data_and_expected_failures_are_let_through(tmp_path: Path) -> None:
    done = session(tmp_path, LET_THROUGH, gate="1", options=ON_WORKERS)
    assert done.returncode == pytest.ExitCode.OK
    assert "1 passed, 1 skipped, 1 xfailed" in done.stdout.splitlines()[-1]
    assert "allows only skips" not in done.stdout


def test_without_the_variable_a_skip_is_only_a_skip(tmp_path: Path) -> None:
    assert session(tmp_path, SKIPPED_INSIDE).returncode == pytest.ExitCode.OK


def test_a_test_that_needs_a_product_fails_where_it_is_not_marked(tmp_path: Path) -> None:
    source = """
from tests.support import products
def needs(monkeypatch):
    monkeypatch.setattr(products, "environment_for", lambda *_, **__: "installed")
    assert products.product("bm25s") == "installed"
@pytest.mark.products
def test_marked(monkeypatch): needs(monkeypatch)
def test_bare(monkeypatch): needs(monkeypatch)
def test_reader(): products.installed(products.PYARROW)
"""
    done = session(tmp_path, source, options=("-W", "ignore"))
    assert "2 failed, 1 passed" in done.stdout.splitlines()[-1]
    assert "this test needs bm25s: mark it with pytest.mark.products" in done.stdout
    assert "this test needs pyarrow==26.0.1: mark it" in done.stdout


def test_only_the_shared_helper_builds_the_environment_of_a_submission() -> None:
    allowed = {"tests/support/products.py", "tests/tools/install_tools.py", "tests/test_sessions.py"}
    files = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in (ROOT / "tests").rglob("*.py")}
    calls = {name for name, text in files.items() if "environment_for(" in text}
    assert {name for name in calls if not name.startswith("tests/systems/environments/")} <= allowed


@pytest.mark.parametrize("number", [1, 2])
def test_a_test_finds_nothing_of_another_in_its_home_and_its_cache(number: int, home: Path) -> None:
    assert Path.home() == home and cache_home() == home / ".cache" / "memeval"
    assert not (home / "kept").exists() and not (cache_home() / "rows").exists()
    (cache_home() / "rows").mkdir()
    (home / "kept").write_text(str(number))
