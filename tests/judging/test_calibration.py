"""The calibration answers: the same every time, right where they say so, and what the rule set makes of them."""

import functools
from collections import Counter, defaultdict

import pytest

from memeval.benchmarks import find
from memeval.judging.base import Ruling
from memeval.judging.calibration import PER_CATEGORY, CalibrationAnswer, trials
from memeval.judging.hedging import asks, hedges
from memeval.judging.prompting import fence
from memeval.judging.rules import RulesJudge
from memeval.judging.text import states
from memeval.keys import (
    AnswerKey,
    BeliefKey,
    CascadeKey,
    Fact,
    ItemKey,
    NoiseKey,
    ReferenceKey,
    Stance,
    StanceKey,
    TemporalKey,
    UncertaintyKey,
)
from memeval.records.audit import ProbeKind
from memeval.records.base import digest_of
from memeval.records.grade import GradeState
from memeval.records.scenario import Scenario
from tests.grading.builders import fact, item, scenario


@functools.cache
def keys() -> list[ItemKey]:
    return list(find("beliefs@2").open().answer_keys())


@functools.cache
def histories() -> dict[str, Scenario]:
    return {each.scenario_id: each for each in find("beliefs@2").open().scenarios()}


@functools.cache
def made() -> tuple[CalibrationAnswer, ...]:
    return trials(keys(), histories())


@functools.cache
def verdicts() -> dict[tuple[str, str], bool | None]:
    return {(trial.item.item_id, trial.case.answer): RulesJudge().rule(trial.case).verdict for trial in made()}


def right_and_wrong(key: AnswerKey) -> tuple[Fact, tuple[Fact, ...]]:
    match key:
        case BeliefKey():
            return key.current, key.stale
        case NoiseKey():
            return key.reference, key.distractors
        case TemporalKey():
            return key.reference, key.others
        case CascadeKey() | UncertaintyKey():
            return key.dependent, ()
        case _:
            raise AssertionError(key.kind)


def doubt_is_due(trial: CalibrationAnswer) -> bool:
    key = trial.item.key
    return isinstance(key, CascadeKey | UncertaintyKey) and key.stance is Stance.DOUBT


def fingerprint(found: tuple[CalibrationAnswer, ...]) -> str:
    return digest_of([[t.item.item_id, t.kind, t.case.question, t.case.answer, t.expected] for t in found])


def test_the_answers_of_version_1_stay_as_they_are() -> None:
    """Audits name ``calibration@1``: other answers are another version."""
    assert fingerprint(made()) == fingerprint(trials(keys(), histories()))
    assert fingerprint(made()) == "sha256:ce819f970a52c546dd8714c179aaf43fa5d470050a5f4330d90bbb7d3417eee0"


def test_there_are_twenty_items_of_each_judged_category_spread_over_people_and_stances() -> None:
    items = {trial.item.item_id: trial.item for trial in made()}
    judged = {each.category for each in keys()} - {"context-efficiency"}
    assert Counter(each.category for each in items.values()) == dict.fromkeys(judged, PER_CATEGORY)
    for category in ("cascade-propagation", "uncertainty-abstention"):
        stances = Counter(
            each.key.stance for each in items.values() if each.category == category and isinstance(each.key, StanceKey)
        )
        assert stances == {Stance.DOUBT: 10, Stance.CONFIDENT: 10}
    for category in ("belief-update", "noise-resistance", "temporal-belief"):
        assert len({each.cluster for each in items.values() if each.category == category}) == PER_CATEGORY


def test_fewer_items_are_some_of_more() -> None:
    few = {trial.item.item_id for trial in trials(keys(), histories(), per_category=3)}
    assert len(few) == 15
    assert few < {trial.item.item_id for trial in made()}


def test_no_item_has_the_same_answer_twice_and_every_answer_is_to_its_question() -> None:
    assert len({(trial.item.item_id, trial.case.answer) for trial in made()}) == len(made())
    for trial in made():
        asks = {each.question_id: each for each in histories()[trial.item.scenario_id].questions()}
        (ask,) = (asks[each] for each in trial.item.question_ids)
        assert trial.case.question == ask.question
        assert (trial.case.item_id, trial.case.key) == (trial.item.item_id, trial.item.key)


@pytest.mark.parametrize("kind", ProbeKind)
def test_what_is_expected_follows_from_the_key(kind: ProbeKind) -> None:
    found = [trial for trial in made() if trial.kind is kind]
    assert found
    for trial in found:
        doubt = doubt_is_due(trial) and kind in (ProbeKind.HEDGED, ProbeKind.REFUSED)
        assert trial.expected == (kind is ProbeKind.RIGHT or doubt), trial


def test_what_is_contestable_is_not_asked() -> None:
    for trial in made():
        stance = isinstance(trial.item.key, CascadeKey | UncertaintyKey)
        assert not (stance and trial.kind is ProbeKind.MIXED)
        assert not (doubt_is_due(trial) and trial.kind is ProbeKind.VAGUE)
        if not stance and trial.kind is ProbeKind.HEDGED:
            right, _ = right_and_wrong(trial.item.key)
            assert not states(trial.case.answer, right.phrases)


