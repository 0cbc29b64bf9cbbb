"""A system that knows the sentences of the generator, and solves their templates."""

from __future__ import annotations

import importlib.util
import re
import string
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parents[3]
"""The folder of memeval, or a copy of the files that this adapter may read."""

VOCABULARY = PACKAGE / "benchmarks/beliefs/vocabulary"

FAMILIES = ("tech", "diet", "travel", "family", "work", "home", "hobbies", "health")
"""The files with topics."""

MONTHS = tuple(
    "January February March April May June July August September October November December".split()  # noqa: SIM905
)

OWN, OTHERS, NEVER, KEPT, TAKEN_BACK = "own", "others", "never", "kept", "taken back"
"""What a sentence says of a value: it holds now, for somebody else, never did, still does, or does not after all."""

FRAMES: Mapping[str, Sequence[str]] = {
    OWN: ("first", "update", "update_naming_both", "plan"),
    OTHERS: ("others",),
    NEVER: ("musing",),
    KEPT: ("still", "still_all_the_same"),
    TAKEN_BACK: ("taken_back",),
}
"""The lists of frames by what they say."""

STILL_ASKED = (
    "Does {name} still {do}?",
    "Is it safe to assume that {name} {does}?",
    "I'd like to be sure: does {name} {do}?",
    "Can I take it that {name} still {does}?",
    "Is it right that {name} {does} these days?",
)
BEGAN = ("When did {name} start {doing}?", "In which month did {name} begin {doing}?")
RIGHT_BEFORE = ("right before {she} switched to {v}", "immediately before {she} went over to {v}")
RIGHT_AFTER = ("straight after {she} gave up on {v}", "right after {she} moved on from {v}")
"""Questions, and the times in them; the generator has them in its code."""

_WORD = re.compile(r"\w+")

_MONTH = re.compile(rf"({'|'.join(MONTHS)}) (\d{{4}})", re.IGNORECASE)


@dataclass(frozen=True)
class Value:
    """A value of a topic, as it stands in a sentence, and its shortest phrase."""

    text: str
    bare: str


class Topic:
    """A topic of the vocabulary.

    Args:
        words: the topic, as its file has it.
        verbs: third person, gerund and past of each verb.
        base: the topic that it rests on.
    """

    def __init__(self, words: Mapping[str, Any], verbs: Mapping[str, Sequence[str]], base: Topic | None) -> None:
        self.label: str = words["label"]
        self.base = base
        verb, _, self.rest = words["do"].partition(" ")
        self.forms = (verb, *verbs[verb])
        written = ([each] * 2 if isinstance(each, str) else each for each in words["values"])
        self.values = [Value(text, phrase) for text, phrase, *_ in written]
        self.now, self.past = (list(map(frame, words[name])) for name in ("now", "past"))
        self.own = [frame(each) for name in ("hints", "because") for each in words.get(name, ())]
        """Sentences of this topic alone, which state a value of the user."""

    def clause(self, form: int, value: Value, my: str) -> str:
        """Return the verb phrase in base form, third person, gerund or past: 0 to 3."""
        return f"{self.forms[form]} {self.rest}".format(v=value.text, my=my)

    def slots(self, value: Value, my: str = "my") -> dict[str, str]:
        """Return the words of the slots that do not depend on the person."""
        own = {"v": value.text, "bare": value.bare, "label": self.label}
        do, doing = self.clause(0, value, my), self.clause(2, value, my)
        return {**own, "do": do, "doing": doing, "does": self.clause(1, value, "her")}

    def grounds(self) -> Iterator[Topic]:
        """Yield the topics that this one rests on, the nearest first."""
        base = self.base
        while base:
            yield base
            base = base.base


class Frame:
    """A sentence with slots, in lower case."""

    def __init__(self, text: str) -> None:
        self.parts = [(before.casefold(), slot) for before, slot, _, _ in string.Formatter().parse(text)]
        self.longest = max((before for before, _ in self.parts), key=len)
        self.size = sum(len(before) for before, _ in self.parts)
        """Characters outside of slots: of two frames that match, the longer one is meant."""

    def find(self, text: str, slots: Mapping[str, str], *, whole: bool = False) -> re.Match[str] | None:
        """Return the first match in a text in lower case. A slot without words matches anything."""
        if self.longest not in text:
            return None
        pattern = "".join(re.escape(before) + (_filled(slot, slots) if slot else "") for before, slot in self.parts)
        return re.fullmatch(pattern, text) if whole else re.search(pattern, text)


@lru_cache(maxsize=4096)
def frame(text: str) -> Frame:
    """Return a frame by its text."""
    return Frame(text)


def _filled(slot: str, slots: Mapping[str, str]) -> str:
    if slot not in slots:
        return "(?P<when>.+?)" if slot == "when" else ".+?"
    words = re.sub(r"\bher\b", "(?:her|his)", re.escape(slots[slot].casefold()))
    return rf"(?<!\w){words}(?!\w)"


def _frames(texts: Sequence[str]) -> list[Frame]:
    return [frame(text) for text in texts]


