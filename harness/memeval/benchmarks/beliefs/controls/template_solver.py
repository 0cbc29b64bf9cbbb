"""A system that knows the sentences of the public wording packs, and solves their templates."""

from __future__ import annotations

import importlib.util
import re
import string
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parents[3]
"""The folder of memeval, or a copy of the files that this adapter may read."""

PACKS = ("alder", "birch")
"""The public packs."""

MONTHS = tuple(
    "January February March April May June July August September October November December".split()  # noqa: SIM905
)

OWN, OTHERS, NEVER, KEPT, TAKEN_BACK = "own", "others", "never", "kept", "taken back"
"""What a sentence says of a value: it holds now, for somebody else, never did, still does, or does not after all."""

FRAMES: Mapping[str, Sequence[str]] = {
    OWN: ("first", "update", "update_naming_both", "corrected", "elliptic", "third_person", "plan"),
    OTHERS: ("others", "quoted"),
    NEVER: ("musing", "former"),
    KEPT: ("still", "still_all_the_same"),
    TAKEN_BACK: ("taken_back",),
}
"""The lists of frames of a pack by what they say."""

_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Value:
    """A value of a topic."""

    text: str
    phrases: tuple[str, ...]


class Topic:
    """A topic of a pack.

    Args:
        words: the topic, as the pack has it.
        base: the topic that it rests on.
    """

    def __init__(self, words: Mapping[str, Any], base: Topic | None) -> None:
        self.words = words
        self.label: str = words["label"]
        self.root: Topic = self if base is None else base.root
        written = ([each] * 2 if isinstance(each, str) else each for each in words["values"])
        self.values = [Value(text, tuple(phrases)) for text, *phrases in written]

    def clause(self, form: int, value: Value, my: str) -> str:
        """Return the verb phrase in base form, third person, gerund or past: 0 to 3."""
        return f"{self.words['verb'][form]} {self.words['rest']}".format(v=value.text, my=my)

    def slots(self, value: Value, my: str = "my") -> dict[str, str]:
        """Return the words of the slots that are the same for everybody."""
        do, _, doing, did = (self.clause(form, value, my) for form in range(4))
        own = {"v": value.text, "bare": value.phrases[0], "label": self.label}
        return {**own, "do": do, "doing": doing, "did": did, "does": self.clause(1, value, "her")}


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


@lru_cache(maxsize=20_000)
def frame(text: str) -> Frame:
    """Return a frame by its text."""
    return Frame(text)


def _filled(slot: str, slots: Mapping[str, str]) -> str:
    if slot not in slots:
        return "(?P<when>.+?)" if slot == "when" else ".+?"
    words = re.sub(r"\bher\b", "(?:her|his)", re.escape(slots[slot].casefold()))
    return rf"(?<!\w){words}(?!\w)"


class Packs:
    """The frames and topics of the public packs, and the values by their first word."""

    def __init__(self) -> None:
        self.frames: dict[str, list[Any]] = {}
        self.topics: list[Topic] = []
        for name in PACKS:
            pack = tomllib.loads((PACKAGE / f"benchmarks/beliefs/wording/{name}.toml").read_text("utf-8"))
            for kind, frames in pack["frames"].items():
                self.frames.setdefault(kind, []).extend(each[-1] if isinstance(each, list) else each for each in frames)
            for group in (*([topic] for topic in pack["topics"]), *pack["chains"]):
                base = None
                for words in group:
                    base = Topic(words, base)
                    self.topics.append(base)
        self._phrases: dict[str, list[tuple[str, Topic, Value]]] = {}
        for topic in self.topics:
            for value in topic.values:
                for phrase in map(str.casefold, value.phrases):
                    self._phrases.setdefault(_WORD.findall(phrase)[0], []).append((phrase, topic, value))

    def stated(self, text: str) -> list[tuple[Topic, Value]]:
        """Return the values that a text in lower case states, each with its topic."""
        found = (
            (topic, value)
            for word in _WORD.finditer(text)
            for phrase, topic, value in self._phrases.get(word.group(), ())
            if text.startswith(phrase, word.start()) and not _WORD.match(text, word.start() + len(phrase))
        )
        return list(dict.fromkeys(found))

    def said(self, text: str) -> tuple[str, Topic, Value | None] | None:
        """Return what a user's words say: its kind, the topic, and the value, if any."""
        found: list[tuple[int, str, Topic, Value | None]] = []
        stated = self.stated(text)
        for topic, value in stated:
            slots = topic.slots(value)
            for kind, names in FRAMES.items():
                own = (*topic.words.get("hints", ()), *topic.words.get("because", ())) if kind == OWN else ()
                pool = map(frame, chain(own, *(self.frames[name] for name in names)))
                found += [(each.size, kind, topic, value) for each in pool if each.find(text, slots)]
        for bare in () if stated else map(frame, self.frames["taken_back_bare"]):
            topics = self.topics if bare.longest in text else ()
            found += [(bare.size, TAKEN_BACK, each, None) for each in topics if bare.find(text, {"label": each.label})]
        return max(found, key=lambda each: each[0])[1:] if found else None


