"""The grader protocol, from an item's responses and key to its grade; and the parts of a grade that all share."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

from memeval.judging.base import Case, Judge
from memeval.keys import ItemKey
from memeval.records.grade import Flag, Grade, GradeState
from memeval.records.response import Outcome, Response
from memeval.records.scenario import Scenario

CORRECTED = "corrected"
"""Name of the alternate score without known faults: wrong keys, contested items, and credit that can be bought."""


@dataclass(frozen=True)
class DeliveredContexts:
    texts: tuple[str | None, ...] = ()
    """The text of each context, in the order of the questions; ``None`` where none is stored."""
    read: bool = False
    """Whether a reader answered from these contexts. A system that writes its own answers only reports a context."""


class Grader(Protocol):
    """Grades one item; a pure function of its arguments and the judge's recorded replies."""

    @property
    def name(self) -> str:
        """Name and version, such as ``judged@1``; part of the track."""

    @property
    def asks_judge(self) -> bool:
        """Whether its grades need verdicts of a judge."""

    def cases(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response]) -> Sequence[Case]:
        """Return the cases that :meth:`grade` submits to the judge for one item.

        Blank answers and failures give no cases. The arguments are those of :meth:`grade`.
        """

    def grade(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response], judge: Judge) -> Grade:
        """Grade one item.

        ``scenario``: the complete scenario of its questions, not the reduced view of a control. ``responses``: the last
        attempt at each of the item's questions, in the key's order. ``judge``: the judge; graders without cases do not
        use it.
        Returns: The grade. An item takes the first outcome among its responses that is not ``ok``.
        """


class RuleGrader:
    """Base of the graders that need no judge."""

    asks_judge = False

    def cases(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response]) -> Sequence[Case]:
        return ()


UNNAMED = "The system does not say what it retrieved."
"""The reason of a grade of retrieval without retrieved items."""


class Graded(NamedTuple):
    """What a rule finds in a response; see :class:`Grade`."""

    reason: str
    credit: float | None = None
    metrics: Mapping[str, float | None] = {}
    verdict: bool | None = None
    flags: tuple[Flag, ...] = ()
    alternates: Mapping[str, bool | float | None] = {}


class ResponseGrader(RuleGrader):
    """Base of the rule graders of one response to one question, which do not test for doubt.

    A response that is an error is not graded.
    """

    name: str
    grades_blank = True
    """Whether a blank answer is graded like any other, as in searches. Otherwise it has no verdict and no credit."""

    def grade(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response], judge: Judge) -> Grade:
        response = only(item, responses, self.name)
        if (failure := first_failure(responses)) and (response.outcome.is_error or not self.grades_blank):
            return row(item, self.name, failure[0], verdict=None, reason=failure[1], answerable=False)
        found = self.graded(item, scenario, response)
        return row(item, self.name, GradeState.GRADED, answerable=False, **found._asdict())

    def graded(self, item: ItemKey, scenario: Scenario, response: Response) -> Graded:
        """Return what the rule finds. Raises ``ValueError``: the key has nothing to compare with."""
        raise NotImplementedError


@runtime_checkable
class ContextGrader(Grader, Protocol):
    """A grader that also looks at the contexts."""

    def grade_delivered(
        self, item: ItemKey, scenario: Scenario, responses: Sequence[Response], delivered: DeliveredContexts
    ) -> Grade:
        """Grade one item with its contexts; see :meth:`grade`, which grades without contexts."""


@runtime_checkable
class RunGrader(Grader, Protocol):
    """A grader whose grades also depend on the system's other answers in the run."""

    def settled(self, grades: Sequence[Grade]) -> list[Grade]:
        """Return all grades of a run, in the same order, with the rule of the whole run applied to its own."""


_STATES = {
    Outcome.EMPTY: GradeState.EMPTY,
    Outcome.TIMEOUT: GradeState.TIMEOUT,
    Outcome.NOT_READY: GradeState.NOT_READY,
    Outcome.ADAPTER_ERROR: GradeState.ADAPTER_ERROR,
    Outcome.READER_ERROR: GradeState.READER_ERROR,
}

_REASONS = {
    Outcome.EMPTY: "The answer is blank.",
    Outcome.TIMEOUT: "The system took longer than the limit.",
    Outcome.NOT_READY: "The system did not finish indexing in time.",
    Outcome.ADAPTER_ERROR: "The system failed.",
    Outcome.READER_ERROR: "The reader failed.",
}


def first_failure(responses: Sequence[Response]) -> tuple[GradeState, str] | None:
    """Return the state and reason for the first outcome other than ``ok``; ``None`` if all are ``ok``."""
    for response in responses:
        if response.outcome is not Outcome.OK:
            return _STATES[response.outcome], _REASONS[response.outcome]
    return None


def last_attempts(responses: Iterable[Response]) -> dict[str, Response]:
    last: dict[str, Response] = {}
    for response in responses:
        previous = last.get(response.question_id)
        if previous is None or response.attempt > previous.attempt:
            last[response.question_id] = response
    return last


def only(item: ItemKey, responses: Sequence[Response], grader: str) -> Response:
    """Return an item's one response. Raises ``ValueError`` if the item is not one question with one response."""
    if len(item.question_ids) != 1 or len(responses) != 1:
        raise ValueError(f"{item.item_id}: {grader} grades one response to one question, not {len(responses)}")
    return responses[0]


def question_of(item: ItemKey, scenario: Scenario) -> str:
    """Return the text of an item's first question."""
    return next(ask.question for ask in scenario.questions() if ask.question_id == item.question_ids[0])


def row(item: ItemKey, grader: str, state: GradeState, **rest: object) -> Grade:
    return Grade(
        item_id=item.item_id,
        category=item.category,
        cluster=item.cluster,
        slices=item.slices,
        grader=grader,
        state=state,
        **rest,  # type: ignore[arg-type]
    )


def failed(
    item: ItemKey, grader: str, failure: tuple[GradeState, str], *, credit: float | None = None, **rest: object
) -> Grade:
    """Return the grade of a blank answer, which is wrong, or of an error.

    ``credit``: the credit of a blank answer; ``None`` for a grader without credits.
    """
    state, reason = failure
    blank = state is GradeState.EMPTY
    return row(
        item, grader, state, verdict=False if blank else None, credit=credit if blank else None, reason=reason, **rest
    )
