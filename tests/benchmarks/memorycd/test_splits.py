"""Which reviews are remembered and which are asked for, as released and cleaned."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memeval.benchmarks.memorycd.keys import DOMAINS
from memeval.benchmarks.memorycd.users import History, Interaction, SplitSetting, split

BEAUTY, BOOKS, ELECTRONICS, HOME = DOMAINS


def history(domain: str, *times: float) -> History:
    return tuple(Interaction(domain, place, f"B{place}", 4, "", "", time) for place, time in enumerate(times))


def times(items: object) -> list[tuple[str, float]]:
    assert isinstance(items, list | tuple)
    return [(each.domain, each.time) for each in items]


FOUR = {
    BEAUTY: history(BEAUTY, 1, 5, 9),
    BOOKS: history(BOOKS, 2, 3, 6, 7, 8),
    ELECTRONICS: history(ELECTRONICS, 5, 6),
    HOME: history(HOME, 4),
}


def test_in_one_domain_the_last_reviews_are_asked_and_the_rest_remembered() -> None:
    found = split(FOUR, BOOKS, SplitSetting())
    assert found is not None
    assert times(found.memory) == [(BOOKS, 2), (BOOKS, 3)]
    assert times(found.tests) == [(BOOKS, 6), (BOOKS, 7), (BOOKS, 8)]
    assert found.later == 0


def test_one_review_more_than_tests_is_needed_in_one_domain_and_none_more_across() -> None:
    single, cross = SplitSetting(), SplitSetting(cross=True)
    assert [single.takes(FOUR, each) for each in DOMAINS] == [False, True, False, False]
    assert [cross.takes(FOUR, each) for each in DOMAINS] == [True, True, False, False]
    assert [SplitSetting(tests=1).takes(FOUR, each) for each in DOMAINS] == [True, True, True, False]
    assert [SplitSetting(cross=True, tests=1).takes({}, each) for each in DOMAINS] == [False] * 4


def test_across_domains_the_others_are_remembered_by_time_and_ties_keep_their_order() -> None:
    found = split(FOUR, BOOKS, SplitSetting(cross=True))
    assert found is not None
    assert times(found.memory) == [(BEAUTY, 1), (HOME, 4), (BEAUTY, 5), (ELECTRONICS, 5), (ELECTRONICS, 6), (BEAUTY, 9)]
    assert [each.time for each in found.tests] == [6, 7, 8]
    assert found.later == 2


def test_given_sources_keep_their_order_and_the_domain_asked_about_is_taken_out() -> None:
    setting = SplitSetting(cross=True, sources=(ELECTRONICS, BOOKS, BEAUTY))
    assert setting.sources_of(BOOKS) == (ELECTRONICS, BEAUTY)
    found = split(FOUR, BOOKS, setting)
    assert found is not None
    assert times(found.memory) == [(BEAUTY, 1), (ELECTRONICS, 5), (BEAUTY, 5), (ELECTRONICS, 6), (BEAUTY, 9)]
    assert split(FOUR, BOOKS, SplitSetting(cross=True, sources=(BOOKS,))) is None


def test_a_clean_memory_ends_before_the_first_test() -> None:
    found = split(FOUR, BOOKS, SplitSetting(cross=True, clean=True))
    assert found is not None
    assert times(found.memory) == [(BEAUTY, 1), (HOME, 4), (BEAUTY, 5), (ELECTRONICS, 5)]
    assert found.later == 0
    tied = {BOOKS: history(BOOKS, 3, 5, 5)}
    released, clean = (split(tied, BOOKS, SplitSetting(clean=clean, tests=1)) for clean in (False, True))
    assert released is not None and clean is not None
    assert (len(released.memory), released.later, len(clean.memory)) == (2, 1, 1)
    assert split({BOOKS: history(BOOKS, 5, 5)}, BOOKS, SplitSetting(clean=True, tests=1)) is None


@given(
    lists=st.lists(st.lists(st.integers(0, 9), max_size=7), min_size=4, max_size=4),
    tests=st.integers(1, 4),
    cross=st.booleans(),
    clean=st.booleans(),
)
def test_nothing_asked_is_remembered_and_nothing_is_lost(
    lists: list[list[int]], tests: int, cross: bool, clean: bool
) -> None:
    histories = {domain: history(domain, *sorted(told)) for domain, told in zip(DOMAINS, lists, strict=True)}
    setting = SplitSetting(cross=cross, clean=clean, tests=tests)
    if not setting.takes(histories, BOOKS):
        return
    found = split(histories, BOOKS, setting)
    if found is None:
        assert cross or clean
        return
    assert len(found.tests) == tests
    assert list(found.tests) == list(histories[BOOKS][-tests:])
    assert not set(found.memory) & set(found.tests)
    assert list(found.memory) == sorted(found.memory, key=lambda each: each.time)
    if clean:
        assert all(each.time < found.tests[0].time for each in found.memory)
    else:
        whole = [each for domain in setting.sources_of(BOOKS) for each in histories[domain]]
        assert len(found.memory) == len(whole) - (0 if cross else tests)
