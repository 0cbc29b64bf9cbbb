"""Both samplers: their golden values on the released data, and what holds for any."""

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memeval.benchmarks.base import Dataset
from memeval.benchmarks.locomo import LocomoBenchmark
from memeval.benchmarks.locomo.benchmark import SAMPLERS, documented, equal, exact, proportional
from memeval.benchmarks.locomo.keys import LocomoCategory, LocomoKey
from memeval.keys import ItemKey

Sampler = Callable[[Sequence[ItemKey]], tuple[ItemKey, ...]]
ORDER = sorted(LocomoCategory)


def hashed(name: str) -> str:
    return hashlib.sha256(f"42:{name}".encode()).hexdigest()


def layout(sizes: dict[str, dict[LocomoCategory, int]]) -> list[ItemKey]:
    """Return made-up questions: per conversation, so many of each category, one category after the other."""
    made = []
    for conversation, categories in sizes.items():
        names = [category for category, size in categories.items() for _ in range(size)]
        for place, category in enumerate(names):
            item_id = f"{conversation}:{place}"
            made.append(
                ItemKey(
                    item_id=item_id,
                    scenario_id=conversation,
                    question_ids=(item_id,),
                    category=category.value,
                    cluster=conversation,
                    key=LocomoKey(category=category, answer="x"),
                )
            )
    return made


LAYOUTS = st.dictionaries(
    st.sampled_from([f"conv-{number}" for number in (7, 26, 30, 41)]),
    st.dictionaries(st.sampled_from(LocomoCategory), st.integers(1, 9), min_size=1),
    min_size=1,
)


@given(LAYOUTS)
def test_the_tier_answerable_leaves_out_the_adversarial_questions_alone(
    sizes: dict[str, dict[LocomoCategory, int]],
) -> None:
    keys = layout(sizes)
    chosen = SAMPLERS["answerable"](keys)
    assert chosen == tuple(key for key in keys if key.category != "adversarial")


@pytest.mark.parametrize(
    ("sampler", "by_category", "digest"),
    [
        # Documented sampling, N = 5, 10, 20, 50 for each conversation.
        (partial(documented, per_conversation=5), (11, 11, 9, 11, 11), "a5c6de2d394edba4"),
        (partial(documented, per_conversation=10), (21, 21, 18, 21, 21), ""),
        (SAMPLERS["fair"], (41, 41, 36, 41, 41), "79fee7de2a9ee2bb"),
        (partial(documented, per_conversation=50), (103, 101, 82, 103, 103), ""),
        # The exact sampler, seed 42.
        (SAMPLERS["quick"], (10, 10, 9, 11, 10), "0fc5dcaed564d2fe"),
        (SAMPLERS["quick-proportional"], (10, 9, 0, 21, 10), "21fe5272104677b7"),
        (SAMPLERS["hundred"], (21, 17, 5, 41, 16), "532403b2866473b3"),
        (SAMPLERS["one-conversation"], (24, 11, 0, 44, 26), "120b72c2d8574706"),
        (SAMPLERS["fair-exact"], (41, 41, 36, 41, 41), "4b0aa19ad1cd75f9"),
        (SAMPLERS["fair-proportional"], (45, 28, 9, 85, 33), "4b3e79a564976900"),
        (SAMPLERS["full"], (446, 282, 96, 841, 321), ""),
    ],
)
def test_golden_samples_of_the_released_data(
    dataset: Dataset, sampler: Sampler, by_category: tuple[int, ...], digest: str
) -> None:
    chosen = sampler(tuple(dataset.answer_keys()))
    counts = Counter(key.category for key in chosen)
    assert tuple(counts[name] for name in ORDER) == by_category
    ids = "\n".join(key.item_id for key in chosen)
    assert hashlib.sha256(ids.encode()).hexdigest().startswith(digest)


def test_golden_first_picks(dataset: Dataset) -> None:
    benchmark, keys = LocomoBenchmark(), tuple(dataset.answer_keys())
    assert [key.item_id for key in benchmark.sampled(keys, "fair")[:6]] == [
        *("conv-26:152", "conv-26:153", "conv-26:154", "conv-26:155", "conv-26:3", "conv-26:4")
    ]
    assert [key.item_id for key in benchmark.sampled(keys, "quick")[:6]] == [
        *("conv-26:195", "conv-26:65", "conv-26:14", "conv-26:109", "conv-26:45", "conv-30:91")
    ]


def test_conversations_categories_and_questions_are_dealt_in_the_order_of_their_hashes() -> None:
    sizes = {f"conv-{number}": dict.fromkeys(LocomoCategory, 3) for number in range(12)}
    keys = layout(sizes)
    first = sorted(sizes, key=lambda name: hashed(f"conv|{name}"))[:5]
    chosen = exact(keys, 5, equal, 42)
    assert {key.scenario_id for key in chosen} == set(first)
    for key in chosen:
        name = key.scenario_id
        assert key.category == min(LocomoCategory, key=lambda category: hashed(f"{name}|{category}"))
        group = [each.item_id for each in keys if (each.scenario_id, each.category) == (name, key.category)]
        assert key.item_id == min(group, key=hashed)


