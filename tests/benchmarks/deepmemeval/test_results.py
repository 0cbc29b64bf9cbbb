"""DeepMemEval's own form: responses and counts read and written, evaluated files with what was claimed of them."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from memeval.benchmarks.deepmemeval.results import _claims, _ScenarioRow, write
from memeval.benchmarks.formats.writing import file_name, judge_model
from memeval.evaluation.run.running import RunOptions, run_system
from memeval.grading.scoring import matching
from memeval.records.errors import BadInput
from memeval.records.imported import Claim, ClaimMetric
from memeval.records.response import Outcome
from memeval.systems.source import find_system
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


def test_an_evaluated_file_claims_the_composite_where_every_category_has_rows(tmp_path: Path) -> None:
    labelled = [{**row, "eval_label": number < 4, "eval_model": "gpt-4o"} for number, row in enumerate(told())]
    run = graded(tmp_path, tuple(labelled), "deepmemeval", deepmemeval_exam())
    weights = {category.name: category.weight for category in run.run.scores.categories}
    right = sum(weights[row["scenario_type"]] for row in labelled[:4])
    assert run.run.imported is not None
    (claim,) = run.run.imported.claims
    assert (claim.metric, claim.items, claim.judge) == (ClaimMetric.COMPOSITE, 6, "gpt-4o")
    assert claim.score == pytest.approx(right, abs=1e-12)
    assert matching(run.run.scores, claim.metric) == run.run.scores.composite.value
    half = [*labelled[:5], told()[5]]
    again = graded(tmp_path, tuple(half), "deepmemeval", deepmemeval_exam())
    assert again.run.imported is not None
    assert again.run.imported.claims == ()


def test_an_evaluated_file_without_a_category_claims_its_accuracy_beside_ours(tmp_path: Path) -> None:
    labelled = [{**row, "eval_label": number < 2, "eval_model": "gpt-4o"} for number, row in enumerate(told()[:5])]
    run = graded(tmp_path, tuple(labelled), "deepmemeval", deepmemeval_exam())
    assert run.run.imported is not None
    (claim,) = run.run.imported.claims
    assert claim == Claim(score=2 / 5, metric=ClaimMetric.ACCURACY, items=5, judge="gpt-4o")
    assert run.run.scores.composite.value is None
    assert matching(run.run.scores, claim.metric) == run.run.scores.overall.accuracy


def test_the_claim_of_the_specification_s_counts_is_its_composite() -> None:
    # Specification, section 7: composite 62.8125 and raw accuracy 60.0 of the same labels.
    right = {"belief-update": 72, "cascade-propagation": 32, "noise-resistance": 73, "temporal-belief": 52}
    right |= {"delta-efficiency": 40, "uncertainty-abstention": 31}
    usual: Json = {"response": "x", "eval_model": "gpt-4o"}
    rows_of = [
        _ScenarioRow(scenario_id=f"{name}-{n}", scenario_type=name, eval_label=n < passed, **usual)
        for name, passed in right.items()
        for n in range(100 if name == "belief-update" else 80)
    ]
    (claim,) = _claims(rows_of, deepmemeval_exam())
    assert (claim.metric, claim.items) == (ClaimMetric.COMPOSITE, 500)
    assert claim.score == pytest.approx(0.628125, abs=1e-12)


def quiet(folder: Path) -> Path:
    """Return an adapter that says nothing in delta-efficiency scenarios, fails one scenario, and counts tokens."""
    path = folder / "quiet.py"
    path.write_text(
        """
class Quiet:
    def reset(self):
        self.asked = 0

    def ingest_session(self, session, timestamp):
        pass

    def query(self, question, timestamp="now"):
        self.asked += 1
        if question == "What did Bo serve with in January 2025?":
            raise RuntimeError("no such store")
        return "" if question.startswith("What about") else "a word"

    def get_context_tokens(self):
        return 130.0 if self.asked <= 5 else 13.5
