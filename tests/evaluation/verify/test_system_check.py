"""The files of a submission are stored when it runs, and its run is checked against them ever after."""

import shutil
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from memeval.archive.runs import RunFolder
from memeval.archive.sources import SOURCES, stored_sources
from memeval.benchmarks import registry
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.run.running import RunOptions, run_system
from memeval.evaluation.verify.checks import systems
from memeval.evaluation.verify.checks.systems import NO_SOURCE, check_sources, check_system
from memeval.evaluation.verify.findings import Check, CheckStatus
from memeval.systems.controls import all_controls, table
from memeval.systems.source import SystemSource, altered_source, file_source, find_system, folder_source
from tests.support.adapters import plain_adapter
from tests.support.registered import Distribution, Entry
from tests.support.tiny import TinyBenchmark

MANIFEST = """
slug = "acme"
name = "Acme"
version = "2"
mock = true
declared_models = []
self_reported = ["tokens"]

[configuration]
replaced = ["the LLM, by rules"]

[variants.fast]
summary = "Fast."
[variants.fast.parameters]
speed = 2
"""


@pytest.fixture(scope="module")
def submission(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("submissions") / "acme"
    folder.mkdir()
    adapter = plain_adapter(folder)
    text = adapter.read_text().replace("def __init__(self)", "def __init__(self, speed=1)")
    (folder / "adapter.py").write_text(text)
    adapter.unlink()
    (folder / "submission.toml").write_text(MANIFEST)
    return folder


def run(source: SystemSource, folder: Path) -> RunFolder:
    return run_system(source, BenchmarkSession.open(TinyBenchmark(1, 1)), RunOptions(results=folder / "results"))


def test_a_run_stores_the_files_of_its_submission_and_is_checked_against_them(submission: Path, tmp_path: Path) -> None:
    mine = tmp_path / "submissions" / "acme"
    shutil.copytree(submission, mine)
    folder = run(folder_source(mine), tmp_path)
    assert check_system(folder, mine.parent).status is CheckStatus.OK
    (mine / "submission.toml").write_text(MANIFEST.replace('version = "2"', 'version = "3"'))
    assert check_system(folder, mine.parent).status is CheckStatus.OK
    assert list(check_sources(tmp_path / "results")) == []
    shutil.rmtree(tmp_path / "results" / SOURCES)
    (found,) = check_system(folder, mine.parent).findings
    assert str(found).startswith(
        f'{folder.path}/run.json: system.version: is "2", but the files of the system give "3".'
    )
    (mine / "adapter.py").write_text((mine / "adapter.py").read_text("utf-8") + "\n")
    assert check_system(folder, mine.parent).not_checked == NO_SOURCE
    shutil.rmtree(mine)
    assert check_system(folder, mine.parent).not_checked == NO_SOURCE


def test_a_variant_and_a_configuration_are_checked_against_the_same_files(submission: Path, tmp_path: Path) -> None:
    base = folder_source(submission)
    for source in (folder_source(submission, "fast"), altered_source(base, "slow", {"speed": 0})):
        assert check_system(run(source, tmp_path), tmp_path).status is CheckStatus.OK
    assert len(stored_sources(tmp_path / "results")) == 1


def test_a_system_is_checked_once_and_each_edited_head_is_found(
    submission: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = run(folder_source(submission), tmp_path)
    copies = [folder.path.with_name(f"copy-{number}") for number in range(3)]
    for copy, version in zip(copies, ("2", "2", "3"), strict=True):
        shutil.copytree(folder.path, copy)
        text = (copy / "run.json").read_text("utf-8")
        (copy / "run.json").write_text(text.replace('"version": "2"', f'"version": "{version}"'), encoding="utf-8")
    passed: dict[str, Check] = {}
    assert check_system(folder, submission.parent, passed).status is CheckStatus.OK
    with monkeypatch.context() as patch:
        patch.setattr(systems, "find_sources", lambda *_: pytest.fail("compared again"))
        for copy in copies[:2]:
            assert check_system(RunFolder(copy), submission.parent, passed).status is CheckStatus.OK
    for _ in range(2):
        (found,) = check_system(RunFolder(copies[2]), submission.parent, passed).findings
        assert str(found).startswith(f'{copies[2]}/run.json: system.version: is "3", but the files')


def test_a_single_file_has_no_stored_source(tmp_path: Path) -> None:
    folder = run(file_source(plain_adapter(tmp_path)), tmp_path)
    assert check_system(folder, tmp_path).not_checked == NO_SOURCE
    assert stored_sources(tmp_path / "results") == []


def test_something_else_beside_the_sources_is_found(tmp_path: Path) -> None:
    (tmp_path / SOURCES / "acme" / "notes").mkdir(parents=True)
    (found,) = check_sources(tmp_path)
    assert str(found) == f"{tmp_path / SOURCES}/acme/notes: is not the folder of a source. Remove it."


BRINGS = """
schema_version = 1
[[controls]]
slug = "guesser"
title = "Guesser"
calibrates = "Guesses."
file = "guesser.py"
class_name = "Plain"
readers = ["native"]
gains_in = "Nowhere."
"""


@pytest.fixture
def foreign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Install ``tiny@1`` in a package of its own that brings a control, and return the package's folder."""
    folder = tmp_path / "foreigntiny"
    folder.mkdir()
    (folder / "__init__.py").touch()
    plain_adapter(folder, "guesser", on_query="return 'Lima'")
    (folder / "controls.toml").write_text(BRINGS)
    named = EntryPoint("tiny@1", "foreigntiny:Tiny", table.GROUP)
    monkeypatch.setattr(table, "entry_points", lambda group: [named])
    monkeypatch.syspath_prepend(str(tmp_path))
    install(monkeypatch, "2")
    all_controls.cache_clear()
    yield folder
    all_controls.cache_clear()


def install(monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    usual = {name: each for name, each in registry._entries().items() if name != "tiny@1"}
    entry = Entry("tiny@1", lambda: TinyBenchmark(1, 1), Distribution("memeval-tiny", version))
    monkeypatch.setattr(registry, "_entries", lambda: {**usual, "tiny@1": entry})


def test_a_control_of_another_package_is_checked_there(
    foreign: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = run(find_system("guesser"), tmp_path)
    assert check_system(folder, tmp_path).status is CheckStatus.OK
    plain_adapter(foreign, "guesser", on_query="return 'Oslo'")
    assert "is not that of the control guesser of memeval-tiny 2" in str(check_system(folder, tmp_path).findings[0])
    install(monkeypatch, "3")
    assert check_system(folder, tmp_path).not_checked == "another version of memeval-tiny is installed here"
    monkeypatch.setattr(registry, "_entries", dict)
    assert check_system(folder, tmp_path).not_checked == "the benchmark tiny@1 is not installed here"


def test_a_package_of_a_benchmark_has_no_other_controls(foreign: Path, tmp_path: Path) -> None:
    folder = run(find_system("guesser"), tmp_path)
    (foreign / "controls.toml").write_text(BRINGS.replace('"guesser"', '"another"'))
    all_controls.cache_clear()
    (found,) = check_system(folder, tmp_path).findings
    assert "system.slug: is 'guesser', but memeval-tiny 2 has no such control" in str(found)
