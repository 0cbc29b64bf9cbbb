"""The grader of reflections: a judge decides on every expected point and every forbidden claim."""

from collections.abc import Sequence

from memeval.grading.base import failed, first_failure, only, row
from memeval.grading.judged import flags_of
from memeval.judging.base import Case, Judge, Ruling
from memeval.keys import ItemKey, ReflectKey
from memeval.records.grade import Flag, Grade, GradeState
from memeval.records.response import Response
from memeval.records.scenario import Reflect, Retain, Scenario


class Reflected:
    """Grades a reflection as right if it states all expected points and makes no forbidden claim.

    Completeness is the share of stated points. Hallucination is 1 if it makes a forbidden claim, else 0.
    """

    name = "reflect@1"
    asks_judge = True

    def cases(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response]) -> Sequence[Case]:
        """Return a case for each point, then one for each forbidden claim; none if the answer is blank or an error.

        Their history is the content of the requested bank. Raises ``ValueError``: the item is not a reflection with an
        expected result.
        """
        response, key = only(item, responses, self.name), item.key
        if not isinstance(key, ReflectKey) or not (key.points or key.forbidden):
            raise ValueError(f"{item.item_id}: {self.name} grades only reflections with an expected result")
        if first_failure(responses) is not None:
            return ()
        asked = next(ask for ask in scenario.questions() if ask.question_id == item.question_ids[0])
        bank = asked.bank if isinstance(asked, Reflect) else None
        texts = (step for step in scenario.steps if isinstance(step, Retain))
        bank_content = scenario.only(frozenset(text.text_id for text in texts if text.bank == bank))
        parts = [key.model_copy(update={"points": (point,), "forbidden": ()}) for point in key.points]
        parts += [key.model_copy(update={"points": (), "forbidden": (claim,)}) for claim in key.forbidden]
        return tuple(Case(item.item_id, asked.question, response.answer, part, bank_content) for part in parts)

    def grade(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response], judge: Judge) -> Grade:
        """Grade one reflection; see :class:`memeval.grading.base.Grader`.

        Raises ``ValueError`` if the item is not a reflection with an expected result.
        """
        cases = self.cases(item, scenario, responses)
        if failure := first_failure(responses):
            blank = failure[0] is GradeState.EMPTY
            return failed(
                item, self.name, failure, metrics={"completeness": 0.0, "hallucination": 0.0} if blank else {}
            )
        rulings = [judge.rule(case) for case in cases]
        points = [ruling for case, ruling in zip(cases, rulings, strict=True) if _is_point(case)]
        claims = [ruling for case, ruling in zip(cases, rulings, strict=True) if not _is_point(case)]
        decided = _deciding(rulings)
        flags = flags_of(rulings)
        stated = sum(ruling.verdict is True for ruling in points)
        made = sum(ruling.verdict is False for ruling in claims)
        graded, dumped = decided.state is GradeState.GRADED, Flag.CONTEXT_DUMP in flags
        return row(
            item,
            self.name,
            decided.state,
            verdict=decided.verdict,
            reason=f"{stated} of {len(points)} points stated, {made} of {len(claims)} forbidden claims made."
            if graded and not dumped
            else decided.reason,
            flags=flags,
            metrics={
                "completeness": stated / len(points) if graded and points else None,
                "hallucination": float(made > 0) if graded and claims and not dumped else None,
            },
            judgment_key=decided.judgment_key,
        )


def _is_point(case: Case) -> bool:
    return isinstance(case.key, ReflectKey) and bool(case.key.points)


def _deciding(rulings: Sequence[Ruling]) -> Ruling:
    """Return the deciding ruling: the first without a verdict, else the first negative one, else the last."""
    undecided = (ruling for ruling in rulings if ruling.verdict is None)
    negative = (ruling for ruling in rulings if ruling.verdict is False)
    return next(undecided, None) or next(negative, None) or rulings[-1]
