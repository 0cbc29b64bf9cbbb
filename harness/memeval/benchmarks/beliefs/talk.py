"""Writes conversations: sessions that state events, and sessions of chatter."""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from functools import lru_cache

from memeval.benchmarks.beliefs.streams import Hand
from memeval.benchmarks.beliefs.timeline import Act, Manner, Timeline, TimelineEvent
from memeval.benchmarks.beliefs.vocabulary import BY_ID, TOPICS, Form, Topic, TopicValue, clause
from memeval.benchmarks.beliefs.vocabulary.frames import FRAMES
from memeval.benchmarks.beliefs.vocabulary.people import Person
from memeval.benchmarks.beliefs.vocabulary.smalltalk import THEMES, Theme

USER, ASSISTANT = "user", "assistant"

_GROUPED = frozenset(BY_ID) - {topic.id for topic in TOPICS}
"""Topics that depend on one another. Their turns contain no question, because an answer that repeats the turn would
look like one that asks back."""


@dataclass(frozen=True, slots=True)
class DraftTurn:
    """One turn before it has an id."""

    role: str
    text: str


_LATER_START = re.compile(r"[.?!] [^\W\d_A-Z]")
"""The start of a sentence after another one, without a capital."""


def sentence(text: str) -> str:
    """Return ``text`` with a capital at the start of every sentence."""
    if text[:1].isalpha():
        text = text[0].upper() + text[1:]
    return _LATER_START.sub(lambda found: found.group().upper(), text)


