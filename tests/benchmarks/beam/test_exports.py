"""A run of BEAM in the formats of other programs: whole, with its own scales, and without the benchmark's words."""

import csv
import json
import zipfile
from pathlib import Path

import pytest

from memeval.archive.runs import RunFolder
from memeval.benchmarks.beam import BeamBenchmark
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.run.running import RunOptions, run_system
from memeval.exchange import eee, inspect_log
from memeval.exchange.table import write_csv
from memeval.systems.controls import CONTROLS
from memeval.systems.source import control_source
from tests.support.products import inspect_says

WORDS = ("kayak", "paddle", "the oar", "easy to see")
"""Words of the made-up chats."""


@pytest.fixture(scope="module")
def asked(small: Path) -> BenchmarkSession:
    return BenchmarkSession.open(BeamBenchmark(), small)


@pytest.fixture(scope="module")
def run(asked: BenchmarkSession, tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """Return a run of BM25 over the made-up chats."""
    return run_system(control_source(CONTROLS["bm25"]), asked, RunOptions(results=tmp_path_factory.mktemp("results")))


def without_words(*paths: Path) -> bool:
    return not any(word in path.read_text(encoding="utf-8") for path in paths for word in WORDS)


def test_a_table_has_a_row_a_question_with_its_chat_ability_and_recall(
    run: RunFolder, asked: BenchmarkSession, tmp_path: Path
) -> None:
    (path,) = write_csv(run, asked, tmp_path / "beam.csv")
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["item_id"] for row in rows] == [key.item_id for key in asked.keys]
    assert len({row["cluster"] for row in rows}) == 20
    assert {row["category"] for row in rows} == {category.name for category in run.run.scores.categories}
    assert {"metric.recall@5", "metric.recall@20", "metric.mrr"} <= set(rows[0])
    assert sum(float(row["worth"]) for row in rows) == pytest.approx(run.run.scores.overall.correct)
    assert without_words(path)


def test_every_eval_ever_gets_the_recall_of_each_ability(
    run: RunFolder, asked: BenchmarkSession, tmp_path: Path
) -> None:
    written = eee.write(run, asked, tmp_path)
    found = {row["evaluation_result_id"]: row for row in json.loads(written[0].read_bytes())["evaluation_results"]}
    assert found["beam#composite"]["score_details"]["score"] == run.run.scores.composite.value
    for category in run.run.scores.categories:
        details = found[f"beam/{category.name}#recall@10"]["score_details"]
        assert details["score"] == category.metrics["recall@10"]
    assert without_words(written[0])


def test_without_the_data_no_format_gets_a_word_of_it(run: RunFolder, tmp_path: Path) -> None:
    (table,) = write_csv(run, None, tmp_path / "beam.csv")
    assert without_words(table, *eee.write(run, None, tmp_path))
    (log,) = inspect_log.write(run, None, tmp_path / "beam.eval")
    with zipfile.ZipFile(log) as archive:
        texts = [archive.read(name).decode() for name in archive.namelist()]
    assert not any(word in text for text in texts for word in WORDS)
    assert any("s003:t01" in text for text in texts)


@pytest.mark.products
def test_inspect_reads_the_scores_and_a_sample_a_question(
    run: RunFolder, asked: BenchmarkSession, tmp_path: Path
) -> None:
    (log,) = inspect_log.write(run, asked, tmp_path / "beam.eval")
    (said,) = inspect_says(log)
    (score,) = [each for each in said["head"]["results"]["scores"] if each["name"] == "memeval"]
    assert score["metrics"]["composite"]["value"] == run.run.scores.composite.value
    assert {sample["id"] for sample in said["samples"]} == {key.item_id for key in asked.keys}
