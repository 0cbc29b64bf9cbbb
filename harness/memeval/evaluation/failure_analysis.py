"""Why items are not right: a pure function of key, scenario, responses, contexts and grade.

Causes are read off words and ids, never guessed: an answer is said to be of a wrong time or person only where it names
one that the key (or the evidence it points at) shows to be wrong, and what is left over is ``unknown``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from memeval.archive.runs import RunFolder
from memeval.benchmarks import find
from memeval.evaluation.decoding import decoded_run
from memeval.evaluation.evidence_found import EvidenceFinder, EvidenceSeen
from memeval.evaluation.grades import last_attempts
from memeval.evaluation.plan import BenchmarkSession
from memeval.evaluation.times import names_another_time, numbers
from memeval.execution.model_reader import PREFIX
from memeval.judging.abstaining import abstains
from memeval.judging.hedging import hedges, without_echo
from memeval.judging.text import normal, stated, states, without_framed, words
from memeval.keys import (
    BeliefKey,
    CascadeKey,
    DeltaKey,
    Fact,
    ItemKey,
    LocomoCategory,
    LocomoKey,
    LongMemEvalKey,
    LongMemEvalType,
    NoiseKey,
    RecallKey,
    ReflectKey,
    Stance,
    TemporalKey,
    UncertaintyKey,
)
from memeval.records.errors import BadInput
from memeval.records.failure import CategoryFailures, Cause, EvidenceFound, Failure, FailureSummary, FoundCount
from memeval.records.grade import Flag, Grade, GradeState
from memeval.records.response import Context, Response
from memeval.records.run import Run
from memeval.records.track import Track

FAILURES = "failures.jsonl"
"""The file of a run that holds its failure analysis."""

HALF = 0.5
"""Where the grader measures, an item with at least this credit is right."""

_COMMON = frozenset("a an the of to in on at for and or is was her his their".split())  # noqa: SIM905
_BARE_WORDS = frozenset({"yes", "no", "true", "false"})


def is_right(grade: Grade) -> bool:
    """Return whether an item came back right; where the grader measures, with at least half of its credit."""
    return grade.verdict is True if grade.credit is None else grade.credit >= HALF


@dataclass(frozen=True)
class _Case:
    """An item that is not right, and all that can be told of it."""

    item: ItemKey
    question: str
    answer: str
    of_retrieval: bool
    """Whether what was retrieved is graded, and not the answer."""
    grade: Grade
    seen: EvidenceSeen
    scene: EvidenceFinder

    @cached_property
    def own(self) -> str:
        """The answer without the question given back, and without wrong values that only place something in time."""
        wrong = tuple(phrase for fact in self.facts[1] for phrase in fact.phrases)
        named = tuple(phrase for phrase in wrong if states(self.question, (phrase,)))
        return without_framed(without_echo(self.answer, self.question), named)

    @property
    def facts(self) -> tuple[tuple[Fact, ...], tuple[Fact, ...]]:
        """The facts that a right answer states, and those that it must not; none where the key has no phrases."""
        match self.item.key:
            case BeliefKey(current=current, stale=stale):
                return (current,), stale
            case NoiseKey(reference=reference, distractors=others) | TemporalKey(reference=reference, others=others):
                return (reference,), others
            case ReflectKey(points=points, forbidden=claims):
                return points, claims
            case _:
                return (), ()

    @cached_property
    def stated(self) -> tuple[bool, bool]:
        """Whether the answer states what is right, and whether it states what is wrong."""
        right, wrong = (tuple(phrase for fact in facts for phrase in fact.phrases) for facts in self.facts)
        has_right, has_wrong = stated(self.own, right, wrong)
        return has_right, has_wrong

    @property
    def wants_doubt(self) -> bool:
        """Whether nothing is there to be answered."""
        key = self.item.key
        match key:
            case CascadeKey(stance=stance) | UncertaintyKey(stance=stance):
                return stance is Stance.DOUBT
            case LocomoKey(category=category):
                return category is LocomoCategory.ADVERSARIAL
            case LongMemEvalKey(abstention=abstention):
                return abstention
            case RecallKey(absent=absent):
                return absent
            case _:
                return False

    @cached_property
    def abstains(self) -> bool:
        """Whether the answer says that it does not know."""
        match self.item.key:
            case CascadeKey() | UncertaintyKey():
                return hedges(self.answer, self.question)
            case LocomoKey() | LongMemEvalKey():
                return abstains(self.answer, self.question)
            case _:
                doubts = hedges(self.answer, self.question) or abstains(self.answer, self.question)
                return doubts and not any(self.stated)

    @property
    def evidence(self) -> EvidenceFound:
        """How much evidence was found, where that can explain the grade: not where tokens count, or doubt was due."""
        explains = self.of_retrieval or not (self.wants_doubt or isinstance(self.item.key, DeltaKey))
        return self.seen.found if explains else EvidenceFound.UNKNOWN


def _abstained(case: _Case) -> bool:
    return bool(case.answer.strip()) and not isinstance(case.item.key, DeltaKey) and case.abstains


def _abstained_wrongly(case: _Case) -> bool:
    return not case.wants_doubt and _abstained(case)


def _wrong_person(case: _Case) -> bool:
    match case.item.key:
        case NoiseKey():
            return case.stated[1]
        case LocomoKey(category=LocomoCategory.ADVERSARIAL, trap=trap) if trap is not None:
            return not _abstained(case) and _holds(case.answer, trap)
        case _:
            return False


def _answered_wrongly(case: _Case) -> bool:
    if isinstance(case.item.key, RecallKey):
        return case.wants_doubt
    return case.wants_doubt and bool(case.answer.strip()) and not _abstained(case)


def _broke_the_filter(case: _Case) -> bool:
    return bool({Flag.FILTER_LEAK, Flag.OTHER_BANK}.intersection(case.grade.flags))


def _wrong_time(case: _Case) -> bool:
    match case.item.key:
        case BeliefKey() | TemporalKey():
            return case.stated[1]
        case LocomoKey(category=LocomoCategory.TEMPORAL, answer=answer) if answer is not None:
            return names_another_time(case.answer, answer)
        case LongMemEvalKey(question_type=LongMemEvalType.TEMPORAL_REASONING, answer=answer):
            return names_another_time(case.answer, answer)
        case LongMemEvalKey(question_type=LongMemEvalType.KNOWLEDGE_UPDATE) as key:
            return _names_an_older_number(case, key)
        case _:
            return False


def _names_an_older_number(case: _Case, key: LongMemEvalKey) -> bool:
    """Return whether an answer gives, in place of the reference's number, one that only earlier evidence holds."""
    turns = case.scene.history.turns
    known = [turns[turn] for turn in key.evidence_turns if turn in turns]
    wanted, given = numbers(key.answer), numbers(case.answer)
    if not known or not wanted or wanted & given:
        return False
    latest = max(session.session_id for session, _ in known)
    then: set[float] = set()
    now: set[float] = set()
    for session, turn in known:
        (now if session.session_id == latest else then).update(numbers(turn.content))
    return bool(given & (then - now))