@dataclass
class Period:
    """A value, and the days on which it held."""

    value: Value
    since: str
    sessions: list[int]
    """The sessions that state it, in order."""
    last: str
    """The day on which it was last stated."""
    until: str = "9999"


@dataclass(frozen=True)
class Solution:
    """An answer, and the values that it follows from, each with the sessions that state it."""

    answer: str
    """One sentence in the words of the user, so that every reader takes it for a statement."""
    day: str
    """The day from which it holds."""
    evidence: tuple[tuple[Value, Sequence[int]], ...]


class History:
    """What a person said, session by session."""

    def __init__(self, packs: Packs) -> None:
        self.packs = packs
        self.sessions: list[dict[str, Any]] = []
        self.periods: dict[Topic, list[Period]] = {}
        """The user's own values, in order."""

    def add(self, session: dict[str, Any]) -> None:
        """Add a session."""
        place, day = len(self.sessions), session["date"]
        self.sessions.append(session)
        text = "\n".join(turn["content"] for turn in session["turns"] if turn["role"] == "user").casefold()
        found = self.packs.said(text)
        if found is None:
            return
        kind, topic, value = found
        held = self.periods.setdefault(topic, [])
        if kind == OWN and value is not None:
            held.append(Period(value, day, [place], day))
        elif kind == TAKEN_BACK and held:
            held.pop()
        if kind in (KEPT, TAKEN_BACK) and held:
            held[-1].sessions.append(place)
            held[-1].last = day
        for before, after in pairwise(held):
            before.until = after.since
        if held:
            held[-1].until = "9999"

    @property
    def user(self) -> str:
        """The name of the user."""
        turns = (turn for session in self.sessions for turn in session["turns"] if turn["role"] == "user")
        return next((str(turn.get("speaker") or "User") for turn in turns), "User")

    def solve(self, question: str) -> Solution | None:
        """Return the answer to a question of the packs, or ``None``."""
        text = question.casefold()
        for topic, periods in self.periods.items():
            if periods and (found := self._solved(text, topic, periods)):
                return found
        return None

    def _solved(self, text: str, topic: Topic, periods: Sequence[Period]) -> Solution | None:
        possessive = {"my": "her"}
        if any(frame(each).find(text, possessive, whole=True) for each in topic.words["now"]):
            return self._present(topic, periods[-1], asked="")
        for each in topic.words["past"]:
            if match := frame(each).find(text, possessive, whole=True):
                return self._past(topic, periods, match.group("when"))
        for period in periods:
            slots = topic.slots(period.value, "her")
            if any(frame(each).find(text, slots, whole=True) for each in self.packs.frames["began"]):
                year, month = int(period.since[:4]), int(period.since[5:7])
                began = f"I began {topic.clause(2, period.value, 'my')} in {MONTHS[month - 1]} {year}."
                return Solution(began, period.since, ((period.value, period.sessions[:1]),))
            if any(frame(each).find(text, slots, whole=True) for each in self.packs.frames["still_asked"]):
                return self._present(topic, periods[-1], asked="Yes, ")
        return None

    def _present(self, topic: Topic, period: Period, asked: str) -> Solution:
        basis = [each for each in self.periods.get(topic.root, ()) if each.since > period.since]
        state = f"{asked}I {topic.clause(0, period.value, 'my')}."
        if topic.root is topic or not basis:
            return Solution(state, period.since, ((period.value, period.sessions),))
        since = basis[-1].since
        if period.last > since:
            later = [place for place in period.sessions if self.sessions[place]["date"] > since]
            return Solution(state, period.last, ((period.value, later),))
        doing = topic.clause(0, period.value, "my")
        doubt = f"It is not certain any more that I {doing}, as my {topic.root.label} changed."
        return Solution(doubt, since, ((period.value, period.sessions), (basis[-1].value, basis[-1].sessions)))

    def _past(self, topic: Topic, periods: Sequence[Period], when: str) -> Solution | None:
        months = {
            f"{name.casefold()} {year}": f"{year}-{number:02d}-15"
            for number, name in enumerate(MONTHS, 1)
            for year in range(2023, 2028)
        }
        if day := next((day for month, day in months.items() if month in when), None):
            held = [each for each in periods if each.since <= day < each.until]
            return self._held(topic, held[0]) if held else None
        for earlier, later in pairwise(periods):
            for list_of_frames, named, right in (("right_before", later, earlier), ("right_after", earlier, later)):
                slots = topic.slots(named.value)
                if any(frame(each).find(when, slots) for each in self.packs.frames[list_of_frames]):
                    return self._held(topic, right, named)
        return None

    def _held(self, topic: Topic, *periods: Period) -> Solution:
        """Return that the first of some periods held."""
        evidence = tuple((each.value, each.sessions) for each in periods)
        return Solution(f"I {topic.clause(0, periods[0].value, 'my')}.", periods[0].since, evidence)

    def lines(self, value: Value, places: Sequence[int]) -> Iterator[tuple[str, str]]:
        """Yield id and dated line of each turn of some sessions that states a value, the shortest first."""
        patterns = [re.compile(rf"(?<!\w){re.escape(each)}(?!\w)", re.IGNORECASE) for each in value.phrases]
        turns = [(self.sessions[place]["date"], turn) for place in places for turn in self.sessions[place]["turns"]]
        for day, turn in sorted(turns, key=lambda each: len(each[1]["content"])):
            if any(pattern.search(turn["content"]) for pattern in patterns):
                yield turn["turn_id"], f"[{day}] {turn.get('speaker') or turn['role']}: {turn['content']}"


