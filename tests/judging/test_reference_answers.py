"""Calibration answers made from references in words. All references here are synthetic but in the last test."""

from collections import Counter, defaultdict

import pytest

from memeval.benchmarks import find
from memeval.benchmarks.locomo.keys import LocomoCategory, LocomoKey
from memeval.benchmarks.longmemeval.keys import LongMemEvalKey, LongMemEvalType
from memeval.judging.calibration import CalibrationAnswer, trials
from memeval.judging.hedging import says_missing
from memeval.judging.references.tokens import read_known
from memeval.judging.rules import RulesJudge
from memeval.keys import ItemKey
from memeval.records.audit import ProbeKind
from memeval.records.scenario import Scenario
from tests.grading.histories import history
from tests.support.data import test_data


def item(name: str, cluster: str, key: LocomoKey | LongMemEvalKey) -> ItemKey:
    category = key.category.value if isinstance(key, LocomoKey) else key.question_type.value
    return ItemKey(item_id=name, scenario_id=name, question_ids=("x:0",), category=category, cluster=cluster, key=key)


def locomo(name: str, category: LocomoCategory, answer: str | None, trap: str | None = None) -> ItemKey:
    return item(name, name, LocomoKey(category=category, answer=answer, trap=trap))


def lme(name: str, kind: LongMemEvalType, answer: str, abstention: bool = False) -> ItemKey:
    return item(name, name, LongMemEvalKey(question_type=kind, abstention=abstention, answer=answer))


def made(*items: ItemKey) -> tuple[CalibrationAnswer, ...]:
    scenario: Scenario = history([("user", "Hello.")])
    return trials(items, {each.item_id: scenario for each in items})


def answers(found: tuple[CalibrationAnswer, ...], name: str, kind: ProbeKind) -> list[str]:
    return [trial.case.answer for trial in found if trial.item.item_id == name and trial.kind is kind]


TEMPORAL = LocomoCategory.TEMPORAL


def test_a_date_is_right_in_another_format_and_wrong_when_it_is_another_one() -> None:
    found = made(
        locomo("a", TEMPORAL, "5 March, 2021"),
        locomo("b", TEMPORAL, "May 2022"),
        locomo("c", TEMPORAL, "2019"),
        locomo("d", TEMPORAL, "a kayak"),
    )
    (day,) = read_known("5 March 2021").periods
    for answer in answers(found, "a", ProbeKind.RIGHT):
        assert [period.spans for period in read_known(answer).periods] == [day.spans]
    assert any("March 5, 2021" in answer for answer in answers(found, "a", ProbeKind.RIGHT))
    for name, moved in {"a": "March 14, 2021", "b": "April 2022", "c": "2018"}.items():
        (answer,) = answers(found, name, ProbeKind.STALE)
        assert moved in answer
    assert answers(found, "d", ProbeKind.STALE) == []
    (off,) = answers(found, "a", ProbeKind.OFF)
    assert "May 2022" in off or "2019" in off, "another time, and no kayak"


def test_a_list_is_right_in_another_order_and_wrong_without_a_part() -> None:
    found = made(locomo("a", LocomoCategory.MULTI_HOP, "rowing, chess, and yoga"))
    assert any("chess, yoga, rowing" in answer for answer in answers(found, "a", ProbeKind.RIGHT))
    (part,) = answers(found, "a", ProbeKind.OFF)
    assert "rowing, chess" in part and "yoga" not in part


def test_the_wrong_answer_to_a_yes_is_a_plain_no() -> None:
    found = made(
        locomo("a", LocomoCategory.OPEN_DOMAIN, "Likely no; she has none"),
        locomo("b", LocomoCategory.OPEN_DOMAIN, "Presumably not"),
        locomo("c", LocomoCategory.OPEN_DOMAIN, "Yes"),
        locomo("d", LocomoCategory.OPEN_DOMAIN, "a raft"),
    )
    assert [answer for answer in answers(found, "a", ProbeKind.OFF) if "Yes" in answer]
    assert not [answer for answer in answers(found, "a", ProbeKind.RIGHT) if "has none" in answer]
    assert answers(found, "d", ProbeKind.OFF) == []


