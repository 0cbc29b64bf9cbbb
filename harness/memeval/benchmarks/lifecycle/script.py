"""Writes a scenario: what users say, what is forgotten and what is asked, as sessions or as texts in banks."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum

from memeval.benchmarks.kit.talk import month
from memeval.benchmarks.lifecycle.keys import ProbeKey, ProbeRule, ProbeStage, ProbeStatement
from memeval.benchmarks.lifecycle.words import FRAMES, PEOPLE, TOPICS, Topic, phrases_of
from memeval.keys import ItemKey
from memeval.records.scenario import (
    Ask,
    Export,
    Forget,
    Ingest,
    Recall,
    Retain,
    Scenario,
    Session,
    Step,
    Turn,
    TurnKind,
)

FIRST_DAY = date(2025, 1, 6)

K = 10
"""Number of items that a search of a bank requests."""


class Mode(StrEnum):
    SESSIONS = "sessions"
    BANKS = "banks"


@dataclass(frozen=True)
class User:
    name: str
    bank: str


@dataclass(frozen=True)
class Written:
    scenario: Scenario
    items: tuple[ItemKey, ...]


class Script:
    def __init__(self, part: str, name: str, mode: Mode, rng: random.Random) -> None:
        self.part, self.name, self.mode, self.rng = part, name, mode, rng
        self.day = FIRST_DAY + timedelta(days=rng.randrange(20))
        self.gap = 4
        """The most days between two statements."""
        self._steps: list[Step] = []
        self._items: list[ItemKey] = []
        self._sessions = 0
        self._questions = 0

    def later(self, least: int = 1, most: int = 4) -> None:
        self.day += timedelta(days=self.rng.randint(least, most))

    @property
    def month(self) -> str:
        return month(self.day)

    def say(self, user: User, text: str, *, request: str = "", replies: str = "said", in_flight: int = 1) -> str:
        """Add what a user says or files. Return the ordinal of the turn with the text.

        ``request``: what the user asks for, if the text comes from a tool; blank if the user says the text.
        ``replies``: the kind of reply of the assistant. ``in_flight``: number of texts that are written to banks at the
        same time.
        """
        self.later(1, self.gap)
        self._sessions += 1
        session_id, day = f"s{self._sessions:03}", self.day.isoformat()
        source_id = f"{self.name}-{self._sessions}"
        reply = self.rng.choice(FRAMES.replies["filed" if request else replies])
        if self.mode is Mode.BANKS:
            content = text if request else f"{user.name}: {text}"
            self._steps.append(
                Retain(
                    text_id=session_id,
                    content=content,
                    occurred_at=day,
                    bank=user.bank,
                    source_id=source_id,
                    in_flight=in_flight,
                )
            )
            return f"{session_id}:t01"
        said: list[tuple[str, str | None, str, TurnKind]] = [("user", user.name, text, TurnKind.MESSAGE)]
        if request:
            said = [("user", user.name, request, TurnKind.MESSAGE), ("assistant", None, text, TurnKind.TOOL_RESULT)]
        turns = tuple(
            Turn(turn_id=f"{session_id}:t{n:02}", role=role, speaker=speaker, content=content, kind=kind)
            for n, (role, speaker, content, kind) in enumerate(
                [*said, ("assistant", None, reply, TurnKind.MESSAGE)], start=1
            )
        )
        self._steps.append(Ingest(session=Session(session_id=session_id, date=day, turns=turns), source_id=source_id))
        return turns[len(said) - 1].turn_id

    def ask(self, user: User, text: str, *, in_flight: int = 1) -> str:
        question_id, day = self._question_id(), self.day.isoformat()
        if self.mode is Mode.BANKS:
            step: Step = Recall(
                question_id=question_id, question=text, timestamp=day, k=K, bank=user.bank, in_flight=in_flight
            )
        else:
            step = Ask(question_id=question_id, question=text, timestamp=day)
        self._steps.append(step)
        return question_id

    def ask_about(self, user: User, topic: Topic, form: str, *, in_flight: int = 1) -> str:
        return self.ask(user, str(getattr(topic, form)).format(name=user.name), in_flight=in_flight)

    def forget(self, user: User, turns: Sequence[str] | None = None, query: str | None = None) -> None:
        self.later()
        ids = None if turns is None else tuple(turn.partition(":")[0] for turn in turns)
        self._steps.append(Forget(bank=user.bank, ids=ids, query=query))

    def export(self) -> str:
        question_id = self._question_id()
        self._steps.append(
            Export(question_id=question_id, question="Export of all memories.", timestamp=self.day.isoformat())
        )
        return question_id

    def item(
        self, probe: str, stages: Sequence[tuple[str, ProbeStage]], reference: str, *, cluster: str = "", **slices: str
    ) -> None:
        """Add an item.

        ``probe``: what it tests, the slice ``probe``. ``stages``: its questions with what their responses must contain.
        ``reference``: the right result, for readers. ``cluster``: its cluster; blank for the scenario.
        """
        evidence = {turn.partition(":")[0] for _, stage in stages for part in stage.expected for turn in part.turns}
        self._items.append(
            ItemKey(
                item_id=f"{self.name}-{len(self._items) + 1:02}",
                scenario_id=self.name,
                question_ids=tuple(question for question, _ in stages),
                category=self.part,
                cluster=cluster or self.name,
                slices={"probe": probe, **slices},
                evidence=tuple(sorted(evidence)) or None,
                key=ProbeKey(stages=tuple(stage for _, stage in stages), reference=reference),
            )
        )

    def written(self) -> Written:
        return Written(Scenario(scenario_id=self.name, steps=tuple(self._steps)), tuple(self._items))

    def _question_id(self) -> str:
        self._questions += 1
        return f"{self.name}:q{self._questions:02}"


def statement(value: str, *turns: str) -> ProbeStatement:
    return ProbeStatement(phrases=phrases_of(value), turns=turns)


def first(expected: ProbeStatement, *wrong: ProbeStatement) -> ProbeStage:
    return ProbeStage(rule=ProbeRule.FIRST, expected=(expected,), wrong=wrong)


def only(expected: ProbeStatement, *wrong: ProbeStatement) -> ProbeStage:
    return ProbeStage(rule=ProbeRule.ONLY, expected=(expected,), wrong=wrong)


def none_of(*wrong: ProbeStatement) -> ProbeStage:
    return ProbeStage(rule=ProbeRule.ONLY, wrong=wrong)


def users(rng: random.Random, count: int) -> list[User]:
    """Return users. The first two share their first name, and their banks differ in little."""
    given, family = rng.sample(PEOPLE.first, count), rng.sample(PEOPLE.family, count)
    given[1:2] = given[:1] * (count > 1)
    names = [f"{a} {b}" for a, b in zip(given, family, strict=True)]
    # Products refuse spaces and slashes in names, for good reasons, so there are none.
    alike = rng.choice((("team:{}", "team:{}0"), ("{}", "{}-2"), ("user:{}", "User:{}")))
    stem = given[0].lower()
    banks = [pattern.format(stem) for pattern in alike][:count]
    banks += [name.lower().replace(" ", "-") for name in names[len(banks) :]]
    return [User(name, bank) for name, bank in zip(names, banks, strict=True)]


def topics_of(rng: random.Random, count: int) -> list[Topic]:
    return rng.sample(TOPICS, count)