def bm25() -> Any:
    """Return a new instance of the control BM25."""
    spec = importlib.util.spec_from_file_location("bm25", PACKAGE / "systems/controls/bm25.py")
    if spec is None or spec.loader is None:
        raise RuntimeError("the control BM25 is not there.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.BM25()


class TemplateSolver:
    """Rebuilds the timeline from the public templates, and answers from it; what matches none is left to BM25."""

    def __init__(self) -> None:
        self.packs, self.fallback = Packs(), bm25()
        self.history = History(self.packs)

    def reset(self) -> None:
        self.history = History(self.packs)
        self.fallback.reset()

    def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
        self.history.add(session)
        self.fallback.ingest_session(session, timestamp)

    def search(self, query: str, k: int, timestamp: str = "now") -> dict[str, Any]:
        solution = self.history.solve(query)
        if solution is None:
            found: dict[str, Any] = self.fallback.search(query, k, timestamp)
            return found
        lines = [next(self.history.lines(*part)) for part in solution.evidence]
        items = [{"text": line, "source_ids": [turn]} for turn, line in dict.fromkeys(lines)]
        # One line, in which a reader finds the words of the question, and nothing but the answer.
        line = f"[{solution.day}] {self.history.user}: {solution.answer[:-1]} ({query.strip(' ?')})."
        return {"context": line, "items": items}

    def query(self, question: str, timestamp: str = "now") -> dict[str, Any]:
        found, solution = self.search(question, 10, timestamp), self.history.solve(question)
        first = found["context"].partition("\n")[0].partition(": ")[2]
        return {**found, "answer": first if solution is None else solution.answer}
