"""The graders of MemoryCD's tasks, and parsing of answers: like the released code, and strictly.

Rules: AgentMemoryWorld/MemoryCD, ``eval_core.py``. The released rules always give a result: 3.0 if an answer has no
number, and the prompt's order for missing ids. The strict rules report both cases and give no credit.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import fsum, log2

from memeval.benchmarks.memorycd.keys import MemoryCDKey, MemoryCDTask
from memeval.benchmarks.memorycd.overlap import bleu, rouge
from memeval.grading.base import RuleGrader, first_failure, only, row
from memeval.judging.base import Judge
from memeval.keys import ItemKey
from memeval.records.grade import Grade, GradeState
from memeval.records.response import Response
from memeval.records.scenario import Scenario

LOWEST, HIGHEST = 1.0, 5.0

DEFAULT = 3.0
"""The released code's rating of an answer without a number."""

_NUMBER = re.compile(r"\d+\.?\d*")
_PUBLISHED_ID = re.compile(r"B[0-9A-Z]{9}")
_RUN = re.compile(r"[^\W_]+")


class ParseState(StrEnum):
    OK = "ok"
    """The answer has the requested form."""
    REPAIRED = "repaired"
    """The answer contains a number among words, out of range or not finite, or an id twice."""
    FALLBACK = "fallback"
    """The answer has no number, or an id is missing."""


@dataclass(frozen=True)
class ParsedRating:
    value: float
    """Stars, 1 to 5, not rounded; :data:`DEFAULT` for a fallback."""
    state: ParseState
    finite: bool
    """Whether the number is finite: neither ``nan`` nor ``inf``."""


@dataclass(frozen=True)
class ParsedRanking:
    order: tuple[str, ...]
    state: ParseState


def parsed_rating(answer: str) -> ParsedRating:
    """Return the rating in an answer.

    It is the whole answer as a number, else the first number in it, else 3; clamped to [1, 5]. ``nan`` and ``inf`` give
    5.
    """
    state = ParseState.OK
    try:
        number = float(answer)
    except ValueError:
        found = _NUMBER.search(answer)
        if found is None:
            return ParsedRating(DEFAULT, ParseState.FALLBACK, finite=True)
        number, state = float(found.group()), ParseState.REPAIRED
    # With this order of arguments nan gives the highest rating, like in the released code.
    value = max(LOWEST, min(HIGHEST, number))
    return ParsedRating(value, state if value == number else ParseState.REPAIRED, finite=math.isfinite(number))


def published_ranking(answer: str, candidates: Sequence[str]) -> tuple[str, ...]:
    """Return the ranking of the released code.

    It recognises only ids of the letter B and nine more characters; other ids follow in the prompt's order. If
    candidates are duplicated and the counts differ, the result is the prompt's order.
    """
    known = set(candidates)
    recognised = dict.fromkeys(one for one in _PUBLISHED_ID.findall(answer) if one in known)
    order = (*recognised, *(one for one in candidates if one not in recognised))
    return order if len(order) == len(candidates) else tuple(candidates)


def parsed_ranking(answer: str, candidates: Sequence[str]) -> ParsedRanking:
    """Return the candidates that an answer names, in its order.

    An id counts if no letter or digit is next to it. Of two ids that begin at one position, the longer one counts.
    """
    named = list(_named(answer, set(candidates)))
    order = tuple(dict.fromkeys(named))
    if len(order) < len(set(candidates)):
        return ParsedRanking(order, ParseState.FALLBACK)
    return ParsedRanking(order, ParseState.OK if len(named) == len(order) else ParseState.REPAIRED)


def _named(answer: str, candidates: set[str]) -> Iterator[str]:
    by_run: dict[str, list[str]] = defaultdict(list)
    for one in sorted(candidates, key=len, reverse=True):
        if run := _RUN.match(one):
            by_run[run.group()].append(one)
    reached = 0
    for run in _RUN.finditer(answer):
        if run.start() < reached:
            continue
        for one in by_run.get(run.group(), ()):
            end = run.start() + len(one)
            if answer.startswith(one, run.start()) and not _RUN.match(answer, end):
                yield one
                reached = end
                break


PUBLISHED = "published"
"""The released code's rule: name of the alternate, and prefix of its metrics."""


def key_of(item: ItemKey, grader: str, *tasks: MemoryCDTask) -> MemoryCDKey:
    key = item.key_as(MemoryCDKey, grader)
    if key.task not in tasks:
        raise TypeError(f"{item.item_id}: {grader} cannot use keys of kind {key.task.value!r}")
    return key


def state_of(responses: Sequence[Response], reason: str) -> tuple[GradeState, str]:
    """Return an item's state and reason: those of the first failure, else graded and ``reason``."""
    return first_failure(responses) or (GradeState.GRADED, reason)


def parse_rates(responses: Sequence[Response], state: ParseState) -> dict[str, float | None]:
    """Return whether the parser repaired the answer or fell back, as 1 or 0; ``None`` if there is no answer."""
    answered = first_failure(responses) is None
    return {
        each.value: float(state is each) if answered else None for each in (ParseState.REPAIRED, ParseState.FALLBACK)
    }


def macro_average(values: Iterable[tuple[str, float]]) -> float | None:
    """Return the mean of the people's means, so that each person has the same weight.

    Returns: The average; ``None`` if there are no values.
    """
    by_person: dict[str, list[float]] = defaultdict(list)
    for person, value in values:
        by_person[person].append(value)
    means = [fsum(own) / len(own) for own in by_person.values()]
    return fsum(means) / len(means) if means else None


DEPTHS = (1, 3, 5)

