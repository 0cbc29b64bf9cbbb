"""What an item is worth, and what a judge said about it."""

from __future__ import annotations

from enum import StrEnum

from memeval.records.base import Digest, Record, Share, Stored


class GradeState(StrEnum):
    """What came of grading one item."""

    GRADED = "graded"
    EMPTY = "empty"
    """The answer was blank: wrong, and not an error."""
    UNPARSED = "unparsed"
    """The judge's reply was neither yes nor no."""
    JUDGE_ERROR = "judge_error"
    TIMEOUT = "timeout"
    NOT_READY = "not_ready"
    ADAPTER_ERROR = "adapter_error"
    READER_ERROR = "reader_error"

    @property
    def is_error(self) -> bool:
        """Whether there is no verdict: such an item counts as wrong, and is left out of accuracy over graded items."""
        return self not in (GradeState.GRADED, GradeState.EMPTY)


class Flag(StrEnum):
    """Something a reader of the board should know about a grade."""

    CONTEXT_DUMP = "context-dump"
    """The answer holds most of the history."""
    HEDGED = "hedged"
    """The answer voices doubt."""
    TOKEN_MISMATCH = "token-mismatch"  # noqa: S105
    """Tokens counted by memeval and reported by the system differ by more than a tenth."""
    SELF_REPORTED_TOKENS = "self-reported-tokens"
    """The grade rests on the system's own count of tokens."""
    FILTER_LEAK = "filter-leak"
    """A search by tag or time brought up what does not pass."""
    OTHER_BANK = "other-bank"
    """A search of one bank brought up what is in another."""


class Grade(Stored):
    """What one item is worth."""

    item_id: str
    """The item."""
    category: str
    """The benchmark's category the item counts in."""
    cluster: str
    """Items that share a cluster (a person, a conversation) are not independent of one another."""
    slices: dict[str, str]
    """Declared slices the item belongs to, such as ``difficulty: hard``."""
    grader: str
    """Name and version of the grader."""
    state: GradeState
    """What came of grading."""
    verdict: bool | None
    """Right or wrong; ``None`` where the grader measures, and unless the state is ``graded`` or ``empty``."""
    credit: Share | None = None
    """The share of its point that the item earned, where the grader measures (token F1, recall) and does not rule;
    ``None`` where it rules, and unless the state is ``graded`` or ``empty``."""
    value: float | None = None
    """The measured value behind the verdict (delta efficiency), where there is one."""
    reason: str | None = None
    """Why, in one sentence."""
    flags: tuple[Flag, ...] = ()
    """What a reader of the board should know."""
    answerable: bool = True
    """Whether a plain answer is right, so that a hedge is a fault; false where doubt is asked for, and where answers
    are not read for doubt."""
    alternates: dict[str, bool | Share | None] = {}
    """What the item is worth under other declared rules (``published``, ``gated``, ``corrected``), by name: a verdict
    or a credit; ``None`` where the rule leaves the item out of the count."""
    metrics: dict[str, float | None] = {}
    """Further measurements, by name; ``None`` where undefined."""
    judgment_key: Digest | None = None
    """The judgment that decided (a call in ``judgments.jsonl``, by its key), where a model was asked."""


class FlagCount(Record):
    """How often a flag was raised."""

    flag: Flag
    """The flag."""
    items: int
    """On how many items."""
