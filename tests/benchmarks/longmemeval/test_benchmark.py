"""What the benchmark says of itself, what each protocol asks, and who is in a tier."""

import hashlib
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.benchmarks.base import largest_remainders
from memeval.benchmarks.longmemeval import LongMemEvalBenchmark
from memeval.benchmarks.longmemeval.benchmark import INCREMENT, MULTIPLIER, sampled, shuffled
from memeval.benchmarks.longmemeval.grading import LongMemEvalRetrieval
from memeval.benchmarks.longmemeval.keys import LongMemEvalKey, LongMemEvalType
from memeval.benchmarks.session import BenchmarkSession
from memeval.judging.rules import RulesJudge
from memeval.keys import ItemKey
from memeval.records.base import digest_bytes
from memeval.records.errors import BadInput
from memeval.records.response import RetrievedItem
from memeval.records.track import Limits
from tests.benchmarks.longmemeval.rows import keys_of, row, rows, written
from tests.grading.builders import reply

COUNTS = {
    "single-session-user": (70, 6),
    "single-session-preference": (30, 0),
    "single-session-assistant": (56, 0),
    "multi-session": (133, 12),
    "temporal-reasoning": (133, 6),
    "knowledge-update": (78, 6),
}
"""By type, all questions and the unanswerable among them, as released."""

SHARES = {18: [3, 5, 2, 1, 2, 5], 50: [8, 13, 6, 3, 7, 13], 100: [16, 27, 11, 6, 14, 26]}
"""By size of a sample, the reference's shares of the types, in the order of the alphabet."""

BENCHMARK = LongMemEvalBenchmark()


def keys() -> list[ItemKey]:
    """Return 500 made-up keys with the real counts, the types in turn."""
    kinds = [(kind, n) for kind, (count, _) in COUNTS.items() for n in range(count)]
    return [
        ItemKey(
            item_id=f"{kind}:{n}",
            scenario_id=f"{kind}:{n}",
            question_ids=(f"{kind}:{n}",),
            category=kind,
            cluster=f"{kind}:{n}",
            evidence=("s001",),
            key=LongMemEvalKey(question_type=LongMemEvalType(kind), abstention=n < COUNTS[kind][1], answer="Yes"),
        )
        for kind, n in sorted(kinds, key=lambda pair: (pair[1], pair[0]))
    ]


def unanswerable(chosen: tuple[ItemKey, ...]) -> int:
    return sum(isinstance(key.key, LongMemEvalKey) and key.key.abstention for key in chosen)


def test_six_types_in_the_papers_order_make_500_questions_that_all_count_the_same() -> None:
    assert {category.name: category.items for category in BENCHMARK.categories} == {
        kind: count for kind, (count, _) in COUNTS.items()
    }
    assert [category.name for category in BENCHMARK.categories] == list(COUNTS)
    assert BENCHMARK.info.items == 500
    plan = BENCHMARK.plan(keys())
    assert [category.weight for category in plan] == pytest.approx([count / 500 for count, _ in COUNTS.values()])
    assert all(category.shared and category.grader == "longmemeval-judged@2" for category in plan)


def test_the_sources_are_pinned_to_one_revision() -> None:
    sources = BENCHMARK.info.sources
    assert [(source.name, source.bytes) for source in sources] == [
        ("s", 277_383_467),
        ("oracle", 15_388_478),
        ("m", 2_737_100_077),
    ]
    assert [source.digest for source in sources] == [
        "sha256:d6f21ea9d60a0d56f34a05b609c79c88a451d2ae03597821ea3d5a9678c3a442",
        "sha256:821a2034d219ab45846873dd14c14f12cfe7776e73527a483f9dac095d38620c",
        "sha256:9d79e5524794a2e6900a3aa9cb7d9152c5a3e8319c9a87c25494ba1eacee495f",
    ]
    for source in sources:
        assert source.url == (
            "https://huggingface.co/datasets/xiaowu0162/longmemeval-cleaned/resolve/"
            f"98d7416c24c778c2fee6e6f3006e7a073259d48f/{source.filename}"
        )