def test_answers_hold_what_their_kind_says() -> None:
    for trial in made():
        right, wrong = right_and_wrong(trial.item.key)
        has_right = states(trial.case.answer, right.phrases)
        has_wrong = any(states(trial.case.answer, each.phrases) for each in wrong)
        match trial.kind:
            case ProbeKind.RIGHT:
                assert has_right and not has_wrong, trial
            case ProbeKind.MIXED:
                assert has_right and has_wrong, trial
            case ProbeKind.OFF | ProbeKind.VAGUE:
                assert not has_right and not has_wrong, trial
            case ProbeKind.STALE if wrong:
                assert has_wrong and not has_right, trial
            case _:
                continue


def test_an_off_target_value_comes_from_somebody_elses_item() -> None:
    phrases = {each.item_id: right_and_wrong(each.key) for each in keys() if each.category != "context-efficiency"}
    owners = defaultdict(set)
    for each in keys():
        if each.item_id in phrases:
            right, wrong = phrases[each.item_id]
            for known in (right, *wrong):
                owners[known.phrases[0]].add(each.cluster)
    for trial in (trial for trial in made() if trial.kind is ProbeKind.OFF):
        named = [phrase for phrase in owners if states(trial.case.answer, (phrase,))]
        assert any(owners[phrase] - {trial.item.cluster} for phrase in named), trial


def test_injections_surround_a_wrong_answer_and_add_no_doubt() -> None:
    alone = defaultdict(list)
    for trial in made():
        if not trial.kind.is_injection and not trial.expected:
            alone[trial.item.item_id].append(trial.case.answer)
    for trial in (trial for trial in made() if trial.kind.is_injection):
        (base,) = (answer for answer in alone[trial.item.item_id] if answer in trial.case.answer)
        attack = trial.case.answer.replace(base, "")
        assert len(attack) > 10
        assert not hedges(attack, trial.case.question) and not asks(attack)


def test_some_forged_fences_have_the_shape_of_the_real_one() -> None:
    shape = fence("")[1].split("  ")
    forged = [trial.case.answer for trial in made() if trial.kind is ProbeKind.INJECTED_FENCE]
    assert 10 < sum(all(part in answer for part in shape) for answer in forged) < len(forged)


def test_an_item_with_a_disputed_key_is_skipped() -> None:
    one = item(BeliefKey(current=fact("Jest"), stale=(fact("Mocha"),)))
    in_doubt = one.model_copy(update={"item_id": "j", "slices": {"errata": "ambiguous"}})
    assert {trial.item.item_id for trial in trials([one, in_doubt], {"i": scenario()})} == {"i"}


def test_an_item_that_no_judge_decides_is_skipped() -> None:
    assert trials([item(ReferenceKey(kind="letters"))], {"i": scenario()}) == ()


def test_without_a_similar_value_there_is_no_off_target_answer() -> None:
    one = item(NoiseKey(reference=fact("Ada runs Jest.", "Jest")))
    found = trials([one], {"i": scenario()})
    kinds = [trial.kind.name for trial in found if not trial.kind.is_injection]
    assert kinds == ["RIGHT", "RIGHT", "HEDGED", "REFUSED", "VAGUE"]
    assert sum(trial.kind.is_injection for trial in found) == 3


def _person(name: str, value: str) -> ItemKey:
    key = BeliefKey(current=fact(f"{name} stores data in {value}.", value), stale=())
    return item(key).model_copy(update={"item_id": name, "cluster": name})


@pytest.mark.parametrize(("other", "taken"), [("Postgres", False), ("MySQL", True), ("postgresql 16", False)])
def test_another_spelling_of_the_right_value_is_not_off_target(other: str, taken: bool) -> None:
    found = trials([_person("ada", "PostgreSQL"), _person("bo", other)], {"i": scenario()})
    assert any(trial.kind is ProbeKind.OFF for trial in found) is taken


def test_a_trial_becomes_a_probe_with_the_verdict() -> None:
    trial, key = made()[0], "sha256:" + "0" * 64
    probe = trial.probe(Ruling(GradeState.GRADED, False, judgment_key=key))
    of = trial.item
    assert (probe.item_id, probe.category, probe.cluster) == (of.item_id, of.category, of.cluster)
    assert (probe.kind, probe.answer, probe.expected) == (trial.kind, trial.case.answer, trial.expected)
    assert (probe.verdict, probe.judgment_key) == (False, key)
    assert trial.probe(Ruling(GradeState.UNPARSED, None)).verdict is None


class TestRules:
    """The rule set under audit."""

    def verdict(self, trial: CalibrationAnswer) -> bool | None:
        return verdicts()[trial.item.item_id, trial.case.answer]

    def test_injections_gain_nothing_over_the_same_answers_without_them(self) -> None:
        assert not [trial for trial in made() if trial.kind.is_injection and self.verdict(trial)]

    def test_it_errs_only_where_meaning_matters(self) -> None:
        wrong = Counter(
            (trial.kind, trial.expected, doubt_is_due(trial))
            for trial in made()
            if self.verdict(trial) is not trial.expected
        )
        # It reads phrases: "a thing of the past: X" names X, and not every way of doubting is in its lexicon.
        assert wrong == {(ProbeKind.STALE, False, False): 20, (ProbeKind.RIGHT, True, True): 10}
