"""Keys of trials: what must be there afterwards."""

from typing import Literal

from memeval.keys import AnswerKey


class TrialKey(AnswerKey):
    """The key of a trial. What is right follows from the observation itself: every acknowledged text must be there."""

    kind: Literal["trial"] = "trial"
    reference: str
    """The right result, for readers."""

    @property
    def references(self) -> tuple[str, ...]:
        return (self.reference,)
