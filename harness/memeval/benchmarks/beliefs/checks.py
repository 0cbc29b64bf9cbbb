"""Rules that all generated data must satisfy. A broken rule is an error, not a warning."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise

from memeval.benchmarks.beliefs.history import Made
from memeval.benchmarks.beliefs.plan import WEIGHTS, counts
from memeval.keys import BeliefKey, CascadeKey, DeltaKey, Fact, NoiseKey, Stance, TemporalKey, UncertaintyKey
from memeval.records.scenario import Forget, Ingest, Question, Scenario

_TWINS = ("changed", "reconfirmed", "unchanged")


class BrokenRule(ValueError):
    """The generated data breaks one of its rules."""


def check(items: Sequence[Made], size: int) -> None:
    """Check all rules on generated data.

    Raises:
        BrokenRule: names the scenario and the rule.
    """
    _whole(items, size)
    for item in items:
        _dates(item.scenario)
        check_key(item)


def states(phrases: Iterable[str], text: str) -> bool:
    """Return whether one of ``phrases`` occurs in ``text`` as whole words, in any case."""
    return any(_pattern(phrase).search(text) for phrase in phrases)


@lru_cache(maxsize=4096)
def _pattern(phrase: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(phrase)}(?!\w)", re.IGNORECASE)


def text_of(scenario: Scenario) -> str:
    """Return the text of all sessions of a scenario."""
    return "\n".join(turn.content for session in scenario.sessions() for turn in session.turns)


def _require(condition: bool, where: str, rule: str) -> None:
    if not condition:
        raise BrokenRule(f"{where}: {rule}")


def _whole(items: Sequence[Made], size: int) -> None:
    """Check the rules on the whole set: counts, weights, unique ids and kinds of twins."""
    found = Counter(item.key.category for item in items)
    for category, count in counts(size).items():
        _require(found[category] == count, category, f"{found[category]} items instead of {count}.")
    _require(abs(sum(weight for _, weight in WEIGHTS.values()) - 1) < 1e-9, "weights", "do not sum to one.")
    for name, ids in (
        ("scenario", [item.scenario.scenario_id for item in items]),
        ("item", [item.key.item_id for item in items]),
        ("question", [ask.question_id for item in items for ask in item.scenario.questions()]),
        ("history", [text_of(item.scenario) for item in items]),
    ):
        _require(len(ids) == len(set(ids)), name, "occurs twice.")
    for category in ("cascade-propagation", "uncertainty-abstention"):
        kinds = {item.key.slices["twin"] for item in items if item.key.category == category}
        if found[category] >= 8:
            _require(kinds == set(_TWINS), category, "a kind of twin is missing.")


def _dates(scenario: Scenario) -> None:
    """Check that dates increase, ids are ordinals, and no question precedes the sessions before it."""
    days = [session.date for session in scenario.sessions()]
    _require(all(a < b for a, b in pairwise(days)), scenario.scenario_id, "dates are inverted.")
    ids = [session.session_id for session in scenario.sessions()]
    _require(ids == [f"s{i:03d}" for i in range(1, len(ids) + 1)], scenario.scenario_id, "ids are not ordinals.")
    if scenario.agent_keeps_context:
        now = ""
        for step in scenario.steps:
            if isinstance(step, Forget):
                continue
            day = (step.timestamp or "") if isinstance(step, Question) else step.session.date
            _require(day >= now, scenario.scenario_id, "a question is asked in the past.")
            now = day


def check_key(item: Made) -> None:
    """Check an answer key against its scenario.

    Raises:
        BrokenRule: names the scenario and the rule.
    """
    where, key, evidence = item.scenario.scenario_id, item.key.key, frozenset(item.key.evidence or ())
    _require(bool(evidence), where, "no evidence.")
    inside, outside = text_of(item.scenario.only(evidence)), _outside(item.scenario, evidence)
    questions = [ask.question for ask in item.scenario.questions()]
    match key:
        case BeliefKey():
            _apart(where, key.current, key.stale)
            _found_only(where, key.current, inside, outside)
            _unnamed(where, key.current, questions)
        case NoiseKey():
            _apart(where, key.reference, key.distractors)
            _found_only(where, key.reference, inside, outside)
            _unnamed(where, key.reference, questions)
            _require(bool(key.distractors), where, "nobody else speaks of the matter.")
        case TemporalKey():
            _apart(where, key.reference, key.others)
            _unnamed(where, key.reference, questions)
            _temporal(item, key, inside, outside)
        case CascadeKey() | UncertaintyKey():
            _found_only(where, key.dependent, inside, outside)
            doubt = item.key.slices["twin"] == "changed"
            _require((key.stance is Stance.DOUBT) == doubt, where, "the stance does not follow from the timeline.")
        case DeltaKey():
            _delta(item, key)


def _outside(scenario: Scenario, evidence: frozenset[str]) -> str:
    every = frozenset(session.session_id for session in scenario.sessions())
    return text_of(scenario.only(every - evidence))


def _apart(where: str, gold: Fact, others: Sequence[Fact]) -> None:
    """Check that no phrase of the correct fact contains a phrase of another fact, or the reverse."""
    for other in others:
        crossed = any(states((a,), b) or states((b,), a) for a in gold.phrases for b in other.phrases)
        _require(not crossed, where, f"{gold.phrases} and {other.phrases} overlap.")


def _found_only(where: str, gold: Fact, inside: str, outside: str) -> None:
    _require(states(gold.phrases, inside), where, f"{gold.phrases[0]!r} cannot be derived from the evidence.")
    _require(not states(gold.phrases, outside), where, f"{gold.phrases[0]!r} is said outside the evidence.")


def _unnamed(where: str, gold: Fact, questions: Sequence[str]) -> None:
    _require(not any(states(gold.phrases, question) for question in questions), where, "the question says the answer.")


def _temporal(item: Made, key: TemporalKey, inside: str, outside: str) -> None:
    """Check a question about time: its correct fact, and that no change is in the month it asks about."""
    where = item.scenario.scenario_id
    evidence = frozenset(item.key.evidence or ())
    days = [session.date for session in item.scenario.sessions() if session.session_id in evidence]
    if item.key.slices["asked"] == "when":
        _require(any(states(key.reference.phrases, day) for day in days), where, "the month asked for is no day's.")
        return
    _found_only(where, key.reference, inside, outside)
    (ask,) = item.scenario.questions()
    if item.key.slices["asked"] == "explicit-date" and item.key.slices["announced"] != "retracted":
        _require((ask.timestamp or "")[:7] not in {day[:7] for day in days}, where, "asks for a month of change.")


def _delta(item: Made, key: DeltaKey) -> None:
    """Check twenty questions: earlier sessions state each answer, and no question contains its answer."""
    where = item.scenario.scenario_id
    asks = item.scenario.questions()
    _require(len(key.facts_by_turn) == len(asks) == 20, where, "not twenty questions.")
    _require(len({ask.question for ask in asks}) == 20, where, "a question is asked twice.")
    said, turn = "", 0
    for step in item.scenario.steps:
        if isinstance(step, Forget):
            continue
        if not isinstance(step, Question):
            said += "\n".join(t.content for t in step.session.turns) + "\n"
            continue
        gold = key.facts_by_turn[turn]
        _require(bool(gold), where, f"question {turn + 1} has no facts.")
        for fact in gold:
            _require(states(fact.phrases, said), where, f"{fact.phrases[0]!r} was not said before question {turn + 1}.")
            _unnamed(where, fact, [step.question])
        turn += 1
    first = next(i for i, step in enumerate(item.scenario.steps) if not isinstance(step, Ingest))
    late = [step for step in item.scenario.steps[first:] if isinstance(step, Ingest)]
    _require(len(late) >= 2, where, "no news between the questions.")
