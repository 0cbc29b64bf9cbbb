"""Golden counts of the release at commit 5ef3c48 of isyuhaochen/VehicleMemBench."""

from collections import Counter
from pathlib import Path

import pytest

from memeval.benchmarks.session import BenchmarkSession
from memeval.benchmarks.vehiclemembench import VehicleMemBenchmark
from memeval.benchmarks.vehiclemembench.calls import parse_calls
from memeval.benchmarks.vehiclemembench.keys import VehicleMemBenchKey
from memeval.benchmarks.vehiclemembench.released import Query, Release
from tests.support.data import test_data


@pytest.fixture(scope="module")
def path() -> Path:
    return test_data("vehiclemembench/MANIFEST.json").parent


@pytest.fixture(scope="module")
def release(path: Path) -> Release:
    return Release(path, "")


@pytest.fixture(scope="module")
def session(path: Path) -> BenchmarkSession:
    return BenchmarkSession.open(VehicleMemBenchmark(), path)


@pytest.fixture(scope="module")
def queries(release: Release) -> list[Query]:
    return [query for history in release.histories for query in release.queries(history)]


def test_the_release_has_fifty_histories_and_111_functions(release: Release) -> None:
    assert release.histories == tuple(map(str, range(1, 51)))
    assert release.digest in VehicleMemBenchmark.info.released_digests
    assert len(release.functions()) == 111 and not release.missing


def test_histories_have_their_lines_and_people(release: Release) -> None:
    lines = {history: release.lines(history) for history in release.histories}
    assert sum(map(len, lines.values())) == 134_518
    people = Counter(len({line.speaker for line in own}) for own in lines.values())
    assert people == {3: 45, 4: 5}


def test_queries_have_their_kinds_and_calls(release: Release, queries: list[Query]) -> None:
    assert len(queries) == 500
    assert Counter(query.category for query in queries) == {
        "preference-conflict": 149,
        "conditional-constraint": 102,
        "coreference": 97,
        "state-shift": 90,
        "error-correction": 62,
    }
    assert Counter(len(query.calls) for query in queries) == {1: 432, 2: 64, 3: 4}
    used = {call.name for query in queries for text in query.calls for call in parse_calls(text)}
    declared = {signature.partition("(")[0] for signature in release.functions()}
    assert len(used) == 76 and used <= declared


def test_events_fall_on_a_minute_of_their_history_except_twelve(
    queries: list[Query], session: BenchmarkSession
) -> None:
    located = [item.key_as(VehicleMemBenchKey, "a test") for item in session.all_keys]
    assert sum(query.events for query in queries) == 1_034
    assert sum(len(key.events) for key in located) == 1_022
    assert all(key.events for key in located) and len(session.keys) == 500
    assert Counter(item.slices["people"] for item in session.keys) == {"three": 450, "more": 50}


def test_errata_restore_the_twelve(session: BenchmarkSession, queries: list[Query]) -> None:
    corrected = session.corrections
    events = {item.item_id: query.events for item, query in zip(session.all_keys, queries, strict=True)}
    before = {item.item_id: item.key_as(VehicleMemBenchKey, "a test").events for item in session.all_keys}
    assert {name for name, item in corrected.items() if item is None} == {"19:4", "42:8", "45:3"}
    restored = {name: item for name, item in corrected.items() if item is not None}
    assert len(restored) == 12
    for name, item in restored.items():
        after = item.key_as(VehicleMemBenchKey, "a test").events
        assert set(before[name]) < set(after) and len(after) == len(before[name]) + 1 == events[name]


def test_21_queries_hold_all_values_of_their_calls(session: BenchmarkSession) -> None:
    assert Counter(item.slices["values"] for item in session.all_keys) == {"in the query": 21, "not in the query": 479}


def test_ten_histories_are_drawn_by_hashes_of_their_numbers(path: Path) -> None:
    session = BenchmarkSession.open(VehicleMemBenchmark(), path, tier="ten")
    assert len(session.keys) == 100
    assert sorted({int(item.cluster) for item in session.keys}) == [1, 13, 20, 21, 29, 36, 39, 41, 44, 45]