def test_of_equal_remainders_the_first_name_gains() -> None:
    assert proportional({"b": 3, "a": 1}, 2, str) == {"b": 1, "a": 1}


def test_documented_sampling_takes_one_of_each_category_at_least() -> None:
    keys = layout({"conv-1": dict.fromkeys(LocomoCategory, 2)})
    assert len(documented(keys, 0)) == len(documented(keys, 1)) == len(LocomoCategory)


def test_the_golden_head_of_the_file_is_no_sample(dataset: Dataset) -> None:
    """Why no tier is a head: of its 50 questions most are temporal, and none is single-hop or adversarial."""
    head = tuple(dataset.answer_keys())[:50]
    assert Counter(key.category for key in head) == {"temporal": 24, "multi-hop": 19, "open-domain": 7}
    assert {key.scenario_id for key in head} == {"conv-26"}


def test_golden_quotas_of_conversations(dataset: Dataset) -> None:
    chosen = Counter(key.scenario_id for key in SAMPLERS["fair-proportional"](tuple(dataset.answer_keys())))
    assert [chosen[name] for name in dataset.scenario_ids()] == [20, 11, 19, 26, 24, 16, 19, 24, 20, 21]


def test_every_tier_has_its_number_under_every_protocol(dataset: Dataset) -> None:
    benchmark, keys = LocomoBenchmark(), tuple(dataset.answer_keys())
    assert {tier.name for tier in benchmark.info.tiers} == set(SAMPLERS)
    for tier in benchmark.info.tiers:
        assert len(benchmark.sampled(keys, tier.name)) == tier.items
        with_evidence = benchmark.asked(keys, "retrieval")
        fewer = {"full": 1977, "answerable": 1531}.get(tier.name, tier.items)  # nine questions have no evidence
        assert len(benchmark.sampled(with_evidence, tier.name)) == fewer


@given(LAYOUTS, st.integers(0, 90), st.sampled_from([equal, proportional]), st.integers(0, 3))
def test_the_exact_sampler_gives_exactly_so_many_and_none_twice(
    sizes: dict[str, dict[LocomoCategory, int]], total: int, quotas: Callable[..., dict[str, int]], seed: int
) -> None:
    keys = layout(sizes)
    chosen = exact(keys, total, quotas, seed)
    assert len(chosen) == len({key.item_id for key in chosen}) == min(total, len(keys))
    places = [(list(sizes).index(key.scenario_id), key.category) for key in chosen]
    assert places == sorted(places)


@given(LAYOUTS, st.integers(0, 90))
def test_equal_shares_differ_by_one_at_most_where_none_is_used_up(
    sizes: dict[str, dict[LocomoCategory, int]], total: int
) -> None:
    keys = layout(sizes)
    counts = Counter(key.scenario_id for key in exact(keys, total, equal, 42))
    whole = {name: sum(categories.values()) for name, categories in sizes.items()}
    most = max(counts[name] for name in sizes)
    assert all(counts[name] in (most, most - 1) or counts[name] == whole[name] for name in sizes)


@given(st.dictionaries(st.text(max_size=3), st.integers(1, 50), min_size=1), st.integers(0, 200))
def test_proportional_shares_are_off_by_less_than_one(sizes: dict[str, int], total: int) -> None:
    whole = sum(sizes.values())
    total = min(total, whole)
    counts = proportional(sizes, total, str)
    assert sum(counts.values()) == total
    assert all(abs(counts[name] - sizes[name] * total / whole) < 1 and counts[name] <= sizes[name] for name in sizes)


@settings(max_examples=30)
@given(LAYOUTS, st.integers(1, 30))
def test_documented_sampling_takes_the_first_of_each_category(
    sizes: dict[str, dict[LocomoCategory, int]], each: int
) -> None:
    keys = layout(sizes)
    chosen = documented(keys, each)
    for name, categories in sizes.items():
        share = max(1, -(-each // len(categories)))
        for category, size in categories.items():
            group = [key for key in keys if (key.scenario_id, key.category) == (name, category)]
            taken = [key for key in chosen if (key.scenario_id, key.category) == (name, category)]
            assert taken == group[: min(share, size)]


def test_what_is_drawn_stays_drawn_where_the_data_grows() -> None:
    small = layout({"conv-1": {LocomoCategory.TEMPORAL: 20}})
    grown = layout({"conv-1": {LocomoCategory.TEMPORAL: 30}})
    before = {key.item_id for key in exact(small, 5, equal, 42)}
    after = [key.item_id for key in exact(grown, 15, equal, 42)]
    assert before <= set(after)


def test_nothing_of_nothing() -> None:
    for sampler in SAMPLERS.values():
        assert sampler([]) == ()


def test_seed_and_conversation_change_what_is_drawn() -> None:
    keys = layout({"conv-1": {LocomoCategory.TEMPORAL: 30}})
    drawn = {tuple(key.item_id for key in exact(keys, 5, equal, seed)) for seed in range(5)}
    assert len(drawn) == 5
