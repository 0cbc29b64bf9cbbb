"""Grades responses: a pure function of responses and keys."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache, partial

from memeval.benchmarks import known_ids
from memeval.benchmarks.registry import origin
from memeval.benchmarks.session import BenchmarkSession
from memeval.execution.contexts import Contexts, TurnTexts, texts_of
from memeval.execution.readers import NATIVE
from memeval.gateway.reply_words import without_thinking
from memeval.grading.base import CORRECTED, ContextGrader, DeliveredContexts, Grader, RunGrader, last_attempts
from memeval.judging.base import Case, Judge
from memeval.keys import ItemKey
from memeval.records.errors import BadInput, MemevalError
from memeval.records.grade import Grade
from memeval.records.response import Context, Outcome, Response
from memeval.records.scenario import Scenario

OPEN_AT_ONCE = 4
"""Number of scenarios, and of context texts, in memory."""

TurnsOf = Callable[[str], TurnTexts | None]


class StoredTexts:
    """The texts that the stored rows of a run stand for. A few scenarios and texts stay in memory."""

    def __init__(self, benchmark_session: BenchmarkSession, contexts: Contexts) -> None:
        self._contexts = contexts
        # Of functions, not of methods: the contexts of a run are many, and nothing may hold them in a circle.
        turns = self._turns = lru_cache(OPEN_AT_ONCE)(partial(_turns, benchmark_session))
        self._text = lru_cache(OPEN_AT_ONCE)(
            lambda scenario, digest: _text(contexts.of_scenario(scenario)[digest], turns)
        )

    def context(self, response: Response) -> str | None:
        """Return the text of a response's context; ``None`` if it has none, or if turns or context are missing."""
        context = self._contexts.of(response)
        return None if context is None else self._text(context.scenario_id, context.digest)

    def text(self, context: Context) -> str | None:
        """Return the text of a context; ``None`` if the data has no such scenario or turn."""
        return _text(context, self._turns)


def _turns(benchmark_session: BenchmarkSession, scenario_id: str) -> TurnTexts | None:
    scenario = benchmark_session.scenarios.get(scenario_id)
    return None if scenario is None else texts_of(scenario)


def _text(context: Context, turns_of: TurnsOf) -> str | None:
    turns = turns_of(context.scenario_id)
    try:
        return None if turns is None else turns.joined(context)
    except KeyError:
        return None


def is_done(item: ItemKey, last: dict[str, Response]) -> bool:
    return all(question_id in last for question_id in item.question_ids)


def grade_items(
    benchmark_session: BenchmarkSession,
    items: Iterable[ItemKey],
    responses: Iterable[Response],
    judge: Judge,
    contexts: Iterable[Context] = (),
    reader: str = NATIVE,
) -> list[Grade]:
    """Grade the items that have all their responses.

    ``contexts``: the contexts of the run; only graders that look at contexts read them. ``reader``: the reader of the
    run's track. Returns one grade for each item, in plan order.
    """
    last = _graded_answers(responses)
    done = [item for item in items if is_done(item, last)]
    reading = {name for name, grader in benchmark_session.graders.items() if isinstance(grader, ContextGrader)}
    texts = StoredTexts(benchmark_session, Contexts(contexts if reading else ()))

    def delivered(given: Sequence[Response]) -> DeliveredContexts:
        return DeliveredContexts(texts=tuple(map(texts.context, given)), read=reader != NATIVE)

    grades = []
    for item, scenario in _with_scenarios(benchmark_session, done):
        given = [last[question] for question in item.question_ids]
        looks = delivered if item.category in reading else None
        grades.append(_graded(benchmark_session, item, scenario, given, judge, looks))
    # A few graders compare items, so they settle a grade when all are there.
    for grader in {each.name: each for each in benchmark_session.graders.values()}.values():
        if isinstance(grader, RunGrader):
            grades = grader.settled(grades)
    return grades


