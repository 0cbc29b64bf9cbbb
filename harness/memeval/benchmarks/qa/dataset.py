"""Makes a scenario and keys from the rows of a question set, and a table of the texts that pass without being right."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from memeval.benchmarks.base import Dataset
from memeval.benchmarks.qa.keys import QaKey, holds, holds_anywhere
from memeval.benchmarks.qa.rows import QuestionRow
from memeval.keys import ItemKey
from memeval.records.base import Digest
from memeval.records.scenario import Ask, Retain, Scenario

MOST_ANSWERS = 200
"""Largest number of other rows' answers that each row is tested with, spread evenly over the file; limits the quadratic
work."""

Rule = Callable[[str, QaKey], bool]

RULES: dict[str, Rule] = {
    "exact-wb": lambda answer, key: holds(answer, key.needles, key.all_of),
    "published": lambda answer, key: holds_anywhere(answer, key.needles),
}


@dataclass(frozen=True)
class RowControls:
    item_id: str
    echo: bool
    own: bool | None
    """Whether the row's reference answer passes, as it should; ``None`` if it has none."""
    passed_by: tuple[str, ...]
    """Ids of other rows whose reference answers pass, but should not."""


@dataclass(frozen=True)
class Controls:
    """The texts that pass the rows of a question set under one rule."""

    rule: str
    rows: tuple[RowControls, ...]
    empty: int
    """Number of rows that a blank answer passes."""
    pairs: int
    """Number of tested pairs of a row and another row's answer."""

    @property
    def echoed(self) -> int:
        return sum(row.echo for row in self.rows)

    @property
    def missed(self) -> int:
        return sum(row.own is False for row in self.rows)

    @property
    def false_passes(self) -> int:
        return sum(len(row.passed_by) for row in self.rows)

    @property
    def false_pass_rate(self) -> float | None:
        """Share of pairs in which another row's answer passes; ``None`` if there are no pairs."""
        return self.false_passes / self.pairs if self.pairs else None


def controls(rows: Sequence[tuple[str, str, QaKey]]) -> tuple[Controls, ...]:
    """Return the controls of a question set, one per rule. ``rows``: id, question and key of each row."""
    answers = [(name, key.reference) for name, _, key in rows if key.reference]
    step = -(-len(answers) // MOST_ANSWERS) or 1
    return tuple(_controls(rule, rows, answers[::step]) for rule in RULES)


def _controls(rule: str, rows: Sequence[tuple[str, str, QaKey]], answers: Sequence[tuple[str, str]]) -> Controls:
    passes = RULES[rule]
    found = tuple(
        RowControls(
            item_id=name,
            echo=passes(question, key),
            own=passes(key.reference, key) if key.reference else None,
            passed_by=tuple(other for other, text in answers if other != name and passes(text, key)),
        )
        for name, question, key in rows
    )
    return Controls(
        rule=rule, rows=found, empty=sum(passes("", key) for _, _, key in rows), pairs=(len(rows) - 1) * len(answers)
    )


def table(rows: Sequence[tuple[str, str, QaKey]]) -> str:
    """Return the controls of a question set as a text table. ``rows``: id, question and key of each row."""
    lines = [f"{'rule':10} {'echo':>9} {'empty':>9} {'own answer':>12} {'answers of others':>24}"]
    both = controls(rows)
    for each in both:
        total, rate = len(each.rows), each.false_pass_rate
        others = f"{each.false_passes} of {each.pairs}" + (f" ({100 * rate:.1f} %)" if rate is not None else "")
        with_answer = sum(row.own is not None for row in each.rows)
        own = f"{with_answer - each.missed} of {with_answer}"
        empty = f"{each.empty} of {total}"
        lines.append(f"{each.rule:10} {f'{each.echoed} of {total}':>9} {empty:>9} {own:>12} {others:>24}")
    for words, anywhere in zip(*(each.rows for each in both), strict=True):
        problems = _problems(words, anywhere)
        if problems:
            lines.append(f"  {words.item_id}: {problems}")
    return "\n".join(lines)


def _problems(words: RowControls, anywhere: RowControls) -> str:
    parts = []
    if words.echo or anywhere.echo:
        parts.append(f"its own question passes{'' if words.echo else ' as published'}")
    if words.own is False:
        parts.append("its own reference answer does not pass")
    if words.passed_by or anywhere.passed_by:
        parts.append(f"answers of others pass: {len(words.passed_by)}, as published {len(anywhere.passed_by)}")
    return "; ".join(parts)


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

    def answer_keys(self) -> Iterator[ItemKey]:
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
