"""The base of all steps of a scenario that have a response."""

from memeval.records.base import Record


class Question(Record):
    """The base of all steps with a response."""

    step: str
    question_id: str
    """Unique within the benchmark; systems never receive it."""
    question: str
    timestamp: str | None = None
    """The time of the question; ``None`` if the protocol passes none."""