def _graded(
    benchmark_session: BenchmarkSession,
    item: ItemKey,
    scenario: Scenario,
    responses: Sequence[Response],
    judge: Judge,
    delivered: Callable[[Sequence[Response]], DeliveredContexts] | None,
) -> Grade:
    """Grade an item, and a second time with its corrected key if the errata name it.

    ``delivered``: returns the contexts of responses; ``None`` for a grader that does not look at contexts.
    """
    grader, corrections = benchmark_session.graders[item.category], benchmark_session.corrections

    def graded(key: ItemKey) -> Grade:
        with _naming(benchmark_session, grader, item):
            if delivered is not None and isinstance(grader, ContextGrader):  # slow, so only for graders that are one
                return grader.grade_delivered(key, scenario, responses, delivered(responses))
            return grader.grade(key, scenario, responses, judge)

    grade = graded(item)
    if item.item_id not in corrections:
        return grade
    corrected = corrections[item.item_id]
    corrected_score = None
    if corrected is not None:
        other = graded(corrected)
        corrected_score = other.credit if other.credit is not None else other.verdict is True
    return grade.model_copy(update={"alternates": {**grade.alternates, CORRECTED: corrected_score}})


@contextmanager
def _naming(benchmark_session: BenchmarkSession, grader: Grader, item: ItemKey) -> Iterator[None]:
    """Name grader, item and package if a grader raises. Raises ``BadInput``: it did."""
    try:
        yield
    except MemevalError:
        raise
    except Exception as error:  # a benchmark of another package may raise anything
        name = benchmark_session.benchmark.info.id
        package = f" in {origin(name)}" if name in known_ids() else ""
        said = " ".join(str(error).split())[:200]
        raise BadInput(
            f"the grader {grader.name} of {name} failed on the item {item.item_id} ({type(error).__name__}: {said}).",
            remedy=f"The answers are saved. Fix the grader{package}, and run the same command again.",
        ) from error


def _with_scenarios(
    benchmark_session: BenchmarkSession, items: Iterable[ItemKey]
) -> Iterator[tuple[ItemKey, Scenario]]:
    """Yield items with their scenarios; consecutive items of one scenario share the loaded scenario."""
    scenario: Scenario | None = None
    for item in items:
        if scenario is None or scenario.scenario_id != item.scenario_id:
            scenario = None  # before the next is loaded: a history can be large
            scenario = benchmark_session.scenarios[item.scenario_id]
        yield item, scenario


def _graded_answers(responses: Iterable[Response]) -> dict[str, Response]:
    """Return the last attempt of each question, without the thinking of the model that wrote the answer.

    Systems may return all that their model wrote. The stored answer keeps it.
    """
    last = last_attempts(responses)
    for question_id, response in last.items():
        answer = without_thinking(response.answer)
        if answer != response.answer:
            is_blank = response.outcome is Outcome.OK and not answer
            outcome = Outcome.EMPTY if is_blank else response.outcome
            last[question_id] = response.model_copy(update={"answer": answer, "outcome": outcome})
    return last


def cases_of(
    benchmark_session: BenchmarkSession, items: Iterable[ItemKey], responses: Iterable[Response]
) -> list[Case]:
    """Return the cases that :func:`grade_items` sends to a judge, in plan order.

    All cases are in memory at once, so they leave out the histories, which no model judge receives.
    """
    last = _graded_answers(responses)
    corrections = benchmark_session.corrections
    cases: list[Case] = []
    for item, scenario in _with_scenarios(benchmark_session, (item for item in items if is_done(item, last))):
        grader, given = benchmark_session.graders[item.category], [last[question] for question in item.question_ids]
        with _naming(benchmark_session, grader, item):
            for key in (item, corrections.get(item.item_id)):
                if key is not None:
                    cases += grader.cases(key, scenario, given)
    return [replace(case, scenario=case.scenario.only(frozenset())) for case in cases]
