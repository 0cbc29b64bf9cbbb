"""The table: weights, protocols, ceilings, and what the catalogue says."""

import pytest

from memeval.benchmarks import find
from memeval.benchmarks.locomo import CEILINGS, LocomoBenchmark, over_ceiling
from memeval.keys import LocomoCategory
from memeval.records.base import digest_bytes
from memeval.records.scores import CategoryScore, Composite, Scores, Tally
from memeval.records.track import CategoryPlan, Limits, Redistribution, Track
from tests.benchmarks.locomo.samples import made

NAMES = ["single-hop", "multi-hop", "temporal", "open-domain", "adversarial"]


def track(protocol: str, *, sampled: bool = False) -> Track:
    return Track(
        benchmark="locomo@1",
        data_digest=digest_bytes(b""),
        protocol=protocol,
        tier="full",
        categories=(),
        reader="native",
        judge="rules@1",
        tokenizer="none",
        limits=Limits(),
        sample=digest_bytes(b"x") if sampled else None,
    )


def scores(shares: dict[str, float | None]) -> Scores:
    absent = Composite(value=None, interval=None, reason="Synthetic.")
    tallies = {
        name: Tally(
            planned=100,
            done=100,
            correct=0,
            errors=0,
            accuracy=share,
            interval=None,
            graded_accuracy=share,
        )
        for name, share in shares.items()
    }
    return Scores(
        composite=absent,
        alternates={},
        overall=next(iter(tallies.values())),
        categories=tuple(
            CategoryScore(name=name, weight=0.25, tally=tally, flags=()) for name, tally in tallies.items()
        ),
        slices=(),
        states={},
        false_hedge_rate=None,
    )


def test_the_registry_knows_it() -> None:
    assert isinstance(find("locomo"), LocomoBenchmark)
    assert find("locomo@1").info.redistribution is Redistribution.IDS


def test_every_question_counts_the_same() -> None:
    keys = list(made().keys())
    plan = LocomoBenchmark().plan(keys)
    assert [(c.name, c.items, c.weight) for c in plan] == [
        ("single-hop", 3, 3 / 8),
        ("multi-hop", 1, 1 / 8),
        ("temporal", 1, 1 / 8),
        ("open-domain", 1, 1 / 8),
        ("adversarial", 2, 2 / 8),
    ]
    assert {c.grader for c in plan} == {"locomo-f1@1"}
    assert all(c.shared for c in plan)


def test_a_judge_has_adversarial_questions_apart() -> None:
    keys = list(made().keys())
    by_name = {c.name: c for c in LocomoBenchmark().plan(keys, "judge")}
    assert by_name["adversarial"] == CategoryPlan(
        name="adversarial", weight=0.0, items=2, grader="locomo-judged@1", shared=False
    )
    assert by_name["single-hop"].weight == 3 / 6


def test_retrieval_counts_what_has_evidence() -> None:
    benchmark = LocomoBenchmark()
    asked = benchmark.asked(tuple(made().keys()), "retrieval")
    plan = benchmark.plan(asked, "retrieval")
    assert {c.name: c.items for c in plan} == {"single-hop": 2, "multi-hop": 1, "temporal": 1, "adversarial": 2}
    assert {c.grader for c in plan} == {"retrieval@1"}


def test_the_catalogue_is_whole() -> None:
    info = LocomoBenchmark.info
    assert [category.name for category in info.categories] == NAMES
    assert set(NAMES) == set(LocomoCategory)
    assert info.items == 1986
    assert [each.name for each in info.protocols] == ["f1", "judge", "retrieval"]
    assert {each.headline.replace("@5", "@k") for each in info.protocols} <= {metric.name for metric in info.metrics}
    assert info.tiers[0].name == "full" and info.tiers[0].items == info.items
    assert info.example is not None
    assert [question.category for question in info.example.questions] == NAMES
    assert [category.answerable for category in info.categories] == [True] * 4 + [False]


def test_the_ceilings_are_the_published_ones() -> None:
    assert {name: round(100 * share, 2) for name, share in CEILINGS.items()} == {
        "multi-hop": 90.07,
        "temporal": 91.90,
        "open-domain": 90.62,
        "single-hop": 95.72,
    }
    items = {category.name: category.items for category in LocomoBenchmark.info.categories}
    right = sum(round(share * items[name]) for name, share in CEILINGS.items())
    assert (right, sum(items[name] for name in CEILINGS)) == (1441, 1540)


@pytest.mark.parametrize("protocol", ["f1", "judge"])
def test_a_category_above_its_ceiling_is_named(protocol: str) -> None:
    found = scores({"single-hop": 0.958, "multi-hop": 0.90, "temporal": None, "adversarial": 1.0})
    assert over_ceiling(track(protocol), found) == ("single-hop",)


def test_neither_samples_nor_retrieval_have_a_ceiling() -> None:
    found = scores({"single-hop": 1.0})
    assert over_ceiling(track("f1", sampled=True), found) == ()
    assert over_ceiling(track("retrieval"), found) == ()
