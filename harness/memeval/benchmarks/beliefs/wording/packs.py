"""The content of a wording pack, and the rules that every pack must satisfy."""

import re
import string
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Annotated

from pydantic import BeforeValidator, Field, ValidationError

from memeval.benchmarks.kit.checks import says
from memeval.benchmarks.kit.timeline import Form, TopicValue
from memeval.records.base import Record, misfit
from memeval.records.errors import BadInput
from memeval.toml import read_words

LARGEST = 400_000
"""Largest pack, in bytes."""

FEWEST_FRAMES = 150


def _tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


def _value(written: object) -> object:
    if isinstance(written, str) or (isinstance(written, list) and all(isinstance(each, str) for each in written)):
        return TopicValue.from_file(written)
    return written


Texts = Annotated[tuple[str, ...], BeforeValidator(_tuple), Field(min_length=1)]
Value = Annotated[TopicValue, BeforeValidator(_value)]


class WordedTopic(Record):
    id: str
    """Unique over all packs: ``breakfast``."""
    label: str
    """What it is called, as in *my breakfast*."""
    verb: Annotated[tuple[str, str, str, str], BeforeValidator(_tuple)]
    """Its verb: base form, third person, gerund, past."""
    rest: str
    """The rest of its verb phrase, with ``{v}`` and perhaps ``{my}``: ``{v} for breakfast``."""
    now: Texts
    """Questions for the present value, with ``{name}``."""
    past: Texts
    """Questions for the value at a time ``{when}``, with ``{name}``."""
    values: Annotated[tuple[Value, ...], BeforeValidator(_tuple)]
    hints: Annotated[tuple[str, ...], BeforeValidator(_tuple)] = ()
    """Remarks from which the value ``{v}`` follows, though nobody says that it is new."""
    because: Annotated[tuple[str, ...], BeforeValidator(_tuple)] = ()
    """Of a dependent topic: how it is said that ``{do}`` rests on ``{base}``."""
    openers: Texts
    """What a conversation around the topic may begin with; no value in them."""
    tips: Texts
    """What the assistant may add; no value in them."""

    def clause(self, value: TopicValue, form: Form, my: str) -> str:
        """Return the verb phrase with a value in it.

        ``form``: the form of its verb. ``my``: the possessive of whoever does it: ``my``, ``your``, ``her``.
        """
        verb = self.verb[list(Form).index(form)]
        return f"{verb} {self.rest}".format(v=value.text, my=my)

    def texts(self) -> Iterator[str]:
        yield from (*self.now, *self.past, *self.hints, *self.because, *self.openers, *self.tips)


class Theme(Record):
    a: Texts
    b: Texts
    ask: Texts
    """The request, with ``{a}`` and ``{b}``."""
    reply: Texts
    """The assistant's reply, with ``{a}``, ``{b}``, ``{the_a}`` and ``{the_b}``."""
    more: Texts
    end: Texts


@dataclass(frozen=True)
class FrameRule:
    """What a list of frames is for, and what its frames need; see ``frames.toml``."""

    says: str
    least: int
    slots: tuple[str, ...] = ()
    """Slots that its frames may use."""
    needed: tuple[str, ...] = ()
    """Slots that they must use; ``|`` separates slots of which one is enough."""


FRAMES = read_words(__package__.rpartition(".")[0], "frames.toml", dict[str, FrameRule])

SCRIPTS = "elliptic"
"""The list whose frames are scripts of at least three turns, joined by line ends."""


def _frames(written: object) -> object:
    if not isinstance(written, dict):
        return written
    if wrong := sorted(written.keys() ^ FRAMES.keys()):
        raise ValueError(f"frames.{wrong[0]} is {'missing' if wrong[0] in FRAMES else 'unknown'}")
    return {name: tuple(map(_frame, texts)) if isinstance(texts, list) else texts for name, texts in written.items()}


def _frame(written: object) -> object:
    is_script = isinstance(written, list) and len(written) > 2 and all(isinstance(line, str) for line in written)
    return "\n".join(written) if is_script and isinstance(written, list) else written


Frames = Annotated[Mapping[str, Texts], BeforeValidator(_frames)]

TOPICS, CHAINS, DEPENDENTS, THEMES = 20, 4, 3, 24
"""Fewest topics, chains, dependent topics of a chain, and subjects of small talk."""

VALUES, CHAIN_VALUES, HINTS = 8, 6, 4
"""Fewest values of a topic and of a topic in a chain, and fewest hints."""


class WordingPack(Record):
    schema_version: int = 1
    name: str
    frames: Frames
    themes: Annotated[tuple[Theme, ...], BeforeValidator(_tuple)]
    topics: Annotated[tuple[WordedTopic, ...], BeforeValidator(_tuple)]
    chains: Annotated[tuple[Annotated[tuple[WordedTopic, ...], BeforeValidator(_tuple)], ...], BeforeValidator(_tuple)]

    @cached_property
    def all_topics(self) -> tuple[WordedTopic, ...]:
        return (*self.topics, *chain.from_iterable(self.chains))


