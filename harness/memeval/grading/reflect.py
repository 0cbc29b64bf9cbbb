"""The grader of reflections: a judge is asked about every point that should be stated, and every forbidden claim."""

from __future__ import annotations

from collections.abc import Sequence

from memeval.grading.outcomes import first_failure
from memeval.grading.rows import only, row
from memeval.judging.base import Case, Judge, Ruling
from memeval.keys import ItemKey, ReflectKey
from memeval.records.grade import Flag, Grade, GradeState
from memeval.records.response import Response
from memeval.records.scenario import Reflect, Retain, Scenario


class Reflected:
    """Right is a reflection that states all its points and makes no forbidden claim.

    Completeness is the share of its points that it states, and hallucination 1 where it makes a forbidden claim.
    """

    name = "reflect@1"

    def cases(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response]) -> Sequence[Case]:
        """Return a case for each point, then one for each forbidden claim; none where the answer is blank or an error.

        The history that goes with them is what the asked bank holds.

        Raises:
            ValueError: the item is no reflection with a truth.
        """
        response, key = only(item, responses, self.name), item.key
        if not isinstance(key, ReflectKey) or not (key.points or key.forbidden):
            raise ValueError(f"{item.item_id}: {self.name} grades reflections that have a truth")
        if first_failure(responses) is not None:
            return ()
        asked = next(ask for ask in scenario.questions() if ask.question_id == item.question_ids[0])
        bank = asked.bank if isinstance(asked, Reflect) else None
        texts = (step for step in scenario.steps if isinstance(step, Retain))
        held = scenario.only(frozenset(text.text_id for text in texts if text.bank == bank))
        parts = [ReflectKey(points=(point,)) for point in key.points]
        parts += [ReflectKey(points=(), forbidden=(claim,)) for claim in key.forbidden]
        return tuple(Case(item.item_id, asked.question, response.answer, part, held) for part in parts)

    def grade(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response], judge: Judge) -> Grade:
        """Grade one reflection; see :class:`memeval.grading.base.Grader`.

        Raises:
            ValueError: the item is no reflection with a truth.
        """
        cases = self.cases(item, scenario, responses)
        if failure := first_failure(responses):
            state, reason = failure
            blank = state is GradeState.EMPTY
            metrics = {"completeness": 0.0, "hallucination": 0.0} if blank else {}
            return row(item, self.name, state, verdict=False if blank else None, reason=reason, metrics=metrics)
        rulings = [judge.rule(case) for case in cases]
        points = [ruling for case, ruling in zip(cases, rulings, strict=True) if _points(case)]
        claims = [ruling for case, ruling in zip(cases, rulings, strict=True) if not _points(case)]
        decided = _deciding(rulings)
        flags = tuple(flag for flag in Flag if any(flag in ruling.flags for ruling in rulings))
        kept = sum(ruling.verdict is True for ruling in points)
        made = sum(ruling.verdict is False for ruling in claims)
        settled, dumped = decided.state is GradeState.GRADED, Flag.CONTEXT_DUMP in flags
        return row(
            item,
            self.name,
            decided.state,
            verdict=decided.verdict,
            reason=f"{kept} of {len(points)} points stated, {made} of {len(claims)} forbidden claims made."
            if settled and not dumped
            else decided.reason,
            flags=flags,
            metrics={
                "completeness": kept / len(points) if settled and points else None,
                "hallucination": float(made > 0) if settled and claims and not dumped else None,
            },
            judgment_key=decided.judgment_key,
        )


def _points(case: Case) -> bool:
    """Return whether a case is about a point that should be stated, rather than a claim that must not be made."""
    return isinstance(case.key, ReflectKey) and bool(case.key.points)


def _deciding(rulings: Sequence[Ruling]) -> Ruling:
    """Return the ruling that decides: the first without a verdict, else the first against, else the last."""
    open_ones = (ruling for ruling in rulings if ruling.verdict is None)
    against = (ruling for ruling in rulings if ruling.verdict is False)
    return next(open_ones, None) or next(against, None) or rulings[-1]
