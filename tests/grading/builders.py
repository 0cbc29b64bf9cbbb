"""Small scenarios, keys and responses for grading tests."""

from collections.abc import Sequence

from memeval.judging.base import Case, Ruling
from memeval.keys import AnswerKey, DeltaKey, Fact, ItemKey
from memeval.records.grade import Flag, Grade, GradeState
from memeval.records.response import Outcome, Response, RetrievedItem, Timings
from memeval.records.scenario import Ask, Ingest, Scenario, Session, Turn


def fact(text: str, *phrases: str) -> Fact:
    """Return a fact; its text is its phrase where none is given."""
    return Fact(text=text, phrases=phrases or (text,))


def scenario(turns: Sequence[str] = ("Uses Jest.",), questions: Sequence[str] = ("What does Ada use?",)) -> Scenario:
    sessions = [
        Ingest(
            source_id=f"x{n}",
            session=Session(
                session_id=f"s{n:03}",
                date="2025-01-01",
                turns=(Turn(turn_id=f"s{n:03}:t01", role="user", content=content),),
            ),
        )
        for n, content in enumerate(turns, 1)
    ]
    asks = [Ask(question_id=f"i:q{n:02}", question=text) for n, text in enumerate(questions, 1)]
    return Scenario(scenario_id="i", steps=(*sessions, *asks))


def item(key: AnswerKey, questions: int = 1, category: str = "belief-update") -> ItemKey:
    """Return an item of the scenario above."""
    return ItemKey(
        item_id="i",
        scenario_id="i",
        question_ids=tuple(f"i:q{n:02}" for n in range(1, questions + 1)),
        category=category,
        cluster="ada",
        slices={"difficulty": "easy"},
        key=key,
    )


def reply(
    item: ItemKey,
    answer: str = "",
    items: Sequence[RetrievedItem] | None = None,
    outcome: Outcome | None = None,
    *,
    question: int = 0,
    counted: int | None = None,
    reported: float | None = None,
) -> Response:
    """Return a response to one of an item's questions; a blank one is empty unless said otherwise."""
    outcome = outcome or (Outcome.OK if answer.strip() else Outcome.EMPTY)
    return Response(
        item_id=item.item_id,
        scenario_id=item.scenario_id,
        question_id=item.question_ids[question],
        outcome=outcome,
        answer=answer,
        error="It broke." if outcome.is_error else None,
        items=None if items is None else tuple(items),
        context_tokens=counted,
        reported_tokens=reported,
        timings=Timings(started="2026-01-01T00:00:00Z"),
    )


def response(
    answer: str = "",
    outcome: Outcome = Outcome.OK,
    number: int = 1,
    counted: int | None = None,
    reported: float | None = None,
) -> Response:
    """Return a response to the n-th question."""
    of = item(DeltaKey(facts_by_turn=()), number)
    return reply(of, answer, outcome=outcome, question=number - 1, counted=counted, reported=reported)


def delta_item(facts_by_turn: Sequence[tuple[Fact, ...]]) -> ItemKey:
    """Return an item of many questions."""
    return item(DeltaKey(facts_by_turn=tuple(facts_by_turn)), len(facts_by_turn), "delta-efficiency")


def grade(
    name: str,
    verdict: bool | None,
    category: str = "a",
    *,
    state: GradeState | None = None,
    cluster: str | None = None,
    flags: tuple[Flag, ...] = (),
    answerable: bool = True,
    alternates: dict[str, bool] | None = None,
    slices: dict[str, str] | None = None,
    metrics: dict[str, float | None] | None = None,
) -> Grade:
    return Grade(
        item_id=name,
        category=category,
        cluster=cluster or name,
        slices=slices or {},
        grader="judged@1",
        state=state or (GradeState.GRADED if verdict is not None else GradeState.ADAPTER_ERROR),
        verdict=verdict,
        flags=flags,
        answerable=answerable,
        alternates={**(alternates or {})},
        metrics=metrics or {},
    )


class NoJudge:
    """A judge that fails if it is used."""

    name = "none@1"

    def rule(self, case: Case) -> Ruling:
        raise AssertionError(f"the judge was asked about {case.item_id}")


class FixedJudge:
    """A judge with one ruling for all cases; it records the cases."""

    name = "fixed@1"

    def __init__(self, ruling: Ruling) -> None:
        self.ruling = ruling
        self.cases: list[Case] = []

    def rule(self, case: Case) -> Ruling:
        self.cases.append(case)
        return self.ruling
