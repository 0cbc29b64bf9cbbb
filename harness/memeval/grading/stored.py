"""The grader of a memory store: the valid facts that it contains, and the invalid ones.

Memories are read sentence by sentence; a sentence ends at ``.``, ``!``, ``?``, ``;`` or a line break. A sentence
*states* a value if it contains one of the value's phrases as whole words, in any case.

A memory *claims* a value that one of its sentences states, unless the text marks the value as past, in one of two ways:

- The sentence states no other value of the topic, and marks this one as past. Either a phrase of the past ("used to",
  "no longer", "gave up" …) comes before it with no comma between them; or "any more" is in the same clause, between
  commas; or its clause, or a later one, ends in "no longer does" or the like.
- The sentence, or an adjacent one, states a later value of the topic, and one of them contains a word of change ("now",
  "instead", "switched", "still" …), as in "She gave up rooibos and drinks cocoa now".

A value that the history never states is *invented* in every sentence that states it.

Over the memories of a store, C is the number of current facts and S the number of invalid ones. The numbers of distinct
current, stale and invented facts that are claimed are c, s and i:

- recall = c / C, precision = c / (c + s + i), and the credit is their harmonic mean, F1 = 2c / (c + s + i + C);
- missing = (C − c) / C, stale = s / S, invented = i / (c + s + i);
- duplicate = share of the claimed facts that at least two memories claim.

A store that keeps every word claims all former facts, so it misses nothing and is as stale as possible. With as many
former facts as current ones, its F1 is two thirds, whatever the system. The *selection* is a score that gives such a
store no credit: max(0, c / C − s / S) · (1 − invented). It is 0 for a store of everything and for an empty one, about
0.1 for a random half of the turns, and 1 for all current facts and nothing else.

Phrases cannot show whose value a memory states, or whether it reports a daydream as a fact; neither is graded. At most
``LONGEST`` characters of a store are read.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from memeval.grading.base import Graded, ResponseGrader
from memeval.grading.evidence import index_of
from memeval.judging.text import normal, words
from memeval.keys import ItemKey, StoreKey
from memeval.records.response import Response
from memeval.records.scenario import Scenario

T = TypeVar("T")


class Mentions(Generic[T]):
    """Finds phrases in a text: consecutive whole words, in any case, with any separators.

    ``phrases``: each phrase with its value; a phrase without words is never found.
    """

    def __init__(self, phrases: Iterable[tuple[str, T]]) -> None:
        self._by_first: dict[str, list[tuple[tuple[str, ...], T]]] = {}
        for phrase, value in phrases:
            if found := tuple(words(normal(phrase))):
                self._by_first.setdefault(found[0], []).append((found, value))

    def within(self, text: str) -> set[T]:
        return self.among(words(normal(text)))

    def among(self, sequence: Sequence[str]) -> set[T]:
        found = set()
        for start, word in enumerate(sequence):
            for phrase, value in self._by_first.get(word, ()):
                if tuple(sequence[start : start + len(phrase)]) == phrase:
                    found.add(value)
        return found


HEADLINE = "selection"
"""The metric that is an item's credit."""

LONGEST = 400_000
"""Characters of a store that are read, in the system's order; a complete history has about 30,000."""

LONG = 2_000
"""Longest sentence, in characters; longer ones are split."""

_SENTENCE = re.compile(r"[.!?](?=\s|$)|[;\n]")

_PAST = re.compile(r"\b(?:used to|no longer|formerly|previously|in the past|stopped|gave up|given up|quit)\b")
"""Marks the values after it as past, up to the next comma."""

_ANY_MORE = re.compile(r"\bany ?more\b")
"""Marks the values in its clause, between commas, as past."""

_ENDED = re.compile(r"\b(?:no longer|stopped|quit|gave up|given up)(?: (?:do|does|did|so|it|that))?\s*$")
"""At the end of a clause, marks all values before it as past."""

_ADVERB_WITH_COMMA = re.compile(r"\b(formerly|previously|in the past),")

_CHANGE = frozenset(
    {
        *("after", "anymore", "away", "back", "before", "changed", "changing", "done", "dropped", "earlier"),
        *("first", "forget", "former", "formerly", "gave", "given", "goodbye", "instead", "later", "longer", "moved"),
        *("never", "not", "now", "old", "once", "originally", "past", "previous", "previously", "quit", "replaced"),
        *("replaces", "replacing", "same", "scrap", "since", "stayed", "staying", "sticking", "still", "stopped"),
        *("strike", "switch", "switched", "switching", "then", "today", "until", "used", "was", "week"),
    }
)
"""Words that show that one of two adjacent values replaced the other."""


class _StoredValue(NamedTuple):
    subject: int
    """Index of the topic."""
    order: float
    """Position in time among the topic's values; infinite for a current value."""
    fact: int
    """Index among the topic's facts of the same kind."""
    in_history: bool

    @property
    def holds(self) -> bool:
        return self.in_history and self.order == float("inf")


