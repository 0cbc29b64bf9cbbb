"""Where data lives."""

from pathlib import Path

import pytest

from memeval.benchmarks.data import data_folder, locate
from memeval.benchmarks.deepmemeval import DeepMemEvalBenchmark
from memeval.records.errors import BadInput

INFO = DeepMemEvalBenchmark.info
FILE = "deepmemeval_500.json"


def test_the_folder_is_the_one_the_environment_names(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MEMEVAL_DATA", str(tmp_path))
    assert data_folder() == tmp_path
    assert locate(INFO) == tmp_path / "deepmemeval" / FILE


def test_else_it_is_the_users_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("MEMEVAL_DATA", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    assert data_folder().name == "memeval"
    assert tmp_path in data_folder().parents


def test_a_path_may_be_the_file_its_folder_or_the_folder_of_all_data(tmp_path: Path) -> None:
    assert locate(INFO, tmp_path / "copy.json") == tmp_path / "copy.json"
    assert locate(INFO, tmp_path) == tmp_path / "deepmemeval" / FILE
    (tmp_path / FILE).touch()
    assert locate(INFO, tmp_path) == tmp_path / FILE


def test_a_generated_benchmark_has_no_file() -> None:
    with pytest.raises(BadInput, match="has no data file"):
        locate(INFO.model_copy(update={"sources": ()}))
