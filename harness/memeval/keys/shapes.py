"""The shapes of keys other than facts: reference answers, stances, searches, reflections and memory stores."""

from collections.abc import Mapping
from enum import StrEnum
from typing import ClassVar, Literal

from memeval.keys.base import AnswerKey
from memeval.keys.facts import Fact, listed
from memeval.records.base import Record


class StoredTopic(Record):
    """One topic of a simulated life, with all its facts."""

    topic: str
    """Unique within a key: ``breakfast``."""
    current: Fact | None
    """The fact at the end; ``None`` if it is uncertain, so that neither storing nor dropping it is wrong."""
    stale: tuple[Fact, ...] = ()
    """Facts that are no longer valid, the latest last; retracted announcements come before former facts."""
    never: tuple[Fact, ...] = ()
    """Plausible facts that the history never states about anybody."""


class StoreKey(AnswerKey):
    """The expected content of a memory store at the end of a history."""

    kind: Literal["store"] = "store"
    subjects: tuple[StoredTopic, ...]
    """The topics of the history, each once."""

    @property
    def current(self) -> tuple[Fact, ...]:
        return tuple(subject.current for subject in self.subjects if subject.current is not None)

    @property
    def stale(self) -> tuple[Fact, ...]:
        return tuple(fact for subject in self.subjects for fact in subject.stale)

    @property
    def never(self) -> tuple[Fact, ...]:
        return tuple(fact for subject in self.subjects for fact in subject.never)

    @property
    def references(self) -> tuple[str, ...]:
        return tuple(fact.text for fact in self.current)


class Stance(StrEnum):
    """The stance that an answer about a dependent fact must take."""

    DOUBT = "doubt"
    """The basis of the fact changed and nobody confirmed the fact: the answer must say so, or ask."""
    CONFIDENT = "confident"
    """The fact is valid: the answer must state it without hedging."""


class StanceKey(AnswerKey):
    """A fact that depends on another one, and the stance that an answer must take."""

    dependent: Fact
    """The dependent fact."""
    stance: Stance = Stance.DOUBT
    """The stance that the answer must take."""
    reference: str
    """A right answer, for readers."""

    @property
    def prompt(self) -> str:
        """The kind of the key, with an ending for a control twin."""
        return self.kind if self.unanswerable else f"{self.kind}-confirmed"

    @property
    def unanswerable(self) -> bool:
        return self.stance is Stance.DOUBT

    @property
    def references(self) -> tuple[str, ...]:
        return (self.reference,)


class CascadeKey(StanceKey):
    """A fact that depends on another one, which changed later (in a control twin: did not change)."""

    kind: Literal["cascade-propagation"] = "cascade-propagation"
    root_change: str
    """The change, as ``old → new``; in a control twin, the unchanged fact."""

    @property
    def shown(self) -> Mapping[str, str]:
        return {"root_change": self.root_change, "dependent": self.dependent.text}


class UncertaintyKey(StanceKey):
    """A fact that is no longer certain (in a control twin: is certain)."""

    kind: Literal["uncertainty-abstention"] = "uncertainty-abstention"
    reason: str
    """Why the fact is uncertain; in a control twin, why it is certain."""

    @property
    def shown(self) -> Mapping[str, str]:
        return {"reason": self.reason, "dependent": self.dependent.text}


class RecallKey(AnswerKey):
    """The expected results of a search. The ordinals of the relevant texts are the item's evidence."""

    kind: Literal["recall"] = "recall"
    absent: bool = False
    """Whether the store contains no relevant text, so that the search should return nothing."""
    keywords: tuple[str, ...] = ()
    """Keywords of a relevant text; used only if a system does not name the texts it returns."""
    one_keyword: bool = False
    """Whether one keyword is enough for a relevant text; otherwise it needs all."""
    alike: tuple[tuple[str, ...], ...] = ()
    """Groups of relevant texts with the same content, by ordinal; one text of a group is enough."""
    min_score: float | None = None
    """Lowest score of a counted hit, on the system's own scale; ``None`` counts all hits."""
    graded: bool = True
    """Whether the item can be graded; false if the suite names no expected result."""

    @property
    def unanswerable(self) -> bool:
        return self.absent

    @property
    def references(self) -> tuple[str, ...]:
        return self.keywords


class ReflectKey(AnswerKey):
    """The expected and forbidden content of a reflection; both empty if the suite names none."""

    kind: Literal["reflect"] = "reflect"
    points: tuple[Fact, ...]
    """The points it should state, the central one first."""
    forbidden: tuple[Fact, ...] = ()
    """The claims it must not make."""

    @property
    def prompt(self) -> str:
        """The prompt about a point, or about a claim if there is no point."""
        return "reflect-point" if self.points else "reflect-claim"

    @property
    def shown(self) -> Mapping[str, str]:
        return {"reference": listed(self.points), "claim": listed(self.forbidden)}

    @property
    def references(self) -> tuple[str, ...]:
        return tuple(point.text for point in self.points)


class WrongTime(StrEnum):
    """How an answer shows that it is about another time than the question."""

    DATE = "date"
    """It names another date or duration than the reference."""
    OLDER_NUMBER = "older number"
    """It has a number of older evidence instead of the reference's number."""


class ReferenceKey(AnswerKey):
    """A reference answer in words. Subclasses add the fields of their benchmark, and say how to read the reference."""

    doubt_abstains: ClassVar[bool] = False
    """Whether a hedged answer counts as an abstention in the failure analysis."""
    unread_is_wrong: ClassVar[bool] = True
    """Whether the rules call every answer to a rubric wrong; else they give no verdict."""

    @property
    def expected(self) -> str:
        """The reference answer; blank if there is none."""
        return ""

    @property
    def is_rubric(self) -> bool:
        """Whether the reference describes right answers, so that rules cannot compare with it."""
        return False

    @property
    def misleading(self) -> str | None:
        """The wrong answer that an unanswerable question suggests; ``None`` if it suggests none."""
        return None

    @property
    def is_list(self) -> bool:
        """Whether commas separate parts of the reference that a right answer must all have."""
        return False

    @property
    def is_loose(self) -> bool:
        """Whether reasons after the reference are ignored, and "or" separates alternative answers."""
        return False

    @property
    def counts_loosely(self) -> bool:
        """Whether a count of days, weeks or months may be off by one."""
        return False

    @property
    def wrong_time(self) -> WrongTime | None:
        """How an answer shows that it is about another time; ``None`` if the question is not about a time."""
        return None

    @property
    def references(self) -> tuple[str, ...]:
        return (self.expected,)

    @property
    def traps(self) -> tuple[str, ...]:
        return (self.misleading,) if self.misleading else ()