@dataclass(frozen=True)
class Claims:
    """Numbers of distinct facts that a store claims."""

    current: int
    stale: int
    invented: int
    repeated: int
    """Facts that at least two memories claim."""
    whole: bool = True
    """Whether the complete store was read."""

    @property
    def all(self) -> int:
        return self.current + self.stale + self.invented


class SelectedFacts(ResponseGrader):
    """Grades the content of a system's store at the end of a history, without a judge.

    The credit of an item is its selection: current facts, and not the former ones beside them.
    """

    name = "selected-facts@1"
    grades_blank = False

    def graded(self, item: ItemKey, scenario: Scenario, response: Response) -> Graded:
        if not isinstance(item.key, StoreKey):
            raise TypeError(f"{self.name} does not grade keys of kind {item.key.kind!r}")
        memories = list(map(index_of(scenario).text_of, response.items or ()))
        claims = claimed(item.key, memories)
        metrics = measures(item.key, claims)
        kept = f"{claims.current} of {len(item.key.current)} facts that hold are kept"
        wrong = f"{claims.stale} that do not hold, {claims.invented} that were never said"
        reason = f"{kept}, and {wrong}." if memories else "The store is empty."
        if not claims.whole:
            reason += f" Only its first {LONGEST:,} characters were read."
        return Graded(reason, metrics[HEADLINE], metrics)


def claimed(key: StoreKey, memories: Sequence[str]) -> Claims:
    """Return the claims of a store; the module's docstring defines them."""
    mentions = Mentions(_values(key))
    times: Counter[_StoredValue] = Counter()
    left = LONGEST
    for memory in memories:
        sentences = []
        parts = _SENTENCE.split(memory[:LONGEST])
        for sentence in (normal(each[start : start + LONG]) for each in parts for start in range(0, len(each), LONG)):
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
        stale=sum(value.in_history and not value.holds for value in times),
        invented=sum(not value.in_history for value in times),
        repeated=sum(count > 1 for count in times.values()),
        whole=left >= 0,
    )


def measures(key: StoreKey, claims: Claims) -> dict[str, float | None]:
    """Return the metrics by name; ``None`` if a metric's denominator is 0."""
    current, stale = len(key.current), len(key.stale)
    total = claims.all + current
    found = {
        "stored_f1": 2 * claims.current / total if total else 1.0,
        "missing": (current - claims.current) / current if current else None,
        "stale": claims.stale / stale if stale else None,
        "duplicate": claims.repeated / claims.all if claims.all else None,
        "invented": claims.invented / claims.all if claims.all else None,
    }
    kept, real = 1 - (found["missing"] or 0.0), 1 - (found["invented"] or 0.0)
    return {HEADLINE: max(0.0, kept - (found["stale"] or 0.0)) * real, **found}


def _values(key: StoreKey) -> Iterator[tuple[str, _StoredValue]]:
    for number, subject in enumerate(key.subjects):
        current = () if subject.current is None else (subject.current,)
        for kind, in_history in ((current, True), (subject.stale, True), (subject.never, False)):
            for index, fact in enumerate(kind):
                order = float("inf") if kind is current else float(index)
                for phrase in fact.phrases:
                    yield phrase, _StoredValue(number, order, index, in_history)


def _claims(mentions: Mentions[_StoredValue], sentences: Sequence[str]) -> Iterator[_StoredValue]:
    sentence_words = [words(sentence) for sentence in sentences]
    stated = [mentions.among(each) for each in sentence_words]
    for index, values in enumerate(stated):
        if not values:
            continue
        near = slice(max(0, index - 1), index + 2)
        latest: dict[int, float] = {}
        for other in set().union(*stated[near]):
            if other.in_history:
                latest[other.subject] = max(other.order, latest.get(other.subject, other.order))
        changes = any(not _CHANGE.isdisjoint(each) for each in sentence_words[near])
        of_topic = Counter(value.subject for value in values)
        past = _past(mentions, sentences[index])
        for value in values:
            replaced = changes and value.in_history and value.order < latest[value.subject]
            over = value.in_history and value in past and of_topic[value.subject] == 1
            if not (replaced or over):
                yield value


def _past(mentions: Mentions[_StoredValue], sentence: str) -> set[_StoredValue]:
    past: set[_StoredValue] = set()
    so_far: set[_StoredValue] = set()
    for clause in _ADVERB_WITH_COMMA.sub(r"\1", sentence).split(","):
        in_clause = mentions.among(words(clause))
        so_far |= in_clause
        if _ENDED.search(clause):
            past |= so_far
        elif _ANY_MORE.search(clause):
            past |= in_clause
        elif found := _PAST.search(clause):
            past |= mentions.among(words(clause[found.end() :]))
    return past
