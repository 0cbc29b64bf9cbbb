"""The base of all answer keys, and the key of an item."""

from collections.abc import Mapping
from typing import ClassVar, TypeVar

from pydantic import Field, SerializeAsAny

from memeval.records.base import Record, Stored


class AnswerKey(Record):
    """What a right answer is. Each shape of keys is a subclass; a benchmark may add fields in a subclass of its own."""

    prompts: ClassVar[str] = "memeval.judging"
    """The package whose folder ``prompts`` has the judge prompt."""

    kind: str

    @property
    def prompt(self) -> str | None:
        """Name of the judge prompt, a file without its ending; ``None`` if no judge decides."""
        return None

    @property
    def shown(self) -> Mapping[str, str]:
        """The values of the judge prompt's placeholders, by name."""
        return {}

    @property
    def unanswerable(self) -> bool:
        """Whether doubt, an abstention or an empty result is right, and a plain answer is wrong."""
        return False

    @property
    def relevant_turns(self) -> tuple[str, ...]:
        """Ordinals of the evidence turns (``s004:t03``); empty if the benchmark names none."""
        return ()

    @property
    def references(self) -> tuple[str, ...]:
        """Right answers for readers of the results: one text, or one text per fact."""
        return ()

    @property
    def traps(self) -> tuple[str, ...]:
        """What else the history says about the question, and is wrong; for readers of the results."""
        return ()


K = TypeVar("K", bound=AnswerKey)


class ItemKey(Stored):
    """The key of one item, with its category and slices."""

    item_id: str
    """Unique within the benchmark."""
    scenario_id: str
    question_ids: tuple[str, ...] = Field(min_length=1)
    """The item's questions, in order."""
    category: str
    cluster: str
    slices: dict[str, str] = {}
    evidence: tuple[str, ...] | None = None
    """Ordinals of the evidence sessions (``s004``); ``None`` if the benchmark lists no evidence."""
    key: SerializeAsAny[AnswerKey]
    """The answer key."""

    def key_as(self, kind: type[K], needed_by: str) -> K:
        """Return the answer key, which must be of a kind that a grader or a format needs.

        Raises ``TypeError``: it is of another kind.
        """
        if not isinstance(self.key, kind):
            raise TypeError(f"{self.item_id}: {needed_by} cannot use keys of kind {self.key.kind!r}")
        return self.key
