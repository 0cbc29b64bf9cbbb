"""What memeval computes from data goes into its cache, never into the data folder of the user."""

from collections.abc import Callable
from pathlib import Path

import pytest

from memeval.benchmarks import large
from memeval.benchmarks.beliefs.long.filler import LongBeliefs
from memeval.benchmarks.beliefs.wording.editions import wording
from memeval.benchmarks.kit.long.survey import store_survey
from memeval.benchmarks.large import indexed
from memeval.benchmarks.memorycd.users import read_users
from tests.support.memorycd import users, write_lines


def index_array(data: Path) -> None:
    (data / "rows.json").write_text('[{"id": "q1"}]')
    indexed(data / "rows.json", lambda row: row, kind="test@1", remedy="")


def index_lines(data: Path) -> None:
    read_users(write_lines(data / "users.jsonl", users(3)), "")


def survey_histories(data: Path) -> None:
    (data / "mine.txt").write_text("mine")
    store_survey(LongBeliefs(42, "10k", "retrieval", wording("full"), searched=True))


@pytest.mark.parametrize("compute", [index_array, index_lines, survey_histories])
def test_the_data_folder_keeps_its_files_and_the_cache_gets_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compute: Callable[[Path], None]
) -> None:
    monkeypatch.setenv("MEMEVAL_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("MEMEVAL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(large, "KEPT_FROM_BYTES", 0)
    (tmp_path / "data").mkdir()
    compute(tmp_path / "data")
    assert len(list((tmp_path / "data").iterdir())) == 1
    assert any(path.is_file() for path in (tmp_path / "cache").rglob("*"))
