"""Delta efficiency by the contexts: what counts, and what no longer earns it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.grading.base import ContextGrader, DeliveredContexts
from memeval.grading.delivery import NOT_STORED, SELF_REPORTED, DeliveredDelta, checked_series
from memeval.grading.delta import Headline
from memeval.keys import Fact
from memeval.records.grade import Flag, Grade, GradeState
from memeval.records.response import Outcome, Response
from memeval.records.scenario import Ask, Ingest, Scenario, Session, Step, Turn
from memeval.tokens import count_tokens
from tests.grading.builders import NoJudge, delta_item, fact, response

TOOLS = ("Jest", "Redis", "Svelte", "Go")
FACTS = tuple(map(fact, TOOLS))
OLD = tuple(f"For this project I use {tool}, as most people around me do." for tool in TOOLS)
NEWS = "I replaced Svelte. These days it is Remix, and I do not want to go back."
QUESTIONS = 20
ASKED_NEWS = 12
"""Number of the question before which the news is ingested."""
GOOD = "Jest, Redis, Svelte, Go and Remix."


def session(number: int, content: str) -> Ingest:
    turn = Turn(turn_id=f"s{number:03}:t01", role="user", speaker="Ada", content=content)
    return Ingest(source_id=f"x{number}", session=Session(session_id=f"s{number:03}", date="2025-01-01", turns=(turn,)))


def conversation(keeps: bool = True) -> Scenario:
    """Return four facts, twelve questions, news, and eight more questions."""
    asks = [Ask(question_id=f"i:q{n:02}", question=f"Question {n}?") for n in range(1, QUESTIONS + 1)]
    known = (session(n, text) for n, text in enumerate(OLD, 1))
    steps: tuple[Step, ...] = (*known, *asks[:ASKED_NEWS], session(5, NEWS), *asks[ASKED_NEWS:])
    return Scenario(scenario_id="i", steps=steps, agent_keeps_context=keeps)


FACTS_BY_TURN: list[tuple[Fact, ...]] = [FACTS] * ASKED_NEWS + [(*FACTS, fact("Remix"))] * (QUESTIONS - ASKED_NEWS)
ITEM = delta_item(FACTS_BY_TURN)
HISTORY = "\n".join(OLD)


def honest(first: str = HISTORY, news: str = NEWS) -> list[str]:
    """Return the contexts of a system that sends each text once."""
    return [first, *[""] * (ASKED_NEWS - 1), news, *[""] * (QUESTIONS - ASKED_NEWS - 1)]


def answered(texts: Sequence[str], answers: Sequence[str] | None = None) -> list[Response]:
    given_answers = answers or [GOOD] * len(texts)
    return [
        response(answer, number=n, counted=count_tokens(text), outcome=Outcome.OK if answer else Outcome.EMPTY)
        for n, (text, answer) in enumerate(zip(texts, given_answers, strict=True), 1)
    ]


def graded(
    texts: Sequence[str],
    headline: Headline = "gated",
    *,
    read: bool = True,
    answers: Sequence[str] | None = None,
    keeps: bool = True,
) -> Grade:
    delivered = DeliveredContexts(tuple(texts), read)
    return DeliveredDelta(headline).grade_delivered(ITEM, conversation(keeps), answered(texts, answers), delivered)


def series(texts: Sequence[str]) -> tuple[float, ...]:
    return checked_series(conversation(), ITEM.question_ids, texts, FACTS_BY_TURN).tokens


def test_a_system_that_sends_each_text_once_passes() -> None:
    grade = graded(honest())
    assert (grade.verdict, grade.alternates, grade.flags) == (True, {"published": True}, ())
    assert grade.value == grade.metrics["checked_efficiency"]
    assert grade.grader == "delta-efficiency-gated@3"
    published = graded(honest(), "published")
    assert (published.verdict, published.alternates) == (True, {"gated": True, "corrected": True})
    assert published.grader == "delta-efficiency@3"


def test_the_format_of_dated_lines_counts_too() -> None:
    dated = "\n".join(f"[2025-01-01] Ada: {text}" for text in OLD)
    assert series(honest(dated))[0] > series(honest())[0]
    assert graded(honest(dated, f"[2025-01-01] Ada: {NEWS}")).verdict is True


def test_contexts_that_a_system_only_reports_earn_nothing() -> None:
    grade = graded(honest(), read=False)
    assert (grade.verdict, grade.value, grade.reason) == (False, None, SELF_REPORTED)
    assert (grade.alternates, grade.flags) == ({"published": True}, (Flag.SELF_REPORTED_TOKENS,))
    assert grade.metrics["efficiency"] is None and grade.metrics["reported_efficiency"] is not None
    published = graded(honest(), "published", read=False)
    assert (published.verdict, published.alternates) == (True, {"gated": False, "corrected": False})


def test_padding_of_words_that_nobody_said_earns_nothing() -> None:
    padded = ["lorem ipsum dolor " * 100] * 5 + ["x"] * 15
    grade = graded(padded)
    assert (grade.verdict, grade.alternates) == (False, {"published": True})
    assert grade.reason == "The first 5 contexts hold no ingested text."


def test_the_same_ingested_text_counts_once_however_often_it_is_sent() -> None:
    repeated = [HISTORY] * 5 + honest()[5:]
    assert series(repeated) == series(honest())
    twice = [f"{HISTORY}\n{HISTORY}", *honest()[1:]]
    assert series(twice) == series(honest())


def test_the_baseline_never_counts_more_than_the_history_so_far() -> None:
    everything = "\n".join([*OLD, NEWS, *(f"[2025-01-01] Ada: {text}" for text in OLD)] * 3)
    counts = series([everything] * 5 + [""] * 15)
    assert sum(counts[:5]) <= sum(count_tokens(f"[2025-01-01] Ada: {text}") for text in OLD)


def test_a_context_without_the_facts_asked_for_counts_as_the_history() -> None:
    silent = honest(news="")
    whole = sum(count_tokens(f"[2025-01-01] Ada: {text}") for text in (*OLD, NEWS))
    assert series(silent)[ASKED_NEWS:] == (whole,) * (QUESTIONS - ASKED_NEWS)
    grade = graded(silent)
    assert grade.verdict is False
    assert grade.reason is not None and grade.reason.endswith("Facts asked for are missing in 8 later contexts.")


def test_facts_in_other_words_are_not_delivered() -> None:
    assert graded(honest(news="Ada's framework is Remix.")).verdict is False


def test_an_agent_that_keeps_nothing_needs_the_facts_each_time() -> None:
    assert graded(honest(), keeps=False).verdict is False


def test_the_answers_must_still_hold_the_facts() -> None:
    grade = graded(honest(), answers=["I am not sure."] * QUESTIONS)
    assert (grade.verdict, grade.alternates) == (False, {"published": True})
    assert grade.reason is not None and grade.reason.endswith("but the answers do not hold the facts.")


def test_a_blank_answer_fails_the_gate_only() -> None:
    answers = [GOOD] * (QUESTIONS - 1) + [""]
    assert (graded(honest(), answers=answers).state, graded(honest(), answers=answers).verdict) == (
        GradeState.EMPTY,
        False,
    )
    published = graded(honest(), "published", answers=answers)
    assert (published.state, published.verdict) == (GradeState.GRADED, True)
    assert published.alternates == {"gated": False, "corrected": False}


def test_without_stored_contexts_nothing_is_earned() -> None:
    given_responses = answered(honest())
    lost = DeliveredContexts((*honest()[:-1], None), read=True)
    grade = DeliveredDelta("gated").grade_delivered(ITEM, conversation(), given_responses, lost)
    assert (grade.verdict, grade.reason) == (False, NOT_STORED)
    assert DeliveredDelta("gated").grade(ITEM, conversation(), given_responses, NoJudge()).verdict is False


def test_the_grader_looks_at_contexts() -> None:
    assert isinstance(DeliveredDelta("gated"), ContextGrader)


def test_a_turn_of_several_lines_counts_line_by_line() -> None:
    scenario = Scenario(
        scenario_id="i",
        steps=(
            session(1, "One line.\n\n  Another line."),
            *(Ask(question_id=f"i:q{n:02}", question="?") for n in (1, 2)),
        ),
    )
    found = checked_series(scenario, ("i:q01", "i:q02"), ["Another line.", "[2025-01-01] Ada: One line."], [(), ()])
    assert found.tokens == (count_tokens("Another line."), count_tokens("[2025-01-01] Ada: One line."))


LINES = st.sampled_from([*OLD, NEWS, *(f"[2025-01-01] Ada: {text}" for text in OLD), "nobody said this", "x", ""])
CONTEXTS = st.lists(st.lists(LINES, max_size=4).map("\n".join), min_size=QUESTIONS, max_size=QUESTIONS)
FOREIGN = st.text("abc def.", max_size=60)


@given(CONTEXTS, st.integers(0, QUESTIONS - 1), FOREIGN)
def test_text_that_nobody_said_never_raises_the_score(texts: list[str], place: int, foreign: str) -> None:
    before = checked_series(conversation(), ITEM.question_ids, texts, FACTS_BY_TURN).efficiency
    padded = [f"{text}\n{foreign}" if number == place else text for number, text in enumerate(texts)]
    after = checked_series(conversation(), ITEM.question_ids, padded, FACTS_BY_TURN).efficiency
    assert after.passes <= before.passes
    if before.value is not None and after.value is not None:
        assert after.value <= before.value


@given(CONTEXTS)
def test_the_first_contexts_together_count_at_most_the_history(texts: list[str]) -> None:
    limit = sum(count_tokens(f"[2025-01-01] Ada: {text}") for text in OLD)
    assert sum(series(texts)[:5]) <= limit


@given(CONTEXTS, st.integers(5, QUESTIONS - 1))
def test_a_later_context_never_counts_less_than_its_text(texts: list[str], place: int) -> None:
    assert series(texts)[place] >= sum(map(count_tokens, texts[place].split("\n")))


@pytest.mark.parametrize("headline", ["published", "gated"])
def test_a_failed_question_has_no_verdict(headline: Headline) -> None:
    rows = answered(honest())
    rows[3] = response(number=4, outcome=Outcome.TIMEOUT)
    grade = DeliveredDelta(headline).grade_delivered(
        ITEM, conversation(), rows, DeliveredContexts(tuple(honest()), read=True)
    )
    assert (grade.state, grade.verdict) == (GradeState.TIMEOUT, None)
    assert not any(grade.alternates.values())
