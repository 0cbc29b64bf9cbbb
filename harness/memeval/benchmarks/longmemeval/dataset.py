"""Makes scenarios, which systems see, and answer keys, which they do not, from the released questions."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from pydantic import ValidationError

from memeval.benchmarks.base import Dataset
from memeval.benchmarks.longmemeval.keys import LongMemEvalKey
from memeval.benchmarks.longmemeval.released import (
    LOCAL,
    PULL,
    LongMemEvalFile,
    LongMemEvalQuestion,
    QuestionHead,
    iso,
    ordinals_of,
    scenario_of,
)
from memeval.keys import ItemKey
from memeval.records.errors import BadInput
from memeval.records.scenario import Ask, Scenario


class LongMemEvalDataset(Dataset):
    def __init__(self, released: LongMemEvalFile) -> None:
        self.digest = released.index.digest
        self.parameters = {"file": released.file}
        self.released = released.file != LOCAL
        self._index = released.index
        self._heads = released.heads
        self._places = {head.question_id: place for place, head in enumerate(released.heads)}
        self._cached = lru_cache(maxsize=1)(self._open)  # those of the largest file need 40 MB each

    def scenarios(self) -> Iterator[Scenario]:
        return map(self.scenario, self._places)

    def answer_keys(self) -> Iterator[ItemKey]:
        return map(_key, self._heads)

    def scenario(self, scenario_id: str) -> Scenario:
        return self._cached(self._places[scenario_id])

    def scenario_ids(self) -> Iterator[str]:
        return iter(self._places)

    def ordinals(self, scenario_id: str) -> Mapping[str, str]:
        return ordinals_of(self.scenario(scenario_id))

    def _open(self, place: int) -> Scenario:
        try:
            raw = LongMemEvalQuestion.model_validate_json(self._index.element(place))
        except ValidationError:
            raise BadInput("the file changed during the run.", where=self._index.path, remedy=PULL) from None
        ask = Ask(question_id=raw.question_id, question=raw.question, timestamp=iso(raw.question_date) or None)
        return scenario_of(raw.question_id, raw.sessions(), [ask])


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
