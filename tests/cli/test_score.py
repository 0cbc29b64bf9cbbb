"""``memeval score``: a file of answers or rankings is scored without an adapter."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.archive.runs import RunFolder
from memeval.benchmarks import find
from memeval.benchmarks.formats.reading import AnswerFile
from memeval.benchmarks.formats.simple import read
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.imports.scoring_files import score_answers
from memeval.records.errors import BadInput
from tests.benchmarks.deepmemeval.rows import rows
from tests.claims.conftest import write_keys
from tests.support.calling import Call
from tests.support.data import test_data
from tests.support.elsewhere import deepmemeval_exam

ROOT = Path(__file__).parents[2]


RANKING = {"q1": ["s_a"], "q2": ["zzz", "s_c"], "q3": ["x1", "x2", "s_d"]}
ANSWERS = {"q1": "It is green.", "q2": "Ada called.", "q3": "Nobody."}


def opened(folder: Path) -> BenchmarkSession:
    return BenchmarkSession.open(find("longmemeval@1"), write_keys(folder))


@pytest.fixture
def call(call: Call, tmp_path: Path) -> Call:
    write_keys(tmp_path)
    usual = ("--benchmark", "longmemeval@1", "--data", "keys.jsonl")
    return lambda file, *words, on=usual: call("score", file, *on, *words)


def test_a_ranking_is_scored_at_four_depths_and_a_missing_question_counts_as_wrong(call: Call, tmp_path: Path) -> None:
    (tmp_path / "ranking.json").write_text(json.dumps(RANKING))
    code, out, err = call("ranking.json", "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    values = {name: each["value"] for name, each in found["scores"].items()}
    assert (found["protocol"], found["planned"], found["missing"], found["unknown_sources"]) == (
        "retrieval",
        4,
        ["q4"],
        ["x1", "x2", "zzz"],
    )
    assert [values[f"session_recall@{depth}"] for depth in (1, 3, 5, 10)] == [0.25, 0.625, 0.625, 0.625]
    assert [values[f"session_hit@{depth}"] for depth in (1, 3, 5, 10)] == [0.25, 0.75, 0.75, 0.75]
    assert values["score"] == values["session_recall@5"]
    assert values["session_mrr"] == pytest.approx((1 + 1 / 2 + 1 / 3) / 4)
    assert all(each["low"] <= each["value"] <= each["high"] for each in found["scores"].values())


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.json", json.dumps(ANSWERS)),
        ("a.json", json.dumps(ANSWERS, indent=2)),
        (
            "a.jsonl",
            "".join(json.dumps({"question_id": name, "answer": said}) + "\n" for name, said in ANSWERS.items()),
        ),
        ("a.csv", "question_id,answer\r\n" + "".join(f'{name},"{said}"\r\n' for name, said in ANSWERS.items())),
    ],
)
def test_answers_are_read_from_every_form(call: Call, tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    out = call(name).done
    assert "protocol judge" in out and "score 50.0" in " ".join(out.split())
    assert "questions without an entry, counted as wrong: 1 (q4)" in out and "data sha256:" in out


@pytest.mark.parametrize("name", ["a.CSV", "a.tsv", "a.Tab", "a.csv"])
@pytest.mark.parametrize("delimiter", [",", "\t", ";"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_table_may_have_any_line_ends_and_separators(tmp_path: Path, name: str, delimiter: str, end: str) -> None:
    long = "x" * 140_000
    rows = (
        ("\ufeffquestion_id", "answer"),
        ("q1", long),
        ("q2", '"a "quoted", text"'.replace('"quoted"', '""quoted""')),
    )
    (tmp_path / name).write_bytes("".join(delimiter.join(row) + end for row in rows).encode())
    answers = read(AnswerFile.open(tmp_path / name), opened(tmp_path)).answers
    assert [(answer.question_id, answer.text) for answer in answers] == [("q1", long), ("q2", 'a "quoted", text')]


def test_a_null_answer_is_a_failed_question(call: Call, tmp_path: Path) -> None:
    for text in ('{"q1": "It is green.", "q2": null}', '{"q1": "It is green.", "q2": NaN}'):
        (tmp_path / "a.json").write_text(text)
        found = json.loads(call("a.json", "--json").done)
        assert (found["missing"], found["scores"]["score"]["value"]) == (["q3", "q4"], 0.25)
    (tmp_path / "r.json").write_text('{"q1": null, "q2": ["s_b"], "q3": ["s_d"]}')
    assert json.loads(call("r.json", "--json")[1])["protocol"] == "retrieval"


def test_a_table_of_rankings_has_ids_with_spaces_between_them(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("question_id,retrieved\nq1,s_a s_b\nq2,\n")
    answers = read(AnswerFile.open(tmp_path / "r.csv"), opened(tmp_path))
    assert [answer.sources for answer in answers.answers] == [("s_a", "s_b"), ()]


def test_a_kept_file_is_an_imported_run(call: Call, tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text(json.dumps(ANSWERS))
    folder = call("mine.json", "--keep").done.splitlines()[-1]
    head = json.loads((tmp_path / folder / "run.json").read_text())
    assert (head["imported"]["format"], head["imported"]["missing"]) == ("simple", ["q4"])


def test_a_kept_ranking_of_memevals_own_ids_has_the_score_that_is_printed(call: Call, tmp_path: Path) -> None:
    keys = {key.question_ids[0]: list(key.evidence or ()) for key in opened(tmp_path).keys}
    (tmp_path / "r.json").write_text(json.dumps(keys))
    said = call("r.json", "--keep", "--json")
    head = json.loads((tmp_path / said.err.splitlines()[-1] / "run.json").read_text())
    printed = json.loads(said.done)["scores"]["score"]["value"]
    assert (printed, head["scores"]["composite"]["value"]) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("a.json", b"", "the file is empty"),
        ("a.json", b"[]", "no answers"),
        ("a.json", b'{"q1": true}', "neither an answer in quotes nor a list of ids"),
        ("a.json", b'{"q1": "x", "q2": ["s_a"]}', "both answers and rankings"),
        ("a.json", b'{"q1": ["s_a", "s_a"]}', "occurs twice in one ranking"),
        ("a.json", b'{"q1": [3]}', "a retrieved id is not text"),
        ("a.json", b'{"nobody": "x"}', "none of the 1 entries belongs to a question"),
        ("a.json", b'{"q1": "x", "q1": "y"}', "q1"),
        ("a.json", b'{"q1": "x"', "cut off"),
        ("a.json", b'{"q1": "\xff"}', "not UTF-8"),
        ("a.jsonl", b'{"question_id": "q1", "answer": "x"}\n{"question_id": "q1", "answer": "y"}\n', "second answer"),
        ("a.jsonl", b'{"question_id": "q1"}\n{"question_id": "q2"}\n', "needs either 'answer' or 'retrieved'"),
        ("a.jsonl", b'{"question_id": 7, "answer": "x"}\n{"question_id": "q2", "answer": "x"}\n', "must be text"),
        ("a.json", b"{}", "no answers"),
        ("a.csv", b"question_id,answer\n", "no answers"),
        ("a.csv", b"question_id,answer\nq1,red, then blue\n", "more fields than the first line"),
        ("a.jsonl", b'{"question_id": "q1", "retrieved": "S1 S2"}\n', "not a list of ids"),
        ("a.csv", b"q1,x\n", "the first line needs 'question_id'"),
        ("a.csv", b'question_id,answer\nq1,"red\nq2,blue\n', "a.csv:2: a quote is not closed"),
        ("a.csv", b'question_id,answer\nq1,"red\nq2,blue\nq3,"\n', "a.csv:2: the quoted text contains the row of"),
        ("a.csv", b'question_id,answer\rq1,"red\rq2,"blue"\r', "a.csv:2: text follows a closed quote"),
        ("a.csv", b'question_id,answer\nq1, "red, then blue"\n', "a.csv:2: a quote stands after spaces"),
        ("a.csv", b"question_id,answer\n\nq1\n", "a.csv:3: the row has fewer fields"),
        ("a.csv", b"question_id,answer,answer\nq1,a,b\n", "two columns have the name 'answer'"),
        ("a.csv", b"question_id,answer\nq1,a\nq1,b\n", "a.csv:3: second answer to the question 'q1'"),
        ("a.tsv", "question_id\tanswer\nq1\tx\n".encode("utf-16"), "UTF-16"),
        ("a.csv", "question_id,answer\nq1,x\n".encode("utf-16-le"), "NUL"),
        ("a.csv", b"question_id,answer\nq1,\xff\n", "not UTF-8"),
    ],
)
def test_a_bad_file_gets_a_sentence(call: Call, tmp_path: Path, name: str, content: bytes, problem: str) -> None:
    (tmp_path / name).write_bytes(content)
    said = call(name)
    assert said.fails(problem) and said.out == ""


def test_rankings_need_a_protocol_of_retrieval(call: Call, tmp_path: Path) -> None:
    (tmp_path / "ranking.json").write_text(json.dumps(RANKING))
    assert call("ranking.json", "--protocol", "judge").fails("the protocol 'judge' scores answers")


@pytest.mark.parametrize(
    ("benchmark", "protocol", "ranked"),
    [
        ("beliefs@2", "retrieval", True),
        ("beliefs@2", "judge", False),
        ("lifecycle@1", "search", True),
        ("lifecycle@1", "banks", True),
        ("lifecycle@1", "answers", False),
        ("qa-smoke@1", "search-retrieve-only", True),
        ("qa-smoke@1", "ask-basic", False),
    ],
)
def test_rankings_are_graded_where_nobody_writes_an_answer(benchmark: str, protocol: str, ranked: bool) -> None:
    (found,) = (each for each in find(benchmark).info.protocols if each.name == protocol)
    assert found.grades_rankings is ranked


def test_the_id_of_a_turn_stands_for_its_text(tmp_path: Path) -> None:
    session = BenchmarkSession.open(find("lifecycle@1"), protocol="search")
    first = session.keys[0]
    (tmp_path / "r.json").write_text(json.dumps({first.question_ids[0]: first.key.relevant_turns}))
    found = score_answers(read(AnswerFile.open(tmp_path / "r.json"), session), session)
    assert found.categories[first.category] > 0


def test_data_without_a_question_of_a_category_that_counts_is_refused(tmp_path: Path) -> None:
    session = deepmemeval_exam(rows()[:1])
    (tmp_path / "a.json").write_text(json.dumps({session.keys[0].question_ids[0]: "Yes."}))
    with pytest.raises(BadInput, match="the data has no question of the category"):
        score_answers(read(AnswerFile.open(tmp_path / "a.json"), session), session)


@pytest.mark.data
def test_stored_controls_stand_beside_each_measure(call: Call, tmp_path: Path) -> None:
    locomo = test_data("locomo/locomo10.json")
    (tmp_path / "ranking.json").write_text(json.dumps({"conv-26:0": ["S1", "D1:3"]}))
    on = ("--benchmark", "locomo@1", "--data", str(locomo))
    said = call("ranking.json", "--results", str(ROOT / "results"), "--json", on=on)
    bm25 = json.loads(said.done)["controls"]["bm25"]
    assert bm25["session_recall@5"] == pytest.approx(bm25["score"])
    assert bm25["session_recall@1"] < bm25["session_recall@5"] < bm25["session_recall@10"]
    assert bm25["session_recall@3"] is None, "stored runs have no measures at 3"


def test_controls_that_a_model_answered_for_do_not_stand_beside_a_file(call: Call, tmp_path: Path) -> None:
    (tmp_path / "mine.json").write_text('{"beliefs-2-context-efficiency-0001": "Oslo"}')
    quick = ("--benchmark", "beliefs@2", "--protocol", "judge", "--tier", "quick")
    said = call("mine.json", "--results", str(ROOT / "results"), "--json", on=quick)
    shown = json.loads(said.done)["controls"]["oracle"]["score"]
    runs = [RunFolder(head.parent).run for head in (ROOT / "results" / "beliefs" / "oracle").glob("*/run.json")]
    scores = {run.track.reader: run.scores.composite.value for run in runs if run.track.tier == "quick"}
    assert scores.keys() > {"extractive@2"} and shown == scores["extractive@2"]


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=4), st.lists, max_leaves=4))
def test_any_other_value_is_refused_and_never_crashes(tmp_path_factory: pytest.TempPathFactory, value: Any) -> None:
    path = tmp_path_factory.mktemp("file") / "a.json"
    path.write_text(json.dumps({"q1": value}))
    try:
        (answer,) = read(AnswerFile.open(path), opened(path.parent)).answers
    except BadInput:
        return
    assert (value is None) == (answer.error is not None)
    assert value in (answer.text, list(answer.sources or ()), None) or str(value) == answer.text