def _holds(answer: str, phrase: str) -> bool:
    """Return whether an answer holds all telling words of a phrase; a bare yes or no tells nothing."""
    wanted = set(words(normal(phrase))) - _COMMON
    return bool(wanted - _BARE_WORDS) and wanted <= set(words(normal(answer)))


_CAUSES: tuple[tuple[Cause, Callable[[_Case], bool]], ...] = (
    (Cause.ERROR, lambda case: case.grade.state.is_error),
    (Cause.ABSTAINED_WRONGLY, _abstained_wrongly),
    (Cause.WRONG_PERSON, _wrong_person),
    (Cause.ANSWERED_WRONGLY, _answered_wrongly),
    (Cause.BROKE_THE_FILTER, _broke_the_filter),
    (Cause.WRONG_TIME, _wrong_time),
    (Cause.NOT_RETRIEVED, lambda case: case.evidence in (EvidenceFound.SOME, EvidenceFound.NONE)),
    (
        Cause.RETRIEVED_TOO_LOW,
        lambda case: case.evidence is EvidenceFound.ALL and (case.of_retrieval or not case.seen.read),
    ),
    (Cause.NOT_USED, lambda case: case.evidence is EvidenceFound.ALL),
    (Cause.UNKNOWN, lambda case: True),
)
"""The causes in the order in which they are looked for, each with how it is seen."""


