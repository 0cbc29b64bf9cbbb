"""delta-efficiency: twenty questions in one conversation, with news between them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, timedelta

from memeval.benchmarks.beliefs import facts
from memeval.benchmarks.beliefs.history import DraftSession, Made, Writer
from memeval.benchmarks.beliefs.streams import Hand
from memeval.benchmarks.beliefs.timeline import Act, TimelineEvent
from memeval.benchmarks.beliefs.vocabulary import BY_ID, TOPICS
from memeval.keys import DeltaKey, Fact, ItemKey
from memeval.records.scenario import Ask, Ingest, Scenario, Step

QUESTIONS = 20
ESTABLISHED = (5, 6)
"""Minimum and maximum number of topics before the first question."""

_ALL = (
    "What do you know about {name} so far?",
    "Give me the full picture of {name} as things stand.",
    "Please sum up everything that holds for {name} at the moment.",
    "If you had to introduce {name} to someone, which facts would you mention?",
    "List the current state of affairs for {name}, topic by topic.",
    "I need an up-to-date profile of {name}. What goes into it?",
)
_TWO = (
    "What are {name}'s {a} and {b} right now?",
    "Remind me of {name}'s {a}, and also of the {b}.",
    "For {name}, what should I note under {a}, and what under {b}?",
    "Two things about {name}, please: the {a} and the {b}.",
    "How do {a} and {b} stand with {name}?",
)
_NEWS = (
    "What is new with {name} since we last talked?",
    "Anything I should add to my notes on {name}?",
    "What has {name} told you lately that you didn't know before?",
    "Which recent news is there from {name}?",
    "What is the latest that you have heard from {name}?",
    "Has {name} mentioned anything since my last question?",
)
_KINDS = {"all": 3, "two": 5, "one": 12}
"""Numbers of the questions without news, by kind."""


@dataclass
class _State:
    """Known facts during the conversation."""

    known: dict[str, Fact] = field(default_factory=dict)
    """Current fact of each topic, in the order of first mention."""
    news: list[str] = field(default_factory=list)
    """Topics with news since the last question."""


def make(writer: Writer) -> Made:
    """Return the item of twenty questions."""
    established, injected = _choose(writer)
    writer.tell(established)
    cut = writer.last
    writer.chatter(writer.rng.randint(2, 4), writer.first - timedelta(days=3), cut + timedelta(days=5))
    last_before = writer.last
    writer.tell([event for event in injected if event.on > last_before])
    sessions = writer.sessions()
    return _converse(writer, sessions, last_before)


def _choose(writer: Writer) -> tuple[list[TimelineEvent], list[TimelineEvent]]:
    """Return the events before the first question, and those between later questions.

    Established topics first appear early in the life. News are their changes, and topics that first appear later.
    """
    timeline, rng = writer.life.timeline, writer.rng
    plain = [
        topic.id
        for topic in TOPICS
        if timeline.of(topic.id) and all(event.act is Act.ANNOUNCE for event in timeline.of(topic.id))
    ]
    born = {topic: timeline.of(topic)[0].on for topic in plain}
    dawn = min(born.values())
    early = [topic for topic in plain if born[topic] < dawn + timedelta(days=62)]
    late = [topic for topic in plain if topic not in early]
    changing = [topic for topic in early if timeline.changes(topic)]
    chosen = rng.sample(changing, min(len(changing), 3))
    rest = [topic for topic in early if topic not in chosen]
    chosen += rng.sample(rest, min(len(rest), rng.randint(*ESTABLISHED) - len(chosen)))
    cut = max(born[topic] for topic in chosen)
    new = [topic for topic in late if born[topic] > cut + timedelta(days=10)]
    chosen += rng.sample(new, min(len(new), 2))
    events = sorted((event for topic in chosen for event in timeline.of(topic)), key=lambda event: event.on)
    before = [event for event in events if event.on <= cut]
    after = [event for event in events if event.on > cut + timedelta(days=5)]
    if len(before) + len(after) != len(events):
        raise ValueError(f"{writer.need.scenario_id}: a fact falls between establishing and news.")
    return before, after[: int(writer.need.traits["news"])]


def _converse(writer: Writer, sessions: tuple[tuple[DraftSession, Ingest], ...], cut: date) -> Made:
    """Arrange questions and news, and record the known facts after each step."""
    rng, person, need = writer.rng, writer.life.person, writer.need
    early = [pair for pair in sessions if pair[0].on <= cut]
    news = [pair for pair in sessions if pair[0].on > cut]
    gaps = sorted(rng.sample(range(5, QUESTIONS - 2), len(news)))
    state, asker = _State(), _Asker(writer)
    steps: list[Step] = []
    by_turn: list[tuple[Fact, ...]] = []
    today = cut
    for draft, step in early:
        steps.append(step)
        _learn(writer, state, draft)
    state.news.clear()
    for turn in range(QUESTIONS):
        if turn in gaps:
            draft, step = news[gaps.index(turn)]
            steps.append(step)
            today = draft.on
            _learn(writer, state, draft)
        horizon = [pair[0].on for pair in news if pair[0].on > today]
        today = min([today + timedelta(days=1), *(day - timedelta(days=1) for day in horizon)])
        question, gold = asker.ask(state)
        by_turn.append(gold)
        steps.append(
            Ask(question_id=f"{need.scenario_id}:q{turn + 1:02d}", question=question, timestamp=today.isoformat())
        )
        state.news.clear()
    scenario = Scenario(scenario_id=need.scenario_id, steps=tuple(steps), agent_keeps_context=True)
    updates = sum(
        1 for draft, _ in news if draft.event and writer.life.timeline.previous(draft.event.topic, draft.event.value)
    )
    indirect = sum(1 for draft, _ in news if draft.event and draft.event.manner == "indirect")
    key = ItemKey(
        item_id=need.scenario_id,
        scenario_id=need.scenario_id,
        question_ids=tuple(ask.question_id for ask in scenario.questions()),
        category=need.category,
        cluster=person.slug,
        slices={
            "difficulty": facts.difficulty(updates - 2 + int(indirect > 2)),
            "family": "mixed",
            "news": str(len(news)),
            "noise": facts.noise(len(sessions), sum(1 for draft, _ in sessions if draft.event is not None)),
            "updates": str(updates),
        },
        evidence=tuple(step.session.session_id for draft, step in sessions if draft.event is not None),
        key=DeltaKey(facts_by_turn=tuple(by_turn)),
    )
    return Made(scenario, key, tuple(draft for draft, _ in sessions))


def _learn(writer: Writer, state: _State, draft: DraftSession) -> None:
    """Add the fact of a session to the known facts."""
    if draft.event is None:
        return
    topic = draft.event.topic
    now = writer.life.timeline.state_at(topic, draft.on, draft.on)
    if now is not None:
        state.known[topic] = facts.holds(writer.life.person, topic, now.value)
        state.news.append(topic)


class _Asker:
    """Chooses the next question, without repetitions."""

    def __init__(self, writer: Writer) -> None:
        self.writer = writer
        self.hand = Hand(writer.rng)
        self.asked: set[str] = set()
        kinds = [kind for kind, number in _KINDS.items() for _ in range(number)]
        writer.rng.shuffle(kinds)
        self.kinds = ["all", *kinds]
        self.ways: dict[str, Callable[[_State], tuple[str, tuple[Fact, ...]]]] = {
            "all": self._all,
            "two": self._two,
            "one": self._one,
            "news": self._news,
        }

    def ask(self, state: _State) -> tuple[str, tuple[Fact, ...]]:
        """Return a new question and the facts that its answer should contain."""
        kind = "news" if state.news else self.kinds.pop(0)
        for _ in range(200):
            question, gold = self.ways[kind](state)
            if question not in self.asked:
                self.asked.add(question)
                return question, gold
        raise ValueError(f"{self.writer.need.scenario_id}: no new question of kind {kind!r} is left.")

    def _all(self, state: _State) -> tuple[str, tuple[Fact, ...]]:
        return self.hand.draw(_ALL).format(name=self.writer.name()), tuple(state.known.values())

    def _news(self, state: _State) -> tuple[str, tuple[Fact, ...]]:
        if self.writer.rng.random() < 0.25:
            return self._about(state.news[-1], state)
        question = self.hand.draw(_NEWS).format(name=self.writer.name())
        return question, tuple(state.known[topic] for topic in state.news)

    def _two(self, state: _State) -> tuple[str, tuple[Fact, ...]]:
        a, b = self.writer.rng.sample(list(state.known), 2)
        labels = {"a": BY_ID[a].label, "b": BY_ID[b].label}
        question = self.hand.draw(_TWO).format(name=self.writer.name(), **labels)
        return question, (state.known[a], state.known[b])

    def _one(self, state: _State) -> tuple[str, tuple[Fact, ...]]:
        return self._about(self.hand.draw(tuple(state.known)), state)

    def _about(self, topic: str, state: _State) -> tuple[str, tuple[Fact, ...]]:
        question = self.writer.rng.choice(BY_ID[topic].now)
        return question.format(name=self.writer.name(), my=self.writer.life.person.her), (state.known[topic],)
