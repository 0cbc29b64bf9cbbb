"""FactConsolidation's graders: the newest fact above the older one, and the official match of answers.

The match is that of HUST-AI-HYZ/MemoryAgentBench, ``substring_exact_match``.
"""

import re
import string
from collections.abc import Sequence

from memeval.benchmarks.factconsolidation.keys import FactConsolidationKey
from memeval.grading.base import UNNAMED, Graded, ResponseGrader, RuleGrader, failed, first_failure, only, row
from memeval.grading.evidence import index_of
from memeval.judging.base import Judge
from memeval.keys import ItemKey
from memeval.records.grade import Grade, GradeState
from memeval.records.response import Response
from memeval.records.scenario import Scenario

DEPTHS = (1, 5, 10, 20)
"""The cut-off ranks, in facts."""

HEADLINE = "newest@5"

_UNPUNCTUATED = str.maketrans("", "", string.punctuation)
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")


def normalised(text: str) -> str:
    """Return a text in lower case, without ASCII punctuation and articles, with single spaces."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_UNPUNCTUATED)).split())


def measures(ranking: Sequence[str], newest: str, stale: Sequence[str]) -> dict[str, float | None]:
    """Return at each depth whether the newest fact is found, and whether it is found above every fact it replaced.

    ``stale_first``: whether an older fact is above it, or found without it; ``None`` if it replaced none.
    """
    beyond = len(ranking)
    place = ranking.index(newest) if newest in ranking else beyond
    first_stale = min((ranking.index(each) for each in stale if each in ranking), default=beyond)
    found: dict[str, float | None] = {}
    for k in DEPTHS:
        found[f"found@{k}"] = float(place < min(k, beyond))
        found[f"newest@{k}"] = float(place < min(k, beyond) and place < first_stale)
    return found | {"stale_first": float(first_stale < place) if stale else None}


class NewestFact(ResponseGrader):
    """Grades the retrieved facts of a single-hop question, without a judge."""

    name = "newest-fact@1"

    def graded(self, item: ItemKey, scenario: Scenario, response: Response) -> Graded:
        key = item.key_as(FactConsolidationKey, self.name)
        if key.newest is None:
            raise ValueError(f"{item.item_id}: {self.name} cannot grade an item whose key names no fact")
        ranking = index_of(scenario).ranked_turns(response.items or ())
        found = measures(ranking, key.newest, key.stale)
        credit = found[HEADLINE] or 0.0
        if response.items is None:
            reason = UNNAMED
        elif credit:
            reason = "The newest fact is among the first 5, above any older one."
        elif found["stale_first"]:
            reason = "An older fact comes first."
        else:
            reason = "The newest fact is not among the first 5."
        return Graded(reason, credit, {"context_tokens": response.context_tokens, **found})


class FactMatch(RuleGrader):
    """Grades an answer by the official rule: it contains the expected one, both normalised."""

    name = "fact-match@1"

    def grade(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response], judge: Judge) -> Grade:
        response, key = only(item, responses, self.name), item.key_as(FactConsolidationKey, self.name)
        if failure := first_failure(responses):
            return failed(item, self.name, failure)
        said, expected = normalised(response.answer), normalised(key.answer.phrases[0])
        right = expected in said
        others = (normalised(each.phrases[0]) for each in key.others)
        states_other = any(other in said.replace(expected, " ") for other in others if other)
        return row(
            item,
            self.name,
            GradeState.GRADED,
            verdict=right,
            reason=f"The answer {'contains' if right else 'does not contain'} the expected one.",
            alternates={"one-value": right and not states_other},
            metrics={"states_other": float(states_other)} if key.others else {},
        )