class Talker:
    """Writes the sessions of one scenario, without repeating its own wording.

    Args:
        person: the user.
        timeline: the facts of the user.
        rng: random stream of the scenario.
    """

    def __init__(self, person: Person, timeline: Timeline, rng: random.Random) -> None:
        self.person = person
        self.timeline = timeline
        self.rng = rng
        self.hand = Hand(rng)

    def event(self, event: TimelineEvent) -> list[DraftTurn]:
        """Return a session that states ``event``."""
        topic = BY_ID[event.topic]
        if event.act is Act.ANNOUNCE and event.about is None and self._indirect(event, topic):
            return self._in_passing(topic, event.value)
        statement, noted = self._statement_and_reply(event, topic)
        leads = event.about is None and event.act in (Act.ANNOUNCE, Act.CONFIRM)
        return self._conversation(topic, statement, noted, leads)

    def chatter(self) -> list[DraftTurn]:
        """Return a session without facts."""
        ask, reply, more, end = self._theme()
        lines = [
            DraftTurn(USER, ask),
            DraftTurn(ASSISTANT, self._addressed(reply)),
            DraftTurn(USER, more),
            DraftTurn(ASSISTANT, end),
        ]
        return self._close(lines, 0.15)

    def _indirect(self, event: TimelineEvent, topic: Topic) -> bool:
        """Return whether to state the event in passing; never if it will be taken back."""
        gone = event in self.timeline.taken_back(event.topic)
        return event.manner is Manner.INDIRECT and bool(topic.hints) and not gone

    def _slots(self, topic: Topic, value: TopicValue) -> dict[str, str]:
        return {
            "v": value.text,
            "bare": value.phrases[0],
            "label": topic.label,
            "first": self.person.first,
            "do": clause(topic, value, Form.BASE, "my"),
            "doing": clause(topic, value, Form.GERUND, "my"),
            "you_do": clause(topic, value, Form.BASE, "your"),
            "youing": clause(topic, value, Form.GERUND, "your"),
        }

    def _statement_and_reply(self, event: TimelineEvent, topic: Topic) -> tuple[str, str]:
        """Return the sentence of the user and the reply of the assistant."""
        slots = self._slots(topic, event.value)
        if event.about is not None:
            return self._other(event, topic, slots)
        if event.act is Act.MUSE:
            return self._said(FRAMES.musing, slots), self._said(FRAMES.noted_musing, slots)
        if event.act is Act.CONFIRM:
            changed = self.timeline.ground_changed(topic.id, event.on)
            pool = FRAMES.still if changed is None else FRAMES.still_all_the_same
            return self._said(pool, slots), self._said(FRAMES.noted, slots)
        if event.act is Act.RETRACT:
            kept = self.timeline.current(topic.id, event.on)
            if kept is None or self.rng.random() < 0.4:
                return self._said(FRAMES.taken_back_bare, slots), self._said(FRAMES.noted_taken_back, slots)
            slots |= {"cur": kept.value.text, "do_cur": clause(topic, kept.value, Form.BASE, "my")}
            return self._said(FRAMES.taken_back, slots), self._said(FRAMES.noted_taken_back, slots)
        return self._announcement(event, topic, slots)

    def _announcement(self, event: TimelineEvent, topic: Topic, slots: dict[str, str]) -> tuple[str, str]:
        if event in self.timeline.taken_back(topic.id):
            return self._said(FRAMES.plan, slots), self._said(FRAMES.noted_plan, slots)
        noted = self._said(FRAMES.noted, slots)
        base = self.timeline.rests_on.get(topic.id)
        if base is not None:
            state = self.timeline.state_at(base, event.on, event.on)
            if state is None:
                raise ValueError(f"{topic.id} rests on {base}, of which nothing was known on {event.on}.")
            return self._said(topic.because, slots | {"base": state.value.text}), noted
        before = self.timeline.previous(topic.id, event.value)
        if before is None:
            return self._said(FRAMES.first, slots), noted
        noted = self._said(FRAMES.noted_new, slots)
        if self.rng.random() < 0.35:
            return self._said(FRAMES.update_naming_both, slots | {"old": before.value.text}), noted
        return f"{self._said(FRAMES.update, slots)} {self.hand.draw(FRAMES.tails)}", noted

    def _other(self, event: TimelineEvent, topic: Topic, slots: dict[str, str]) -> tuple[str, str]:
        who = event.about
        if who is None:
            raise ValueError("an event about nobody else.")
        slots |= {
            "rel": who.mine,
            "she": who.she,
            "her": who.her,
            "him": who.him,
            "does": clause(topic, event.value, Form.THIRD, who.her),
        }
        return self._said(FRAMES.others, slots), self._said(FRAMES.noted_others, slots)

    def _said(self, pool: tuple[str, ...], slots: dict[str, str]) -> str:
        return sentence(self.hand.draw(pool).format(**slots))

    def _addressed(self, text: str) -> str:
        """Return the text of the assistant, sometimes with the name of the person."""
        shape = self.rng.randrange(4)
        if shape == 0 and lowers(text):
            return f"{self.person.first}, {text[0].lower()}{text[1:]}"
        if shape == 1:
            return f"{text} Does that help, {self.person.first}?"
        return text

    def _theme(self) -> tuple[str, str, str, str]:
        """Return request, reply, addition and closing reply; the assistant says *your* for *my*."""
        theme: Theme = self.hand.draw(THEMES)
        slots = {"a": self.rng.choice(theme.a), "b": self.rng.choice(theme.b)}
        slots |= {f"the_{name}": mentioned(text) for name, text in slots.items()}
        theirs = {name: yours(text) for name, text in slots.items()}
        more, end = self.rng.choice(list(zip(theme.more, theme.end, strict=True)))
        ask, reply = self.rng.choice(theme.ask), self.rng.choice(theme.reply)
        return (
            sentence(ask.format(**slots)),
            sentence(reply.format(**theirs)),
            sentence(more.format(**slots)),
            sentence(end.format(**theirs)),
        )

    def _in_passing(self, topic: Topic, value: TopicValue) -> list[DraftTurn]:
        """Return a session about another subject, with a remark that implies the new value."""
        slots = {"v": value.text, "bare": value.phrases[0]}
        hint = sentence(self.hand.draw(topic.hints).format(**slots))
        ask, reply, more, end = self._theme()
        aside = self.hand.draw(FRAMES.aside).format(first=self.person.first)
        turn = self.hand.draw(FRAMES.by_the_way)
        shape = self.rng.randrange(2)
        if topic.id in _GROUPED:
            remark = [DraftTurn(USER, hint), DraftTurn(ASSISTANT, aside)]
            asked = [DraftTurn(USER, ask), DraftTurn(ASSISTANT, self._addressed(reply))]
            lines = [*remark, *asked] if shape else [*asked, *remark]
        elif shape:
            lines = [DraftTurn(USER, f"{hint} {turn} {ask}"), DraftTurn(ASSISTANT, f"{aside} {reply}")]
            lines += [DraftTurn(USER, more), DraftTurn(ASSISTANT, end)]
        else:
            lines = [DraftTurn(USER, ask), DraftTurn(ASSISTANT, reply)]
            lines += [DraftTurn(USER, f"{more} {hint}"), DraftTurn(ASSISTANT, f"{aside} {end}")]
        return self._close(lines, 0.3)

    def _conversation(self, topic: Topic, statement: str, noted: str, leads: bool) -> list[DraftTurn]:
        """Return a session that contains ``statement``.

        Args:
            topic: the topic of the statement.
            statement: the sentence of the user.
            noted: the reply of the assistant.
            leads: whether it may answer a question of the assistant.
        """
        aside = f"{self.hand.draw(FRAMES.by_the_way)}"
        if self.hand.left(topic.openers) == 0 or self.hand.left(topic.tips) == 0 or self.rng.random() < 0.25:
            ask, reply, more, end = self._theme()
            lines = [
                DraftTurn(USER, ask),
                DraftTurn(ASSISTANT, self._addressed(reply)),
                DraftTurn(USER, more),
                DraftTurn(ASSISTANT, end),
            ]
            return self._close([*lines, DraftTurn(USER, f"{aside} {statement}"), DraftTurn(ASSISTANT, noted)], 0.3)
        tip, opener = self.hand.draw(topic.tips), self.hand.draw(topic.openers)
        shape = self.rng.randrange(0 if leads else 1, 2 if topic.id in _GROUPED else 3)
        if shape == 0:
            pool = FRAMES.answers if opener.endswith("?") else FRAMES.prompts
            lines = [
                DraftTurn(USER, opener),
                DraftTurn(ASSISTANT, self.hand.draw(pool).format(first=self.person.first)),
            ]
            lines += [DraftTurn(USER, statement), DraftTurn(ASSISTANT, f"{noted} {tip}")]
        elif shape == 1:
            lines = [
                DraftTurn(USER, statement),
                DraftTurn(ASSISTANT, noted),
                DraftTurn(USER, opener),
                DraftTurn(ASSISTANT, tip),
            ]
        else:
            ask, reply, _, _ = self._theme()
            lines = [DraftTurn(USER, f"{statement} {aside} {ask}"), DraftTurn(ASSISTANT, f"{noted} {reply}")]
            lines += [DraftTurn(USER, opener), DraftTurn(ASSISTANT, tip)]
        return self._close(lines, 0.3)

    def _close(self, lines: list[DraftTurn], chance: float) -> list[DraftTurn]:
        """Return the lines, with a goodbye at the given probability."""
        if self.rng.random() < chance:
            thanks = f"{self.hand.draw(FRAMES.thanks)}. {self.hand.draw(FRAMES.partings)}"
            lines += [
                DraftTurn(USER, thanks),
                DraftTurn(ASSISTANT, self.hand.draw(FRAMES.welcome).format(first=self.person.first)),
            ]
        return lines


@lru_cache(maxsize=4096)
def mentioned(text: str) -> str:
    """Return a noun phrase for its second mention: *the letter* for *a letter*."""
    article, _, rest = text.partition(" ")
    return f"the {rest}" if article in ("a", "an") else text


_OURS = re.compile(r"\b(my|our)\b")


@lru_cache(maxsize=4096)
def yours(text: str) -> str:
    """Return a noun phrase in the words of the other speaker: *your* for *my*."""
    return _OURS.sub("your", text)


def lowers(text: str) -> bool:
    """Return whether the first word can be lower case: it is neither a name nor ``I``."""
    word = text.partition(" ")[0]
    return word.isalpha() and word in _PLAIN


_PLAIN = frozenset(
    {
        *("A", "An", "As", "Ask", "Begin", "Break", "By", "Choose", "Draw", "Empty", "For", "Go", "In", "Keep", "Let"),
        *("Look", "One", "Open", "Put", "Read", "Ring", "Round", "Say", "Something", "Start", "Switch", "Tell", "The"),
        *("Three", "Try", "Usually", "With", "Write"),
    }
)
"""First words of replies that are ordinary words."""
