"""From a suite to one scenario, which a system may see, and keys, which it may not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from memeval.benchmarks.astrocyte.suite import RecallCase, ReflectCase, Suite
from memeval.benchmarks.base import Dataset, Parameters
from memeval.keys import ItemKey, RecallKey, ReflectKey
from memeval.records.scenario import Scenario

REFLECT, UNLABELLED = "reflect", "unlabelled"
"""The categories of reflections, and of what a suite asks without saying what is right."""

RECALL, FILTERED, NEGATIVE = "recall", "filtered", "negative"
"""The categories of searches where those of the suite are the suite's own affair: they are a slice then."""


class SuiteDataset(Dataset):
    """A suite as one scenario: all texts are retained, then all searches made, then all questions reflected on.

    Args:
        suite: the suite.
        parameters: what goes into the track beside the file's digest.
        dispositions: traits that questions are reflected on under; none for the system's own.
        own: whether the suite's categories are the benchmark's; otherwise they are a slice.
    """

    def __init__(
        self, suite: Suite, *, parameters: Parameters, dispositions: Mapping[str, int], own: bool = True
    ) -> None:
        self.digest, self.parameters, self.released = suite.digest, parameters, own
        if untold := len(suite.warnings):
            self.notes = (f"no_ground_truth: cases that name no truth, and are in no score: {untold}.",)
        self._suite, self._dispositions, self._own = suite, dict(dispositions), own

    def scenarios(self) -> Iterator[Scenario]:
        """Yield the one scenario."""
        suite = self._suite
        recalls = (case.step for case in suite.recalls)
        reflects = (case.step.model_copy(update={"dispositions": self._dispositions}) for case in suite.reflects)
        yield Scenario(scenario_id=suite.name, steps=(*suite.texts, *recalls, *reflects))

    def keys(self) -> Iterator[ItemKey]:
        """Yield the keys, in the order that is asked in."""
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
        return self._item(case, ReflectKey(points=case.points, forbidden=case.forbidden), REFLECT)

    def _item(self, case: RecallCase | ReflectCase, key: RecallKey | ReflectKey, category: str | None) -> ItemKey:
        """Return the key of a case; what rests on the same text is not independent."""
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
