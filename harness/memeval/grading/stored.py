"""The grader of a store: what it keeps of a life, and what it keeps that does not hold.

A memory is read sentence by sentence; a sentence ends at ``.``, ``!``, ``?``, ``;`` or a line's end. It *states* a
value where one of the value's phrases stands in it as whole words, in any case.

A memory *claims* a value that one of its sentences states, unless it says that the value is past:

- it stands behind a word of the past ("used to", "no longer", "gave up" …) with no comma between them, or between
  commas with "any more", or before a clause that ends in "no longer does" or the like, and the sentence states no other
  value of the topic; or
- it, or the sentence before or behind, states a later value of the same topic, and one of them has a word of change
  ("now", "instead", "switched", "still" …), as in "She gave up rooibos and drinks cocoa now".

What was never said, of anybody, is *invented* wherever it is stated.

Over the memories of a store, with C the current facts, S those that do not hold, and c, s, i how many distinct current,
stale and invented facts are claimed:

- recall = c / C, precision = c / (c + s + i), and the credit is their harmonic mean, F1 = 2c / (c + s + i + C);
- missing = (C − c) / C, stale = s / S, invented = i / (c + s + i);
- duplicate = share of the claimed facts that two memories or more claim.

A store that keeps every word claims all that ever held, so it misses nothing and is as stale as can be. Whether a
memory says whose a value is, or passes a daydream off as a fact, cannot be read by phrases and is not graded.
No more than ``LONGEST`` characters of a store are read.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from memeval.grading.evidence import TurnIndex, TurnIndexes
from memeval.grading.mentions import Mentions
from memeval.grading.outcomes import first_failure
from memeval.grading.rows import only, row
from memeval.judging.base import Case, Judge
from memeval.judging.text import normal, words
from memeval.keys import ItemKey, StoreKey
from memeval.records.grade import Grade, GradeState
from memeval.records.response import Response, RetrievedItem
from memeval.records.scenario import Scenario, dated_line

HEADLINE = "stored_f1"
"""The measure that an item's credit is."""

LONGEST = 400_000
"""Characters of a store that are read, in the order the system shows it; a life told is some thirty thousand."""

LONG = 2_000
"""A sentence of more characters is read as several."""

_SENTENCE = re.compile(r"[.!?](?=\s|$)|[;\n]")

_PAST = re.compile(r"\b(?:used to|no longer|formerly|previously|in the past|stopped|gave up|given up|quit)\b")
"""What is said of a value behind it, up to the next comma, is said of the past..."""

_ANY_MORE = re.compile(r"\bany ?more\b")
"""...and so is what stands between commas with this."""

_OVER = re.compile(r"\b(?:no longer|stopped|quit|gave up|given up)(?: (?:do|does|did|so|it|that))?\s*$")
"""What stands before this, at the end of a clause, is past as well."""

_AT_ONCE = re.compile(r"\b(formerly|previously|in the past),")

_CHANGE = frozenset(
    {
        *("after", "anymore", "away", "back", "before", "changed", "changing", "done", "dropped", "earlier"),
        *("first", "forget", "former", "formerly", "gave", "given", "goodbye", "instead", "later", "longer", "moved"),
        *("never", "not", "now", "old", "once", "originally", "past", "previous", "previously", "quit", "replaced"),
        *("replaces", "replacing", "same", "scrap", "since", "stayed", "staying", "sticking", "still", "stopped"),
        *("strike", "switch", "switched", "switching", "then", "today", "until", "used", "was", "week"),
    }
)
"""Words by which two values side by side are told apart in time."""


class _StoredValue(NamedTuple):
    """A value of a key."""

    subject: int
    """Which topic."""
    order: float
    """When it held, against the topic's other values; infinite for what holds now."""
    fact: int
    """Which of the topic's facts of its kind."""
    said: bool
    """Whether it was ever said."""

    @property
    def holds(self) -> bool:
        """Whether it holds now."""
        return self.said and self.order == float("inf")


@dataclass(frozen=True)
class Claims:
    """How many distinct facts a store claims."""

    current: int
    stale: int
    invented: int
    repeated: int
    """Facts that two memories or more claim."""
    whole: bool = True
    """Whether all of the store was read."""

    @property
    def all(self) -> int:
        """All of them."""
        return self.current + self.stale + self.invented


