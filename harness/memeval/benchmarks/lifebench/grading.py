"""LifeBench's graders: retrieval by day and by record, options, abstention, and rubrics."""

import re
from collections.abc import Mapping, Sequence
from math import fsum

from memeval.benchmarks.lifebench.dataset import record_of
from memeval.benchmarks.lifebench.keys import LifeBenchKey, PointKey
from memeval.grading.base import RuleGrader, failed, first_failure, only, question_of, row
from memeval.grading.evidence import DEPTHS, Retrieved, TurnIndex, measures
from memeval.grading.judged import flags_of, undecided
from memeval.grading.retrieval import Retrieval
from memeval.judging.base import Case, Judge, Ruling
from memeval.judging.hedging import abstains
from memeval.keys import ItemKey
from memeval.records.grade import Grade, GradeState
from memeval.records.response import Response
from memeval.records.scenario import Scenario

_LETTERS = r"(?P<letters>[A-H](?:\s*(?:,|&|/|\band\b)\s*[A-H])*)"
_WHOLE = re.compile(rf"\W*{_LETTERS}\W*", re.IGNORECASE)
_MARKED = re.compile(rf"^\W*answer\W*:\W*{_LETTERS}(?:\W*$|[.):;])", re.IGNORECASE | re.MULTILINE)


class LifeBenchRetrieval(Retrieval):
    """Grades retrieved items by day (a session is a day) and by record. A chat is one record of several turns."""

    name = "lifebench-retrieval@1"

    def grade(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response], judge: Judge) -> Grade:
        grade = super().grade(item, scenario, responses, judge)
        kept = {name: value for name, value in grade.metrics.items() if not name.startswith("turn_")}
        return grade.model_copy(update={"metrics": kept})

    def upstream(self, item: ItemKey, history: TurnIndex, retrieved: Retrieved | None) -> dict[str, float | None]:
        key = item.key_as(LifeBenchKey, self.name)
        found: dict[str, float | None] = {f"no_retrieval@{k}": float(k >= key.sessions_before) for k in DEPTHS}
        if retrieved is None:
            return found
        values: Mapping[str, float | None] = dict.fromkeys(measures((), {""}))
        if retrieved.turns is not None:
            same = {record: group[0] for group in key.records for record in group}
            records = (record_of(turn) for turn in retrieved.turns)
            values = measures(tuple(dict.fromkeys(same.get(each, each) for each in records)), set(same.values()))
        return found | {f"record_{name}": value for name, value in values.items()}


class LifeBenchChoice(RuleGrader):
    """Grades the letters in an answer, without a judge. An answer without letters is wrong."""

    name = "lifebench-choice@1"

    def grade(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response], judge: Judge) -> Grade:
        response, key = only(item, responses, self.name), item.key_as(LifeBenchKey, self.name)
        metrics: dict[str, float | None] = {"always_b": float(key.letters == {"B"})}
        if failure := first_failure(responses):
            return failed(item, self.name, failure, metrics=metrics)
        named = letters_of(response.answer)
        right = ", ".join(sorted(key.letters))
        reason = (
            f"The answer is {', '.join(sorted(named))}, expected {right}." if named else "The answer has no letter."
        )
        metrics["unparsed"] = float(not named)
        return row(
            item,
            self.name,
            GradeState.GRADED,
            verdict=named == key.letters,
            reason=reason,
            answerable=False,
            metrics=metrics,
        )


class LifeBenchAbstention(RuleGrader):
    """Grades by the offline rules whether an answer says that the information is missing, which may be right or not."""

    name = "lifebench-abstention@1"

    def grade(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response], judge: Judge) -> Grade:
        response, missing = only(item, responses, self.name), item.key.unanswerable
        if failure := first_failure(responses):
            return failed(item, self.name, failure, answerable=not missing)
        abstained = abstains(response.answer, question_of(item, scenario))
        return row(
            item,
            self.name,
            GradeState.GRADED,
            verdict=abstained is missing,
            reason=f"The answer says {'' if abstained else 'not '}that the information is missing.",
            answerable=not missing,
            metrics={} if missing else {"false_abstention": float(abstained)},
        )


class LifeBenchRubric:
    """Asks a judge about each criterion; the credit is the share of the points of this rubric that are earned."""

    name = "lifebench-rubric@1"
    asks_judge = True

    def cases(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response]) -> Sequence[Case]:
        response, key = only(item, responses, self.name), item.key_as(LifeBenchKey, self.name)
        if first_failure(responses) is not None:
            return ()
        question = question_of(item, scenario)
        criteria = (PointKey(criterion=each.criterion, answer=key.answer) for each in key.rubric)
        return tuple(Case(item.item_id, question, response.answer, each, scenario) for each in criteria)

    def grade(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response], judge: Judge) -> Grade:
        """Grade one item; see :class:`memeval.grading.base.Grader`.

        The verdict, and the alternate ``strict``, need all points. So the judgment of the grade is the first negative
        one, or the last.
        """
        cases = self.cases(item, scenario, responses)
        if failure := first_failure(responses):
            return failed(item, self.name, failure, credit=0.0)
        rulings = [judge.rule(case) for case in cases]
        return undecided(item, self.name, rulings) or self._scored(item, rulings)

    def _scored(self, item: ItemKey, rulings: Sequence[Ruling]) -> Grade:
        rubric = item.key_as(LifeBenchKey, self.name).rubric
        earned = fsum(each.points for each, ruling in zip(rubric, rulings, strict=True) if ruling.verdict)
        whole, met = fsum(each.points for each in rubric), sum(ruling.verdict is True for ruling in rulings)
        return row(
            item,
            self.name,
            GradeState.GRADED,
            verdict=met == len(rulings),
            credit=earned / whole,
            reason=f"{earned:g} of {whole:g} points: {met} of {len(rulings)} criteria are met.",
            flags=flags_of(rulings),
            alternates={"strict": met == len(rulings)},
            judgment_key=next((each for each in rulings if not each.verdict), rulings[-1]).judgment_key,
        )


def letters_of(answer: str) -> frozenset[str]:
    """Return the letters that an answer names: its whole text, or after ``Answer:`` on its last such line.

    Any other answer names none, because a letter inside a sentence may be a word.
    """
    whole = _WHOLE.fullmatch(answer.strip())
    marked = whole or next(reversed(list(_MARKED.finditer(answer))), None)
    return frozenset(re.findall(r"\b[A-H]\b", marked["letters"].upper())) if marked else frozenset()