def test_retrieval_leaves_out_what_cannot_be_answered_and_what_names_no_evidence() -> None:
    given = keys()
    bare = given[499].model_copy(update={"evidence": None})
    assert len(BENCHMARK.asked(given, "judge")) == 500
    asked = BENCHMARK.asked([*given[:499], bare], "retrieval")
    assert len(asked) == 469 and unanswerable(asked) == 0 and bare not in asked
    assert {category.grader for category in BENCHMARK.plan(asked, "retrieval")} == {"longmemeval-retrieval@2"}


def test_retrieval_is_refused_where_no_question_names_evidence(tmp_path: Path) -> None:
    benchmark_session = BenchmarkSession.open(
        BENCHMARK, written(tmp_path, [row(answer_session_ids=[]), row("2_abs")]), protocol="retrieval"
    )
    with pytest.raises(BadInput, match="the protocol 'retrieval' has no questions"):
        _ = benchmark_session.keys


def test_retrieval_goes_with_the_blank_reader_and_fifty_items() -> None:
    judge, retrieval = BENCHMARK.info.protocols
    assert (judge.name, judge.reader, judge.search_items) == ("judge", None, None)
    assert (retrieval.name, retrieval.reader, retrieval.search_items) == ("retrieval", "none", 50)


def test_quick_draws_the_reference_shares() -> None:
    chosen = BENCHMARK.sampled(keys(), "quick")
    assert Counter(key.category for key in chosen) == dict(zip(sorted(COUNTS), SHARES[50], strict=True))
    assert [key.category for key in chosen] == sorted(key.category for key in chosen)
    assert BENCHMARK.sampled(keys(), "quick") == chosen


@pytest.mark.parametrize("tier", [tier for tier in BENCHMARK.info.tiers if tier.name != "full"], ids=lambda t: t.name)
def test_every_tier_has_the_items_it_says(tier: object) -> None:
    name, items = tier.name, tier.items  # type: ignore[attr-defined]
    chosen = BENCHMARK.sampled(keys(), name)
    assert len({key.item_id for key in chosen}) == len(chosen) == items
    if name.endswith("abstention"):
        assert unanswerable(chosen) == items * 30 // 500


def test_the_full_tier_is_everything_in_the_order_of_the_file() -> None:
    assert BENCHMARK.info.tiers[0].name == "full"
    assert BENCHMARK.sampled(keys(), "full") == tuple(keys())


def test_a_sample_is_named_in_the_track_by_its_signature(tmp_path: Path) -> None:
    given = [row(f"{n:03}", kind) for n, kind in enumerate(["multi-session", "knowledge-update"] * 40)]
    benchmark_session = BenchmarkSession.open(BENCHMARK, written(tmp_path, given), tier="quick")
    track = benchmark_session.track(reader=None, limits=Limits())
    assert track.sample == digest_bytes("\n".join(key.item_id for key in benchmark_session.keys).encode())
    assert track.planned == 50 and not track.released and track.parameters == {"file": "local"}
    assert {category.name: category.items for category in track.categories} == {
        "multi-session": 25,
        "knowledge-update": 25,
    }


def test_a_small_copy_is_whole_in_every_tier(tmp_path: Path) -> None:
    path = written(tmp_path, rows())
    for tier in BENCHMARK.info.tiers:
        benchmark_session = BenchmarkSession.open(BENCHMARK, path, tier=tier.name)
        assert len(benchmark_session.keys) == 7 and benchmark_session.track(reader=None, limits=Limits()).sample is None


def test_the_example_shows_every_type_and_a_question_that_cannot_be_answered() -> None:
    example = BENCHMARK.info.example
    assert example is not None
    assert len(example.sessions) == 2
    assert [question.category for question in example.questions] == [*COUNTS, "single-session-user"]