def failure(scene: EvidenceFinder, item: ItemKey, responses: Sequence[Response], grade: Grade) -> Failure:
    """Return what an item came to, looked at against its evidence.

    Args:
        scene: the item's scenario, with the contexts that were brought up in it.
        item: the item's key.
        responses: the response that counts for each of its questions, in order.
        grade: its grade.
    """
    answer = "\n".join(response.answer for response in responses)
    # A blank answer that was graded, and not found blank: the grade is one of what was retrieved, and of sessions.
    of_retrieval = not answer.strip() and grade.state is GradeState.GRADED
    seen, right = scene.seen(item, responses, turns=not of_retrieval), is_right(grade)
    case = _Case(
        item=item,
        question=scene.questions.get(item.question_ids[0], ""),
        answer=answer,
        of_retrieval=of_retrieval,
        grade=grade,
        seen=seen,
        scene=scene,
    )
    return Failure(
        item_id=item.item_id,
        category=item.category,
        right=right,
        found=seen.found,
        rank=seen.rank,
        cause=None if right else next(cause for cause, holds in _CAUSES if holds(case)),
    )


def failures_of(
    benchmark_session: BenchmarkSession,
    items: Iterable[ItemKey],
    responses: Iterable[Response],
    contexts: Iterable[Context],
    grades: Iterable[Grade],
    track: Track | None = None,
) -> list[Failure]:
    """Return what the graded items of a run came to, in plan order; a scenario is opened once for items in a row.

    Args:
        benchmark_session: the benchmark with its data.
        items: the planned items, in plan order.
        responses: all responses of the run.
        contexts: its contexts.
        grades: its grades.
        track: its track, which says how much context its reader was sent; ``None`` for all of it.
    """
    last, graded = last_attempts(responses), {grade.item_id: grade for grade in grades}
    by_digest = {context.digest: context for context in contexts}
    cut = track.limits.reader_tokens if track is not None and track.reader.startswith(PREFIX) else None
    found: list[Failure] = []
    scene: EvidenceFinder | None = None
    for item in items:
        if item.item_id not in graded:
            continue
        if scene is None or scene.history.scenario.scenario_id != item.scenario_id:
            scene = EvidenceFinder(benchmark_session.scenarios[item.scenario_id], by_digest, cut)
        given = [last[question] for question in item.question_ids if question in last]
        found.append(failure(scene, item, given, graded[item.item_id]))
    return found


def failures_of_run(
    folder: RunFolder, benchmark_session: Callable[[], BenchmarkSession] | None = None
) -> list[Failure]:
    """Return the failure analysis of a stored run: what it holds, or where it was sealed without one, made now.

    Args:
        folder: the run.
        benchmark_session: opens the data of the run; ``None`` for memeval's own copy.

    Raises:
        BadInput: the run cannot be read; or it holds none and the data is not here, or is not the data of the run.
    """
    if FAILURES in folder.run.files:
        return list(folder.failures())
    ours = data_of(folder.run) if benchmark_session is None else benchmark_session()
    spelled = decoded_run(folder, ours)
    return failures_of(ours, ours.keys, spelled.responses(), spelled.contexts(), spelled.grades(), folder.run.track)


def data_of(run: Run, data: Path | None = None) -> BenchmarkSession:
    """Open the data that a run was made on, whatever errata it was corrected by: no cause depends on them.

    Raises:
        BadInput: it is not here, or is not the data of the run.
    """
    track = run.track
    benchmark_session = BenchmarkSession.open(
        find(track.benchmark),
        data,
        track.parameters or None,
        protocol=track.protocol,
        tier=track.tier,
        shipped_errata=False,
    )
    if benchmark_session.dataset.digest != track.data_digest:
        raise BadInput(
            f"run {run.run_id} used data {track.data_digest}, but this data is {benchmark_session.dataset.digest}.",
            remedy="Name the right data with --data, or use the memeval version that the run names.",
        )
    return benchmark_session


def summary(failures: Iterable[Failure]) -> FailureSummary:
    """Return a failure analysis, counted."""
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
        found=tuple(_found(found, [row for row in rows if row.found is found]) for found in EvidenceFound),
    )


def _causes(rows: Iterable[Failure]) -> dict[Cause, int]:
    counts = Counter(row.cause for row in rows)
    return {cause: counts[cause] for cause in Cause if counts[cause]}


def _found(found: EvidenceFound, rows: Sequence[Failure]) -> FoundCount:
    right = sum(row.right for row in rows)
    return FoundCount(
        found=found, right=right, wrong=len(rows) - right, share_right=right / len(rows) if rows else None
    )
