"""Failure analysis: why an item is wrong, as a pure function of key, scenario, responses, contexts and grade.

A cause needs proof in words or ids. For example, an answer has a wrong time only if it names a time that the key or its
evidence shows to be wrong. An item without a proven cause is ``unknown``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from memeval.analysis.evidence_found import EvidenceAvailability, EvidenceFinder
from memeval.benchmarks.session import BenchmarkSession
from memeval.execution.contexts import Contexts
from memeval.execution.model_reader import PREFIXES
from memeval.grading.base import last_attempts
from memeval.judging.hedging import abstains, hedges, without_echo
from memeval.judging.text import normal, stated, states, without_framed, words
from memeval.keys import (
    DeltaKey,
    Fact,
    FactsKey,
    ItemKey,
    RecallKey,
    ReferenceKey,
    ReflectKey,
    StanceKey,
    WrongTime,
    phrases_of,
)
from memeval.records.failure import CategoryFailures, Cause, EvidenceFound, Failure, FailureSummary, FoundCount
from memeval.records.grade import Flag, Grade, GradeState
from memeval.records.response import Context, Response
from memeval.records.track import Track

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?P<{0}>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
_DATE = re.compile(
    r"\b(?:"
    r"(?P<y1>\d{4})[-/](?P<m1>\d{1,2})(?:[-/](?P<d1>\d{1,2}))?"
    rf"|(?P<d2>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? {_MONTH.format('m2')}\.?(?:,? (?P<y2>\d{{4}}))?"
    rf"|{_MONTH.format('m3')}\.? (?P<d3>\d{{1,2}})(?:st|nd|rd|th)?(?:,? (?P<y3>\d{{4}}))?"
    rf"|{_MONTH.format('m4')}\.?,? (?P<y4>\d{{4}})"
    r"|(?P<y5>(?:19|20)\d{2})"
    r")(?=\D|$)"
)
_ABOUT = re.compile(
    r"\b(?:before|after|ago|week|weeks|weekend|last|next|previous|following|yesterday|tomorrow|around|early|late|few)\b"
)
_UNITS = r"(second|minute|hour|day|week|month|year)s?"
_WORDS = {
    **{"zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9},
    **{"ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16},
    **{"seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50},
    **{"sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90},
}
_NUMBER = rf"\d[\d,]*(?:\.\d+)?|{'|'.join(_WORDS)}"
_COUNTED = re.compile(rf"\b({_NUMBER})(?: |-){_UNITS}\b")
_BARE = re.compile(rf"\b(?:{_NUMBER})(?!\w|\.\d)")


class StatedDate(NamedTuple):
    """A date; ``None`` for each part that the text leaves out."""

    year: int | None
    month: int | None
    day: int | None

    def agrees(self, other: StatedDate) -> bool:
        """Return whether no part that both have is different."""
        return all(mine is None or theirs is None or mine == theirs for mine, theirs in zip(self, other, strict=True))


def dates(text: str) -> frozenset[StatedDate]:
    """Return the dates in a text; without days if the text says before, after, around or similar."""
    text = " ".join(normal(text).split())
    vague = _ABOUT.search(text) is not None
    return frozenset(_date(found, vague) for found in _DATE.finditer(text))


def durations(text: str) -> frozenset[tuple[float, str]]:
    """Return the durations in a text, each as a number with its unit, such as ``(3.0, "week")``."""
    return frozenset((_value(found[1]), found[2]) for found in _COUNTED.finditer(" ".join(normal(text).split())))


def numbers(text: str) -> frozenset[float]:
    return frozenset(_value(found[0]) for found in _BARE.finditer(normal(text)))


def names_another_time(answer: str, reference: str) -> bool:
    """Return whether both texts have dates, or durations in one unit, and none of them agree."""
    expected_dates, answer_dates = dates(reference), dates(answer)
    if expected_dates and answer_dates:
        return not any(mine.agrees(theirs) for mine in answer_dates for theirs in expected_dates)
    expected = durations(reference)
    units = {unit for _, unit in expected}
    answered = {duration for duration in durations(answer) if duration[1] in units}
    return bool(answered) and not answered & expected


def _date(found: re.Match[str], vague: bool) -> StatedDate:
    part = {name[0]: value for name, value in found.groupdict().items() if value is not None}
    month = part.get("m")
    number = None if month is None else int(month) if month.isdigit() else _MONTHS.index(month[:3]) + 1
    day = part.get("d")
    return StatedDate(
        year=int(part["y"]) if "y" in part else None, month=number, day=None if day is None or vague else int(day)
    )


def _value(text: str) -> float:
    return float(_WORDS[text]) if text in _WORDS else float(text.replace(",", ""))


FAILURES = "failures.jsonl"

HALF = 0.5
"""An item with at least this credit is right, if its grader gives credits."""

_COMMON = frozenset("a an the of to in on at for and or is was her his their".split())  # noqa: SIM905
_BARE_WORDS = frozenset({"yes", "no", "true", "false"})


def is_right(grade: Grade) -> bool:
    """Return whether an item is right; if its grader gives credits, whether it has at least half."""
    return grade.verdict is True if grade.credit is None else grade.credit >= HALF


@dataclass(frozen=True)
class _Case:
    """A wrong item, with the properties that its cause depends on."""

    item: ItemKey
    question: str
    answer: str
    of_retrieval: bool
    """Whether the grade is of the retrieved items, not of the answer."""
    grade: Grade
    availability: EvidenceAvailability
    finder: EvidenceFinder

    @cached_property
    def own(self) -> str:
        """The answer without repeated words of the question, and without wrong values that only give a time."""
        named = tuple(phrase for phrase in phrases_of(self.facts[1]) if states(self.question, (phrase,)))
        return without_framed(without_echo(self.answer, self.question), named)

    @property
    def facts(self) -> tuple[tuple[Fact, ...], tuple[Fact, ...]]:
        """The facts that a right answer states, and those that it must not state; empty if the key has no phrases."""
        match self.item.key:
            case FactsKey(right=right, wrong=wrong):
                return (right,), wrong
            case ReflectKey(points=points, forbidden=claims):
                return points, claims
            case _:
                return (), ()

    @cached_property
    def stated(self) -> tuple[bool, bool]:
        """Whether the answer states a right fact, and whether it states a wrong fact."""
        has_right, has_wrong = stated(self.own, *map(phrases_of, self.facts))
        return has_right, has_wrong

    @cached_property
    def abstains(self) -> bool:
        match self.item.key:
            case StanceKey():
                return hedges(self.answer, self.question)
            case ReferenceKey(doubt_abstains=False):
                return abstains(self.answer, self.question)
            case _:
                doubts = hedges(self.answer, self.question) or abstains(self.answer, self.question)
                return doubts and not any(self.stated)

    @property
    def evidence(self) -> EvidenceFound:
        """How much evidence was retrieved; unknown if that cannot explain the grade."""
        explains = self.of_retrieval or not (self.item.key.unanswerable or isinstance(self.item.key, DeltaKey))
        return self.availability.found if explains else EvidenceFound.UNKNOWN


def _abstained(case: _Case) -> bool:
    return bool(case.answer.strip()) and not isinstance(case.item.key, DeltaKey) and case.abstains


def _wrong_person(case: _Case) -> bool:
    match case.item.key:
        case FactsKey(wrong_cause=Cause.WRONG_PERSON):
            return case.stated[1]
        case ReferenceKey(unanswerable=True, misleading=str(wrong)):
            return not _abstained(case) and _contains(case.answer, wrong)
        case _:
            return False


def _answered_wrongly(case: _Case) -> bool:
    if isinstance(case.item.key, RecallKey):
        return case.item.key.unanswerable
    return case.item.key.unanswerable and bool(case.answer.strip()) and not _abstained(case)


def _wrong_time(case: _Case) -> bool:
    match case.item.key:
        case FactsKey(wrong_cause=Cause.WRONG_TIME):
            return case.stated[1]
        case ReferenceKey(wrong_time=WrongTime.DATE, expected=expected):
            return names_another_time(case.answer, expected)
        case ReferenceKey(wrong_time=WrongTime.OLDER_NUMBER) as key:
            return _names_an_older_number(case, key)
        case _:
            return False


def _names_an_older_number(case: _Case, key: ReferenceKey) -> bool:
    """Return whether an answer has a number of older evidence instead of the reference's number."""
    turns = case.finder.history.turns
    known = [turns[turn] for turn in key.relevant_turns if turn in turns]
    expected, answered = numbers(key.expected), numbers(case.answer)
    if not known or not expected or expected & answered:
        return False
    latest = max(session.session_id for session, _ in known)
    older: set[float] = set()
    newer: set[float] = set()
    for session, turn in known:
        (newer if session.session_id == latest else older).update(numbers(turn.content))
    return bool(answered & (older - newer))


