"""Runs on the same data go to one process, and results come in the order of the runs."""

import shutil
from pathlib import Path

import pytest

from bench.many_runs import made, stored_on
from memeval.archive.runs import RunFolder, runs_under
from memeval.evaluation.verify.many_runs import Batch, reproduced_runs, shares_of
from memeval.records.errors import BadInput


def batch(folder: Path, data: str, place: int, size: int) -> Batch:
    path = folder / str(place)
    path.mkdir()
    (path / "rows").write_bytes(bytes(size))
    return Batch(data, (place,), (path,))


def test_batches_of_the_same_data_are_one_share_unless_they_are_most_of_all(tmp_path: Path) -> None:
    sizes = [("large", 300), ("large", 300), ("large", 300), ("b", 100), ("b", 50), ("c", 50), ("d", 0), ("d", 0)]
    batches = [batch(tmp_path, data, place, size) for place, (data, size) in enumerate(sizes)]
    shares = shares_of(batches, 2)
    assert [[place for each in share for place in each.places] for share in shares] == [
        [0],
        [1],
        [2],
        [3, 4],
        [5],
        [6, 7],
    ]
    assert shares_of(batches, 1) == [(each,) for each in batches]


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_runs_before_one_that_cannot_be_read_are_yielded(tmp_path: Path, jobs: int) -> None:
    runs = [*stored_on("qa-smoke@1", "ask-basic", "full")[:2], *stored_on("astrocyte-basic@1", "recall", "full")[:1]]
    made(runs, 3, tmp_path / "results")
    first, second, other = sorted(runs_under(tmp_path / "results"), key=lambda folder: folder.run.track.benchmark)[::-1]
    missing = RunFolder(tmp_path / "missing")
    shutil.copytree(second.path, missing.path)
    (missing.path / "grades.jsonl.gz").unlink()
    yielded = []
    with pytest.raises(BadInput, match=r"grades\.jsonl\.gz: the file is missing"):
        for outcome in reproduced_runs([first, other, second, missing, first], jobs=jobs):
            yielded.append((outcome.run_id, outcome.findings))
    assert yielded == [(folder.run.run_id, ()) for folder in (first, other, second)]
