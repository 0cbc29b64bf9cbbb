"""What a task of Inspect gets from a memory system, and how it is graded; without Inspect."""

from pathlib import Path

import pytest

import memeval
from memeval.benchmarks import all_benchmarks, find
from memeval.evaluation.inspect_tasks.answering import (
    MODEL,
    TaskData,
    answer_scenario,
    answered_by,
    answered_protocol,
    composite,
    graded,
    keys_of,
    questions_of,
    with_answer,
)
from memeval.grading.scoring import headline
from memeval.records.errors import BadInput, NotApplicable
from memeval.records.grade import GradeState
from memeval.records.response import Outcome
from memeval.systems.source import find_system

DATA = TaskData.of("beliefs@2", None, None, "quick")


@pytest.fixture(scope="module")
def item() -> str:
    return next(iter(keys_of(DATA)))


def test_a_model_answers_in_the_first_protocol_that_leaves_the_reader_open() -> None:
    assert (DATA.protocol, answered_protocol(find("locomo@1").info)) == ("judge", "f1")
    for benchmark in all_benchmarks():
        chosen = answered_protocol(benchmark.info)
        protocols = {each.name: each.reader for each in benchmark.info.protocols}
        assert protocols[chosen] is None or None not in protocols.values(), benchmark.info.id


@pytest.mark.parametrize(
    ("benchmark", "path", "protocol", "tier", "problem"),
    [
        ("belief@2", None, None, None, "belief@2"),
        ("beliefs@2", None, "no-such", None, "no-such"),
        ("beliefs@2", None, None, "no-such", "no-such"),
        ("locomo@1", "missing.json", None, None, "missing.json"),
    ],
)
def test_data_that_does_not_exist_is_named(
    benchmark: str, path: str | None, protocol: str | None, tier: str | None, problem: str
) -> None:
    with pytest.raises(BadInput, match=problem):
        TaskData.of(benchmark, path, protocol, tier)


def test_each_item_has_its_questions_and_they_hold_no_answer() -> None:
    found = list(questions_of(DATA))
    assert [key for key, _ in found] == list(DATA.session.keys)
    assert all(len(questions) == len(key.question_ids) and all(questions) for key, questions in found)


def test_a_system_that_retrieves_leaves_its_answers_to_the_model(item: str) -> None:
    given = answer_scenario(DATA, find_system("bm25"), None, item)
    scenario = keys_of(DATA)[item].scenario_id
    assert set(given) == {key.item_id for key in DATA.session.keys if key.scenario_id == scenario}
    questions = {key.item_id: asked for key, asked in questions_of(DATA)}
    for name, answered in given.items():
        assert list(answered.prompts) == list(keys_of(DATA)[name].question_ids)
        for prompt, question in zip(answered.prompts.values(), questions[name], strict=True):
            assert f"Question: {question}\n" in prompt and "\n[202" in prompt
    [row] = given[item].responses
    assert with_answer(row, "tea").answer == "tea" and with_answer(row, " ").outcome is Outcome.EMPTY


def test_a_system_that_answers_needs_no_model_unless_it_is_asked_for(item: str) -> None:
    given = answer_scenario(DATA, find_system("always-hedge"), None, item)[item]
    assert given.reader == "native" and given.prompts == {} and given.responses[0].answer
    with pytest.raises(NotApplicable, match="search"):
        answer_scenario(DATA, find_system("always-hedge"), MODEL, item)
    with pytest.raises(BadInput, match="no-such"):
        answer_scenario(DATA, find_system("bm25"), "no-such", item)


def test_grades_and_composite_are_those_of_a_run(tmp_path: Path) -> None:
    options = memeval.RunOptions(results=tmp_path, protocol="judge", tier="quick", reader="extractive")
    [run] = memeval.run("bm25", "beliefs@2", options=options)
    credits: dict[str, float] = {}
    for key in DATA.session.keys:
        if key.item_id not in credits:
            for name, given in answer_scenario(DATA, find_system("bm25"), "extractive", key.item_id).items():
                grade = graded(DATA, name, given.reader, given.responses, given.contexts)
                credits[name] = headline(grade) or 0.0
    assert credits == {grade.item_id: headline(grade) or 0.0 for grade in run.grades()}
    assert composite(DATA, credits) == pytest.approx(run.run.scores.composite.value, abs=1e-12)


def test_the_composite_weights_the_mean_of_each_category_and_is_absent_without_one() -> None:
    keys = DATA.session.keys
    credits = {key.item_id: 1.0 for key in keys}
    assert composite(DATA, credits) == pytest.approx(1.0)
    some = keys[0].category
    weight = next(each.weight for each in DATA.session.benchmark.table("judge", "quick") if each.name == some)
    without = {key.item_id: float(key.category != some) for key in keys}
    assert composite(DATA, without) == pytest.approx(1 - (weight or 0))
    assert composite(DATA, {key.item_id: 1.0 for key in keys if key.category != some}) is None
    assert composite(DATA, {}) is None


def test_the_answer_of_another_solver_is_graded() -> None:
    item = next(key.item_id for key in DATA.session.keys if key.category == "belief-update")
    right = keys_of(DATA)[item].key.references[0]
    assert headline(graded(DATA, item, "native", [answered_by(DATA, item, right)], [])) == 1.0
    empty = graded(DATA, item, "native", [answered_by(DATA, item, " ")], [])
    assert empty.state is GradeState.EMPTY and not headline(empty)
