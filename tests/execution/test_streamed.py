"""Histories too long to hold: made as they are walked, and looked at by the sessions that are named."""

from collections.abc import Sequence
from pathlib import Path
from typing import overload

import pytest

from memeval.evaluation.run.readers import reader_named
from memeval.execution.contexts import TurnTexts, digest_of_text
from memeval.execution.runner import ScenarioRunner
from memeval.execution.steps import Lookahead, ScenarioWork
from memeval.grading.evidence import TurnIndex
from memeval.judging.base import Case
from memeval.judging.rules import holds_most_of_the_history
from memeval.keys import Fact, NoiseKey
from memeval.records.response import RetrievedItem
from memeval.records.scenario import Ask, Ingest, Question, Scenario, Session, Step, Steps, Turn, dated_line
from memeval.systems.messages import FoundItem
from tests.execution.helpers import system

MANY = 3_000

LAST_LINES = """
class LastLines:
    def reset(self):
        self.items = []
    def ingest_session(self, session, timestamp):
        self.items.append({"text": session["turns"][0]["content"], "source_ids": [session["session_id"]]})
    def search(self, query, k, timestamp="now"):
        return self.items[-k:]
"""


class Made(Steps):
    """A history of numbered sessions, which keeps count of those it has made."""

    def __init__(self, sessions: int = MANY, questions: int = 2) -> None:
        self.sessions = sessions
        self.asks = tuple(Ask(question_id=f"q{i}", question=f"What was said {i} times?") for i in range(questions))
        self.made: list[int] = []

    def __len__(self) -> int:
        return self.sessions + len(self.asks)

    @overload
    def __getitem__(self, place: int) -> Step: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Step]: ...

    def __getitem__(self, place: int | slice) -> Step | Sequence[Step]:
        assert isinstance(place, int)
        if place >= self.sessions:
            return self.asks[place - self.sessions]
        self.made.append(place)
        name = f"s{place + 1:06d}"
        contents = (f"This is the saying of number {place}, and no other.", "So it is.")
        turns = tuple(Turn(turn_id=f"{name}:t{i:02d}", role="user", content=c) for i, c in enumerate(contents, start=1))
        return Ingest(session=Session(session_id=name, date=f"{2000 + place}-01-01", turns=turns), source_id=name)

    def session(self, session_id: str) -> Session:
        if not session_id[1:].isdecimal() or not 0 < int(session_id[1:]) <= self.sessions:
            raise KeyError(session_id)
        step = self[int(session_id[1:]) - 1]
        assert isinstance(step, Ingest)
        return step.session

    def questions(self) -> tuple[Question, ...]:
        return self.asks

    def only(self, session_ids: frozenset[str]) -> tuple[Step, ...]:
        return tuple(Ingest(session=self.session(each), source_id=each) for each in sorted(session_ids)) + self.asks


@pytest.fixture
def steps() -> Made:
    """The steps of a long history."""
    return Made()


@pytest.fixture
def scenario(steps: Made) -> Scenario:
    """A long history."""
    return Scenario.streamed("long", steps)


def held(steps: Made) -> Scenario:
    """The same history, held."""
    return Scenario(scenario_id="long", steps=tuple(steps[place] for place in range(len(steps))))


def test_a_run_makes_each_session_once_and_then_those_that_were_found(
    tmp_path: Path, steps: Made, scenario: Scenario
) -> None:
    todo = ScenarioWork(scenario=scenario, items={"a": ("q0",), "b": ("q1",)})
    with system(tmp_path, LAST_LINES) as process:
        runner = ScenarioRunner(process, reader_named("extractive"), 3, lambda *told: None, lambda: False)
        rows = [row for finished in runner.run(todo) for row in finished.responses]
    assert steps.made[:MANY] == list(range(MANY))
    assert set(steps.made[MANY:]) == {MANY - 3, MANY - 2, MANY - 1}
    assert [item.turn_id for item in rows[1].items or ()] == [f"s{n:06d}:t01" for n in range(MANY - 2, MANY + 1)]
    assert rows[0].timings.take_in_sessions == MANY


