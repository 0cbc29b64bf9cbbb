"""The files of a submission are stored when it runs, and its run is checked against them ever after."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from memeval.archive.runs import RunFolder
from memeval.archive.sources import SOURCES, stored_sources
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.findings import CheckStatus
from memeval.evaluation.running import RunOptions, run_system
from memeval.evaluation.verifying.systems import NO_SOURCE, check_sources, check_system
from memeval.systems.source import SystemSource, altered_source, file_source, folder_source
from tests.support.adapters import plain_adapter
from tests.support.tiny import TinyBenchmark

MANIFEST = """
slug = "acme"
name = "Acme"
version = "2"
label = "mock"
declared_models = []
self_reported = ["tokens"]

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
    assert check_system(folder, mine.parent).not_checked == NO_SOURCE
    shutil.rmtree(mine)
    assert check_system(folder, mine.parent).not_checked == NO_SOURCE


def test_a_variant_and_a_changed_configuration_are_checked_against_the_same_files(
    submission: Path, tmp_path: Path
) -> None:
    base = folder_source(submission)
    for source in (folder_source(submission, "fast"), altered_source(base, "slow", {"speed": 0})):
        assert check_system(run(source, tmp_path), tmp_path).status is CheckStatus.OK
    assert len(stored_sources(tmp_path / "results")) == 1


def test_a_single_file_has_no_stored_source(tmp_path: Path) -> None:
    folder = run(file_source(plain_adapter(tmp_path)), tmp_path)
    assert check_system(folder, tmp_path).not_checked == NO_SOURCE
    assert stored_sources(tmp_path / "results") == []


def test_something_else_beside_the_sources_is_found(tmp_path: Path) -> None:
    (tmp_path / SOURCES / "acme" / "notes").mkdir(parents=True)
    (found,) = check_sources(tmp_path)
    assert str(found) == f"{tmp_path / SOURCES}/acme/notes: is not the folder of a source. Remove it."
