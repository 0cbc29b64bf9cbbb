"""Graders of LoCoMo: its own scoring, and a judge's.

Formulas: snap-research/locomo, ``task_eval/evaluation.py``.
"""

import re
import string
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import reduce
from operator import add

import regex

from memeval.benchmarks.locomo.keys import LocomoCategory, LocomoKey, chosen
from memeval.grading.base import Grader, RuleGrader, first_failure, only, row
from memeval.grading.evidence import Retrieved, TurnIndex, few_measures, index_of
from memeval.grading.judged import Judged
from memeval.grading.retrieval import Retrieval
from memeval.judging.base import Case, Judge
from memeval.judging.stemming import stem
from memeval.keys import ItemKey
from memeval.records.grade import Grade, GradeState
from memeval.records.response import Response
from memeval.records.scenario import Scenario

_UNPUNCTUATED = str.maketrans("", "", string.punctuation)
# LoCoMo's code uses the package `regex`, whose word boundaries differ from those of `re`.
_STOP_WORDS = regex.compile(r"\b(?:a|an|the|and)\b")


def normalised(text: str) -> str:
    """Return a text in lower case, with single spaces, without ASCII punctuation and the words a, an, the, and.

    Curly quotes and long dashes are not ASCII and stay; ``well-being`` becomes one word.
    """
    bare = text.lower().translate(_UNPUNCTUATED)
    return " ".join(_STOP_WORDS.sub(" ", bare).split())


def tokens(text: str) -> Counter[str]:
    return Counter(stem(word) for word in normalised(text).split())


def f1(answer: str, reference: str) -> float:
    """Return ``2PR / (P + R)``, where P and R are the shares of common tokens in the answer and the reference.

    Repeated tokens count as often as both texts contain them. Without common tokens F1 is 0, also for two blank texts.
    """
    return _f1(tokens(answer), tokens(reference))


def multi_f1(answer: str, reference: str) -> float:
    """Return the mean, over the reference's parts, of the best F1 that a part of the answer has with it.

    Commas separate parts; blank parts count.
    """
    answer_parts = [tokens(part) for part in dict.fromkeys(answer.split(","))]
    reference_parts = [tokens(part) for part in reference.split(",")]
    return _sum([max(_f1(one, other) for one in answer_parts) for other in reference_parts]) / len(reference_parts)


def _sum(values: Sequence[float]) -> float:
    """Return a sum with NumPy's rounding, because LoCoMo's code uses NumPy and rounds the mean.

    NumPy adds up to seven numbers in order. It adds up to 128 numbers in eight lanes, and the rest at the end; no
    reference has more parts.
    """
    if len(values) < 8:
        return reduce(add, values, 0.0)
    whole = len(values) - len(values) % 8
    lanes = [reduce(add, values[lane:whole:8]) for lane in range(8)]
    while len(lanes) > 1:
        lanes = [one + other for one, other in zip(lanes[::2], lanes[1::2], strict=True)]
    return reduce(add, values[whole:], lanes[0])


def _f1(answer_tokens: Counter[str], reference_tokens: Counter[str]) -> float:
    common = sum(
        min(count, answer_tokens[token]) for token, count in reference_tokens.items() if token in answer_tokens
    )
    if common == 0:
        return 0.0
    precision, recall = common / answer_tokens.total(), common / reference_tokens.total()
    return 2 * precision * recall / (precision + recall)


DECIMALS = 3
"""Decimals to which LoCoMo's code rounds each question's score before adding them up."""

_ABSTAINING = ("no information available", "not mentioned")
_ORDINAL = re.compile(r"s0*(\d+)(?::t0*(\d+))?")


def abstains(answer: str) -> bool:
    return any(phrase in answer.lower() for phrase in _ABSTAINING)


def official_f1(key: LocomoKey, answer: str) -> float | None:
    """Return the unrounded score of LoCoMo's code; ``None`` if the key has no reference answer.

    Multi-hop answers are scored part by part. Of an open-domain reference, only the text before the first semicolon
    counts. For adversarial questions, the reference is not used.
    """
    if key.category is LocomoCategory.ADVERSARIAL:
        return float(abstains(answer))
    if not key.answer:
        return None
    match key.category:
        case LocomoCategory.MULTI_HOP:
            return multi_f1(answer, key.answer)
        case LocomoCategory.OPEN_DOMAIN:
            return f1(answer, key.answer.partition(";")[0])
        case _:
            return f1(answer, key.answer)


def rounded_f1(key: LocomoKey, score: float) -> float:
    """Return a score rounded like in LoCoMo's code.

    Multi-hop scores are NumPy means, and NumPy rounds by scaling: it rounds 0.0125 to 0.012, and Python to 0.013.
    """
    if key.category is LocomoCategory.MULTI_HOP:
        scale: int = 10**DECIMALS
        return round(score * scale) / scale
    return round(score, DECIMALS)


