"""``calibration@1``: answers with known verdicts, made from a benchmark's keys, to measure a judge.

Each kind of answer is made only if the benchmark's rule decides whether it is right. Not made, because contestable:

- the right value with slight doubt, if a plain answer is right: the rules require the value, not confidence. A
  ``hedged`` answer to such an item is doubt without the value;
- vague text, and two values at once, if doubt is right: neither states the fact plainly, and neither doubts it;
- items whose key is disputed (slice ``errata``);
- two values at once for a fact that is still true, and in noise without other people's values: additional values are
  harmless there.

Injections always surround a wrong answer that is also made without them, so that the two can be compared. It is off
target if possible, else vague; if doubt is right, it is the plain statement. Injections contain no doubt and no
question, which could be a right answer. For reference answers in words see :mod:`memeval.judging.reference_answers`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from memeval.judging import reference_answers
from memeval.judging.base import Case, Ruling
from memeval.judging.phrasing import NAME, NO_VALUE, VALUE, Answer, PhraseChooser, draw
from memeval.judging.prompting import prompt_name
from memeval.judging.text import normal, words
from memeval.keys import AnswerKey, Fact, FactsKey, ItemKey, ReferenceKey, StanceKey
from memeval.records.audit import Probe, ProbeKind
from memeval.records.scenario import Scenario

PER_CATEGORY = 20
"""Default number of items per category for which answers are made."""

ALIKE = 0.4
"""Two facts are about the same thing if they share at least this part of their words, values excluded (Jaccard)."""

_STANDS = ("This one is settled. {text}", "Without any doubt: {text}", "That is firm: {text}")
_OPEN = (
    "{p} is what was said last, but what that rested on has changed, and nobody has come back to it since.",
    "{text} That was said before its ground changed, so it may be out of date.",
    "The last word was this: {p}. What it depended on is different now, so whether it still holds is unclear.",
)
_HEDGED = ("{text} I am not certain that this is still so.", "Probably this: {p}. It may well have changed, though.")
_OVER = ("That is over and done with: {p}.", "A thing of the past, given up for good: {p}.")
_BOTH = ("{p}, and {w} as well.", "Two things: {p} and {w}.")
_REPLACED = (*_BOTH, "{p}, which took the place of {w}.")
_CANNOT_SAY = (
    "I cannot say for certain whether that is still the case.",
    "I would have to ask about that again before I answer: is it still so?",
)


@dataclass(frozen=True)
class CalibrationAnswer:
    item: ItemKey
    kind: ProbeKind
    expected: bool
    case: Case

    def probe(self, ruling: Ruling) -> Probe:
        return Probe(
            item_id=self.item.item_id,
            category=self.item.category,
            cluster=self.item.cluster,
            kind=self.kind,
            answer=self.case.answer,
            expected=self.expected,
            verdict=ruling.verdict,
            judgment_key=ruling.judgment_key,
        )


def trials(
    keys: Sequence[ItemKey], scenarios: Mapping[str, Scenario], per_category: int = PER_CATEGORY
) -> tuple[CalibrationAnswer, ...]:
    """Return the calibration answers of a benchmark, in order of items; deterministic."""
    plain = [item for item in keys if item.key.prompt and item.slices.get("errata", "none") == "none"]
    judged = [item for item in plain if isinstance(item.key, FactsKey | StanceKey | ReferenceKey)]
    chosen = {item.item_id for item in _chosen(judged, per_category)}
    values = [
        _CalibrationValue(each.cluster, fact.phrases, _about(fact)) for each in judged for fact in _facts(each.key)
    ]
    made = []
    for item in judged:
        if item.item_id in chosen:
            scenario = scenarios[item.scenario_id]
            made += [_trial(item, scenario, answer) for answer in _answers(item, values, judged)]
    return tuple(made)


def _trial(item: ItemKey, scenario: Scenario, answer: Answer) -> CalibrationAnswer:
    kind, text, expected = answer
    question = next(ask.question for ask in scenario.questions() if ask.question_id == item.question_ids[0])
    return CalibrationAnswer(item, kind, expected, Case(item.item_id, question, text, item.key, scenario))


def _chosen(items: Iterable[ItemKey], per_category: int) -> Iterator[ItemKey]:
    """Yield the chosen items of each category, balanced over stances and spread over clusters."""
    groups: dict[str, dict[str, list[ItemKey]]] = {}
    for item in items:
        groups.setdefault(item.category, {}).setdefault(prompt_name(item.key), []).append(item)
    for stances in groups.values():
        turns = zip_longest(*(_spread(group) for group in stances.values()))
        yield from [item for turn in turns for item in turn if item is not None][:per_category]


def _spread(items: list[ItemKey]) -> list[ItemKey]:
    """Return items in pseudorandom order, one of each cluster before the second of any."""
    rounds: dict[str, int] = {}
    placed = []
    for item in sorted(items, key=lambda item: draw(item.item_id)):
        rounds[item.cluster] = rounds.get(item.cluster, -1) + 1
        placed.append((rounds[item.cluster], item))
    return [item for _, item in sorted(placed, key=lambda pair: pair[0])]


def _answers(item: ItemKey, values: Sequence[_CalibrationValue], judged: Sequence[ItemKey]) -> Iterator[Answer]:
    match item.key:
        case FactsKey() as key:
            yield from _plain(item, key.right, key.wrong, _REPLACED if key.replaces else _BOTH, values)
        case StanceKey(dependent=fact, unanswerable=doubt_is_right):
            yield from (_doubtful if doubt_is_right else _standing)(item, fact, values)
        case ReferenceKey() as key:
            yield from reference_answers.answers(item, key, judged)
        case _:
            raise TypeError(f"{NAME} makes no answers from keys of kind {item.key.kind!r}")


def _plain(
    item: ItemKey, right: Fact, wrong: tuple[Fact, ...], both: Sequence[str], values: Sequence[_CalibrationValue]
) -> Iterator[Answer]:
    pen = PhraseChooser(item)
    phrase = right.phrases[0]
    for text in pen.two(VALUE, p=phrase):
        yield ProbeKind.RIGHT, text, True
    false = []
    if (other := _other_value(item, right, wrong, values)) is not None:
        false.append((ProbeKind.OFF, pen.one(VALUE, ProbeKind.OFF, p=other)))
    if wrong:
        old = wrong[pen.number("which") % len(wrong)].phrases[0]
        false.append((ProbeKind.STALE, pen.one(VALUE, ProbeKind.STALE, p=old)))
        false.append((ProbeKind.MIXED, pen.one(both, ProbeKind.MIXED, p=phrase, w=old)))
    yield from pen.wrong(false, pen.one(NO_VALUE, ProbeKind.HEDGED))


def _standing(item: ItemKey, fact: Fact, values: Sequence[_CalibrationValue]) -> Iterator[Answer]:
    """Yield answers about a fact that is still true: only a confident statement is right."""
    pen = PhraseChooser(item)
    phrase = fact.phrases[0]
    for text in pen.two(_STANDS, text=_sentence(fact.text)):
        yield ProbeKind.RIGHT, text, True
    false = []
    if (other := _with_value(fact, _other_value(item, fact, (), values))) is not None:
        false.append((ProbeKind.OFF, pen.one(_STANDS, ProbeKind.OFF, text=_sentence(other))))
    false.append((ProbeKind.STALE, pen.one(_OVER, ProbeKind.STALE, p=phrase)))
    yield from pen.wrong(false, pen.one(_HEDGED, ProbeKind.HEDGED, p=phrase, text=_sentence(fact.text)))


def _doubtful(item: ItemKey, fact: Fact, values: Sequence[_CalibrationValue]) -> Iterator[Answer]:
    """Yield answers about a fact whose basis changed: doubt is right, a plain statement is wrong."""
    pen = PhraseChooser(item)
    phrase = fact.phrases[0]
    for text in pen.two(_OPEN, p=phrase, text=_sentence(fact.text)):
        yield ProbeKind.RIGHT, text, True
    yield ProbeKind.HEDGED, pen.one(_HEDGED, ProbeKind.HEDGED, p=phrase, text=_sentence(fact.text)), True
    yield ProbeKind.REFUSED, pen.one(_CANNOT_SAY, ProbeKind.REFUSED), True
    stale = pen.one(_STANDS, ProbeKind.STALE, text=_sentence(fact.text))
    yield ProbeKind.STALE, stale, False
    if (other := _with_value(fact, _other_value(item, fact, (), values))) is not None:
        yield ProbeKind.OFF, pen.one(_STANDS, ProbeKind.OFF, text=_sentence(other)), False
    yield from pen.injections(stale)


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?")) else f"{text}."


@dataclass(frozen=True)
class _CalibrationValue:
    cluster: str
    phrases: tuple[str, ...]
    about: frozenset[str]
    """The words of the fact, without its value."""


def _facts(key: AnswerKey) -> tuple[Fact, ...]:
    match key:
        case FactsKey():
            return (key.right, *key.wrong)
        case StanceKey():
            return (key.dependent,)
        case _:
            return ()


def _about(fact: Fact) -> frozenset[str]:
    return frozenset(words(normal(_with_value(fact, " ") or fact.text)))


def _with_value(fact: Fact, value: str | None) -> str | None:
    """Return the fact's sentence with another value; ``None`` without a value, or if the sentence has no phrase."""
    if value is None:
        return None
    for phrase in fact.phrases:
        text, found = re.subn(rf"(?<!\w){re.escape(phrase)}(?!\w)", lambda _: value, fact.text, flags=re.IGNORECASE)
        if found:
            return text
    return None


def _other_value(
    item: ItemKey, right: Fact, wrong: tuple[Fact, ...], values: Sequence[_CalibrationValue]
) -> str | None:
    """Return a value for the same thing from another cluster's item that this key lacks; ``None`` if absent."""
    about = _about(right)
    own = [_letters(phrase) for fact in (right, *wrong) for phrase in fact.phrases]
    # One value in another may be the same: Postgres and PostgreSQL, Redis and Redis Cluster.

    def likeness(value: _CalibrationValue) -> float:
        return len(about & value.about) / len(about | value.about) if about else 0.0

    alike = [
        (-likeness(value), draw(item.item_id, value.phrases[0]), value.phrases[0])
        for value in values
        if value.cluster != item.cluster
        and likeness(value) >= ALIKE
        and not any(mine in theirs or theirs in mine for mine in own for theirs in map(_letters, value.phrases))
    ]
    return min(alike)[2] if alike else None


def _letters(phrase: str) -> str:
    return "".join(words(normal(phrase)))
