"""A grader that raises, and a prompt that is missing: both are named, with what to do."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from memeval.benchmarks import registry
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.judge.grades import cases_of, grade_items
from memeval.grading.judged import Judged
from memeval.judging.base import Case, Judge
from memeval.judging.prompting import Prompts
from memeval.judging.rules import RulesJudge
from memeval.keys import ItemKey, NoiseKey
from memeval.records.errors import BadInput
from memeval.records.grade import Grade
from memeval.records.response import Response
from memeval.records.scenario import Scenario
from tests.grading.builders import reply
from tests.support.registered import Distribution, Entry
from tests.support.tiny import TinyBenchmark


class Raises(Judged):
    name = "raises@1"

    def cases(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response]) -> Sequence[Case]:
        raise ZeroDivisionError("no items")

    def grade(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response], judge: Judge) -> Grade:
        raise ZeroDivisionError("no items")


class Undefined(Judged):
    name = "undefined@1"

    def metrics(self, item: ItemKey, scenario: Scenario, response: Response) -> dict[str, float | None]:
        return {"distance": float("nan")}


def session_with(grader: Judged) -> BenchmarkSession:
    benchmark = TinyBenchmark(1)
    benchmark.categories = tuple(replace(each, grader=grader) for each in benchmark.categories)
    return BenchmarkSession.open(benchmark)


@pytest.mark.parametrize(
    ("grader", "says"),
    [(Raises(), r"ZeroDivisionError: no items"), (Undefined(), r"ValidationError: .*distance.*finite number")],
)
def test_a_failed_grader_is_named_with_item_and_package(
    monkeypatch: pytest.MonkeyPatch, grader: Judged, says: str
) -> None:
    session = session_with(grader)
    entry = Entry("tiny@1", TinyBenchmark, Distribution("memeval-foreign", "0.3"))
    monkeypatch.setattr(registry, "_entries", lambda: {"tiny@1": entry})
    with pytest.raises(BadInput, match=rf"grader {grader.name} of tiny@1 failed on the item .*{says}") as caught:
        grade_items(session, session.keys, [reply(key, "Lima") for key in session.keys], RulesJudge())
    assert "Fix the grader in memeval-foreign 0.3" in str(caught.value.remedy)


def test_a_grader_whose_cases_fail_is_named() -> None:
    session = session_with(Raises())
    with pytest.raises(BadInput, match="grader raises@1 of tiny@1 failed on the item tiny-000-q01"):
        cases_of(session, session.keys, [reply(key, "Lima") for key in session.keys])


class Promptless(NoiseKey):
    kind: str = "no-such-prompt"  # type: ignore[assignment]


def test_a_missing_prompt_file_is_named() -> None:
    session = session_with(Judged())
    (key,) = session.keys
    assert isinstance(key.key, NoiseKey)
    case = Case(key.item_id, "Where?", "Lima", Promptless(reference=key.key.reference), session.scenarios["tiny-000"])
    with pytest.raises(BadInput, match="has no judge prompt 'no-such-prompt'"):
        Prompts().asking(case)
