"""The offline rule set, kind by kind."""

import pytest

from memeval.judging.base import Case, Ruling
from memeval.judging.rules import RulesJudge
from memeval.keys import AnswerKey, BeliefKey, CascadeKey, DeltaKey, NoiseKey, Stance, TemporalKey, UncertaintyKey
from memeval.records.grade import Flag, GradeState
from memeval.records.scenario import Scenario
from tests.grading.builders import fact, scenario

QUESTION = "What does Ada use for caching?"

BELIEF = BeliefKey(current=fact("Redis Cluster"), stale=(fact("Redis"), fact("Memcached")))
NOISE = NoiseKey(reference=fact("Jest"), distractors=(fact("Mocha"),))
TEMPORAL = TemporalKey(reference=fact("Svelte"), others=(fact("SvelteKit"),))


def rule(key: AnswerKey, answer: str, history: Scenario | None = None, question: str = QUESTION) -> Ruling:
    return RulesJudge().rule(Case("i", question, answer, key, history or scenario()))


def cascade(stance: Stance) -> CascadeKey:
    return CascadeKey(root_change="a → b", dependent=fact("Jest"), stance=stance, reference="…")


def uncertain(stance: Stance) -> UncertaintyKey:
    return UncertaintyKey(reason="…", dependent=fact("Jest"), stance=stance, reference="…")


@pytest.mark.parametrize(
    ("key", "answer", "verdict"),
    [
        (BELIEF, "Ada uses Redis Cluster.", True),
        (BELIEF, "Ada uses redis cluster for caching", True),
        (BELIEF, "Ada uses Redis.", False),
        (BELIEF, "Ada moved from Memcached to Redis Cluster.", False),
        (BELIEF, "Ada uses Valkey.", False),
        (BELIEF, "Ada uses Redis Cluster, I think.", True),
        (NOISE, "She runs Jest, and the weather is fine.", True),
        (NOISE, "She runs Mocha.", False),
        (NOISE, "She runs Jest; Bob runs Mocha.", False),
        (NOISE, "No idea.", False),
        (TEMPORAL, "Svelte back then.", True),
        (TEMPORAL, "SvelteKit.", False),
        (TEMPORAL, "First Svelte, now SvelteKit.", False),
    ],
)
def test_an_answer_needs_the_right_fact_and_none_of_the_wrong_ones(key: AnswerKey, answer: str, verdict: bool) -> None:
    ruling = rule(key, answer)
    assert ruling.state is GradeState.GRADED
    assert ruling.verdict is verdict
    assert ruling.reason is not None and ruling.reason.endswith(".")


@pytest.mark.parametrize("make", [cascade, uncertain])
@pytest.mark.parametrize(
    ("answer", "doubts", "stands"),
    [
        ("Jest.", False, True),
        ("I am not sure; it was Jest.", True, False),
        ("It may be out of date, but Jest.", True, False),
        ("Has Ada confirmed it since the move?", True, False),
        (QUESTION, False, False),
        ("Mocha.", False, False),
        ("Not sure.", True, False),
    ],
)
def test_doubt_is_right_only_about_facts_with_a_changed_basis(
    make: object, answer: str, doubts: bool, stands: bool
) -> None:
    assert callable(make)
    assert rule(make(Stance.DOUBT), answer).verdict is doubts
    assert rule(make(Stance.CONFIDENT), answer).verdict is stands


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ("Before the move to Nomad, Ada ran Docker Swarm.", True),
        ("Docker Swarm, until she switched to Nomad.", True),
        ("She went from Docker Swarm to Nomad.", True),
        ("Before the move to Nomad, what did Ada run? Docker Swarm.", True),
        ("Docker Swarm. Nomad.", False),
        ("Uses Docker Swarm. Uses Nomad for workloads.", False),
        ("Nomad.", False),
        ("Docker Swarm, then Kubernetes.", False),
        ("Before the move to Kubernetes, Docker Swarm.", False),
        ("Before the move to Nomad, what did Ada run?", False),
    ],
)
def test_a_value_that_the_question_names_may_place_the_answer_in_time(answer: str, verdict: bool) -> None:
    key = TemporalKey(reference=fact("Docker Swarm"), others=(fact("Nomad"), fact("Kubernetes")))
    assert rule(key, answer, question="Before the move to Nomad, what did Ada run?").verdict is verdict


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ("Yes.", True),
        ("Yes, she does.", True),
        ("Ada still uses Jest.", True),
        ("No, she does not use Jest any more.", False),
        ("No.", False),
        ("Does Ada still use Jest?", False),
        ("Does Ada still use Jest? Yes.", True),
        ("Mocha.", False),
        ("Yes, I think.", False),
    ],
)
def test_a_fact_that_the_question_names_is_confirmed_by_a_yes(answer: str, verdict: bool) -> None:
    assert rule(uncertain(Stance.CONFIDENT), answer, question="Does Ada still use Jest?").verdict is verdict


def test_every_hedging_answer_is_flagged() -> None:
    for key in (BELIEF, NOISE, TEMPORAL, cascade(Stance.DOUBT), uncertain(Stance.CONFIDENT)):
        assert rule(key, "I am not sure.").flags == (Flag.HEDGED,)
        assert rule(key, "Jest.").flags == ()


TALK = scenario([f"In session {n} somebody talked at length about subject number {n} and Jest." for n in range(10)])


def text_of(history: Scenario) -> str:
    return " ".join(turn.content for session in history.sessions() for turn in session.turns)


def test_an_answer_that_holds_most_of_the_history_is_wrong() -> None:
    ruling = rule(NOISE, text_of(TALK), TALK)
    assert (ruling.verdict, ruling.flags) == (False, (Flag.CONTEXT_DUMP,))
    assert ruling.reason == "The answer holds most of the history."
    hedged = rule(uncertain(Stance.DOUBT), "I am not sure: " + text_of(TALK), TALK)
    assert (hedged.verdict, hedged.flags) == (False, (Flag.CONTEXT_DUMP, Flag.HEDGED))


def test_words_count_as_often_as_the_history_says_them() -> None:
    turn = TALK.sessions()[0].turns[0].content
    assert rule(NOISE, turn * 3, TALK).flags == ()
    assert rule(NOISE, " ".join(text_of(TALK).split()[:40]) + " Jest", TALK).flags == ()


def test_a_sentence_about_a_short_history_is_not_a_dump() -> None:
    short = scenario(["Uses Memcached for caching", "Noted, Memcached.", "Uses Redis Cluster for caching", "Noted."])
    for answer in ("Ada uses Redis Cluster for caching.", "Uses Redis Cluster for caching. Noted."):
        assert rule(BELIEF, answer, short).verdict is True


def test_a_key_that_is_not_judged_is_refused() -> None:
    with pytest.raises(TypeError, match="delta-efficiency"):
        rule(DeltaKey(facts_by_turn=((),)), "Jest")
