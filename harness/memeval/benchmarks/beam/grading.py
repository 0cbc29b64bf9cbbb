"""BEAM's graders: retrieval of the messages with the evidence, and answers by the sentences of a rubric."""

from collections.abc import Mapping, Sequence
from math import fsum

from memeval.benchmarks.beam.keys import Ability, Asked, BeamKey, NuggetKey
from memeval.grading.base import UNNAMED, Graded, Grader, ResponseGrader, first_failure, only, row
from memeval.grading.evidence import TurnIndex, index_of, measures
from memeval.grading.judged import flags_of, undecided
from memeval.judging.base import Case, Judge
from memeval.keys import AnswerKey, ItemKey
from memeval.records.grade import Grade, GradeState
from memeval.records.response import Response, RetrievedItem
from memeval.records.scenario import Scenario
from memeval.statistics.agreement import kendall_tau
from memeval.tokens import count_tokens

DEPTHS = (1, 3, 5, 10, 20)

DEPTHS_IN_TOKENS = (500, 2000)

HEADLINE = "recall@10"


class BeamRetrieval(ResponseGrader):
    """Grades which messages with the evidence are among the first retrieved ones, without a judge.

    A session that a system returns counts as its messages, in order: each takes a rank.
    """

    name = "beam-retrieval@1"

    def graded(self, item: ItemKey, scenario: Scenario, response: Response) -> Graded:
        relevant = set(item.key_as(BeamKey, self.name).evidence_turns)
        history = index_of(scenario)
        found = measures(history.ranked_turns(response.items or ()), relevant, DEPTHS)
        metrics: dict[str, float | None] = {name: found[name] for name in found if name.startswith("recall")}
        metrics |= {"mrr": found["mrr"], "context_tokens": response.context_tokens}
        for tokens in DEPTHS_IN_TOKENS:
            early = relevant.intersection(history.ranked_turns(within(history, response.items or (), tokens)))
            metrics[f"recall_{tokens}_tokens"] = len(early) / len(relevant)
            metrics[f"recall_all_{tokens}_tokens"] = float(len(early) == len(relevant))
        reason = (
            f"{round(found[HEADLINE] * len(relevant))} of {len(relevant)} messages of evidence are among the first 10."
        )
        return Graded(UNNAMED if response.items is None else reason, found[HEADLINE], metrics)


def within(history: TurnIndex, items: Sequence[RetrievedItem], tokens: int) -> Sequence[RetrievedItem]:
    """Return the first items whose texts have at most so many tokens together."""
    total = 0
    for place, each in enumerate(items):
        total += count_tokens(history.text_of(each))
        if total > tokens:
            return items[:place]
    return items


MOST_LINES = 40
"""Lines of an answer that are compared with the events of a rubric; further lines match none."""


class BeamNuggets:
    """Asks a judge about each sentence of a rubric: met, met in part, or not. The credit is the mean of 1, ½ and 0.

    The metrics are the same verdicts on the scales of published scores; see :mod:`memeval.benchmarks.beam.grading`.
    """

    name = "beam-nuggets@1"
    asks_judge = True

    def cases(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response]) -> Sequence[Case]:
        """Return the cases of an item: each sentence whole and in part, then lines by events, then the whole answer."""
        response, key = only(item, responses, self.name), item.key_as(BeamKey, self.name)
        if first_failure(responses) is not None:
            return ()
        question, answer = index_of(scenario).questions[item.question_ids[0]], response.answer
        asked: list[tuple[str, AnswerKey]] = [
            (answer, NuggetKey(criterion=each, asked=how)) for each in key.rubric for how in (Asked.WHOLE, Asked.PART)
        ]
        lines = answer.split("\n")
        asked += [(lines[n], NuggetKey(criterion=key.rubric[k], asked=Asked.SAME)) for n, k in _pairs(key, answer)]
        asked.append((answer, key))
        return tuple(Case(item.item_id, question, text, about, scenario) for text, about in asked)

    def grade(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response], judge: Judge) -> Grade:
        """Grade one item; see :class:`memeval.grading.base.Grader`.

        If the judge has no verdict about a sentence, the item is not graded. The judgment of the grade is the first
        that is not positive, or the last.
        """
        key = item.key_as(BeamKey, self.name)
        failure = first_failure(responses)
        if failure and failure[0] is not GradeState.EMPTY:
            return row(item, self.name, failure[0], verdict=None, reason=failure[1], answerable=False)
        rulings = [judge.rule(case) for case in self.cases(item, scenario, responses)]
        nuggets, others = rulings[: 2 * len(key.rubric)], rulings[2 * len(key.rubric) :]
        if grade := undecided(item, self.name, nuggets, answerable=False):
            return grade.model_copy(update={"flags": flags_of(rulings)})
        met = [bool(ruling.verdict) for ruling in nuggets] or [False, False] * len(key.rubric)
        scores = [1.0 if whole else 0.5 * part for whole, part in zip(met[::2], met[1::2], strict=True)]
        answer, order = "" if failure else responses[0].answer, None
        if key.ability is Ability.EVENT_ORDERING:
            pairs = zip(_pairs(key, answer), (bool(ruling.verdict) for ruling in others[:-1]), strict=True)
            order = event_order(answer.split("\n"), dict(pairs), len(key.rubric))
        decisive = next((ruling for ruling in nuggets if not ruling.verdict), nuggets[-1] if nuggets else None)
        state, reason = failure or (
            GradeState.GRADED,
            f"{fsum(scores):g} of {len(scores)} sentences of the rubric are met.",
        )
        return row(
            item,
            self.name,
            state,
            verdict=None,
            credit=mean(scores),
            reason=reason,
            flags=flags_of(rulings),
            answerable=False,
            metrics=scales(scores, order, others[-1].verdict if others else False),
            judgment_key=decisive.judgment_key if decisive else None,
        )


