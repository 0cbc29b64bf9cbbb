"""The grade of an item."""

from enum import StrEnum

from memeval.records.base import Digest, Record, Share, Stored


class GradeState(StrEnum):
    """The state of a grade."""

    GRADED = "graded"
    EMPTY = "empty"
    """The answer was blank: wrong, but not an error."""
    UNPARSED = "unparsed"
    """The judge gave no verdict: a model said neither yes nor no, or the rules cannot read the script."""
    JUDGE_ERROR = "judge_error"
    TIMEOUT = "timeout"
    NOT_READY = "not_ready"
    ADAPTER_ERROR = "adapter_error"
    READER_ERROR = "reader_error"

    @property
    def is_error(self) -> bool:
        """Whether there is no verdict. Such an item counts as wrong; accuracy over graded items excludes it."""
        return self not in ("graded", "empty")  # asked often, and in Python 3.11 GradeState.GRADED is a call


class Flag(StrEnum):
    """A warning about a grade, shown on the board."""

    CONTEXT_DUMP = "context-dump"
    """The answer contains most of the history."""
    HEDGED = "hedged"
    """The answer expresses doubt."""
    TOKEN_MISMATCH = "token-mismatch"  # noqa: S105
    """The token counts of memeval and of the system differ by more than 10 %."""
    SELF_REPORTED_TOKENS = "self-reported-tokens"
    """The grade uses the system's own token count."""
    FILTER_LEAK = "filter-leak"
    """A search by tag or time returned texts that do not match the filter."""
    OTHER_BANK = "other-bank"
    """A search of one bank returned texts of another."""


class Grade(Stored):
    """The grade of one item."""

    item_id: str
    category: str
    cluster: str
    slices: dict[str, str]
    grader: str
    state: GradeState
    verdict: bool | None
    """Correct or wrong; ``None`` for a grader with partial credit, or if the state is not ``graded`` or ``empty``."""
    credit: Share | None = None
    """Partial credit in [0, 1], for a grader that measures, such as token F1 or recall. ``None`` for a grader with
    verdicts, or if the state is not ``graded`` or ``empty``."""
    value: float | None = None
    """The measured value behind the verdict, such as delta efficiency; ``None`` without one."""
    reason: str | None = None
    flags: tuple[Flag, ...] = ()
    """Warnings about the grade."""
    answerable: bool = True
    """Whether a plain answer is correct, so that a hedge is an error. False if the question asks for doubt, or if the
    grader does not test for doubt."""
    alternates: dict[str, bool | Share | None] = {}
    """Verdict or credit under other scoring rules (``published``, ``gated``, ``corrected``), by name; ``None`` if the
    rule excludes the item."""
    metrics: dict[str, float | None] = {}
    """Further metrics, by name; ``None`` if undefined."""
    judgment_key: Digest | None = None
    """Key of the decisive judgment in ``judgments.jsonl``; ``None`` if no model was asked."""


class FlagCount(Record):
    """The number of items with a flag."""

    flag: Flag
    """The flag."""
    items: int
