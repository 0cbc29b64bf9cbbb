"""Golden counts of the released file; ``HUST-AI-HYZ/MemoryAgentBench`` at 455306d, as EvoMemBench has it at aa4cea8."""

import re
from collections import Counter
from pathlib import Path

import pytest

from memeval.archive.runs import RunFolder
from memeval.benchmarks.factconsolidation import FactConsolidationBenchmark
from memeval.benchmarks.factconsolidation.dataset import FactConsolidationDataset
from memeval.benchmarks.factconsolidation.keys import FactConsolidationKey
from memeval.benchmarks.factconsolidation.released import FULL, FactFile, read
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.run.running import RunOptions, run_system
from memeval.evaluation.verify.reproduce import reproduce_run
from memeval.evaluation.verify.verification import verify_run
from memeval.systems.controls import controls_of
from memeval.systems.source import control_source
from tests.support.data import test_data

ONE_MATCH = {"6k": 65, "32k": 35, "64k": 30, "262k": 17}
"""Answers that end exactly one fact, by length of the list."""


@pytest.fixture(scope="module")
def path() -> Path:
    return test_data("factconsolidation/Conflict_Resolution.json")


@pytest.fixture(scope="module")
def released(path: Path) -> FactFile:
    return read(path)


@pytest.fixture(scope="module")
def keys(released: FactFile) -> dict[str, FactConsolidationKey]:
    dataset = FactConsolidationDataset(released)
    return {item.item_id: item.key_as(FactConsolidationKey, "a test") for item in dataset.answer_keys()}


def test_the_file_is_the_released_one(released: FactFile) -> None:
    assert released.digest == FULL.digest
    facts = {each.size: len(each.facts) for each in released.lists}
    assert facts == {"6k": 455, "32k": 2310, "64k": 4580, "262k": 18332}
    assert {len(questions) for each in released.lists for questions in each.questions.values()} == {100}


def test_some_answers_end_exactly_one_fact(released: FactFile) -> None:
    found = {
        each.size: sum(
            sum(fact.endswith(f" {question.answer}.") for fact in each.facts) == 1 for question in each.questions["sh"]
        )
        for each in released.lists
    }
    assert found == ONE_MATCH


def test_every_answer_of_a_single_hop_question_matches_a_fact(keys: dict[str, FactConsolidationKey]) -> None:
    single = {name: key for name, key in keys.items() if name.startswith("sh-")}
    assert len(single) == 400 and all(key.newest for key in single.values())
    assert Counter(len(key.stale) for key in single.values()) == {1: 282, 0: 118}
    assert not [key for name, key in keys.items() if name.startswith("mh-") and key.newest]


def test_the_matched_fact_is_about_the_subject_of_the_question(released: FactFile) -> None:
    """Golden, by hand: names that a fact has beside its value are in the question."""
    dataset = FactConsolidationDataset(released)
    for item in dataset.answer_keys():
        key = item.key_as(FactConsolidationKey, "a test")
        if key.newest is None:
            continue
        scenario = dataset.scenario(item.scenario_id)
        _, turn = scenario.turn(key.newest)
        question = next(ask.question for ask in scenario.questions() if ask.question_id == item.item_id)
        values = "|".join(re.escape(value.text) for value in (key.answer, *key.others))
        start = re.sub(rf"^\d+\. | (?:{values})\.$", "", turn.content)
        names = set(re.findall(r"\b[A-Z]\w+", start)) - {"The"}
        assert names <= set(re.findall(r"\w+", question)), item.item_id


def test_errata_name_each_answer_that_a_later_fact_replaces(path: Path, keys: dict[str, FactConsolidationKey]) -> None:
    session = BenchmarkSession.open(FactConsolidationBenchmark(), path, protocol="answers")
    facts = session.dataset
    wrong = set()
    for name, key in keys.items():
        if key.newest is not None:
            _, turn = facts.scenario(name.partition("-")[2].partition(":")[0]).turn(key.newest)
            if not turn.content.endswith(f" {key.answer.text}."):
                wrong.add(name)
    assert wrong == {*("sh-32k:8", "sh-32k:9", "sh-64k:18", "sh-64k:20", "sh-262k:8", "sh-262k:49", "sh-262k:80")}
    corrected = session.corrections
    assert corrected.keys() == wrong
    for name, item in corrected.items():
        assert item is not None
        better = item.key_as(FactConsolidationKey, "a test")
        assert better.answer.text in keys[name].traps and keys[name].answer.text in better.traps
        assert (better.newest, better.stale) == (keys[name].newest, keys[name].stale), "retrieval is graded as before"


@pytest.mark.parametrize(
    ("tier", "retrieval", "answers"), [("full", 400, 800), ("short", 300, 600), ("6k", 100, 200), ("262k", 100, 200)]
)
def test_tiers_have_their_items(released: FactFile, tier: str, retrieval: int, answers: int) -> None:
    benchmark, items = FactConsolidationBenchmark(), tuple(FactConsolidationDataset(released).answer_keys())
    for protocol, number in (("retrieval", retrieval), ("answers", answers)):
        assert len(benchmark.sampled(benchmark.asked(items, protocol), tier)) == number


def test_losing_the_order_scores_at_chance_and_knowing_it_does_not(path: Path, tmp_path: Path) -> None:
    controls = controls_of("factconsolidation@1")
    scores = {}
    for slug in ("order-lost", "newest-of-equals", "expected-turns"):
        session = BenchmarkSession.open(FactConsolidationBenchmark(), path, tier="6k")
        run = run_system(control_source(controls[slug]), session, RunOptions(results=tmp_path, tier="6k"))
        scores[slug] = run.run.scores
        assert reproduce_run(RunFolder(run.path), path).equal
        assert not verify_run(RunFolder(run.path))
    chance, best = (scores[slug].composite.interval for slug in ("order-lost", "newest-of-equals"))
    assert chance is not None and chance.low < 0.5 < chance.high
    assert best is not None and best.low > 0.6
    assert scores["expected-turns"].composite.value == 1
    once = next(each for each in scores["order-lost"].categories if each.name == "unchanged")
    assert once.tally.correct == once.tally.planned == 26
