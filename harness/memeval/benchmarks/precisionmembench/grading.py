"""The grader of searches for beliefs."""

from memeval.benchmarks.precisionmembench.keys import BeliefSearchKey, Result, completed, unpinned
from memeval.grading.base import Graded, ResponseGrader
from memeval.grading.recall import Hits, text_index_of
from memeval.keys import ItemKey
from memeval.records.grade import Flag
from memeval.records.response import Response
from memeval.records.scenario import Scenario


class BeliefSearch(ResponseGrader):
    """Grades the result of a search by F2, or if no belief matches, by its emptiness; without a judge.

    A search of a conversation is right if the authors' rule accepts it. Results that are no text of the scenario count
    as not expected; the authors' code leaves them out, and so do the rule and the metrics that are called published.
    """

    name = "belief-search@2"

    def graded(self, item: ItemKey, scenario: Scenario, response: Response) -> Graded:
        key = item.key_as(BeliefSearchKey, self.name)
        index = text_index_of(scenario)
        hits = Hits(index, index.asked[item.question_ids[0]], key, response.items or ())
        own = Result(key, completed(key, hits.names))
        published = Result(key, completed(key, [name for name in hits.names if name in index.texts]))
        violations = {Flag.FILTER_LEAK: hits.leaks or 0, Flag.OTHER_BANK: hits.other_bank or 0}
        return Graded(
            reason=_reason(own),
            credit=_credit(own),
            flags=tuple(flag for flag, count in violations.items() if count),
            alternates={"published": published.passed, "unexpanded": _credit(Result(key, unpinned(key, hits.names)))},
            metrics={
                **(_of_turn(own, published) if key.of_turn else _of_case(own, published)),
                "scope_leaks": violations[Flag.FILTER_LEAK] / len(hits.names) if hits.names else 0.0,
                "user_leaks": float(violations[Flag.OTHER_BANK] > 0),
            },
        )


def _credit(result: Result) -> float:
    """Return F2 if a belief matches, else whether the authors' rule accepts the result."""
    if result.key.expected and not result.key.of_turn:
        return result.f2
    return float(result.passed)


def _of_case(own: Result, published: Result) -> dict[str, float | None]:
    key = own.key
    reachable = bool(key.expected) and Result(key, completed(key, key.expected)).is_exact
    return {
        "passed": float(published.passed),
        "exact": float(own.is_exact) if reachable else None,
        "precision_43": own.precision if key.expected else None,
        "precision": published.precision,
        "recall": own.recall,
    }


def _of_turn(own: Result, published: Result) -> dict[str, float | None]:
    return {
        "turn_passed": float(published.passed),
        "turn_precision": published.precision,
        "drift": own.drift,
        "drift_published": published.drift or 0.0,
        "noise_free": float(not own.surfaced) if own.key.noise else None,
    }


def _reason(result: Result) -> str:
    found, expected = len(result.relevant), len(result.key.expected)
    if not expected:
        return f"{found} results, and none is expected." if found else "No result, and none is expected."
    return f"{result.hits} of {expected} expected beliefs are among {found} results."
