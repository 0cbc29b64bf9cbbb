"""Times of a system and of a control that ran beside it: an absolute time says more about the machine."""

from pydantic import Field

from memeval.records.base import Record, Slug


class PairedSeconds(Record):
    """Seconds of both in one repeat, on a monotonic clock."""

    system: float = Field(ge=0)
    """Seconds of the system."""
    control: float = Field(ge=0)
    """Seconds of the control."""


class BesideTimes(Record):
    """Times of a system and of a control on one conversation, several times, in turns.

    In each repeat, both ingest the conversation, and then answer its questions in turns. Who begins changes from repeat
    to repeat.
    """

    control: Slug
    """The control that ran beside."""
    sessions: int
    """Sessions and texts of the conversation."""
    questions: int
    """Questions of the conversation."""
    ingest: tuple[PairedSeconds, ...] = Field(min_length=1)
    """Time to ingest the conversation and to finish indexing it, by repeat."""
    search: tuple[PairedSeconds, ...] = Field(min_length=1)
    """Time to answer all questions, without the reader's, by repeat."""
    fastest: tuple[PairedSeconds, ...] = ()
    """By question, the shortest time of all repeats: other work on the machine makes a time longer, never shorter.
    Empty in runs from before it was kept."""
    search_items: int | None = None
    """Texts that each search asked for; ``None`` in runs from before it was kept, which asked for 10."""
