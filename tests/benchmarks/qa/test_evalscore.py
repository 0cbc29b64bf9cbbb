"""EvalScore files: what a run looks like in one, and what one looks like as a run."""

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from memeval.archive.runs import RunFolder
from memeval.benchmarks.qa import QaBenchmark, QaSmokeBenchmark
from memeval.benchmarks.qa.evalscore import ERROR_CHARACTERS
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.imports.exporting import export_run
from memeval.evaluation.run.running import RunOptions, run_system
from memeval.exchange.formats import find_format
from memeval.records.errors import BadInput
from memeval.records.imported import Claim
from memeval.records.response import Outcome
from memeval.systems.source import file_source, find_system
from tests.support.adapters import plain_adapter
from tests.support.elsewhere import graded

FORM = find_format("evalscore")

COMPAT = (
    *("sdk", "dataset", "scorer", "total", "passed", "pass_rate", "mean_score", "started_at", "finished_at"),
    *("scenario", "mode", "brain", "questions"),
)
QUESTION = ("id", "question", "answer", "score", "passed", "latency_ms", "citations", "error")

BARE = {
    "sdk": "go",
    "total": 2,
    "passed": 1,
    "pass_rate": 0.5,
    "mean_score": 0.5,
    "started_at": "2026-04-19T10:58:00Z",
    "questions": [
        {"id": "legs-of-a-spider", "question": "?", "answer": "Eight legs.", "score": 1.0, "latency_ms": 1500},
        {"id": "longest-bone", "answer": "par", "error": "http_502: bad gateway", "citations": None},
        {"id": "of-another-set", "answer": "x"},
    ],
}
"""A file like the runner's example: without dataset, scenario, mode and error."""


def smoke(protocol: str = "ask-basic") -> BenchmarkSession:
    return BenchmarkSession.open(QaSmokeBenchmark(), protocol=protocol)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """A run of BM25 on the built-in set."""
    results = tmp_path_factory.mktemp("results")
    return run_system(find_system("bm25"), smoke("search-retrieve-only"), RunOptions(results=results))


def written(run: RunFolder, to: Path, **how: Any) -> dict[str, Any]:
    (path,) = export_run(run, FORM, to, **how)
    day = datetime.fromisoformat(run.run.timing.started).astimezone().date().isoformat()
    assert path == to / day / f"{run.run.system.slug}.json"
    text = path.read_text("utf-8")
    assert text.startswith('{\n  "sdk": ')
    value: dict[str, Any] = json.loads(text)
    return value


def test_a_run_is_written_with_the_fields_that_the_runner_writes(run: RunFolder, tmp_path: Path) -> None:
    told = written(run, tmp_path / "out")
    assert tuple(told) == COMPAT and {tuple(question) for question in told["questions"]} == {QUESTION}
    assert [told[name] for name in ("sdk", "dataset", "scorer", "scenario")] == [
        *("bm25", "qa-smoke", "exact-wb", "search-retrieve-only")
    ]
    assert [told[name] for name in ("total", "passed", "pass_rate", "mean_score")] == [20, 20, 1.0, 1.0]
    first = told["questions"][0]
    assert (first["id"], first["question"]) == ("capital-of-australia", "Which city is the capital of Australia?")
    assert "Canberra" in first["answer"] and first["error"] is None and first["latency_ms"] > 0
    assert first["citations"][0].keys() == {"chunkId", "path", "title", "score"}
    assert first["citations"][0]["path"] == "smoke/s001.md"


def test_nothing_is_overwritten_unless_it_is_asked_for(run: RunFolder, tmp_path: Path) -> None:
    told = written(run, tmp_path)
    with pytest.raises(BadInput, match="the file already exists"):
        export_run(run, FORM, tmp_path)
    assert written(run, tmp_path, force=True) == told


def test_a_failed_question_has_no_points_and_says_why(tmp_path: Path) -> None:
    source = file_source(plain_adapter(tmp_path, on_query='raise RuntimeError("no idea " * 200)'))
    failed = run_system(source, smoke(), RunOptions(results=tmp_path / "results", limit=2))
    told = written(failed, tmp_path / "out")
    assert [told[name] for name in ("total", "passed", "pass_rate")] == [2, 0, 0.0]
    errors = {row.item_id: row.error for row in failed.responses()}
    assert all(error and "no idea" in error for error in errors.values())
    for question in told["questions"]:
        assert (question["score"], question["passed"], question["answer"]) == (0.0, False, "")
        assert question["error"] == f"adapter_error: {errors[question['id']]}"[:ERROR_CHARACTERS]


def test_what_was_written_comes_back_with_the_same_grades(run: RunFolder, tmp_path: Path) -> None:
    back = graded(tmp_path, written(run, tmp_path / "out"), "evalscore", smoke("search-retrieve-only"))
    ours = {grade.item_id: (grade.verdict, grade.metrics["session_mrr"]) for grade in run.grades()}
    assert {grade.item_id: (grade.verdict, grade.metrics["session_mrr"]) for grade in back.grades()} == ours
    assert back.run.imported is not None
    assert back.run.imported.claims == (Claim(score=1.0, items=20, judge="exact-wb"),)


def test_a_file_without_what_may_be_left_out_is_read(tmp_path: Path) -> None:
    back = graded(tmp_path, BARE, "evalscore", smoke())
    imported = back.run.imported
    assert imported is not None and imported.claims == (Claim(score=0.5, items=2, judge=None),)
    assert imported.unknown == ("of-another-set",) and len(imported.missing) == 18
    assert back.run.system.slug == "go-evalscore"
    rows = {row.question_id: row for row in back.responses()}
    spider, bone = rows["legs-of-a-spider"], rows["longest-bone"]
    assert (spider.outcome, spider.timings.ask_seconds) == (Outcome.OK, 1.5)
    assert (bone.outcome, bone.answer, bone.error) == (Outcome.ADAPTER_ERROR, "", "http_502: bad gateway")
    assert {grade.item_id: grade.verdict for grade in back.grades()} == {"legs-of-a-spider": True, "longest-bone": None}


def test_citations_are_matched_by_the_ids_of_rows(tmp_path: Path) -> None:
    questions = [
        {"id": "longest-bone", "answer": "x", "citations": [{"path": "smoke/longest-bone.md", "score": 1}]},
        {"id": "legs-of-a-spider", "answer": "x", "citations": [{"path": "raw/elsewhere.md"}, {"chunkId": "c"}]},
    ]
    back = graded(tmp_path, BARE | {"questions": questions}, "evalscore", smoke("search-retrieve-only"))
    found = {grade.item_id: grade.metrics["session_recall@5"] for grade in back.grades()}
    assert found == {"longest-bone": 1.0, "legs-of-a-spider": 0.0}


def test_it_goes_with_the_file_of_its_questions(tmp_path: Path) -> None:
    data = tmp_path / "set.jsonl"
    data.write_text(json.dumps({"id": "longest-bone", "question": "Which?", "expected_substrings": ["femur"]}))
    session = BenchmarkSession.open(QaBenchmark(), data, protocol="ask-basic")
    told = BARE | {"questions": [{"id": "longest-bone", "answer": "The femur."}]}
    back = graded(tmp_path, told, "evalscore", session)
    assert back.run.scores.composite.value == 1.0 and back.run.track.parameters["file"] == "set"
