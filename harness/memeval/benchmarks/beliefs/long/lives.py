"""Ten lives, what is told of them, and what is asked: the same at every size."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache

from memeval.benchmarks.beliefs import checks, facts
from memeval.benchmarks.beliefs.history import DraftSession, Made, Writer
from memeval.benchmarks.beliefs.items import belief, noise, revisit, temporal
from memeval.benchmarks.beliefs.long import EACH, PEOPLE
from memeval.benchmarks.beliefs.long.talk import DetailedTalker
from memeval.benchmarks.beliefs.plan import TRAITS, Cast, Need, people
from memeval.benchmarks.beliefs.streams import deck, stream
from memeval.benchmarks.beliefs.talk import DraftTurn
from memeval.benchmarks.beliefs.timeline import TimelineEvent
from memeval.benchmarks.beliefs.world import Life, live
from memeval.keys import AnswerKey, BeliefKey, CascadeKey, Fact, ItemKey, NoiseKey, TemporalKey, UncertaintyKey
from memeval.records.scenario import Ask, Ingest, Scenario, Session, Turn

MAKERS: dict[str, Callable[[Writer], Made]] = {
    "belief-update": belief.make,
    "cascade-propagation": revisit.make,
    "noise-resistance": noise.make,
    "temporal-belief": temporal.make,
    "uncertainty-abstention": revisit.make,
}
"""The categories, each with who makes its items."""

ASKED_AFTER = 14
"""Days between the last day of the longest life and the day of all questions."""

ATTEMPTS = 50
"""How often a life is drawn anew whose sessions break a rule when they stand together."""


@dataclass(frozen=True, slots=True)
class LifeItem:
    """A question with its key, before what it rests on has ordinals."""

    item_id: str
    ask: Ask
    category: str
    slices: dict[str, str]
    key: AnswerKey
    rests_on: frozenset[date]
    """The days of the sessions it rests on; no two sessions of a life share a day."""

    @property
    def gold(self) -> Fact:
        """The fact that a right answer states, or doubts."""
        match self.key:
            case BeliefKey(current=fact) | NoiseKey(reference=fact) | TemporalKey(reference=fact):
                return fact
            case CascadeKey(dependent=fact) | UncertaintyKey(dependent=fact):
                return fact
        raise TypeError(self.key.kind)

    @property
    def wrong(self) -> tuple[Fact, ...]:
        """The facts that a right answer does not state."""
        match self.key:
            case BeliefKey(stale=others) | NoiseKey(distractors=others) | TemporalKey(others=others):
                return others
        return ()


@dataclass(frozen=True, slots=True)
class LongLife:
    """A life as long histories have it."""

    life: Life
    told: tuple[DraftSession, ...]
    """All that is said of what is asked about, in order of days."""
    items: tuple[LifeItem, ...]
    """What is asked."""


@lru_cache(maxsize=2)
def lives(seed: int) -> tuple[LongLife, ...]:
    """Return the ten lives of a seed.

    Raises:
        ValueError: one of them breaks a rule however often it is drawn.
    """
    chosen = [_sound(seed, number, cast) for number, cast in enumerate(_casts(seed))]
    asked = _asked([life for life, _ in chosen])
    return tuple(LongLife(life, told, _items(seed, life, told, asked)) for life, told in chosen)


def _casts(seed: int) -> tuple[Cast, ...]:
    """Return the people, each with two items of every category."""
    cast = people(f"{seed}/long", PEOPLE)
    needs: list[list[Need]] = [[] for _ in cast]
    for category in MAKERS:
        rng = stream(seed, "long", "plan", category)
        drawn = {trait: deck(rng, EACH, cards) for trait, cards in TRAITS[category].items()}
        order = rng.sample(range(PEOPLE), PEOPLE)
        for i in range(EACH):
            traits = {trait: cards[i] for trait, cards in drawn.items()}
            needs[order[i % PEOPLE]].append(Need(category, i + 1, traits))
    return tuple(Cast(person, tuple(mine)) for person, mine in zip(cast, needs, strict=True))


def _sound(seed: int, number: int, cast: Cast) -> tuple[Life, tuple[DraftSession, ...]]:
    """Return a life whose sessions give nothing away about one another."""
    for attempt in range(ATTEMPTS):
        life = live(f"{seed}/long/{attempt}", cast)
        told = _told(seed, life)
        try:
            for item in _items(seed, life, told, _asked([life])):
                checks.check_key(_alone(life, told, item))
        except ValueError:
            continue
        return life, told
    raise ValueError(f"beliefs@1: no life of person {number + 1} of seed {seed} holds to the rules.")


def _asked(every: Sequence[Life]) -> date:
    """Return the day of asking: after all that is said in any of some lives."""
    return max(life.timeline.events[-1].on for life in every) + timedelta(days=ASKED_AFTER)


def _told(seed: int, life: Life) -> tuple[DraftSession, ...]:
    """Return the sessions in which all is said that is asked about, and all that is said of others in its place."""
    timeline = life.timeline
    topics = {name for topic in life.focus.values() for name in (topic, *timeline.ground(topic))}
    rng = stream(seed, "long", "told", life.person.slug)
    talker = DetailedTalker(life.person, timeline, rng)
    return tuple(
        DraftSession(event.on, tuple(talker.event(event)), event) for event in timeline.events if event.topic in topics
    )


def _items(seed: int, life: Life, told: tuple[DraftSession, ...], asked: date) -> tuple[LifeItem, ...]:
    return tuple(_item(MAKERS[need.category](_Writer(seed, life, need, told, asked))) for need in life.needs)


def _item(made: Made) -> LifeItem:
    """Return what a maker made, in the terms of long histories: noise is as much as there is room for."""
    key = made.key
    (ask,) = made.scenario.questions()
    assert isinstance(ask, Ask)  # noqa: S101 - the makers make no others
    slices = {name: value for name, value in key.slices.items() if name not in ("noise", "position")}
    if isinstance(key.key, NoiseKey):
        points = (len(key.key.distractors) > 2) + (slices["announced"] == "indirect")
        slices["difficulty"] = facts.difficulty(points)
    item_id = key.item_id.replace("beliefs-1-", "beliefs-1-long-", 1)
    return LifeItem(
        item_id=item_id,
        ask=ask.model_copy(update={"question_id": f"{item_id}:q01"}),
        category=key.category,
        slices=slices,
        key=key.key,
        rests_on=frozenset(
            date.fromisoformat(session.date)
            for session in made.scenario.sessions()
            if session.session_id in (key.evidence or ())
        ),
    )


def _alone(life: Life, told: tuple[DraftSession, ...], item: LifeItem) -> Made:
    """Return an item as one of a history that holds what is told of the life and nothing else."""
    steps = tuple(
        Ingest(session=session(f"s{i:03d}", each.on.isoformat(), each.lines, life), source_id="")
        for i, each in enumerate(told, start=1)
    )
    key = ItemKey(
        item_id=item.item_id,
        scenario_id=item.item_id,
        question_ids=(item.ask.question_id,),
        category=item.category,
        cluster=life.person.slug,
        slices=item.slices,
        evidence=tuple(f"s{i:03d}" for i, each in enumerate(told, start=1) if each.on in item.rests_on),
        key=item.key,
    )
    return Made(Scenario(scenario_id=item.item_id, steps=(*steps, item.ask)), key)


def session(ordinal: str, when: str, lines: Sequence[DraftTurn], life: Life) -> Session:
    """Return a session of a life.

    Args:
        ordinal: its id.
        when: its date, and time.
        lines: what is said.
        life: whose it is.
    """
    speakers = {"user": life.person.name, "assistant": "Assistant"}
    turns = tuple(
        Turn(turn_id=f"{ordinal}:t{i:02d}", role=line.role, content=line.text, speaker=speakers[line.role])
        for i, line in enumerate(lines, start=1)
    )
    return Session(session_id=ordinal, date=when, turns=turns)


class _Writer(Writer):
    """Lets the makers of items ask about a life that is told once, for all its items.

    Args:
        seed: the generation's seed.
        life: whose.
        need: the planned item.
        told: all that is told of the life.
        asked: the day of asking.
    """

    def __init__(self, seed: int, life: Life, need: Need, told: Sequence[DraftSession], asked: date) -> None:
        super().__init__(seed, life, need)
        self.rng = stream(seed, "long", "item", need.scenario_id)
        self._lines = {each.on: each.lines for each in told}
        self._asked = asked

    def tell(self, events: tuple[TimelineEvent, ...] | list[TimelineEvent]) -> None:
        """Add the sessions in which events are told."""
        for event in events:
            self._add(DraftSession(event.on, self._lines[event.on], event))

    def background(self, number: int, start: date, end: date, avoid: frozenset[str]) -> int:
        """Add nothing: what stands between the sessions is the size's matter."""
        return 0

    def chatter(self, number: int, start: date, end: date) -> None:
        """Add nothing; see :meth:`background`."""

    def later(self, least: int = 2, most: int = 12) -> date:
        """Return the day of asking."""
        return self._asked

    def name(self) -> str:
        """Return the person's full name: other people of the same first name may be around."""
        return self.life.person.name
