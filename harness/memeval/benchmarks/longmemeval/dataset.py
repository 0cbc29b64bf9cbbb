"""Makes scenarios, which systems see, and answer keys, which they do not, from the released questions."""

from collections.abc import Mapping, Sequence

from pydantic import ValidationError

from memeval.benchmarks.base import LoadedDataset
from memeval.benchmarks.longmemeval.keys import LongMemEvalKey
from memeval.benchmarks.longmemeval.released import (
    LOCAL,
    PULL,
    LongMemEvalFile,
    LongMemEvalQuestion,
    iso,
    ordinals_of,
    scenario_of,
)
from memeval.keys import ItemKey
from memeval.records.errors import BadInput
from memeval.records.scenario import Ask, Scenario


class LongMemEvalDataset(LoadedDataset):
    kept = 1
    """Those of the largest file need 40 MB each."""

    def __init__(self, released: LongMemEvalFile) -> None:
        self.digest = released.index.digest
        self.parameters = {"file": released.file}
        self.released = released.file != LOCAL
        self._index = released.index
        self._heads = released.heads
        self._places = {head.question_id: place for place, head in enumerate(released.heads)}

    @property
    def names(self) -> Mapping[str, int]:
        return self._places

    def keys_of(self, scenario_id: str) -> tuple[ItemKey]:
        head = self._heads[self._places[scenario_id]]
        key = LongMemEvalKey(
            question_type=head.question_type,
            abstention=abstains(scenario_id),
            answer=head.answer,
            whole_number=head.whole_number,
            evidence_turns=head.evidence_turns,
        )
        return (item_key(scenario_id, scenario_id, key, head.evidence),)

    def ordinals(self, scenario_id: str) -> Mapping[str, str]:
        return ordinals_of(self.scenario(scenario_id))

    def load(self, scenario_id: str) -> Scenario:
        try:
            raw = LongMemEvalQuestion.model_validate_json(self._index.element(self._places[scenario_id]))
        except ValidationError:
            raise BadInput("the file changed during the run.", where=self._index.path, remedy=PULL) from None
        ask = Ask(question_id=raw.question_id, question=raw.question, timestamp=iso(raw.question_date) or None)
        return scenario_of(raw.question_id, raw.sessions(), [ask])


def abstains(question_id: str) -> bool:
    """Return whether a question is unanswerable, which only its id shows."""
    return "_abs" in question_id


def item_key(question_id: str, scenario_id: str, key: LongMemEvalKey, evidence: Sequence[str]) -> ItemKey:
    """Return the item key of a question.

    ``evidence``: ordinals of the evidence sessions; empty if unknown.
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