def _pairs(key: BeamKey, answer: str) -> list[tuple[int, int]]:
    """Return the places of lines and events to compare; none for other abilities than event ordering."""
    if key.ability is not Ability.EVENT_ORDERING:
        return []
    lines = [place for place, line in enumerate(answer.split("\n")[:MOST_LINES]) if line.strip()]
    return [(line, event) for line in lines for event in range(len(key.rubric))]


GRADERS: Mapping[str, Grader] = {"retrieval": BeamRetrieval(), "nuggets": BeamNuggets()}
"""The grader of each protocol."""


def mean(scores: Sequence[float]) -> float:
    """Return the mean of 0, ½ and 1 per sentence: the scale of mem0, for all abilities."""
    return fsum(scores) / len(scores)


def cut(scores: Sequence[float]) -> float:
    """Return the mean after ½ is cut to 0: the authors' code, for all abilities but event ordering."""
    return fsum(int(score) for score in scores) / len(scores)


def event_order(lines: Sequence[str], same: Mapping[tuple[int, int], bool], events: int) -> tuple[float | None, float]:
    """Return Kendall's τ-b of the order, scaled to [0, 1], and the F1 of the events.

    Each line takes the first event that it is about and that no line before it took. Lines without an event, also blank
    ones, are false positives. In both orders, what is absent shares one last rank. ``lines``: all lines of the answer.
    ``same``: whether a line is about an event, by their places from 0; absent pairs are not. ``events``: number of
    events, in the right order.
    Returns: τ is ``None`` if an order has only one rank.
    """
    taken: list[int | str] = []
    for place, line in enumerate(lines):
        free = (event for event in range(events) if same.get((place, event)) and event not in taken)
        taken.append(next(free, line))
    right: list[int | str] = list(range(events))
    found = len(set(right) & set(taken))
    false = sum(each not in right for each in taken)
    precision, recall = found / (found + false), found / events
    union = list(dict.fromkeys(right + taken))
    ranks = [{each: rank for rank, each in enumerate(order, 1)} for order in (right, taken)]
    tau = kendall_tau(*([of.get(each, len(union) + 1) for each in union] for of in ranks))
    f1 = 2 * precision * recall / (precision + recall) if found else 0.0
    return None if tau is None else (tau + 1) / 2, f1


def scales(
    scores: Sequence[float], order: tuple[float | None, float] | None, whole: bool | None
) -> dict[str, float | None]:
    """Return the metrics of an item, one per scale.

    ``scores``: 0, ½ or 1 per sentence. ``order``: τ and F1 of event ordering; ``None`` for other abilities. ``whole``:
    whether the whole answer is right; ``None`` if the judge does not say.
    """
    yes_no = None if whole is None else float(whole)
    if order is None:
        return {"official": cut(scores), "order_times_events": mean(scores), "yes_no": yes_no}
    tau, f1 = order
    product = None if tau is None else tau * f1
    return {"official": tau, "order_times_events": product, "yes_no": yes_no, "tau": tau, "tau_times_f1": product}