"""
    )
    return path


def test_blank_answers_count_equally_in_run_export_and_import(tmp_path: Path) -> None:
    benchmark_session = deepmemeval_exam()
    run = run_system(find_system(str(quiet(tmp_path))), benchmark_session, RunOptions(results=tmp_path / "runs"))
    (delta,) = (grade for grade in run.grades() if grade.category == "delta-efficiency")
    # 1 - 15 x 13.5 / (130 x 15) = 0.896: DeepMemEval's rule passes, and reads no answer.
    assert (delta.verdict, delta.state.value) == (True, "graded")
    assert delta.alternates == {"gated": False, "corrected": False}
    plain, evaluated = write(run, benchmark_session, tmp_path / "out.json")
    rows_written = json.loads(plain.read_text())
    (row,) = (row for row in rows_written if row["scenario_type"] == "delta-efficiency")
    assert row["token_counts"] == [130.0] * 5 + [13.5] * 15
    failed = [row for row in rows_written if row.get("error")]
    assert [row["scenario_type"] for row in failed] == ["temporal-belief"]
    labels = {row["scenario_type"]: row["eval_label"] for row in map(json.loads, evaluated.read_text().splitlines())}
    assert (labels["delta-efficiency"], labels["temporal-belief"]) == (True, False)
    again = graded(tmp_path, rows_written, "deepmemeval", benchmark_session, name="again.json")
    assert {g.item_id: g.verdict for g in again.grades()} == {g.item_id: g.verdict for g in run.grades()}


def test_the_official_files_name_the_judge_as_the_official_programs_do() -> None:
    # evaluate.py writes the full name of the model into rows, and its own short name into the file's name.
    assert judge_model("openai:gpt-4o-2024-08-06@1") == "gpt-4o-2024-08-06"
    assert judge_model("openai:acme/judge:7b@1") == "acme/judge:7b"
    assert judge_model("rules@3") == "rules"
    assert file_name("gpt-4o-2024-08-06") == "gpt-4o"
    assert file_name("gpt-4o-mini-2024-07-18") == "gpt-4o-mini"
    assert file_name("acme/judge:7b") == "acme-judge-7b"


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


@pytest.mark.parametrize("missing", [None, math.nan])
def test_a_null_response_is_a_failed_question_and_lines_are_read_as_a_list_is(tmp_path: Path, missing: Json) -> None:
    results = told()
    place = next(place for place, row in enumerate(results) if "token_counts" not in row)
    results[place]["response"] = missing
    run = graded(tmp_path, tuple(results), "deepmemeval", deepmemeval_exam())
    (failed,) = [row for row in run.responses() if row.outcome is Outcome.ADAPTER_ERROR]
    assert failed.scenario_id == results[place]["scenario_id"]
    assert failed.error == "the file has no answer to this question"
    assert (run.run.coverage.full, run.run.scores.overall.errors) == (True, 1)


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ({"response": True}, "'response': text belongs here"),
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


def test_an_export_has_the_official_fields_in_order_and_imports_with_equal_grades(tmp_path: Path) -> None:
    benchmark_session = deepmemeval_exam()
    results = told()[:-1]
    results[0] = {**results[0], "response": "ERROR: gone", "error": True}
    run = graded(tmp_path, results, "deepmemeval", benchmark_session)
    plain, evaluated = write(run, benchmark_session, tmp_path / "out.json")
    assert evaluated.name == "out.json.eval-rules"
    again = json.loads(plain.read_text())
    assert [{**row, "response": ""} for row in again] == [{**row, "response": ""} for row in results]
    assert [list(row) for row in again] == [list(row) for row in results]
    labelled = [json.loads(line) for line in evaluated.read_text().splitlines()]
    assert [list(row)[-2:] for row in labelled] == [["eval_label", "eval_model"]] * len(results)
    for value in (again, tuple(labelled)):
        assert verdicts(graded(tmp_path, value, "deepmemeval", benchmark_session, name="again.json")) == verdicts(run)