def read_pack(content: bytes, where: object, withdrawn: Set[str] = frozenset()) -> WordingPack:
    """Return the pack in the content of a file. Its rules are not checked; see :func:`faults`.

    Raises ``BadInput``: the content is not a pack, or lacks a withdrawn sentence.
    """
    remedy = "Restore the file, or mend it and check it again."
    if len(content) > LARGEST:
        raise BadInput(f"{len(content):,} bytes are too many for a wording pack.", where=where, remedy=remedy)
    try:
        data = tomllib.loads(content.decode())
    except (ValueError, RecursionError) as error:
        raise BadInput(f"not valid TOML in UTF-8 ({error}).", where=where, remedy=remedy) from None
    left, found = _left(data, withdrawn)
    if unknown := sorted(withdrawn - found):
        raise BadInput(
            f"the pack has no sentence {unknown[0]!r}, which is withdrawn.",
            where=where,
            remedy="Copy withdrawn sentences from the file of their pack.",
        )
    try:
        return WordingPack.model_validate(left)
    except ValidationError as error:
        raise BadInput(misfit(WordingPack, error), where=where, remedy=remedy) from None


def _left(value: object, withdrawn: Set[str]) -> tuple[object, Set[str]]:
    """Return what is left of a part of a pack, and the withdrawn sentences that were in it."""
    if isinstance(value, dict):
        parts = {name: _left(each, withdrawn) for name, each in value.items()}
        return {name: left for name, (left, _) in parts.items()}, _union(found for _, found in parts.values())
    if isinstance(value, list):
        here = {each for each in value if isinstance(each, str) and each in withdrawn}
        kept = [_left(each, withdrawn) for each in value if not (isinstance(each, str) and each in here)]
        return [left for left, _ in kept], here | _union(found for _, found in kept)
    return value, frozenset()


def _union(sets: Iterable[Set[str]]) -> Set[str]:
    return frozenset(chain.from_iterable(sets))


def faults(pack: WordingPack) -> list[str]:
    return [*_sizes(pack), *_slots(pack), *_repeated(pack), *_values(pack), *_said_values(pack, _all_texts(pack))]


def shared(one: WordingPack, other: WordingPack) -> list[str]:
    both = f"is in '{one.name}' and in '{other.name}'."
    topics = {each.id for each in one.all_topics} & {each.id for each in other.all_topics}
    found = [f"the topic '{topic}' {both}" for topic in sorted(topics)]
    texts = {_plain(text) for text in sentences(one)} & {_plain(text) for text in sentences(other)}
    found += [f"'{text}' {both}" for text in sorted(texts)]
    for pack, speaker in ((one, other), (other, one)):
        said = [value.text for topic in speaker.all_topics for value in topic.values]
        found += _said_values(pack, [*_all_texts(speaker), *said])
    return found


def sentences(pack: WordingPack) -> Iterator[str]:
    yield from chain.from_iterable(pack.frames.values())
    for theme in pack.themes:
        yield from (*theme.ask, *theme.reply, *theme.more, *theme.end)
    for topic in pack.all_topics:
        yield from topic.texts()


def _sizes(pack: WordingPack) -> Iterator[str]:
    for name, rule in FRAMES.items():
        if len(pack.frames[name]) < rule.least:
            yield f"frames.{name} has {len(pack.frames[name])} frames and needs {rule.least}."
    total = sum(map(len, pack.frames.values()))
    for found, least, what in (
        (total, FEWEST_FRAMES, "frames"),
        (len(pack.topics), TOPICS, "topics"),
        (len(pack.chains), CHAINS, "chains"),
        (len(pack.themes), THEMES, "themes"),
    ):
        if found < least:
            yield f"the pack has {found} {what} and needs {least}."
    for topics in pack.chains:
        if len(topics) < DEPENDENTS + 1:
            yield f"the chain '{topics[0].id if topics else ''}' needs a root and {DEPENDENTS} dependent topics."
        yield from _few(topics, "values", CHAIN_VALUES)
        yield from _few(topics[1:], "because", 2, "entries in 'because'")
    yield from _few(pack.topics, "values", VALUES)
    yield from _few((*pack.topics, *(topics[0] for topics in pack.chains if topics)), "hints", HINTS)
    for topic in pack.all_topics:
        if len(topic.now) < 3 or len(topic.past) < 2 or len(topic.openers) < 2 or len(topic.tips) < 2:
            yield f"{topic.id} needs 3 questions in 'now', and 2 entries each in 'past', 'openers' and 'tips'."


def _few(topics: Iterable[WordedTopic], name: str, least: int, what: str = "") -> Iterator[str]:
    for topic in topics:
        if (found := len(getattr(topic, name))) < least:
            yield f"{topic.id} has {found} {what or name} and needs {least}."