def test_steps_are_drawn_one_ahead_and_no_further(steps: Made, scenario: Scenario) -> None:
    taken = Lookahead(scenario.steps, {"q0": None}).to_ingest()
    for place in range(5):
        next(taken)
        assert len(steps.made) == place + 1


def test_only_what_an_item_names_is_looked_up(steps: Made, scenario: Scenario) -> None:
    session = steps.session("s000700")
    texts, turn = TurnTexts(scenario), session.turns[0]
    steps.made.clear()
    named = texts.item(dated_line(session, turn), ("s000700:t02", "s000700", "s999999", "nonsense"), None)
    assert (named.turn_id, named.dated, named.text) == (turn.turn_id, True, None)
    assert steps.made == [699]
    assert texts.text(named) == dated_line(session, turn)
    unnamed = texts.item(turn.content, (), None)
    assert (unnamed.turn_id, unnamed.text) == (None, turn.content)


def test_a_context_is_stored_by_the_turns_of_its_items_and_spells_out_the_same_text(
    steps: Made, scenario: Scenario
) -> None:
    lines = [dated_line(s, s.turns[0]) for s in map(steps.session, ("s000001", "s000900"))]
    text = "\n".join([lines[0], "something else", lines[1]])
    texts = TurnTexts(scenario)
    stored = texts.context(text, [FoundItem(lines[0], ("s000001",))])
    assert [part.turn_id for part in stored.parts] == ["s000001:t01", None]
    assert "\n".join(map(texts.text, stored.parts)) == text
    assert stored.digest == digest_of_text(text)
    whole = texts.context(text)
    assert [part.text for part in whole.parts] == [text]
    with pytest.raises(KeyError):
        texts.text(RetrievedItem(turn_id="s000001:t09", source_ids=()))


def test_what_was_retrieved_is_graded_as_in_a_history_that_is_held() -> None:
    steps = Made(40)
    streamed, whole = TurnIndex(Scenario.streamed("long", steps)), TurnIndex(held(steps))
    items = (
        RetrievedItem(turn_id="s000003:t01", source_ids=("s000004", "s000003:t01")),
        RetrievedItem(text="So it is.", source_ids=("s000009:t02", "s000009:t07", "s000041")),
        RetrievedItem(turn_id="s000007:t02", dated=True, source_ids=()),
        RetrievedItem(text="Nobody knows.", source_ids=()),
    )
    assert streamed.retrieved(items) == whole.retrieved(items)
    for name in ("s000009", "s000009:t02", "s000009:t07", "s000041", "item 3", "", "s"):
        assert streamed.knows(name) == whole.knows(name)
        assert streamed.session_of(name) == whole.session_of(name)
        assert streamed.turns_of(name) == whole.turns_of(name)
    assert streamed.session_count == whole.session_count == 40
    assert dict(streamed.turns) == dict(whole.turns) and len(streamed.turns) == 80


def case(answer: str, scenario: Scenario) -> Case:
    key = NoiseKey(reference=Fact(text="It is so.", phrases=("so",)))
    return Case("item", "What is it?", answer, key, scenario)


def test_an_answer_is_compared_with_a_bounded_part_of_the_history(steps: Made, scenario: Scenario) -> None:
    assert not holds_most_of_the_history(case("This is the saying of a number. " * 20, scenario))
    assert len(steps.made) < 40
    short = Made(12)
    everything = " ".join(turn.content for place in range(12) for turn in short.session(f"s{place + 1:06d}").turns)
    for answer in (everything, everything[: len(everything) // 3], everything[: 2 * len(everything) // 3]):
        streamed = holds_most_of_the_history(case(answer, Scenario.streamed("long", short)))
        assert streamed == holds_most_of_the_history(case(answer, held(short)))
    assert holds_most_of_the_history(case(everything, Scenario.streamed("long", short)))


def test_a_streamed_history_is_written_piece_by_piece_as_if_it_were_held() -> None:
    steps = Made(5)
    assert "".join(Scenario.streamed("long", steps).json_pieces()) == held(steps).to_json()
    assert "".join(held(steps).json_pieces()) == held(steps).to_json()
    bare = Scenario(scenario_id='"steps":[]', steps=())
    assert "".join(bare.json_pieces()) == bare.to_json()
