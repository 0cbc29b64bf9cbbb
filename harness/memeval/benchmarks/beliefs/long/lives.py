"""Ten lives with their relevant sessions and questions, the same at every size."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache

from memeval.benchmarks.beliefs import checks, facts
from memeval.benchmarks.beliefs.history import DraftSession, Made, Writer
from memeval.benchmarks.beliefs.items import belief, noise, revisit, temporal
from memeval.benchmarks.beliefs.long import EACH, PEOPLE
from memeval.benchmarks.beliefs.long.history import session
from memeval.benchmarks.beliefs.long.talk import DetailedTalker
from memeval.benchmarks.beliefs.plan import TRAITS, Cast, Need, people
from memeval.benchmarks.beliefs.streams import deck, stream
from memeval.benchmarks.beliefs.timeline import TimelineEvent
from memeval.benchmarks.beliefs.vocabulary.people import Person
from memeval.benchmarks.beliefs.world import Life, live
from memeval.keys import AnswerKey, BeliefKey, CascadeKey, Fact, ItemKey, NoiseKey, TemporalKey, UncertaintyKey
from memeval.records.scenario import Ask, Ingest, Scenario

MAKERS: dict[str, Callable[[Writer], Made]] = {
    "belief-update": belief.make,
    "cascade-propagation": revisit.make,
    "noise-resistance": noise.make,
    "temporal-belief": temporal.make,
    "uncertainty-abstention": revisit.make,
}
"""Maker of the items of each category."""

ASKED_AFTER = 14
"""Days between the last day of the longest life and the day of all questions."""

ATTEMPTS = 50
"""Maximum number of attempts to draw a life whose sessions break no rule together."""


@dataclass(frozen=True, slots=True)
class LifeItem:
    """A question with its key, before its evidence has ordinals."""

    item_id: str
    ask: Ask
    category: str
    slices: dict[str, str]
    key: AnswerKey
    rests_on: frozenset[date]
    """Days of the evidence sessions; no two sessions of a life share a day."""

    @property
    def gold(self) -> Fact:
        """The fact that a correct answer states or doubts."""
        match self.key:
            case BeliefKey(current=fact) | NoiseKey(reference=fact) | TemporalKey(reference=fact):
                return fact
            case CascadeKey(dependent=fact) | UncertaintyKey(dependent=fact):
                return fact
        raise TypeError(self.key.kind)

    @property
    def wrong(self) -> tuple[Fact, ...]:
        """The facts that a correct answer must not state."""
        match self.key:
            case BeliefKey(stale=others) | NoiseKey(distractors=others) | TemporalKey(others=others):
                return others
        return ()


@dataclass(frozen=True, slots=True)
class LongLife:
    """A life in a long history."""

    life: Life
    drafts: tuple[DraftSession, ...]
    """The relevant sessions, in order of days."""
    items: tuple[LifeItem, ...]
    """The questions."""

    @property
    def person(self) -> Person:
        """See :class:`HistoryLife`."""
        return self.life.person

    @property
    def asks(self) -> tuple[Ask, ...]:
        """See :class:`HistoryLife`."""
        return tuple(item.ask for item in self.items)

    @property
    def guarded(self) -> frozenset[str]:
        """The phrases of the right answers."""
        return frozenset(phrase for item in self.items for phrase in item.gold.phrases)

    def keys(self, scenario_id: str, ordinals: Mapping[date, str]) -> Iterator[ItemKey]:
        """See :class:`HistoryLife`."""
        for item in self.items:
            yield ItemKey(
                item_id=item.item_id,
                scenario_id=scenario_id,
                question_ids=(item.ask.question_id,),
                category=item.category,
                cluster=self.person.slug,
                slices=item.slices,
                evidence=tuple(sorted(ordinals[day] for day in item.rests_on)),
                key=item.key,
            )


@lru_cache(maxsize=2)
def lives(seed: int) -> tuple[LongLife, ...]:
    """Return the ten lives of a seed.

    Raises:
        ValueError: no attempt gave a life that breaks no rule.
    """
    chosen = [_valid_life(seed, number, cast) for number, cast in enumerate(_casts(seed))]
    asked = _asked([life for life, _ in chosen])
    return tuple(LongLife(life, drafts, _items(seed, life, drafts, asked)) for life, drafts in chosen)


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


def _valid_life(seed: int, number: int, cast: Cast) -> tuple[Life, tuple[DraftSession, ...]]:
    """Return a life whose sessions break no rule together."""
    for attempt in range(ATTEMPTS):
        life = live(f"{seed}/long/{attempt}", cast)
        drafts = _relevant_sessions(seed, life)
        try:
            for item in _items(seed, life, drafts, _asked([life])):
                checks.check_key(_alone(life, drafts, item))
        except ValueError:
            continue
        return life, drafts
    raise ValueError(f"beliefs@1: found no valid life for person {number + 1} of seed {seed}.")


def _asked(every: Sequence[Life]) -> date:
    """Return the day of all questions, after the last event of all lives."""
    return max(life.timeline.events[-1].on for life in every) + timedelta(days=ASKED_AFTER)


def _relevant_sessions(seed: int, life: Life) -> tuple[DraftSession, ...]:
    """Return the sessions with all events on the asked topics and their basis."""
    timeline = life.timeline
    topics = {name for topic in life.focus.values() for name in (topic, *timeline.ground(topic))}
    rng = stream(seed, "long", "told", life.person.slug)
    talker = DetailedTalker(life.person, timeline, rng)
    return tuple(
        DraftSession(event.on, tuple(talker.event(event)), event) for event in timeline.events if event.topic in topics
    )


def _items(seed: int, life: Life, drafts: tuple[DraftSession, ...], asked: date) -> tuple[LifeItem, ...]:
    return tuple(_item(MAKERS[need.category](_Writer(seed, life, need, drafts, asked))) for need in life.needs)


def _item(made: Made) -> LifeItem:
    """Return an item for long histories, without the slices on noise, which the size determines."""
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


def _alone(life: Life, drafts: tuple[DraftSession, ...], item: LifeItem) -> Made:
    """Return an item in a history with only the relevant sessions of the life."""
    steps = tuple(
        Ingest(session=session(f"s{i:03d}", each.on.isoformat(), each.lines, life.person), source_id="")
        for i, each in enumerate(drafts, start=1)
    )
    key = ItemKey(
        item_id=item.item_id,
        scenario_id=item.item_id,
        question_ids=(item.ask.question_id,),
        category=item.category,
        cluster=life.person.slug,
        slices=item.slices,
        evidence=tuple(f"s{i:03d}" for i, each in enumerate(drafts, start=1) if each.on in item.rests_on),
        key=item.key,
    )
    return Made(Scenario(scenario_id=item.item_id, steps=(*steps, item.ask)), key)


class _Writer(Writer):
    """Creates items from the existing sessions of a life, which all its items share.

    Args:
        seed: seed of the generator.
        life: the life.
        need: the planned item.
        drafts: the relevant sessions of the life.
        asked: the day of the questions.
    """

    def __init__(self, seed: int, life: Life, need: Need, drafts: Sequence[DraftSession], asked: date) -> None:
        super().__init__(seed, life, need)
        self.rng = stream(seed, "long", "item", need.scenario_id)
        self._lines = {each.on: each.lines for each in drafts}
        self._asked = asked

    def tell(self, events: tuple[TimelineEvent, ...] | list[TimelineEvent]) -> None:
        """Add the sessions that state the events."""
        for event in events:
            self._add(DraftSession(event.on, self._lines[event.on], event))

    def background(self, number: int, start: date, end: date, avoid: frozenset[str]) -> int:
        """Add nothing: the size determines the filler sessions."""
        return 0

    def chatter(self, number: int, start: date, end: date) -> None:
        """Add nothing; see :meth:`background`."""

    def later(self, least: int = 2, most: int = 12) -> date:
        """Return the day of the questions."""
        return self._asked

    def name(self) -> str:
        """Return the full name, because other people may have the same first name."""
        return self.life.person.name
