"""Grades titles and reviews by their overlap with the person's text."""

from __future__ import annotations

from collections.abc import Sequence

from memeval.benchmarks.memorycd.bleu import bleu
from memeval.benchmarks.memorycd.grading import key_of, state_of
from memeval.benchmarks.memorycd.keys import MemoryCDTask
from memeval.benchmarks.memorycd.rouge import rouge
from memeval.grading.base import RuleGrader
from memeval.grading.rows import only, row
from memeval.judging.base import Judge
from memeval.keys import ItemKey
from memeval.records.grade import Grade
from memeval.records.response import Response
from memeval.records.scenario import Scenario


class MemoryCDText(RuleGrader):
    """Grades one title or review, without a judge.

    The credit is the F-measure of ROUGE-L. A blank answer gets 0, like in the released code; a failure has no metrics.
    """

    name = "memorycd-text@1"

    def grade(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response], judge: Judge) -> Grade:
        """Grade one item; see :class:`memeval.grading.base.Grader`. The judge is not used.

        Raises:
            TypeError: the item's key is not a title or review.
            ValueError: the item is not one question with one response, or its key has no text.
        """
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