def _contains(answer: str, phrase: str) -> bool:
    """Return whether an answer contains all significant words of a phrase; a bare yes or no never counts."""
    expected = set(words(normal(phrase))) - _COMMON
    return bool(expected - _BARE_WORDS) and expected <= set(words(normal(answer)))


_CAUSES: tuple[tuple[Cause, Callable[[_Case], bool]], ...] = (
    (Cause.ERROR, lambda case: case.grade.state.is_error),
    (Cause.ABSTAINED_WRONGLY, lambda case: not case.item.key.unanswerable and _abstained(case)),
    (Cause.WRONG_PERSON, _wrong_person),
    (Cause.ANSWERED_WRONGLY, _answered_wrongly),
    (Cause.BROKE_THE_FILTER, lambda case: not {Flag.FILTER_LEAK, Flag.OTHER_BANK}.isdisjoint(case.grade.flags)),
    (Cause.WRONG_TIME, _wrong_time),
    (Cause.NOT_RETRIEVED, lambda case: case.evidence in (EvidenceFound.SOME, EvidenceFound.NONE)),
    (
        Cause.RETRIEVED_TOO_LOW,
        lambda case: case.evidence is EvidenceFound.ALL and (case.of_retrieval or not case.availability.read),
    ),
    (Cause.NOT_USED, lambda case: case.evidence is EvidenceFound.ALL),
    (Cause.UNKNOWN, lambda case: True),
)
"""The causes and their tests, in order; the first that applies is the cause."""


