"""From the released questions to scenarios, which a system may see, and keys, which it may not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from pydantic import ValidationError

from memeval.benchmarks.base import Dataset
from memeval.benchmarks.longmemeval.released import LOCAL, PULL, LongMemEvalFile, LongMemEvalQuestion, QuestionHead
from memeval.benchmarks.longmemeval.replay import iso, ordinals_of, scenario_of
from memeval.keys import ItemKey, LongMemEvalKey
from memeval.records.errors import BadInput
from memeval.records.scenario import Ask, Scenario

KEPT_OPEN = 2
"""Scenarios kept after their last use: a run comes back to the one it is at, and one of the largest file is big."""


class LongMemEvalDataset(Dataset):
    """The questions of a file, each with a history of its own that is opened when it is asked for.

    Args:
        released: the file, read and checked.
    """

    def __init__(self, released: LongMemEvalFile) -> None:
        self.digest = released.index.digest
        self.parameters = {"file": released.file}
        self.released = released.file != LOCAL
        self._index = released.index
        self._heads = released.heads
        self._places = {head.question_id: place for place, head in enumerate(released.heads)}
        self._opened = lru_cache(maxsize=KEPT_OPEN)(self._open)

    def scenarios(self) -> Iterator[Scenario]:
        """Yield the scenarios in the order of the file, each opened when its turn comes."""
        return map(self.scenario, self._places)

    def keys(self) -> Iterator[ItemKey]:
        """Yield the keys in the order of the file; no history is opened for them."""
        return map(_key, self._heads)

    def scenario(self, scenario_id: str) -> Scenario:
        """Return one scenario; see :meth:`Dataset.scenario`."""
        return self._opened(self._places[scenario_id])

    def scenario_ids(self) -> Iterator[str]:
        """Yield the scenarios' ids, which are the questions'."""
        return iter(self._places)

    def ordinals(self, scenario_id: str) -> Mapping[str, str]:
        """Return the source's own ids with their ordinals; see :func:`ordinals_of`."""
        return ordinals_of(self.scenario(scenario_id))

    def _open(self, place: int) -> Scenario:
        try:
            raw = LongMemEvalQuestion.model_validate_json(self._index.element(place))
        except ValidationError:
            raise BadInput("the file has changed since it was opened.", where=self._index.path, remedy=PULL) from None
        ask = Ask(question_id=raw.question_id, question=raw.question, timestamp=iso(raw.question_date) or None)
        return scenario_of(raw.question_id, raw.told(), [ask])


def _key(head: QuestionHead) -> ItemKey:
    return item_key(
        head.question_id,
        head.question_id,
        LongMemEvalKey(
            question_type=head.question_type,
            abstention=abstains(head.question_id),
            answer=head.answer,
            whole_number=head.whole_number,
            evidence_turns=head.evidence_turns,
        ),
        head.evidence,
    )


def abstains(question_id: str) -> bool:
    """Return whether a question cannot be answered, which its id says and its type does not."""
    return "_abs" in question_id


def item_key(question_id: str, scenario_id: str, key: LongMemEvalKey, evidence: Sequence[str]) -> ItemKey:
    """Return the key of the item that one question is.

    Args:
        question_id: the question's own id, which is the item's as well.
        scenario_id: the history it is asked over.
        key: what a right answer is.
        evidence: ordinals of the evidence sessions; empty where none is known.
    """
    return ItemKey(
        item_id=question_id,
        scenario_id=scenario_id,
        question_ids=(question_id,),
        category=key.question_type.value,
        cluster=question_id,
        evidence=tuple(evidence) or None,
        key=key,
    )
