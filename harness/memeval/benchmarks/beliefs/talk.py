"""Writes the sessions of a life, those that state events and those of small talk, and puts them in order of days."""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache

from memeval.benchmarks.beliefs.lives import STREAMS, Life
from memeval.benchmarks.beliefs.wording.editions import Vocabulary
from memeval.benchmarks.beliefs.wording.packs import SCRIPTS, Theme, WordedTopic
from memeval.benchmarks.kit.checks import says
from memeval.benchmarks.kit.people import RELATIONS
from memeval.benchmarks.kit.streams import Hand, stream
from memeval.benchmarks.kit.talk import ASSISTANT, USER, DraftTurn, mentioned, sentence, session, yours
from memeval.benchmarks.kit.timeline import Act, Form, Manner, TimelineEvent, TopicValue
from memeval.records.scenario import Ingest, Session

CLOSED = 0.25
"""Share of the sessions that end with a goodbye."""

LENGTH = (420, 600)
"""Fewest and most characters of a session without goodbye."""

CHATTER = 340
"""Characters of the first of two subjects in a session of small talk."""

VERSIONS = 8
"""Versions of small talk of which the one with the fitting length is taken."""

Slots = Mapping[str, str]


class Talker:
    """Writes the sessions of one life, and repeats a sentence only when all others are used up."""

    def __init__(self, life: Life, vocabulary: Vocabulary, rng: random.Random) -> None:
        self.person, self.timeline = life.person, life.timeline
        self.words, self.frames = vocabulary, vocabulary.frames
        self.rng = rng
        self.hand = Hand(rng)
        self._free = {topic.id: self._unused(topic) for topic in vocabulary.by_id.values()}

    def event(self, event: TimelineEvent) -> list[DraftTurn]:
        topic = self.words.by_id[event.topic]
        lines = self._lines(event, topic)
        return self._closed(lines)

    def chatter(self) -> list[DraftTurn]:
        talk = self._small_talk(CHATTER)
        return self._closed([*talk, *self._small_talk(self._room(*(line.text for line in talk)), 2)])

    def _unused(self, topic: WordedTopic) -> list[TopicValue]:
        said = {event.value for event in self.timeline.events if event.topic == topic.id}
        return [value for value in topic.values if value not in said]

    def _lines(self, event: TimelineEvent, topic: WordedTopic) -> list[DraftTurn]:
        slots = self._slots(topic, event)
        if event.about is not None:
            said = "quoted" if event.manner is Manner.INDIRECT else "others"
            return self._around(topic, self._framed(said, slots), self._framed("noted_others", slots))
        match event.act:
            case Act.MUSE:
                said, noted = "musing", "noted_musing"
            case Act.FORMER:
                said, noted = "former", "noted_former"
            case Act.CONFIRM:
                changed = self.timeline.ground_changed(topic.id, event.on)
                said, noted = "still" if changed is None else "still_all_the_same", "noted"
            case Act.RETRACT:
                kept = self.timeline.current(topic.id, event.on)
                bare = kept is None or self.rng.random() < 0.4
                said, noted = "taken_back_bare" if bare else "taken_back", "noted_taken_back"
                if kept is not None:
                    slots = {**slots, "cur": kept.value.text, "do_cur": topic.clause(kept.value, Form.BASE, "my")}
            case Act.ANNOUNCE:
                return self._announced(event, topic, slots)
        return self._around(topic, self._framed(said, slots), self._framed(noted, slots))

    def _announced(self, event: TimelineEvent, topic: WordedTopic, slots: Slots) -> list[DraftTurn]:
        if event in self.timeline.taken_back(topic.id):
            return self._around(topic, self._framed("plan", slots), self._framed("noted_plan", slots))
        base = self.timeline.rests_on.get(topic.id)
        if base is not None:
            state = self.timeline.state_at(base, event.on, event.on)
            if state is None:
                raise ValueError(f"{topic.id} rests on {base}, of which nothing was known on {event.on}.")
            said = self._said(topic.because, {**slots, "base": state.value.text})
            return self._around(topic, said, self._framed("noted", slots))
        if event.manner is Manner.INDIRECT and topic.hints:
            return self._in_passing(self._said(topic.hints, slots))
        before = self.timeline.previous(topic.id, event.value)
        noted = self._framed("noted" if before is None else "noted_new", slots)
        if before is not None:
            slots = {**slots, "old": before.value.text}
        if event.manner is Manner.ELLIPTIC and before is not None:
            return self._elliptic(topic, slots, noted)
        return self._around(topic, self._statement(event, slots, first=before is None), noted)

    def _statement(self, event: TimelineEvent, slots: Slots, *, first: bool) -> str:
        free = self._free[event.topic]
        if event.manner is Manner.CORRECTED and free:
            return self._framed("corrected", {**slots, "slip": self.hand.draw(free).text})
        if event.manner is Manner.THIRD_PERSON:
            busy = {each.about for each in self.timeline.others(event.topic)}
            who = self.rng.choice([each for each in RELATIONS if each not in busy])
            people = {"rel": who.mine, "she": who.she, "her": who.her, "him": who.him}
            return self._framed("third_person", {**slots, **people})
        if first:
            return self._framed("first", slots)
        if self.rng.random() < 0.35:
            return self._framed("update_naming_both", slots)
        said = self._framed("update", slots)
        return f"{said} {self._drawn('tails')}" if self.rng.random() < 0.7 else said

    def _slots(self, topic: WordedTopic, event: TimelineEvent) -> Slots:
        value, who = event.value, event.about
        slots = {
            "v": value.text,
            "bare": value.phrases[0],
            "label": topic.label,
            "first": self.person.first,
            "do": topic.clause(value, Form.BASE, "my"),
            "doing": topic.clause(value, Form.GERUND, "my"),
            "did": topic.clause(value, Form.PAST, "my"),
            "you_do": topic.clause(value, Form.BASE, "your"),
            "youing": topic.clause(value, Form.GERUND, "your"),
        }
        if who is not None:
            does = topic.clause(value, Form.THIRD, who.her)
            slots |= {"rel": who.mine, "she": who.she, "her": who.her, "him": who.him, "does": does}
        return slots

    def _said(self, pool: tuple[str, ...], slots: Slots) -> str:
        return sentence(self.hand.draw(pool).format(**slots))

    def _drawn(self, name: str) -> str:
        return self.hand.draw(self.frames[name])

    def _framed(self, name: str, slots: Slots) -> str:
        return self._said(self.frames[name], slots)

    def _plain(self, name: str) -> str:
        return self._framed(name, {"first": self.person.first})

    def _small_talk(self, room: int, turns: int = 4) -> list[DraftTurn]:
        """Return request, reply, addition and closing reply; the assistant says *your* for *my*.

        ``room``: characters that the session has left; the closest of some versions is taken, so that the length of a
        session says nothing about its event. ``turns``: 2 for request and reply alone.
        """
        theme = self.words.themes[self.hand.draw(range(len(self.words.themes)))]
        versions = [self._version(theme)[:turns] for _ in range(VERSIONS)]
        texts = min(versions, key=lambda each: abs(sum(map(len, each)) - room))
        return [DraftTurn(role, text) for role, text in zip((USER, ASSISTANT) * 2, texts, strict=False)]

    def _version(self, theme: Theme) -> tuple[str, str, str, str]:
        a, b = self.rng.choice(theme.a), self.rng.choice(theme.b)
        end = self.rng.choice(range(len(theme.end)))
        ask, reply = self.rng.choice(theme.ask), self.rng.choice(theme.reply)
        return (
            _worded(USER, ask, a, b),
            _worded(ASSISTANT, reply, a, b),
            _worded(USER, theme.more[end], a, b),
            _worded(ASSISTANT, theme.end[end], a, b),
        )

    def _room(self, *texts: str) -> int:
        return self.rng.randint(*LENGTH) - sum(map(len, texts))

    def _in_passing(self, hint: str) -> list[DraftTurn]:
        aside, turn = self._plain("aside"), self._drawn("by_the_way")
        first, reply, more, end = self._small_talk(self._room(hint, aside))
        shape = self.rng.choice((0, 1, 2, 2, 2))
        if shape == 0:
            opening = DraftTurn(USER, f"{hint} {turn} {first.text}")
            return [opening, DraftTurn(ASSISTANT, f"{aside} {reply.text}"), more, end]
        if shape == 1:
            added = DraftTurn(USER, f"{more.text} {turn} {hint}")
            return [first, reply, added, DraftTurn(ASSISTANT, f"{end.text} {aside}")]
        return [first, reply, more, end, DraftTurn(USER, hint), DraftTurn(ASSISTANT, aside)]

    def _elliptic(self, topic: WordedTopic, slots: Slots, noted: str) -> list[DraftTurn]:
        script = self._drawn(SCRIPTS).split("\n")
        roles = (USER, ASSISTANT) * len(script)
        texts = [sentence(text.format(**slots)) for text in script]
        if self.hand.left(topic.tips):
            noted = f"{noted} {self.hand.draw(topic.tips)}"
        talk = [] if len(script) > 3 else self._small_talk(self._room(*texts, noted), 2)
        lines = [DraftTurn(role, text) for role, text in zip(roles, texts, strict=False)]
        return [*talk, *lines, DraftTurn(ASSISTANT, noted)]

    def _around(self, topic: WordedTopic, said: str, noted: str) -> list[DraftTurn]:
        shape, turn = self.rng.choice((0, 1, 2, 3, 3)), self._drawn("by_the_way")
        if shape in (1, 2) and self.hand.left(topic.openers) and self.hand.left(topic.tips):
            opener, tip = self.hand.draw(topic.openers), self.hand.draw(topic.tips)
            talk = self._small_talk(self._room(said, noted, opener, tip), 2)
            if shape == 1:
                asked_back = self._plain("answers" if opener.endswith("?") else "prompts")
                lines = [(USER, opener), (ASSISTANT, asked_back), (USER, said), (ASSISTANT, f"{noted} {tip}")]
                return [*talk, *(DraftTurn(role, text) for role, text in lines)]
            lines = [(USER, said), (ASSISTANT, noted), (USER, opener), (ASSISTANT, tip)]
            return [*(DraftTurn(role, text) for role, text in lines), *talk]
        talk = self._small_talk(self._room(said, noted))
        if shape == 3:
            first, reply, *rest = talk
            opening = DraftTurn(USER, f"{said} {turn} {first.text}")
            return [opening, DraftTurn(ASSISTANT, f"{noted} {reply.text}"), *rest]
        return [*talk, DraftTurn(USER, f"{turn} {said}"), DraftTurn(ASSISTANT, noted)]

    def _closed(self, lines: Sequence[DraftTurn]) -> list[DraftTurn]:
        if self.rng.random() >= CLOSED:
            return list(lines)
        thanks = f"{self._drawn('thanks')}. {self._drawn('partings')}"
        return [*lines, DraftTurn(USER, thanks), DraftTurn(ASSISTANT, self._plain("welcome"))]