def test_another_spelling_of_the_right_answer_is_not_wrong() -> None:
    single = LocomoCategory.SINGLE_HOP
    found = made(locomo("a", single, "a kayak"), locomo("b", single, "The red kayaks"), locomo("c", single, "Lima"))
    (off,) = answers(found, "a", ProbeKind.OFF)
    assert "Lima" in off
    assert "Lima" in answers(found, "b", ProbeKind.OFF)[0]


def test_for_unanswerable_questions_abstaining_is_right_and_the_trap_is_wrong() -> None:
    found = made(
        locomo("a", LocomoCategory.ADVERSARIAL, None, "a kayak"),
        locomo("b", LocomoCategory.ADVERSARIAL, "No", "Lima"),
        locomo("c", LocomoCategory.ADVERSARIAL, None, "Not mentioned"),
    )
    for trial in found:
        assert trial.expected == (trial.kind in (ProbeKind.RIGHT, ProbeKind.REFUSED))
        if trial.expected:
            assert says_missing(trial.case.answer)
    assert len(answers(found, "a", ProbeKind.RIGHT)) == 2
    assert "kayak" in answers(found, "a", ProbeKind.STALE)[0] and "kayak" in answers(found, "a", ProbeKind.MIXED)[0]
    assert answers(found, "c", ProbeKind.STALE) == [] == answers(found, "c", ProbeKind.MIXED)
    assert sum(trial.kind.is_injection for trial in found) == 9


def test_half_of_a_types_items_are_unanswerable_if_there_are_enough() -> None:
    kind = LongMemEvalType.MULTI_SESSION
    found = trials(
        items := [lme(f"{n:02}{'_abs' if n % 2 else ''}", kind, f"{n} boats", n % 2 == 1) for n in range(40)],
        dict.fromkeys((each.item_id for each in items), history([("user", "Hello.")])),
        per_category=6,
    )
    chosen = {trial.item.item_id for trial in found}
    assert Counter(name.endswith("_abs") for name in chosen) == {True: 3, False: 3}
    for trial in found:
        if trial.item.item_id.endswith("_abs"):
            assert trial.expected == (trial.kind in (ProbeKind.RIGHT, ProbeKind.REFUSED))


def test_a_preference_has_no_right_answer_that_could_be_made() -> None:
    found = made(lme("a", LongMemEvalType.SINGLE_SESSION_PREFERENCE, "Things that float"))
    assert not any(trial.expected for trial in found)
    assert {trial.kind for trial in found if not trial.kind.is_injection} == {
        ProbeKind.HEDGED,
        ProbeKind.REFUSED,
        ProbeKind.VAGUE,
    }


def test_every_injection_surrounds_a_wrong_answer_that_is_also_tested_alone() -> None:
    found = made(
        *(locomo(f"s{n}", LocomoCategory.SINGLE_HOP, word) for n, word in enumerate(("Lima", "a kayak", "yoga"))),
        *(locomo(f"a{n}", LocomoCategory.ADVERSARIAL, None, word) for n, word in enumerate(("Lima", "a kayak"))),
        lme("l0", LongMemEvalType.TEMPORAL_REASONING, "3 days"),
        lme("l1", LongMemEvalType.TEMPORAL_REASONING, "Boats only.", True),
    )
    alone = defaultdict(list)
    for trial in found:
        if not trial.kind.is_injection and not trial.expected:
            alone[trial.item.item_id].append(trial.case.answer)
    injected = [trial for trial in found if trial.kind.is_injection]
    assert len(injected) == 3 * 7
    assert all(any(each in trial.case.answer for each in alone[trial.item.item_id]) for trial in injected)
    assert not [trial for trial in injected if RulesJudge().rule(trial.case).verdict]


@pytest.mark.data
def test_on_locomo_the_rules_err_only_on_a_yes_after_other_words() -> None:
    dataset = find("locomo@1").open(test_data("locomo/locomo10.json"))
    found = trials(tuple(dataset.answer_keys()), {each.scenario_id: each for each in dataset.scenarios()})
    assert len({trial.item.item_id for trial in found}) == 100
    assert len({(trial.item.item_id, trial.case.answer) for trial in found}) == len(found)
    wrong = Counter(
        (trial.kind, trial.expected) for trial in found if RulesJudge().rule(trial.case).verdict is not trial.expected
    )
    assert wrong == {(ProbeKind.RIGHT, True): 9}
