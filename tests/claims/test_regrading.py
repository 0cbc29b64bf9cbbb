"""Published answers are matched, graded again and counted; nothing is dropped in silence."""

import json
from typing import Any

import pytest

from memeval.records.base import digest_bytes
from memeval.records.errors import BadInput
from memeval.records.regraded import PartialSum, RegradedRow, TwoWay
from tests.claims.conftest import BY_ID, BY_TEXT, KEYS, ROWS, Grade


@pytest.mark.parametrize("mapping", [BY_ID, BY_TEXT], ids=["by id", "by text and gold"])
def test_every_answer_gets_its_verdicts_and_its_grade(graded: Grade, mapping: dict[str, Any]) -> None:
    done = graded(ROWS, mapping)
    assert [(row.item_id, row.verdicts, row.verdict) for row in done.rows] == [
        ("q1", {"judge": True}, True),
        ("q2", {"judge": True}, True),
        ("q3", {"judge": True}, False),
        ("q4", {"judge": False}, False),
    ]
    figures = done.summary.figures
    assert (figures.judges["judge"].right, figures.judges["judge"].rows, figures.judges["judge"].share) == (3, 4, 0.75)
    assert figures.agreement["judge"] == TwoWay(both_right=2, judge_only=1, rules_only=0, both_wrong=1)
    assert (done.summary.counts.rows, done.summary.counts.matched, done.summary.counts.missing) == (4, 4, ())


def test_questions_with_one_text_are_told_apart_by_the_reference_answer(graded: Grade) -> None:
    done = graded([ROWS[2], ROWS[1]], BY_TEXT)
    assert {row.item_id: row.place for row in done.rows} == {"q3": 1, "q2": 2}


def test_rows_without_an_item_are_counted_by_reason(graded: Grade) -> None:
    stranger = {**ROWS[0], "q": "What colour is Jack's door?", "ok": "no"}
    done = graded([ROWS[0], ROWS[0], stranger], BY_TEXT)
    counts = done.summary.counts
    assert counts.unmatched == {"repeats an earlier row": (2,), "no question has this text": (3,)}
    assert counts.missing == ("q2", "q3", "q4")
    assert counts.unmatched_verdicts == {"judge": PartialSum(total=1, rows=2)}
    assert done.summary.figures.judges["judge"].share == 1.0
    assert done.summary.figures.judges_of_all["judge"] == pytest.approx(2 / 3)


def test_an_unknown_id_and_a_changed_question_are_named(graded: Grade) -> None:
    rows = [{**ROWS[0], "q": "What color is the door?"}, {**ROWS[1], "id": "q99"}]
    counts = graded(rows, {**BY_ID, "question": "q"}).summary.counts
    assert (counts.text_differs, counts.unmatched) == ((1,), {"no question has this id": (2,)})


def test_a_changed_reference_answer_is_named(graded: Grade) -> None:
    assert graded([{**ROWS[0], "gold": "blue"}], BY_TEXT).summary.counts.gold_differs == (1,)


def test_an_unknown_spelling_is_no_verdict(graded: Grade) -> None:
    done = graded([{**ROWS[0], "ok": "perhaps"}, ROWS[1]], BY_ID)
    assert [row.verdicts["judge"] for row in done.rows] == [None, True]
    assert (done.summary.counts.unreadable_verdicts, done.summary.figures.judges["judge"].rows) == (1, 1)


def test_a_torn_line_is_counted_and_a_torn_file_refused(graded: Grade) -> None:
    lines = [json.dumps(row) for row in ROWS]
    many = [json.dumps({**ROWS[0], "id": f"x{number}"}) for number in range(200)]
    counts = graded("\n".join([*lines, *many, '", "23"]}']).encode(), BY_ID).summary.counts
    assert counts.unmatched["not a JSON object"] == (205,)
    with pytest.raises(BadInput, match="2 of 6 rows are not JSON objects"):
        graded("\n".join([*lines, "torn", "torn"]).encode(), BY_ID)


def test_no_answer_text_is_stored_where_the_benchmark_forbids_it(graded: Grade) -> None:
    done = graded(ROWS, BY_ID)
    assert not done.summary.with_text
    stored = "".join(row.to_json() for row in done.rows) + done.summary.to_json()
    assert not any(row["said"] in stored for row in ROWS)
    assert not any(str(key["question"]) in stored for key in KEYS)
    assert all(row.answer_digest for row in done.rows)


def test_repetitions_of_a_question_are_rows_of_their_own(graded: Grade) -> None:
    rows = {"trials": [{"rows": [ROWS[0]]}, {"rows": [{**ROWS[0], "said": "It is red.", "ok": 0}]}]}
    done = graded(json.dumps(rows).encode(), {**BY_ID, "rows": "$.trials[*].rows[*]", "trial": {"key": 1}})
    assert [(row.trial, row.verdict) for row in done.rows] == [(0, True), (1, False)]


