"""What the needles of a question set are worth: who passes a row without having the answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memeval.judging.needles import holds, holds_anywhere
from memeval.keys import QaKey

MOST_ANSWERS = 200
"""Each row is held against so many answers of others at most, spread evenly over the file: the work grows with the
square of the rows."""

Rule = Callable[[str, QaKey], bool]

RULES: dict[str, Rule] = {
    "exact-wb": lambda answer, key: holds(answer, key.needles, key.all_of),
    "published": lambda answer, key: holds_anywhere(answer, key.needles),
}
"""The rules that are held against each other: whole words, and any piece of text."""


@dataclass(frozen=True)
class RowControls:
    """What passes one row under one rule."""

    item_id: str
    """The row."""
    echo: bool
    """Whether its own question does."""
    own: bool | None
    """Whether its own reference answer does, as it should; ``None`` where it has none."""
    passed_by: tuple[str, ...]
    """The rows whose reference answers pass it, and should not."""


@dataclass(frozen=True)
class Controls:
    """What passes the rows of a question set under one rule without knowing anything."""

    rule: str
    """``exact-wb`` or ``published``."""
    rows: tuple[RowControls, ...]
    """The rows, in the order of the file."""
    empty: int
    """Rows that a blank answer passes."""
    pairs: int
    """Rows held against the answers of others, in all."""

    @property
    def echoed(self) -> int:
        """Rows that their own question passes."""
        return sum(row.echo for row in self.rows)

    @property
    def missed(self) -> int:
        """Rows that their own reference answer does not pass."""
        return sum(row.own is False for row in self.rows)

    @property
    def false_passes(self) -> int:
        """Answers of other rows that pass."""
        return sum(len(row.passed_by) for row in self.rows)

    @property
    def false_pass_rate(self) -> float | None:
        """Their share of all pairs; ``None`` where there are none."""
        return self.false_passes / self.pairs if self.pairs else None


def controls(rows: Sequence[tuple[str, str, QaKey]]) -> tuple[Controls, ...]:
    """Return the controls of a question set, one a rule.

    Args:
        rows: per row its id, its question and its key.
    """
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
        rule=rule,
        rows=found,
        empty=sum(passes("", key) for _, _, key in rows),
        pairs=(len(rows) - 1) * len(answers),
    )


def table(rows: Sequence[tuple[str, str, QaKey]]) -> str:
    """Return the controls of a question set as lines for people.

    Args:
        rows: per row its id, its question and its key.
    """
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
        said = _said(words, anywhere)
        if said:
            lines.append(f"  {words.item_id}: {said}")
    return "\n".join(lines)


def _said(words: RowControls, anywhere: RowControls) -> str:
    parts = []
    if words.echo or anywhere.echo:
        parts.append(f"its own question passes{'' if words.echo else ' as published'}")
    if words.own is False:
        parts.append("its own reference answer does not pass")
    if words.passed_by or anywhere.passed_by:
        parts.append(f"answers of others pass: {len(words.passed_by)}, as published {len(anywhere.passed_by)}")
    return "; ".join(parts)
