"""Quoting of one scenario's text: its turns, its questions and its answer keys."""

from __future__ import annotations

import re
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from memeval.archive.rows import REMEDY
from memeval.evaluation.withhold.marks import MARK, plain, quoted
from memeval.keys import ItemKey
from memeval.records.errors import BadInput
from memeval.records.scenario import Retain, Scenario, Task, dated_line

if TYPE_CHECKING:
    from memeval.evaluation.withhold.words import SourceWords, Span

_MARK_GRAMMAR = re.compile(
    r"(?P<address>.+?)(?: (?P<first>\d{1,9})-(?P<end>\d{1,9})(?: (?P<case>lower|upper))?| (?P<dated>dated))?"
)

_SAFE = re.compile(r"[A-Za-z0-9_.:/-]+")

_NOT_TEXT = frozenset({"kind", "evidence", "evidence_turns"})
"""Fields of an answer key that contain ids, not text."""

_CASES: Mapping[str, Callable[[str], str]] = {"": str, "lower": str.lower, "upper": str.upper}


class Quoter:
    """Quotes the text of a scenario, and restores it.

    ``keys``: the answer keys of all its items, so that marks do not depend on the questions of a run.
    """

    def __init__(self, scenario: Scenario, keys: Iterable[ItemKey] = ()) -> None:
        self.scenario_id = scenario.scenario_id
        self._texts: dict[str, str] = {}
        self._dated: dict[str, str] = {}
        self._own: dict[str, list[str]] = {}
        ordinals: set[str] = set()
        self._named: dict[str, str] = {}
        """Fields of keys that are ordinals of the history: restored, but not quoted."""
        self._spelled = ChainMap(self._texts, self._named)
        for session in scenario.sessions():
            ordinals.add(session.session_id)
            ordinals.update(turn.turn_id for turn in session.turns)
            self._texts[in_mark(session.session_id)] = session.date
            for turn in session.turns:
                self._texts[in_mark(turn.turn_id)] = turn.content
                self._dated[in_mark(turn.turn_id)] = dated_line(session, turn)
        for step in scenario.steps:
            if isinstance(step, Retain):
                prefix = f"m {in_mark(step.text_id)}"
                metadata = step.metadata.items()
                self._texts |= {f"{prefix} {in_mark(name)}": text for name, text in metadata if isinstance(text, str)}
        for ask in scenario.questions():
            self._texts[f"q {in_mark(ask.question_id)}"] = ask.question
            self._texts[f"t {in_mark(ask.question_id)}"] = ask.timestamp or ""
            if isinstance(ask, Task):
                self._texts[f"u {in_mark(ask.question_id)}"] = ask.query
        for key in keys:
            texts = {f"k {in_mark(key.item_id)} {path}": text for path, text in _texts_in(key.key.model_dump())}
            for address, text in texts.items():
                (self._named if text in ordinals else self._texts)[address] = text
            asked = (f"q {in_mark(question_id)}" for question_id in key.question_ids)
            self._own[key.item_id] = [address for address in (*asked, *texts) if address in self._texts]
        self.characters = sum(map(len, self._texts.values()))
        """Number of characters of all texts."""

    def spell(self, mark: str) -> str:
        """Return the text of a mark.

        Raises ``BadInput`` if the mark is invalid, or refers to nothing in this scenario.
        """
        found = _MARK_GRAMMAR.fullmatch(mark)
        text = None
        if found is not None:
            text = (self._dated if found["dated"] else self._spelled).get(found["address"])
        if found is None or text is None:
            raise no_such_mark(mark, self.scenario_id)
        if found["first"] is None:
            return text
        first, end = int(found["first"]), int(found["end"])
        if not first < end <= len(text):
            raise no_such_mark(mark, self.scenario_id)
        words = text[first:end]
        return "".join(map(_CASES[found["case"]], words)) if found["case"] else words

    def encode(
        self, text: str, item_id: str | None = None, *, wholes: bool = True, keep: frozenset[str] = frozenset()
    ) -> str:
        """Quote the words of a text that also occur in the source.

        ``text``: any text; in a JSON object or array only the strings are quoted. ``item_id``: the item whose question
        and key are quoted regardless of length. ``wholes``: whether a short text or line is quoted if the source
        contains it as a whole. ``keep``: JSON strings that stay unchanged.
        """
        return quoted(text, lambda part: self._quoted(part, item_id, wholes), self.spell, keep)

    def spills(self, text: str) -> bool:
        """Return whether the text outside the marks still contains a stretch of the source."""
        words: list[int] = []
        for part in re.split("⟦[^⟧]*⟧", text):
            words += [*self._source.read(part)[1], 0]
        return bool(self._source.stretches(words))

    def encode_every_word(self, text: str, *, keep: frozenset[str] = frozenset()) -> str:
        """Quote every word that occurs in the source, for a text whose parts form a stretch together.

        ``text``: any text; in a JSON object or array the strings and field names are quoted. ``keep``: JSON strings
        that stay unchanged.
        """
        return quoted(text, lambda part: self._stretches(part, None, every=True), self.spell, keep, names=True)

    def refine(self, text: str) -> str:
        """Quote more of a quoted text, with marks that name this scenario."""
        parts = re.split("(⟦[^⟧]*⟧)", text)
        scenario = in_mark(self.scenario_id)
        parts[::2] = [MARK.sub(rf"⟦@{scenario} \1⟧", self._quoted(part, None, True)) for part in parts[::2]]
        return "".join(parts)

    def _quoted(self, text: str, item_id: str | None, wholes: bool) -> str:
        if not wholes:
            return self._stretches(text, item_id)
        if text in self._wholes:
            return self._wholes[text]
        done: list[str] = []
        for is_whole, group in groupby(text.split("\n"), self._wholes.__contains__):
            lines = list(group)
            done += map(self._wholes.__getitem__, lines) if is_whole else [self._stretches("\n".join(lines), item_id)]
        return "\n".join(done)

    @cached_property
    def _wholes(self) -> dict[str, str]:
        """Marks of all texts with words and of all dated lines; of equal texts, the first one's mark."""
        found: dict[str, str] = {}
        for address, text in self._texts.items():
            if any(map(str.isalnum, text)):
                found.setdefault(text, f"⟦{address}⟧")
        for address, line in self._dated.items():
            found.setdefault(line, f"⟦{address} dated⟧")
        return found

    @cached_property
    def _source(self) -> SourceWords:
        from memeval.evaluation.withhold.words import SourceWords  # loads NumPy

        return SourceWords(self._texts)

    def _stretches(self, text: str, item_id: str | None, *, every: bool = False) -> str:
        """Quote all stretches that also occur in the source; with ``every``, all words that occur there."""
        spans, words = self._source.read(text)
        done = []
        at = 0
        for begin, end, first in self._source.stretches(words, self._own.get(item_id or "", ()), every=every):
            done += [plain(text[at : spans[begin][0]]), self._marks(text, spans[begin:end], first)]
            at = spans[end - 1][1]
        return "".join([*done, plain(text[at:])])

    def _marks(self, text: str, spans: Sequence[Span], first: int) -> str:
        address = self._source.address_of(first)
        origin = self._texts[address]
        theirs = self._source.spans(first, len(spans))
        begin, end = theirs[0][0], theirs[-1][1]
        mine, its = text[spans[0][0] : spans[-1][1]], origin[begin:end]
        if mine == its:
            return f"⟦{address}⟧" if its == origin else f"⟦{address} {begin}-{end}⟧"
        for case, fold in _CASES.items():
            if mine == "".join(map(fold, its)):
                return f"⟦{address} {begin}-{end} {case}⟧"
        return "".join(_runs(address, origin, list(_aligned(text, spans, origin, theirs))))


