"""DeepMemEval's own form: responses and counts read and written, evaluated files with what was claimed of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memeval.evaluation.exchange.deepmemeval import write
from memeval.records.errors import BadInput
from memeval.records.imported import Claim
from memeval.records.response import Outcome
from tests.benchmarks.deepmemeval.rows import rows
from tests.support.elsewhere import deepmemeval_exam, graded, verdicts

Json = Any


def counts(row: Json) -> list[float]:
    return [100.0] * 5 + [10.5] * (len(row["evaluation_turns"]) - 5)


def told() -> list[Json]:
    """Return results as the official runner writes them: references for answers, and contexts that shrink."""
    found = []
    for row in rows():
        head = {"scenario_id": row["scenario_id"], "scenario_type": row["scenario_type"]}
        if row["scenario_type"] == "delta-efficiency":
            found.append({**head, "token_counts": counts(row), "response": f"Token counts: {counts(row)}"})
        else:
            found.append({**head, "response": row["expected_answer"]})
    return found


def test_results_are_graded_one_answer_a_scenario_and_one_count_a_question(tmp_path: Path) -> None:
    run = graded(tmp_path, told(), "deepmemeval", deepmemeval_exam())
    assert run.run.coverage.full
    worth = {grade.category: grade for grade in run.grades()}
    assert worth["belief-update"].verdict is True
    (delta,) = (row for row in rows() if row["scenario_type"] == "delta-efficiency")
    given = [row.reported_tokens for row in run.responses() if row.scenario_id == delta["scenario_id"]]
    assert given == counts(delta)


def test_an_evaluated_file_says_what_is_claimed(tmp_path: Path) -> None:
    labelled = [{**row, "eval_label": number < 4, "eval_model": "gpt-4o"} for number, row in enumerate(told())]
    run = graded(tmp_path, tuple(labelled), "deepmemeval", deepmemeval_exam())
    assert run.run.imported is not None
    assert run.run.imported.claims == (Claim(score=4 / 6, items=6, judge="gpt-4o"),)
    half = [*labelled[:5], told()[5]]
    again = graded(tmp_path, tuple(half), "deepmemeval", deepmemeval_exam())
    assert again.run.imported is not None
    assert again.run.imported.claims == ()


def test_what_failed_there_is_an_error_and_so_is_a_scenario_without_its_counts(tmp_path: Path) -> None:
    results = told()
    results[0] = {**results[0], "response": "ERROR: no such store", "error": True, "eval_label": True}
    (place,) = (n for n, row in enumerate(results) if "token_counts" in row)
    results[place]["token_counts"] = [1.0, 2.0]
    run = graded(tmp_path, results, "deepmemeval", deepmemeval_exam())
    failed = {row.scenario_id: row for row in run.responses() if row.outcome is Outcome.ADAPTER_ERROR}
    assert failed[results[0]["scenario_id"]].error == "no such store"
    assert "2 token counts for" in str(failed[results[place]["scenario_id"]].error)
    assert run.run.scores.overall.errors == 2


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ({"response": 7}, "'response': text belongs here"),
        ({"error": "yes"}, "'error': true or false belongs here"),
        ({"token_counts": [1, "2"]}, "'token_counts.1': a number belongs here"),
        ({"token_counts": [-1.0]}, "'token_counts.0'"),
        ({"scenario_id": None}, "'scenario_id': text belongs here"),
    ],
)
def test_what_is_no_result_is_refused(tmp_path: Path, broken: Json, said: str) -> None:
    results = told()
    results[1] = {**results[1], **broken}
    with pytest.raises(BadInput) as refused:
        graded(tmp_path, results, "deepmemeval", deepmemeval_exam())
    assert f"element 2: {said}" in str(refused.value)


def test_an_exported_run_has_the_official_fields_in_order_and_comes_back_with_equal_grades(tmp_path: Path) -> None:
    exam = deepmemeval_exam()
    results = told()[:-1]
    results[0] = {**results[0], "response": "ERROR: gone", "error": True}
    run = graded(tmp_path, results, "deepmemeval", exam)
    plain, evaluated = write(run, exam, tmp_path / "out.json")
    assert evaluated.name == "out.json.eval-rules"
    again = json.loads(plain.read_text())
    assert [{**row, "response": ""} for row in again] == [{**row, "response": ""} for row in results]
    assert [list(row) for row in again] == [list(row) for row in results]
    labelled = [json.loads(line) for line in evaluated.read_text().splitlines()]
    assert [list(row)[-2:] for row in labelled] == [["eval_label", "eval_model"]] * len(results)
    for value in (again, tuple(labelled)):
        assert verdicts(graded(tmp_path, value, "deepmemeval", exam, name="again.json")) == verdicts(run)