def dia_id(source: str) -> str:
    """Return LoCoMo's id of a session or a turn: ``s001`` is ``S1``, and ``s001:t03`` is ``D1:3``.

    LoCoMo numbers sessions, and the turns of each, from 1 without gaps.
    """
    found = _ORDINAL.fullmatch(source)
    if found is None:
        raise ValueError(f"{source!r} is not an ordinal of a session or turn")
    session, turn = found.groups()
    return f"S{session}" if turn is None else f"D{session}:{turn}"


def recall_upstream(evidence: Sequence[str], retrieved: Sequence[str] | None) -> float:
    """Return the recall of LoCoMo's code over all retrieved items.

    Without evidence or retrieved items it is 1. If the first id is a session's, session numbers are compared; otherwise
    the evidence ids are compared literally. For an empty list, on which LoCoMo's code fails, it is 0. ``evidence``: as
    in the file, including malformed and repeated entries. ``retrieved``: LoCoMo's ids of the retrieved items, best
    first; ``None`` if the system returned no items.
    """
    if retrieved is None or not evidence:
        return 1.0
    if retrieved and retrieved[0].startswith("S"):
        sessions = {one[1:] for one in retrieved}
        return sum(piece.partition(":")[0][1:] in sessions for piece in evidence) / len(evidence)
    return sum(piece in retrieved for piece in evidence) / len(evidence)


class LocomoF1(RuleGrader):
    name = "locomo-f1@2"

    def grade(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response], judge: Judge) -> Grade:
        """Grade one item; see :class:`memeval.grading.base.Grader`. The judge is not used.

        The credit is the rounded score. ``unrounded`` and ``without-adversarial`` are the alternates. Raises
        ``TypeError``: the item's key is not LoCoMo's. Raises ``ValueError``: the item is not one question with one
        response, or its key has no answer to compare with.
        """
        response, key = only(item, responses, self.name), item.key_as(LocomoKey, self.name)
        score = official_f1(key, response.answer)
        if score is None:
            raise ValueError(f"{item.item_id}: {self.name} has no reference answer to compare with")
        state, reason = first_failure(responses) or (GradeState.GRADED, _reason(key, score))
        unrounded = None if state.is_error else score
        credit = None if unrounded is None else rounded_f1(key, unrounded)
        adversarial = key.category is LocomoCategory.ADVERSARIAL
        return row(
            item,
            self.name,
            state,
            verdict=None,
            credit=credit,
            reason=reason,
            answerable=False,
            alternates={"unrounded": unrounded or 0.0, "without-adversarial": None if adversarial else credit or 0.0},
            metrics=_measured(key, response, unrounded) | few_measures(item, index_of(scenario), response),
        )


class LocomoJudged(Judged):
    name = "locomo-judged@2"

    def metrics(self, item: ItemKey, scenario: Scenario, response: Response) -> Mapping[str, float | None]:
        key = item.key_as(LocomoKey, self.name)
        score = None if response.outcome.is_error else official_f1(key, response.answer)
        return _measured(key, response, score) | few_measures(item, index_of(scenario), response)


class LocomoRetrieval(Retrieval):
    def upstream(self, item: ItemKey, history: TurnIndex, retrieved: Retrieved | None) -> dict[str, float | None]:
        ids = None if retrieved is None else [dia_id(source) for source in retrieved.sources if history.knows(source)]
        return {"recall_upstream": recall_upstream(item.key_as(LocomoKey, self.name).evidence, ids)}


def _measured(key: LocomoKey, response: Response, score: float | None) -> dict[str, float | None]:
    """Return the unrounded score and, for answerable questions, whether the answer abstains."""
    found = {"f1": score}
    if key.category is not LocomoCategory.ADVERSARIAL and not response.outcome.is_error:
        found["abstained"] = float(abstains(response.answer))
    return found


def _reason(key: LocomoKey, score: float) -> str:
    if key.category is not LocomoCategory.ADVERSARIAL:
        return f"Token F1 with the reference is {score:.3f}."
    if score:
        return "The answer says that this was not mentioned."
    return "The answer does not say, in LoCoMo's words, that this was not mentioned."


class Chosen:
    """Replaces an option letter by the text of the option, then grades it."""

    def __init__(self, inner: Grader) -> None:
        self._inner = inner

    @property
    def name(self) -> str:
        return self._inner.name

    @property
    def asks_judge(self) -> bool:
        return self._inner.asks_judge

    def cases(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response]) -> Sequence[Case]:
        return self._inner.cases(item, scenario, _with_option_texts(item, responses))

    def grade(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response], judge: Judge) -> Grade:
        return self._inner.grade(item, scenario, _with_option_texts(item, responses), judge)


def _with_option_texts(item: ItemKey, responses: Sequence[Response]) -> Sequence[Response]:
    if not (isinstance(item.key, LocomoKey) and item.key.options):
        return responses
    options = item.key.options
    return [each.model_copy(update={"answer": chosen(each.answer, options)}) for each in responses]
