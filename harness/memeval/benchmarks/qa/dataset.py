"""Makes one scenario, which systems see, and answer keys, which they do not, from the rows of a question set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memeval.benchmarks.base import Dataset
from memeval.benchmarks.qa.controls import table
from memeval.benchmarks.qa.keys import QaKey, holds
from memeval.benchmarks.qa.rows import QuestionRow
from memeval.keys import ItemKey
from memeval.records.base import Digest
from memeval.records.scenario import Ask, Retain, Scenario

PREPARED, EMPTY = STORES = ("prepared", "empty")
"""What a system ingests before the questions: one text per row with its question and answer, or nothing."""

CATEGORY = "questions"
SCENARIO = "questions"


class QaDataset(Dataset):
    """A question set: one scenario with all texts, then all questions.

    ``dated``: whether to send the date of a row as the time of its question.
    """

    def __init__(
        self,
        rows: Sequence[QuestionRow],
        digest: Digest,
        parameters: dict[str, str | int],
        *,
        dated: bool,
        released: bool,
    ) -> None:
        self.rows = tuple(rows)
        self.digest = digest
        self.parameters = parameters
        self.released = released
        self._dated = dated
        self._prepared = parameters["store"] == PREPARED

    def scenarios(self) -> Iterator[Scenario]:
        texts = [_text(number, row) for number, row in enumerate(self.rows, 1)] if self._prepared else []
        asks = [
            Ask(question_id=row.id, question=row.question, timestamp=row.asked_at if self._dated else None)
            for row in self.rows
        ]
        yield Scenario(scenario_id=SCENARIO, steps=(*texts, *asks))

    def keys(self) -> Iterator[ItemKey]:
        for number, row in enumerate(self.rows, 1):
            key = key_of(row)
            yield ItemKey(
                item_id=row.id,
                scenario_id=SCENARIO,
                question_ids=(row.id,),
                category=CATEGORY,
                cluster=row.id,
                slices={"echo": "yes" if key.echoed else "no", **{f"tag {tag}": "yes" for tag in row.tags}},
                evidence=(ordinal(number),) if self._prepared else None,
                key=key,
            )

    def controls(self) -> str:
        return table(self.asked())

    def asked(self) -> list[tuple[str, str, QaKey]]:
        return [(row.id, row.question, key_of(row)) for row in self.rows]


def key_of(row: QuestionRow) -> QaKey:
    return QaKey(
        needles=row.needles,
        all_of=row.all_of,
        reference=row.reference,
        echoed=holds(row.question, row.needles, row.all_of),
    )


def ordinal(number: int) -> str:
    return f"s{number:03}"


def _text(number: int, row: QuestionRow) -> Retain:
    """Return a row as a text: a Markdown document with the question as its heading, and a path."""
    name = ordinal(number)
    return Retain(
        text_id=name,
        content=f"# {row.question}\n\n{row.body}\n",
        metadata={"path": f"smoke/{name}.md"},
        source_id=row.id,
    )
