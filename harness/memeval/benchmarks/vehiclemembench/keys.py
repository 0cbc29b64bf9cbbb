"""VehicleMemBench's answer keys."""

from typing import Literal

from memeval.keys import AnswerKey


class VehicleMemBenchKey(AnswerKey):
    """The events that a query depends on, and the calls that answer it."""

    kind: Literal["vehicle-calls"] = "vehicle-calls"
    calls: tuple[str, ...]
    """The expected calls, such as ``name(level=3)``; their order does not matter."""
    event_turns: tuple[str, ...] = ()
    """Ordinals of all turns of the minutes at which somebody says what the query depends on. A minute has one
    (``s004:t03``) or several (``s004:t03.1``)."""

    @property
    def events(self) -> tuple[str, ...]:
        """Return the ordinals of these minutes, each once."""
        return tuple(dict.fromkeys(map(minute_of, self.event_turns)))

    @property
    def relevant_turns(self) -> tuple[str, ...]:
        return self.event_turns

    @property
    def references(self) -> tuple[str, ...]:
        return ("\n".join(self.calls),)


def minute_of(turn_id: str) -> str:
    """Return the ordinal of the minute of a turn; of something unknown, itself."""
    return turn_id.partition(".")[0]