def in_mark(name: str) -> str:
    """Return an id for use in a mark: without spaces and brackets."""
    return name if _SAFE.fullmatch(name) else quote(name, safe=":/,;+()'!*$&=", errors="replace")


def no_such_mark(mark: str, scenario_id: str) -> BadInput:
    return BadInput(f"the mark {mark[:80]!a} refers to nothing in scenario {scenario_id}.", remedy=REMEDY)


def _texts_in(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            if path or name not in _NOT_TEXT:
                yield from _texts_in(inner, f"{path}.{name}" if path else name)
    elif isinstance(value, list | tuple):
        for number, inner in enumerate(value):
            yield from _texts_in(inner, f"{path}.{number}")
    elif isinstance(value, str) and not isinstance(value, Enum):
        yield path, value


Character = tuple[str, int | None]
"""A character of a text and its position in the source; ``None`` if it has none."""


def _aligned(text: str, spans: Sequence[Span], origin: str, theirs: Sequence[Span]) -> Iterator[Character]:
    """Yield the characters of a stretch whose words equal the source's except for case and separators."""
    before: tuple[int, int] | None = None
    for (begin, end), (first, last) in zip(spans, theirs, strict=True):
        if before is not None:
            yield from _pairs(text[before[0] : begin], origin[before[1] : first], before[1])
        yield from _pairs(text[begin:end], origin[first:last], first)
        before = end, last


def _pairs(mine: str, its: str, first: int) -> Iterator[Character]:
    same = len(mine) == len(its) and all(a in (b, b.lower(), b.upper()) for a, b in zip(mine, its, strict=True))
    return ((sign, first + offset if same else None) for offset, sign in enumerate(mine))


def _runs(address: str, origin: str, signs: Sequence[Character]) -> Iterator[str]:
    """Yield marks for characters that are consecutive in the source in one case, and other characters unchanged."""
    at = 0
    while at < len(signs):
        lengths = {name: _run(origin, signs, at, fold) for name, fold in _CASES.items()}
        case = max(lengths, key=lambda name: lengths[name])
        run = max(lengths[case], 1)
        text = "".join(sign for sign, _position in signs[at : at + run])
        first = signs[at][1]
        if first is None or not any(map(str.isalnum, text)):
            yield plain(text)
        else:
            yield f"⟦{address} {first}-{first + run}{case and ' '}{case}⟧"
        at += run


def _run(origin: str, signs: Sequence[Character], at: int, fold: Callable[[str], str]) -> int:
    """Return how many characters from ``at`` on are consecutive in the source in a case."""
    first = signs[at][1]
    run = 0
    while first is not None and at + run < len(signs):
        sign, position = signs[at + run]
        if position != first + run or fold(origin[position]) != sign:
            break
        run += 1
    return run
