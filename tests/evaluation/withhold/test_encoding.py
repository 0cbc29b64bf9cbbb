"""Scenarios whose text is quoted are opened as rows need them, and few are in memory at once."""

from types import SimpleNamespace
from typing import Any

import pytest

from memeval.evaluation.withhold import encoding
from memeval.evaluation.withhold.encoding import ScenarioQuoters
from memeval.records.scenario import Ingest, Scenario, Session, Turn

LENGTH = 1000
"""Characters of each scenario."""


class Opened(dict[str, Scenario]):
    """Scenarios that are created when they are opened; the key of each opening is noted."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def __missing__(self, name: str) -> Scenario:
        self.names.append(name)
        turn = Turn(turn_id="s001:t01", role="user", content="a" * LENGTH)
        session = Session(session_id="s001", date="", turns=(turn,))
        return Scenario(scenario_id=name, steps=(Ingest(session=session, source_id="s001"),))


@pytest.mark.parametrize(
    ("room", "again"),
    [
        (0, ["new", "old", "new"]),  # one at a time
        (2 * LENGTH - 1, ["old"]),  # with a third one, only the one that was used last stays
        (2 * LENGTH, []),
    ],
)
def test_scenarios_used_last_stay_in_memory_while_there_is_room(
    room: int, again: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoding, "MOST_CHARACTERS", room)
    opened = Opened()
    session: Any = SimpleNamespace(all_keys=(), scenarios=opened)
    quoters = ScenarioQuoters(session)
    for name in ("new", "old", "new", "third"):
        assert quoters.of(name).scenario_id == name
    before = len(opened.names)
    for name in ("third", "new", "old", "new"):
        quoters.of(name)
    assert opened.names[before:] == again