HEADLINE = "ndcg@5"


class MemoryCDRanking(RuleGrader):
    """Grades one ranking, without a judge.

    The credit is nDCG at 5. An answer that omits a candidate, and a blank one, get 0. Under ``published``, unrecognised
    ids follow in the prompt's order, like in the released code. A failure counts as that order only in the
    ``published_`` metrics; its credit is 0 under all rules.
    """

    name = "memorycd-ranking@1"

    def grade(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response], judge: Judge) -> Grade:
        response = only(item, responses, self.name)
        key = key_of(item, self.name, MemoryCDTask.RANKING)
        if key.chosen is None or key.chosen not in key.candidates:
            raise ValueError(f"{item.item_id}: {self.name} has no chosen item among the candidates")
        parsed = parsed_ranking(response.answer, key.candidates)
        whole = parsed.state is not ParseState.FALLBACK
        rank = rank_of(key.chosen, parsed.order) if whole else None
        left_out = len(set(key.candidates)) - len(parsed.order)
        result = f"What the person chose has rank {rank}." if whole else f"The answer leaves out {left_out} candidates."
        state, reason = state_of(responses, result)
        metrics = ranking_metrics(rank if state is GradeState.GRADED else None)
        published = ranking_metrics(rank_of(key.chosen, published_ranking(response.answer, key.candidates)))
        return row(
            item,
            self.name,
            state,
            verdict=None,
            credit=None if state.is_error else metrics[HEADLINE],
            reason=reason,
            answerable=False,
            alternates={PUBLISHED: 0.0 if state.is_error else published[HEADLINE]},
            metrics={
                **(dict.fromkeys(metrics) if state.is_error else metrics),
                **{f"{PUBLISHED}_{name}": value for name, value in published.items()},
                **parse_rates(responses, parsed.state),
            },
        )


def rank_of(chosen: str, order: Sequence[str]) -> int:
    return order.index(chosen) + 1


def ranking_metrics(rank: int | None) -> dict[str, float]:
    """Return nDCG and recall at each depth, by name: ``1 / log2(rank + 1)``, and 1, for a rank within it; else 0.

    ``rank``: rank of the chosen item, from 1; ``None`` if it has none.
    """
    found = {}
    for depth in DEPTHS:
        within = rank is not None and rank <= depth
        found[f"ndcg@{depth}"] = 1 / log2(rank + 1) if rank is not None and within else 0.0
        found[f"recall@{depth}"] = float(within)
    return found


class MemoryCDRating(RuleGrader):
    """Grades one predicted rating, without a judge.

    The credit is ``1 - |error| / 4``, and 0 for an answer that is blank or has no number. Under ``published`` such an
    answer counts as 3 stars, like in the released code. A failure counts as 3 stars only in the ``published_`` metrics;
    its credit is 0 under all rules.
    """

    name = "memorycd-rating@1"

    def grade(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response], judge: Judge) -> Grade:
        response = only(item, responses, self.name)
        truth = key_of(item, self.name, MemoryCDTask.RATING).rating
        if truth is None:
            raise ValueError(f"{item.item_id}: {self.name} has no rating to compare with")
        parsed = parsed_rating(response.answer)
        published = abs(parsed.value - truth)
        result = f"The answer is off by {published:g} stars."
        if parsed.state is ParseState.FALLBACK:
            result = "There is no number in the answer."
        state, reason = state_of(responses, result)
        answered = state is GradeState.GRADED
        error = published if answered and parsed.state is not ParseState.FALLBACK else None
        return row(
            item,
            self.name,
            state,
            verdict=None,
            credit=None if state.is_error else _credit(error),
            reason=reason,
            answerable=False,
            alternates={PUBLISHED: _credit(None if state.is_error else published)},
            metrics={
                "mae": error,
                "squared_error": None if error is None else error**2,
                f"{PUBLISHED}_mae": published,
                f"{PUBLISHED}_squared_error": published**2,
                **parse_rates(responses, parsed.state),
                "non_finite": float(not parsed.finite) if answered else None,
                "decimal": float(not parsed.value.is_integer()) if answered else None,
            },
        )


def _credit(error: float | None) -> float:
    return 0.0 if error is None else 1 - error / (HIGHEST - LOWEST)


class MemoryCDText(RuleGrader):
    """Grades one title or review, without a judge.

    The credit is the F-measure of ROUGE-L. A blank answer gets 0, like in the released code; a failure has no metrics.
    """

    name = "memorycd-text@1"

    def grade(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response], judge: Judge) -> Grade:
        response = only(item, responses, self.name)
        reference = key_of(item, self.name, MemoryCDTask.TITLE, MemoryCDTask.REVIEW).text
        if reference is None:
            raise ValueError(f"{item.item_id}: {self.name} has no text to compare with")
        metrics = text_metrics(reference, response.answer)
        state, reason = state_of(responses, f"ROUGE-L with what the person wrote is {metrics['rougeL']:.3f}.")
        return row(
            item,
            self.name,
            state,
            verdict=None,
            credit=None if state.is_error else metrics["rougeL"],
            reason=reason,
            answerable=False,
            metrics=dict.fromkeys(metrics) if state.is_error else metrics,
        )


def text_metrics(reference: str, answer: str) -> dict[str, float]:
    """Return the metrics of a text against the person's text, by name; each is in [0, 1]."""
    overlap = rouge(reference, answer)
    return {
        "rouge1": overlap.rouge1,
        "rougeL": overlap.rouge_l,
        "bleu1": bleu(reference, answer, 1),
        "bleu4": bleu(reference, answer, 4),
    }
