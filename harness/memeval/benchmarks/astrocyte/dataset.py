"""Makes one scenario, which systems see, and answer keys, which they do not, from a suite."""

from collections.abc import Iterator, Mapping

from memeval.benchmarks.astrocyte.reading import RecallCase, ReflectCase, Suite
from memeval.benchmarks.base import Dataset, Parameters
from memeval.keys import ItemKey, RecallKey, ReflectKey
from memeval.records.scenario import Scenario


class SuiteReflectKey(ReflectKey):
    prompts = __package__


REFLECT, UNLABELLED = "reflect", "unlabelled"
"""Categories of reflections, and of cases without an expected result."""

RECALL, FILTERED, NEGATIVE = "recall", "filtered", "negative"
"""Categories of searches in your own suites. The categories of the file are then a slice."""


class SuiteDataset(Dataset):
    """A suite as one scenario: first all texts to retain, then all searches, then all questions to reflect on.

    ``parameters``: parameters of the track, beside the digest of the file. ``dispositions``: traits for reflections;
    empty for those of the system. ``own``: whether the categories of the suite are those of the benchmark; otherwise
    they are a slice.
    """

    def __init__(
        self, suite: Suite, *, parameters: Parameters, dispositions: Mapping[str, int], own: bool = True
    ) -> None:
        self.digest, self.parameters, self.released = suite.digest, parameters, own
        if unlabelled := len(suite.warnings):
            self.notes = (f"no_ground_truth: {unlabelled} cases have no expected result and are not scored.",)
        self._suite, self._dispositions, self._own = suite, dict(dispositions), own

    def scenarios(self) -> Iterator[Scenario]:
        suite = self._suite
        recalls = (case.step for case in suite.recalls)
        reflects = (case.step.model_copy(update={"dispositions": self._dispositions}) for case in suite.reflects)
        yield Scenario(scenario_id=suite.name, steps=(*suite.texts, *recalls, *reflects))

    def answer_keys(self) -> Iterator[ItemKey]:
        yield from map(self._recall, self._suite.recalls)
        yield from map(self._reflect, self._suite.reflects)

    def _recall(self, case: RecallCase) -> ItemKey:
        key = RecallKey(
            absent=case.absent,
            keywords=case.keywords,
            one_keyword=case.one_keyword,
            min_score=case.min_score,
            graded=case.graded,
        )
        step = case.step
        kind = NEGATIVE if case.absent else FILTERED if step.tags or step.since or step.until else RECALL
        return self._item(case, key, case.category if self._own else kind)

    def _reflect(self, case: ReflectCase) -> ItemKey:
        return self._item(case, SuiteReflectKey(points=case.points, forbidden=case.forbidden), REFLECT)

    def _item(self, case: RecallCase | ReflectCase, key: RecallKey | SuiteReflectKey, category: str | None) -> ItemKey:
        """Return the item key of a case. Cases with the same first relevant text are one cluster."""
        name = case.step.question_id
        relevant = case.relevant if isinstance(case, RecallCase) else ()
        return ItemKey(
            item_id=name,
            scenario_id=self._suite.name,
            question_ids=(name,),
            category=category if case.graded and category else UNLABELLED,
            cluster=relevant[0] if relevant else name,
            slices={} if self._own or case.category is None else {"category": case.category},
            evidence=relevant or None,
            key=key,
        )
