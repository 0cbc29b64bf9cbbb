"""What is no released file is refused in a sentence that says where it is wrong."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.benchmarks.vehiclemembench import VehicleMemBenchmark, benchmark
from memeval.benchmarks.vehiclemembench import released as reading
from memeval.benchmarks.vehiclemembench.released import Release, read_functions, read_lines, read_queries
from memeval.records.errors import BadInput
from tests.benchmarks.vehiclemembench.made import FIRST, FUNCTIONS, WHEEL, dataset, files, queries, query, release

GOOD = "[2026-03-04 07:50] Nora: Here."


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "the file is empty"),
        (" \n", "the file is empty"),
        ("Nora: Here.", "line 1 is not '[2026-03-10 08:00] Name: text'"),
        (f"{GOOD}\n[2026-03-04] Nora: Here.", "line 2 is not"),
        (f"{GOOD}\n[2026-13-04 07:50] Nora: Here.", "line 2 is not"),
        (f"{GOOD}\n[2026-03-04 07:51] Nora Here.", "line 2 is not"),
        (f"{GOOD}\n[2026-03-04 07:51] Nora: ", "line 2 is not"),
        (f"{GOOD}\n\n{GOOD}", "line 2 is not"),
        (f"{GOOD}\n[2026-03-04 07:51] {'N' * 90}: Here.", "line 2 is not"),
        (f"{GOOD}\n[2026-03-04 07:49] Teo: Here.", "line 2 is out of order: 2026-03-04 07:49 comes after"),
    ],
)
def test_a_history_that_is_no_list_of_dated_lines_is_refused(text: str, problem: str) -> None:
    with pytest.raises(BadInput) as caught:
        read_lines(text.encode(), "history.txt")
    assert str(caught.value).startswith(f"history.txt: {problem.replace('2026-03-10', '2025-03-10')}")


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "the file is empty."),
        (b"[]", "'': "),
        (b"{", "not valid JSON ("),
        (b"{}", "'related_to_vehicle_preference' is missing."),
        (b"\xff{}", "not UTF-8 at byte 0."),
        (b"[" * 100_000, "not valid JSON ("),
        (queries(), "'related_to_vehicle_preference': "),
        (queries(query(WHEEL, reasoning_type="guess")), "'related_to_vehicle_preference.0.reasoning_type': "),
        (queries(query(WHEEL, query=7)), "'related_to_vehicle_preference.0.query': "),
        (queries(query(WHEEL, new_answer=[])), "'related_to_vehicle_preference.0.new_answer': "),
        (queries(query(WHEEL, calls=["a(x=b(y=1))"])), "query 1: an expected call cannot be read. Call 1 has a value"),
        (queries(query(WHEEL, calls=["a(x=1) b()"])), "query 1: an expected call is not one call."),
        (queries(query(WHEEL), query("June 31, 2026] At 7:50 AM")), "query 2: an event has no possible time."),
        (queries(query("June 3, 2026] At 17:50 AM")), "query 1: an event has no possible time."),
    ],
)
def test_queries_that_do_not_fit_are_refused(data: bytes, problem: str) -> None:
    with pytest.raises(BadInput) as caught:
        read_queries(data, "qa.json")
    assert str(caught.value).startswith(f"qa.json: {problem}")


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ([], "'rows': "),
        ({}, "'rows': "),
        ([{**FUNCTIONS[0], "name": "a b"}], "'rows.0.name' does not have the required form."),
        ([{**FUNCTIONS[0], "parameters": {}}], "'rows.0.parameters.properties' is missing."),
    ],
)
def test_functions_that_do_not_fit_are_refused(rows: Any, problem: str) -> None:
    with pytest.raises(BadInput, match=f"schema.json: {problem}"):
        read_functions(json.dumps(rows).encode(), "schema.json")


@given(st.binary(max_size=120) | st.text(max_size=60).map(str.encode))
def test_any_bytes_are_read_or_refused_in_a_sentence(data: bytes) -> None:
    for read in (read_lines, read_queries, read_functions):
        with pytest.raises(BadInput) as caught:
            read(data, "a file")
        assert caught.value.problem.endswith(".")


def test_another_file_is_refused(tmp_path: Path) -> None:
    made = release(tmp_path)
    other = FIRST.replace("hens", "cows").encode()
    (tmp_path / "history_1.txt.gz").write_bytes(gzip.compress(other))
    with pytest.raises(BadInput, match=r"history_1.txt.gz: this is not the released file: it has 392 bytes and the"):
        made.lines("1")


@pytest.mark.parametrize(
    ("data", "problem"),
    [(gzip.compress(FIRST.encode())[:-20], "the gzip file is damaged"), (b"", "this is not the released file")],
)
def test_a_truncated_and_an_empty_file_are_refused(tmp_path: Path, data: bytes, problem: str) -> None:
    made = release(tmp_path)
    (tmp_path / "history_1.txt.gz").write_bytes(data)
    with pytest.raises(BadInput, match=rf"history_1.txt.gz: {problem}.* Restore the released file\."):
        made.lines("1")


def test_a_huge_file_is_not_unpacked_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = release(tmp_path)
    monkeypatch.setattr(reading, "LARGEST", 1000)
    (tmp_path / "history_1.txt.gz").write_bytes(gzip.compress(bytes(10_000_000)))
    with pytest.raises(BadInput, match="the file has more than 1,000 bytes"):
        made.lines("1")


def test_a_release_that_is_partly_here_is_refused_with_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    digests = release(tmp_path).files
    monkeypatch.setattr(benchmark, "Release", lambda path, remedy: Release(path, remedy, digests))
    assert VehicleMemBenchmark().available(tmp_path)
    (tmp_path / "qa_2.json").unlink()
    assert not VehicleMemBenchmark().available(tmp_path)
    with pytest.raises(BadInput, match=r"1 of the 5 released files are missing, such as qa_2.json. Run git clone"):
        VehicleMemBenchmark().open(tmp_path)


def test_a_file_that_goes_away_during_a_run_is_named(tmp_path: Path) -> None:
    made = dataset(tmp_path)
    (tmp_path / "history_2.txt.gz").unlink()
    with pytest.raises(BadInput, match=r"the file history_2.txt is missing. Clone it."):
        made.scenario("2")


def test_missing_data_is_refused_with_the_way_to_get_it(tmp_path: Path) -> None:
    assert not VehicleMemBenchmark().available(tmp_path)
    with pytest.raises(BadInput, match=r"101 of the 101 released files are missing, .* Run git clone"):
        VehicleMemBenchmark().open(tmp_path)


def test_the_made_up_files_are_not_the_released_ones() -> None:
    assert not set(files()) - set(Release(None, "").files)