def test_retrieved_sessions_are_graded_by_the_keys(graded: Grade) -> None:
    rows = [{"id": "q1", "found": ["s_a", "zzz"]}, {"id": "q2", "found": ["s_c"]}, {"id": "q4", "found": []}]
    mapping = {"rows": "$[*]", "item": "id", "retrieved": "found"}
    done = graded(rows, mapping, protocol="retrieval")
    assert [row.metrics["session_recall@5"] for row in done.rows] == [1.0, 0.5, 0.0]


def test_their_own_evidence_gives_their_own_recall(graded: Grade) -> None:
    rows = [{"id": "q1", "found": ["session_1"], "own": ["D1:3", "D2:4"]}]
    mapping = {
        "rows": "$[*]",
        "item": "id",
        "retrieved": {"path": "found", "pattern": r"^session_(\d+)$", "written": "S{}"},
        "evidence": {"path": "own[*]", "pattern": r"^D(\d+)", "written": "S{}"},
    }
    done = graded(rows, mapping, protocol="retrieval")
    assert (done.rows[0].retrieved, done.rows[0].recall) == (("S1",), 0.5)


@pytest.mark.parametrize(
    ("data", "mapping", "problem"),
    [
        (b"<!DOCTYPE html><title>404</title>", BY_ID, "this is HTML, not JSON"),
        (b"[]", BY_ID, "no rows at"),
        (b'[{"id": "q1"', BY_ID, "cut off"),
        (b"\xff\xfe[]", BY_ID, "not UTF-8"),
        (b'[{"id": "q1", "answer": "green", "ok": 1}]', BY_ID, "no row has the field of 'answer'"),
        (b'[{"id": "q9", "said": "green", "ok": 1}]', BY_ID, "no row has an item"),
        (b'[{"id": ["q1"], "said": "green", "ok": 1}]', BY_ID, "'item' is not text"),
        (b'[{"id": "q1", "said": "green", "ok": 1}]', {**BY_ID, "rows": "$[["}, "is not a JSONPath"),
        (b'[{"id": "q1", "said": "x", "ok": 1, "s": "fast"}]', {**BY_ID, "seconds": "s"}, "'seconds' is not a number"),
    ],
)
def test_a_file_that_does_not_fit_is_refused(graded: Grade, data: bytes, mapping: dict[str, Any], problem: str) -> None:
    with pytest.raises(BadInput, match=problem.replace("[", r"\[")):
        graded(data, mapping)


def test_equal_files_give_equal_bytes(graded: Grade) -> None:
    one, other = graded(ROWS, BY_TEXT), graded(ROWS, BY_TEXT)
    assert one.summary.comparable() == other.summary.comparable()
    assert [row.to_json() for row in one.rows] == [row.to_json() for row in other.rows]
    assert all(isinstance(row, RegradedRow) for row in one.rows)


def test_files_with_one_repetition_each_stand_side_by_side(graded: Grade) -> None:
    data = json.dumps(ROWS[:2]).encode()
    part = {"path": "runs/answers.json", "digest": digest_bytes(data), "mapping": "main"}
    done = graded(data, BY_ID, parts=[{**part, "trial": 0}, {**part, "trial": 1}])
    assert [(row.item_id, row.trial, row.place) for row in done.rows] == [
        ("q1", 0, 1),
        ("q2", 0, 2),
        ("q1", 1, 3),
        ("q2", 1, 4),
    ]
    assert (done.summary.counts.rows, done.summary.counts.unmatched) == (4, {})


def test_ids_that_the_data_does_not_name_get_no_metric_of_zero(graded: Grade) -> None:
    mapping = {"rows": "$[*]", "item": "id", "retrieved": "got", "evidence": "want"}
    turns = [{"id": "q1", "got": ["s_a:1"], "want": ["s_a:1"]}, {"id": "q2", "got": ["s_z:1"], "want": ["s_b:2"]}]
    done = graded(turns, mapping, protocol="retrieval")
    assert [row.metrics for row in done.rows] == [{}, {}]
    assert done.summary.figures.recall == 0.5
    known = graded([{"id": "q1", "got": ["s_a"], "want": ["s_a"]}], mapping, protocol="retrieval")
    assert known.rows[0].metrics["session_recall@5"] == 1.0


def test_a_text_in_place_of_an_id_is_refused(graded: Grade) -> None:
    rows = [{"id": "q1", "got": ["word " * 50], "want": ["s_a"]}]
    with pytest.raises(BadInput, match="more than 200 characters, not an id"):
        graded(rows, {"rows": "$[*]", "item": "id", "retrieved": "got", "evidence": "want"}, protocol="retrieval")