def slots_of(text: str) -> set[str]:
    """Return the names of the slots of a text. Raises ``ValueError``: a brace is not closed."""
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


_TOPIC_SLOTS: Mapping[str, tuple[Set[str], Set[str]]] = {
    "rest": ({"v", "my"}, {"v"}),
    "now": ({"name", "my"}, {"name"}),
    "past": ({"name", "my", "when"}, {"name", "when"}),
    "hints": ({"v", "bare"}, {"v|bare"}),
    "because": ({"base", "do", "v"}, {"base", "do|v"}),
    "openers": (frozenset(), frozenset()),
    "tips": (frozenset(), frozenset()),
}
"""The slots that each part of a topic may use, and those that it must use."""


def _slots(pack: WordingPack) -> Iterator[str]:
    for name, rule in FRAMES.items():
        for frame in pack.frames[name]:
            yield from _fits(f"frames.{name}", frame, set(rule.slots), set(rule.needed))
    for script in (frame.split("\n") for frame in pack.frames[SCRIPTS]):
        if len(script) % 2 == 0:
            yield f"frames.elliptic: {script[0]!r} must end with a line of the user."
        if any({"v", "do", "doing"} & slots_of(line) for line in script[:-1]):
            yield f"frames.elliptic: {script[0]!r} states the value before the last line."
    for theme in pack.themes:
        for text in theme.ask:
            yield from _fits("themes.ask", text, {"a", "b"}, {"a|b"})
        for text in (*theme.reply, *theme.more, *theme.end):
            yield from _fits("themes", text, {"a", "b", "the_a", "the_b"}, set())
        if len(theme.more) != len(theme.end):
            yield f"themes: {theme.ask[0]!r} needs as many entries in 'more' as in 'end'."
    for topic in pack.all_topics:
        for name, (allowed, needed) in _TOPIC_SLOTS.items():
            texts = getattr(topic, name)
            for text in (texts,) if isinstance(texts, str) else texts:
                yield from _fits(f"{topic.id}.{name}" if allowed else topic.id, text, allowed, needed)


def _fits(where: str, text: str, allowed: Set[str], needed: Set[str]) -> Iterator[str]:
    try:
        used = slots_of(text)
    except ValueError:
        yield f"{where}: {text!r} has a brace too many or too few."
        return
    for slot in sorted(used - allowed):
        yield f"{where}: {text!r} uses the slot '{slot}', which does not exist there."
    for choice in sorted(needed):
        if not used & set(choice.split("|")):
            yield f"{where}: {text!r} needs the slot {' or '.join(choice.split('|'))}."


def _repeated(pack: WordingPack) -> Iterator[str]:
    ids = Counter(topic.id for topic in pack.all_topics)
    yield from (f"the topic '{name}' occurs twice." for name, count in ids.items() if count > 1)
    texts = Counter(_plain(text) for text in sentences(pack))
    yield from (f"{text!r} occurs twice." for text, count in texts.items() if count > 1)


def _plain(text: str) -> str:
    return " ".join(re.sub(r"[^\w{}' ]", " ", text.casefold()).split())


def _values(pack: WordingPack) -> Iterator[str]:
    """Check that no value of a pack contains another one, so that every answer can be told from every other."""
    named = [(topic.id, value) for topic in pack.all_topics for value in topic.values]
    for topic_id, value in named:
        if not says(value.phrases, value.text):
            yield f"{topic_id}: the text '{value.text}' does not contain its phrase '{value.phrases[0]}'."
    every = [(topic_id, phrase) for topic_id, value in named for phrase in value.phrases]
    for i, (topic_id, value) in enumerate(named):
        for j, (other_id, other) in enumerate(named):
            if i != j and says(value.phrases, other.text):
                yield f"{topic_id}: '{value.text}' is part of '{other.text}' ({other_id})."
    counts = Counter(phrase.casefold() for _, phrase in every)
    yield from (f"the phrase '{phrase}' belongs to two values." for phrase, count in counts.items() if count > 1)


def _all_texts(pack: WordingPack) -> list[str]:
    talk = [thing for theme in pack.themes for thing in (*theme.a, *theme.b)]
    labels = [text for topic in pack.all_topics for text in (topic.label, " ".join(topic.verb), topic.rest)]
    return [*sentences(pack), *talk, *labels]


def _said_values(pack: WordingPack, texts: Iterable[str]) -> list[str]:
    every = (phrase for topic in pack.all_topics for value in topic.values for phrase in value.phrases)
    phrases = "|".join(re.escape(phrase) for phrase in sorted(every, key=len, reverse=True))
    pattern = re.compile(rf"(?<!\w)(?:{phrases})(?!\w)", re.IGNORECASE)
    found = ((text, pattern.search(text)) for text in texts)
    return [f"{text!r} contains the value '{match.group()}' of '{pack.name}'." for text, match in found if match]