def failure(finder: EvidenceFinder, item: ItemKey, responses: Sequence[Response], grade: Grade) -> Failure:
    answer = "\n".join(response.answer for response in responses)
    # A blank answer whose state is not 'empty': the grade is of the retrieved items, by session.
    of_retrieval = not answer.strip() and grade.state is GradeState.GRADED
    availability, right = finder.availability(item, responses, turns=not of_retrieval), is_right(grade)
    case = _Case(
        item=item,
        question=finder.history.questions.get(item.question_ids[0], ""),
        answer=answer,
        of_retrieval=of_retrieval,
        grade=grade,
        availability=availability,
        finder=finder,
    )
    return Failure(
        item_id=item.item_id,
        category=item.category,
        right=right,
        found=availability.found,
        rank=availability.rank,
        cause=None if right else next(cause for cause, applies in _CAUSES if applies(case)),
    )


def failures_of(
    benchmark_session: BenchmarkSession,
    items: Iterable[ItemKey],
    responses: Iterable[Response],
    contexts: Iterable[Context],
    grades: Iterable[Grade],
    track: Track | None = None,
) -> list[Failure]:
    """Return the failure analysis of the graded items of a run, in plan order.

    ``track``: its track, which has the reader's token limit; ``None`` for no limit.
    """
    last, grade_of = last_attempts(responses), {grade.item_id: grade for grade in grades}
    known = Contexts(contexts)
    reader_tokens = track.limits.reader_tokens if track is not None and track.reader.startswith(PREFIXES) else None
    failures: list[Failure] = []
    finder: EvidenceFinder | None = None
    for item in items:
        if item.item_id not in grade_of:
            continue
        if finder is None or finder.history.scenario.scenario_id != item.scenario_id:
            finder = None  # before the next history is loaded: it can be large
            finder = EvidenceFinder(
                benchmark_session.scenarios[item.scenario_id], known.of_scenario(item.scenario_id), reader_tokens
            )
        answered = [last[question] for question in item.question_ids if question in last]
        failures.append(failure(finder, item, answered, grade_of[item.item_id]))
    return failures


def summary(failures: Iterable[Failure]) -> FailureSummary:
    """Count a failure analysis by cause, category and evidence found."""
    rows = list(failures)
    categories: dict[str, list[Failure]] = {}
    for row in rows:
        categories.setdefault(row.category, []).append(row)
    return FailureSummary(
        items=len(rows),
        right=sum(row.right for row in rows),
        causes=_causes(rows),
        categories=tuple(
            CategoryFailures(
                category=name, items=len(members), right=sum(row.right for row in members), causes=_causes(members)
            )
            for name, members in categories.items()
        ),
        found=tuple(_found_count(found, [row for row in rows if row.found is found]) for found in EvidenceFound),
    )


def _causes(rows: Iterable[Failure]) -> dict[Cause, int]:
    counts = Counter(row.cause for row in rows)
    return {cause: counts[cause] for cause in Cause if counts[cause]}


def _found_count(found: EvidenceFound, rows: Sequence[Failure]) -> FoundCount:
    right = sum(row.right for row in rows)
    return FoundCount(
        found=found, right=right, wrong=len(rows) - right, share_right=right / len(rows) if rows else None
    )