def test_the_catalogue_says_what_every_measure_of_a_retrieval_means(tmp_path: Path) -> None:
    """A name in ``@k`` stands for all depths."""
    (key,) = keys_of(dataset := BENCHMARK.open(written(tmp_path, [row()])))
    response = reply(key, "", [RetrievedItem(text="?", source_ids=("s001:t01",))])
    grade = LongMemEvalRetrieval().grade(key, dataset.scenario(key.item_id), [response], RulesJudge())
    measured = {name.partition("@")[0] for name in grade.metrics}
    told = {metric.name.partition("@")[0] for metric in BENCHMARK.info.metrics}
    assert told - measured == {"accuracy", "task_average", "abstention_accuracy"}
    assert measured - told == set()
    assert BENCHMARK.info.protocols[1].headline in grade.metrics


GROUPS = {"a": "alpha", "b": "beta", "g": "gamma", "d": "delta"}
NAMES = ("a1", "a2", "a3", "b1", "b2", "b3", "g1", "g2", "d1", "d2")


def test_the_generator_is_the_reference_ones() -> None:
    states = [42]
    for _ in range(3):
        states.append((states[-1] * MULTIPLIER + INCREMENT) % (1 << 64))
    assert states[1:] == [10481999410520546993, 4159066171780167020, 7615522811268512075]
    assert [state >> 33 for state in states[1:]] == [1220265334, 484179026, 886563538]


@pytest.mark.parametrize(
    ("seed", "order"), [(0, "4 8 6 0 9 5 2 1 3 7"), (1, "7 8 1 6 5 0 2 9 3 4"), (42, "3 8 0 9 1 6 7 2 5 4")]
)
def test_ten_items_are_shuffled_as_the_reference_shuffles_them(seed: int, order: str) -> None:
    assert shuffled(10, seed) == [int(place) for place in order.split()]


@pytest.mark.parametrize(
    ("size", "seed", "chosen", "signature"),
    [
        (5, 42, "a3 a1 b3 d2 g2", "15b0adcd0d5bdde4"),
        (3, 42, "a3 b3 d2", "3840d2538e48348f"),
        (7, 7, "a1 a2 b1 b2 d1 d2 g2", "44389a66f66a89a0"),
        (9, 1, "a1 a2 a3 b1 b2 d1 d2 g1 g2", "8cf6bd20a3880410"),
    ],
)
def test_samples_and_their_signatures_are_the_reference_ones(size: int, seed: int, chosen: str, signature: str) -> None:
    found = sampled(NAMES, lambda name: GROUPS[name[0]], size, seed)
    assert " ".join(found) == chosen
    assert hashlib.sha256("\n".join(found).encode()).hexdigest().startswith(signature)


@pytest.mark.parametrize("size", SHARES)
def test_the_real_types_have_the_reference_shares(size: int) -> None:
    assert list(largest_remainders({kind: COUNTS[kind][0] for kind in sorted(COUNTS)}, size).values()) == SHARES[size]


@pytest.mark.parametrize("size", [-1, 0, 10, 11])
def test_no_size_and_one_that_is_not_smaller_take_all_in_order(size: int) -> None:
    assert sampled(NAMES, lambda name: GROUPS[name[0]], size, 42) == NAMES


@given(
    st.dictionaries(st.text("abcdef", min_size=1), st.integers(1, 40), min_size=1, max_size=8),
    st.integers(1, 100),
    st.integers(0, 1 << 64),
)
def test_every_sample_has_its_size_its_shares_and_nothing_twice(sizes: dict[str, int], size: int, seed: int) -> None:
    items = [(name, number) for name, count in sizes.items() for number in range(count)]
    found = sampled(items, lambda item: item[0], size, seed)
    assert len(found) == len(set(found)) == min(size, len(items))
    if size < len(items):
        assert all(one <= two for one, two in pairwise(name for name, _ in found))
        for name, count in sizes.items():
            assert abs(sum(item[0] == name for item in found) - count * size / len(items)) < 1