class StoredFacts:
    """Grades what a system keeps at the end of a history; no judge is needed."""

    name = "stored-facts@1"

    def __init__(self) -> None:
        self._histories = TurnIndexes()

    def cases(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response]) -> Sequence[Case]:
        """Return nothing: no judge is asked; see :class:`memeval.grading.base.Grader`."""
        return ()

    def grade(self, item: ItemKey, scenario: Scenario, responses: Sequence[Response], judge: Judge) -> Grade:
        """Grade one item; see :class:`memeval.grading.base.Grader`. The judge is not asked.

        Raises:
            TypeError: the key is of another kind.
            ValueError: the item is not one look with one response.
        """
        response = only(item, responses, self.name)
        if not isinstance(item.key, StoreKey):
            raise TypeError(f"{self.name} does not grade keys of kind {item.key.kind!r}")
        if failure := first_failure(responses):
            state, reason = failure
            return row(item, self.name, state, verdict=None, reason=reason, answerable=False)
        history = self._histories.of(scenario)
        memories = [_text(history, memory) for memory in response.items or ()]
        claims = claimed(item.key, memories)
        metrics = measures(item.key, claims)
        kept = f"{claims.current} of {len(item.key.current)} facts that hold are kept"
        wrong = f"{claims.stale} that do not hold, {claims.invented} that were never said"
        reason = f"{kept}, and {wrong}." if memories else "The store is empty."
        if not claims.whole:
            reason += f" Only its first {LONGEST:,} characters were read."
        return row(
            item,
            self.name,
            GradeState.GRADED,
            verdict=None,
            credit=metrics[HEADLINE],
            reason=reason,
            answerable=False,
            metrics=metrics,
        )


def claimed(key: StoreKey, memories: Sequence[str]) -> Claims:
    """Return what a store claims; see above for what a claim is.

    Args:
        key: what should be kept, and what should not.
        memories: the texts of the memories.
    """
    mentions = Mentions(_values(key))
    times: Counter[_StoredValue] = Counter()
    left = LONGEST
    for memory in memories:
        sentences = []
        for sentence in _sentences(memory):
            left -= len(sentence) + 1
            if left < 0:
                break
            sentences.append(sentence)
        times.update(set(_claims(mentions, sentences)))
        left -= max(0, len(memory) - LONGEST)
        if left < 0:
            break
    return Claims(
        current=sum(value.holds for value in times),
        stale=sum(value.said and not value.holds for value in times),
        invented=sum(not value.said for value in times),
        repeated=sum(count > 1 for count in times.values()),
        whole=left >= 0,
    )


def measures(key: StoreKey, claims: Claims) -> dict[str, float | None]:
    """Return the measures by name; ``None`` where nothing could be missing, stale, or claimed."""
    holding, gone = len(key.current), len(key.stale)
    both = claims.all + holding
    return {
        HEADLINE: 2 * claims.current / both if both else 1.0,
        "missing": (holding - claims.current) / holding if holding else None,
        "stale": claims.stale / gone if gone else None,
        "duplicate": claims.repeated / claims.all if claims.all else None,
        "invented": claims.invented / claims.all if claims.all else None,
    }


def _values(key: StoreKey) -> Iterator[tuple[str, _StoredValue]]:
    """Yield every phrase of a key with the value it gives away."""
    for number, subject in enumerate(key.subjects):
        current = () if subject.current is None else (subject.current,)
        for kind, said in ((current, True), (subject.stale, True), (subject.never, False)):
            for place, fact in enumerate(kind):
                order = float("inf") if kind is current else float(place)
                for phrase in fact.phrases:
                    yield phrase, _StoredValue(number, order, place, said)


def _sentences(memory: str) -> Iterator[str]:
    """Yield the sentences of a memory, in normal form."""
    for sentence in _SENTENCE.split(memory[:LONGEST]):
        yield from (normal(sentence[start : start + LONG]) for start in range(0, len(sentence), LONG))


def _claims(mentions: Mentions[_StoredValue], sentences: Sequence[str]) -> Iterator[_StoredValue]:
    """Yield what the sentences of one memory claim."""
    said = [words(sentence) for sentence in sentences]
    stated = [mentions.among(each) for each in said]
    for place, values in enumerate(stated):
        if not values:
            continue
        near = slice(max(0, place - 1), place + 2)
        latest: dict[int, float] = {}
        for other in set().union(*stated[near]):
            if other.said:
                latest[other.subject] = max(other.order, latest.get(other.subject, other.order))
        changes = any(not _CHANGE.isdisjoint(each) for each in said[near])
        of_topic = Counter(value.subject for value in values)
        past = _past(mentions, sentences[place])
        for value in values:
            replaced = changes and value.said and value.order < latest[value.subject]
            over = value.said and value in past and of_topic[value.subject] == 1
            if not (replaced or over):
                yield value


def _past(mentions: Mentions[_StoredValue], sentence: str) -> set[_StoredValue]:
    """Return what a sentence says is past."""
    past: set[_StoredValue] = set()
    so_far: set[_StoredValue] = set()
    for clause in _AT_ONCE.sub(r"\1", sentence).split(","):
        here = mentions.among(words(clause))
        so_far |= here
        if _OVER.search(clause):
            past |= so_far
        elif _ANY_MORE.search(clause):
            past |= here
        elif found := _PAST.search(clause):
            past |= mentions.among(words(clause[found.end() :]))
    return past


def _text(history: TurnIndex, memory: RetrievedItem) -> str:
    """Return the words of a stored memory."""
    if memory.turn_id is None:
        return memory.text or ""
    session, turn = history.turns[memory.turn_id]
    return dated_line(session, turn) if memory.dated else turn.content