class Vocabulary:
    """The frames and topics of the generator, and the values by their first word."""

    def __init__(self) -> None:
        verbs, frames = _read("verbs"), _read("frames")
        self.bare = _frames(frames["taken_back_bare"])
        self.frames = {
            kind: [each for name in names for each in _frames(frames[name])] for kind, names in FRAMES.items()
        }
        self.topics: list[Topic] = []
        for family in map(_read, FAMILIES):
            self.topics += [Topic(words, verbs, None) for words in family["topics"]]
            base = None
            for words in family["chain"]:
                base = Topic(words, verbs, base)
                self.topics.append(base)
        self._values: dict[str, list[tuple[str, Topic, Value]]] = {}
        for topic in self.topics:
            for value in topic.values:
                phrase = value.bare.casefold()
                self._values.setdefault(_WORD.findall(phrase)[0], []).append((phrase, topic, value))

    def stated(self, text: str) -> list[tuple[Topic, Value]]:
        """Return the values that a text in lower case states, each with its topic."""
        found = (
            (topic, value)
            for word in _WORD.finditer(text)
            for phrase, topic, value in self._values.get(word.group(), ())
            if text.startswith(phrase, word.start()) and not _WORD.match(text, word.start() + len(phrase))
        )
        return list(dict.fromkeys(found))

    def said(self, text: str) -> tuple[str, Topic, Value | None] | None:
        """Return what a user's words say: its kind, the topic, and the value, if any."""
        found: list[tuple[int, str, Topic, Value | None]] = []
        for topic, value in self.stated(text):
            slots = topic.slots(value)
            for kind, frames in self.frames.items():
                pool = [*topic.own, *frames] if kind == OWN else frames
                found += [(each.size, kind, topic, value) for each in pool if each.find(text, slots)]
        for bare in self.bare:
            topics = self.topics if bare.longest in text else ()
            found += [(bare.size, TAKEN_BACK, each, None) for each in topics if bare.find(text, {"label": each.label})]
        return max(found, key=lambda each: each[0])[1:] if found else None


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((VOCABULARY / f"{name}.toml").read_text("utf-8"))


@dataclass
class Period:
    """A value, and the days on which it held."""

    value: Value
    since: str
    last: str
    """The day on which it was last stated."""
    until: str = "9999"


class History:
    """What a person said, session by session."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.periods: dict[Topic, list[Period]] = {}
        """The user's own values, in order."""

    def add(self, session: dict[str, Any]) -> None:
        """Add a session."""
        text = "\n".join(turn["content"] for turn in session["turns"] if turn["role"] == "user").casefold()
        found, day = self.vocabulary.said(text), session["date"]
        if found is None:
            return
        kind, topic, value = found
        held = self.periods.setdefault(topic, [])
        if kind == OWN and value is not None:
            held.append(Period(value, day, day))
        elif kind == TAKEN_BACK and held:
            held.pop()
        elif kind == KEPT and held:
            held[-1].last = day
        for before, after in pairwise(held):
            before.until = after.since
        if held:
            held[-1].until = "9999"

    def solve(self, question: str) -> str | None:
        """Return the answer to a question of the generator, or ``None``."""
        text = question.casefold()
        answers = (self._solved(text, topic, periods) for topic, periods in self.periods.items() if periods)
        return next(filter(None, answers), None)

    def _solved(self, text: str, topic: Topic, periods: Sequence[Period]) -> str | None:
        possessive = {"my": "her"}
        if any(each.find(text, possessive, whole=True) for each in topic.now):
            return self._present(topic, periods[-1])
        for each in topic.past:
            if match := each.find(text, possessive, whole=True):
                return self._past(topic, periods, match.group("when"))
        for period in periods:
            slots = topic.slots(period.value, "her")
            if any(each.find(text, slots, whole=True) for each in _frames(BEGAN)):
                return f"In {MONTHS[int(period.since[5:7]) - 1]} {period.since[:4]}."
            if any(each.find(text, slots, whole=True) for each in _frames(STILL_ASKED)):
                return self._present(topic, periods[-1])
        return None

    def _present(self, topic: Topic, period: Period) -> str:
        changes = (each.since for base in topic.grounds() for each in self.periods.get(base, ())[1:])
        state = f"I {topic.clause(0, period.value, 'my')}"
        if any(max(period.since, period.last) < day for day in changes):
            return f"It is not certain any more that {state}."
        return f"{state}."

    def _past(self, topic: Topic, periods: Sequence[Period], when: str) -> str | None:
        held: list[Period] = []
        if month := _MONTH.search(when):
            number = next(i for i, name in enumerate(MONTHS, 1) if name.casefold() == month[1].casefold())
            day = f"{month[2]}-{number:02d}-15"
            held = [each for each in periods if each.since <= day < each.until]
        for earlier, later in pairwise(periods):
            for frames, named, right in ((RIGHT_BEFORE, later, earlier), (RIGHT_AFTER, earlier, later)):
                if any(each.find(when, topic.slots(named.value)) for each in _frames(frames)):
                    held.append(right)
        return f"I {topic.clause(0, held[0].value, 'my')}." if held else None


def bm25() -> Any:
    """Return a new instance of the control BM25."""
    spec = importlib.util.spec_from_file_location("bm25", PACKAGE / "systems/controls/bm25.py")
    if spec is None or spec.loader is None:
        raise RuntimeError("the control BM25 is not there.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.BM25()


class TemplateSolver:
    """Rebuilds the timeline from the templates, and answers from it; what matches none is left to BM25."""

    def __init__(self) -> None:
        self.vocabulary, self.fallback = Vocabulary(), bm25()
        self.history = History(self.vocabulary)

    def reset(self) -> None:
        self.history = History(self.vocabulary)
        self.fallback.reset()

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        self.history.add(session)
        self.fallback.ingest_session(session, timestamp)

    def query(self, question: str, timestamp: str = "now") -> dict[str, Any]:
        answer = self.history.solve(question)
        if answer is None:
            items = self.fallback.search(question, 1, timestamp)["items"]
            answer = items[0]["text"].partition(": ")[2] if items else ""
        return {"answer": answer}