@lru_cache(maxsize=1 << 16)  # of eight versions one is kept, so that most sentences come again
def _worded(role: str, pattern: str, a: str, b: str) -> str:
    if role == ASSISTANT:
        a, b = yours(a), yours(b)
    return sentence(pattern.format(a=a, b=b, the_a=mentioned(a), the_b=mentioned(b)))


CHATTER_SESSIONS = (12, 18)
"""Fewest and most sessions of small talk in a history."""


@dataclass(frozen=True)
class History:
    life: Life
    steps: tuple[Ingest, ...]
    events: tuple[TimelineEvent | None, ...]
    """The event of each session; ``None`` for small talk."""

    @property
    def last(self) -> date:
        return date.fromisoformat(self.steps[-1].session.date)

    def session_of(self, event: TimelineEvent) -> Session:
        return self.steps[self.events.index(event)].session

    def stating(self, events: Iterable[TimelineEvent], value: TopicValue) -> tuple[str, ...]:
        """Return the turns that state a value in the sessions of some events, the shortest first."""
        turns = [turn for event in events for turn in self.session_of(event).turns if says(value.phrases, turn.content)]
        return tuple(turn.turn_id for turn in sorted(turns, key=lambda turn: (len(turn.content), turn.turn_id)))


def write(
    seed: int,
    life: Life,
    vocabulary: Vocabulary,
    talkers: type[Talker] = Talker,
    chatter: tuple[int, int] = CHATTER_SESSIONS,
) -> History:
    """Write the sessions of a life: one for each event, and small talk on other days."""
    rng = stream(STREAMS, seed, "history", life.person.slug)
    talker = talkers(life, vocabulary, rng)
    events = sorted(life.timeline.events, key=lambda event: event.on)
    drafts: list[tuple[date, Sequence[DraftTurn], TimelineEvent | None]] = [
        (event.on, talker.event(event), event) for event in events
    ]
    busy = {event.on for event in events}
    days = [
        events[0].on - timedelta(days=10) + timedelta(days=i) for i in range((events[-1].on - events[0].on).days + 20)
    ]
    for day in rng.sample([day for day in days if day not in busy], rng.randint(*chatter)):
        drafts.append((day, talker.chatter(), None))
    drafts.sort(key=lambda draft: draft[0])
    steps = tuple(_step(life, f"s{number:03d}", on, lines) for number, (on, lines, _) in enumerate(drafts, start=1))
    return History(life, steps, tuple(event for _, _, event in drafts))


def _step(life: Life, ordinal: str, on: date, lines: Sequence[DraftTurn]) -> Ingest:
    told = session(ordinal, on.isoformat(), lines, life.person)
    return Ingest(session=told, source_id=f"{life.person.slug}:{on.isoformat()}")
