"""Delta efficiency by the contexts: what counts, and what no longer earns it."""

from collections.abc import Sequence

from hypothesis import example, given
from hypothesis import strategies as st

from memeval.grading.base import ContextGrader, DeliveredContexts
from memeval.grading.delivery import DeliveredDelta, checked_series
from memeval.grading.delta import efficiency
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
    texts: Sequence[str], *, read: bool = True, answers: Sequence[str] | None = None, keeps: bool = True
) -> Grade:
    delivered = DeliveredContexts(tuple(texts), read)
    return DeliveredDelta().grade_delivered(ITEM, conversation(keeps), answered(texts, answers), delivered)


def series(texts: Sequence[str]) -> tuple[float, ...]:
    return checked_series(conversation(), ITEM.question_ids, texts, FACTS_BY_TURN)


def gated(grade: Grade) -> bool | float | None:
    """Return the verdict of the gate, which is the corrected one too."""
    assert grade.alternates["gated"] == grade.alternates["corrected"]
    return grade.alternates["gated"]


def test_a_system_that_sends_each_text_once_passes() -> None:
    grade = graded(honest())
    assert (grade.verdict, gated(grade), grade.flags) == (True, True, ())
    assert grade.value == grade.metrics["efficiency"]
    assert grade.grader == "delta-efficiency@3"


def test_the_format_of_dated_lines_counts_too() -> None:
    dated = "\n".join(f"[2025-01-01] Ada: {text}" for text in OLD)
    assert series(honest(dated))[0] > series(honest())[0]
    assert gated(graded(honest(dated, f"[2025-01-01] Ada: {NEWS}"))) is True


def test_contexts_that_a_system_only_reports_earn_nothing() -> None:
    grade = graded(honest(), read=False)
    assert (grade.verdict, gated(grade), grade.metrics["checked_efficiency"]) == (True, False, None)
    assert grade.flags == (Flag.SELF_REPORTED_TOKENS,)
    assert grade.metrics["efficiency"] is None and grade.metrics["reported_efficiency"] is not None


def test_padding_of_words_that_nobody_said_earns_nothing() -> None:
    padded = ["lorem ipsum dolor " * 100] * 5 + ["x"] * 15
    grade = graded(padded)
    assert (grade.verdict, gated(grade), grade.metrics["checked_efficiency"]) == (True, False, None)


def test_the_same_ingested_text_counts_once_however_often_it_is_sent() -> None:
    repeated = [HISTORY] * 5 + honest()[5:]
    assert series(repeated) == series(honest())
    twice = [f"{HISTORY}\n{HISTORY}", *honest()[1:]]
    assert series(twice) == series(honest())


def test_a_context_without_the_facts_asked_for_counts_as_the_history() -> None:
    silent = honest(news="")
    whole = sum(count_tokens(f"[2025-01-01] Ada: {text}") for text in (*OLD, NEWS))
    assert series(silent)[ASKED_NEWS:] == (whole,) * (QUESTIONS - ASKED_NEWS)
    assert gated(graded(silent)) is False


def test_facts_in_other_words_are_not_delivered() -> None:
    assert gated(graded(honest(news="Ada's framework is Remix."))) is False


def test_an_agent_that_keeps_nothing_needs_the_facts_each_time() -> None:
    assert gated(graded(honest(), keeps=False)) is False


def test_the_answers_must_still_hold_the_facts() -> None:
    grade = graded(honest(), answers=["I am not sure."] * QUESTIONS)
    assert (grade.verdict, gated(grade)) == (True, False)
    assert grade.metrics["checked_efficiency"] == graded(honest()).metrics["checked_efficiency"]


def test_a_blank_answer_fails_the_gate_only() -> None:
    grade = graded(honest(), answers=[GOOD] * (QUESTIONS - 1) + [""])
    assert (grade.state, grade.verdict, gated(grade)) == (GradeState.GRADED, True, False)


def test_without_stored_contexts_nothing_is_earned() -> None:
    given_responses = answered(honest())
    lost = DeliveredContexts((*honest()[:-1], None), read=True)
    grade = DeliveredDelta().grade_delivered(ITEM, conversation(), given_responses, lost)
    assert (gated(grade), grade.metrics["checked_efficiency"]) == (False, None)
    assert gated(DeliveredDelta().grade(ITEM, conversation(), given_responses, NoJudge())) is False


def test_the_grader_looks_at_contexts() -> None:
    assert isinstance(DeliveredDelta(), ContextGrader)


def test_a_turn_of_several_lines_counts_line_by_line() -> None:
    scenario = Scenario(
        scenario_id="i",
        steps=(
            session(1, "One line.\n\n  Another line."),
            *(Ask(question_id=f"i:q{n:02}", question="?") for n in (1, 2)),
        ),
    )
    found = checked_series(scenario, ("i:q01", "i:q02"), ["Another line.", "[2025-01-01] Ada: One line."], [(), ()])
    assert found == (count_tokens("Another line."), count_tokens("[2025-01-01] Ada: One line."))


DATED = tuple(f"[2025-01-01] Ada: {text}" for text in OLD)
LINES = st.sampled_from([*OLD, NEWS, *DATED, "nobody said this", "x", ""])
CONTEXTS = st.lists(st.lists(LINES, max_size=4).map("\n".join), min_size=QUESTIONS, max_size=QUESTIONS)
FOREIGN = st.text("abc def.", max_size=60)


@given(CONTEXTS, st.integers(0, QUESTIONS - 1), FOREIGN)
def test_text_that_nobody_said_never_raises_the_score(texts: list[str], place: int, foreign: str) -> None:
    before = efficiency(series(texts))
    padded = [f"{text}\n{foreign}" if number == place else text for number, text in enumerate(texts)]
    after = efficiency(series(padded))
    assert after.passes <= before.passes
    if before.value is not None and after.value is not None:
        assert after.value <= before.value


@example(["\n".join([*OLD, NEWS, *DATED] * 3)] * 5 + [""] * 15)
@given(CONTEXTS)
def test_the_first_contexts_together_count_at_most_the_history(texts: list[str]) -> None:
    assert sum(series(texts)[:5]) <= sum(map(count_tokens, DATED))


@given(CONTEXTS, st.integers(5, QUESTIONS - 1))
def test_a_later_context_never_counts_less_than_its_text(texts: list[str], place: int) -> None:
    assert series(texts)[place] >= sum(map(count_tokens, texts[place].split("\n")))


def test_a_failed_question_has_no_verdict() -> None:
    rows = answered(honest())
    rows[3] = response(number=4, outcome=Outcome.TIMEOUT)
    grade = DeliveredDelta().grade_delivered(ITEM, conversation(), rows, DeliveredContexts(tuple(honest()), read=True))
    assert (grade.state, grade.verdict) == (GradeState.TIMEOUT, None)
    assert not any(grade.alternates.values())
