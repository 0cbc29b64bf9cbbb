"""All people of beliefs@2 in one memory: the same questions, and keys that stay right in company."""

from itertools import pairwise

import pytest

from memeval.benchmarks import find
from memeval.benchmarks.beliefs.generate import MadeLife, generate
from memeval.benchmarks.beliefs.grading import SharedExpectedTurns, SharedLeanContext
from memeval.benchmarks.beliefs.keys import EvidenceKey
from memeval.benchmarks.beliefs.protocols import joined
from memeval.benchmarks.beliefs.wording.editions import wording
from memeval.benchmarks.kit.checks import BrokenRule, says
from memeval.judging.rules import RulesJudge
from memeval.keys import ItemKey
from memeval.records.grade import Grade
from memeval.records.response import Outcome, RetrievedItem
from memeval.records.scenario import Ask, Ingest, Scenario, Session, dated_line
from tests.grading.builders import reply

SEED, SIZE = 7, 130
"""Enough people that some first names are shared."""


@pytest.fixture(scope="module")
def lives() -> tuple[MadeLife, ...]:
    return generate(SEED, SIZE, wording("full"))


@pytest.fixture(scope="module")
def scenario(lives: tuple[MadeLife, ...]) -> Scenario:
    return joined(lives)[0][0]


@pytest.fixture(scope="module")
def keys(lives: tuple[MadeLife, ...]) -> tuple[ItemKey, ...]:
    return joined(lives)[1]


@pytest.fixture(scope="module")
def turns(scenario: Scenario) -> dict[str, str]:
    return {t.turn_id: dated_line(session, t) for session in scenario.sessions() for t in session.turns}


def test_every_session_and_question_of_everybody_is_there_once_in_order_of_days(
    lives: tuple[MadeLife, ...], scenario: Scenario
) -> None:
    assert len(scenario.steps) == sum(len(each.scenario.steps) for each in lives)
    days = [
        s.session.date if isinstance(s, Ingest) else s.timestamp or ""
        for s in scenario.steps
        if isinstance(s, Ingest | Ask)
    ]
    assert all(a <= b for a, b in pairwise(days))
    kinds = [isinstance(step, Ask) for step in scenario.steps]
    assert sum(a != b for a, b in pairwise(kinds)) > SIZE


def test_every_key_names_the_same_turns_as_in_the_separate_history(
    lives: tuple[MadeLife, ...], keys: tuple[ItemKey, ...], turns: dict[str, str]
) -> None:
    alone = {key.item_id: (each, key) for each in lives for key in each.keys(searched=True)}
    assert len(keys) == len(alone)
    for key in keys:
        life, before = alone[key.item_id]
        said = {t.turn_id: dated_line(s, t) for s in life.scenario.sessions() for t in s.turns}
        assert isinstance(key.key, EvidenceKey) and isinstance(before.key, EvidenceKey)
        now, then = ((*each.expected, *each.misleading) for each in (key.key, before.key))
        for moved, first in zip(now, then, strict=True):
            assert [turns[turn] for turn in moved.turns] == [said[turn] for turn in first.turns]


def test_a_question_comes_after_its_evidence(scenario: Scenario, keys: tuple[ItemKey, ...]) -> None:
    needed = {key.question_ids[0]: set(key.evidence or ()) for key in keys}
    seen: set[str] = set()
    for step in scenario.steps:
        if isinstance(step, Ingest):
            seen.add(step.session.session_id)
        elif isinstance(step, Ask):
            assert needed[step.question_id] <= seen


def test_a_first_name_that_two_people_have_is_asked_in_full(lives: tuple[MadeLife, ...], scenario: Scenario) -> None:
    names = [each.life.person.name for each in lives]
    firsts = [name.partition(" ")[0] for name in names]
    of_question = {ask.question_id: each.life.person for each in lives for ask in each.scenario.questions()}
    shared = 0
    for ask in scenario.questions():
        person = of_question[ask.question_id]
        assert person.first in ask.question
        if firsts.count(person.first) > 1:
            assert person.name in ask.question
            shared += 1
    assert shared


def test_two_people_of_one_name_are_refused(lives: tuple[MadeLife, ...]) -> None:
    with pytest.raises(BrokenRule, match="two people of one memory share a name"):
        joined((lives[0], lives[1], lives[0]))


def grade(scenario: Scenario, key: ItemKey, *items: RetrievedItem, lean: bool = False) -> Grade:
    response = reply(key, "", items, Outcome.OK)
    grader = SharedLeanContext() if lean else SharedExpectedTurns()
    return grader.grade(key, scenario, [response], RulesJudge())


def test_the_same_value_said_by_somebody_else_is_no_evidence(
    scenario: Scenario, keys: tuple[ItemKey, ...], turns: dict[str, str]
) -> None:
    key = next(key for key in keys if key.category == "noise-resistance")
    assert isinstance(key.key, EvidenceKey)
    (part,) = key.key.expected
    person = key.cluster.removeprefix("beliefs-2-")
    own = {s.session_id for s in scenario.sessions() if _speaker(s).lower().replace(" ", "-") == person}
    other = next(text for turn, text in turns.items() if turn.partition(":")[0] not in own and says(part.phrases, text))
    session = part.turns[0].partition(":")[0]
    assert grade(scenario, key, RetrievedItem(turn_id=part.turns[0])).credit == 1
    assert grade(scenario, key, RetrievedItem(text=other)).credit == 0
    assert grade(scenario, key, RetrievedItem(text=other, source_ids=(session,))).credit == 0
    name = next(_speaker(each) for each in scenario.sessions() if each.session_id == session)
    assert grade(scenario, key, RetrievedItem(text=f"{name}: {part.phrases[0]}")).credit == 1
    assert grade(scenario, key, RetrievedItem(text=f"{name}\n{other}")).credit == 0


def test_a_lean_context_of_somebody_else_earns_nothing(
    scenario: Scenario, keys: tuple[ItemKey, ...], turns: dict[str, str]
) -> None:
    key = next(key for key in keys if key.category == "context-efficiency")
    assert isinstance(key.key, EvidenceKey)
    assert grade(scenario, key, RetrievedItem(turn_id=key.key.relevant_turns[0]), lean=True).credit == 1
    assert grade(scenario, key, RetrievedItem(text=key.key.expected[0].phrases[0]), lean=True).credit == 0


def _speaker(session: Session) -> str:
    return next(turn.speaker or "" for turn in session.turns if turn.role == "user")


def test_the_protocol_has_the_weights_of_retrieval_and_graders_of_its_own() -> None:
    benchmark = find("beliefs@2")
    assert [each.weight for each in benchmark.table("shared")] == [each.weight for each in benchmark.table("retrieval")]
    graders = {each.grader.name for each in benchmark.table("shared")}
    assert graders == {"shared-expected-turns@1", "shared-lean-context@1"}
