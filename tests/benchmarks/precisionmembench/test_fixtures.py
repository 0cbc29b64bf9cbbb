"""The released files: what is read, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from memeval.benchmarks.precisionmembench import PrecisionBenchmark
from memeval.benchmarks.precisionmembench.fixtures import BELIEFS, CASES, CONVERSATIONS, FOLDER, parse
from memeval.records.errors import BadInput
from tests.benchmarks.precisionmembench.made import PLACES, belief, case, encoded, files, turn

FILES = ("beliefs.seed.json", "retrieval.cases.json", "session-retrieval.cases.json")


def test_a_text_joins_the_fields_that_are_not_empty() -> None:
    roses, tulips, *_ = parse(encoded(files()), PLACES).beliefs
    assert roses.text == "roses Rosa thorns Ida cares for roses. Shapes advice."
    assert tulips.text == "tulips Ida cares for tulips."


def test_more_aliases_are_trimmed_in_lower_case_and_each_once() -> None:
    roses = parse(encoded(files()), PLACES).beliefs[0]
    assert roses.with_aliases([" Petals ", "rosa", ""]).aliases == ("rosa", "thorns", "petals")


def test_a_case_without_query_or_budget_is_not_sent() -> None:
    cases = parse(encoded(files()), PLACES).cases
    assert [each.case_id for each in cases if not each.is_sent] == ["blank", "no-budget"]


@pytest.mark.parametrize(
    ("name", "entry", "problem"),
    [
        (BELIEFS, belief("roses"), "beliefs.json: the id 'roses' occurs more than once."),
        (BELIEFS, belief("arch", participants=["moat"]), "beliefs.json: no belief has the id 'moat'."),
        (BELIEFS, belief("arch", pinned="yes"), "beliefs.json: 'entries.8.pinned': true or false belongs here."),
        (CASES, case("more", ["moat"]), "cases.json: no belief has the id 'moat'."),
        (CASES, case("more", ["hedge"]), "cases.json: no belief has the id 'hedge'."),
        (CASES, case("talk", []), "cases.json: the id 'talk' occurs more than once."),
        (CONVERSATIONS, {"caseId": "x", "turns": [turn(0, []), turn(0, [])]}, "the id '0' occurs more than once."),
        (CONVERSATIONS, {"caseId": "x", "turns": [turn(0, ["moat"])]}, "no belief has the id 'moat'."),
        (
            CONVERSATIONS,
            {"caseId": "x", "turns": [turn(0, ["arch"], createBeliefAtTurn=belief("arch"))]},
            "no belief has the id 'arch'.",
        ),
        (
            CONVERSATIONS,
            {"caseId": "x", "turns": [turn(0, [], createBeliefAtTurn=belief("roses"))]},
            "the id 'roses' occurs more than once.",
        ),
    ],
)
def test_an_invalid_entry_is_refused(name: str, entry: dict[str, Any], problem: str) -> None:
    entries = files()
    entries[name].append(entry)
    with pytest.raises(BadInput, match=re.escape(problem)):
        parse(encoded(entries), PLACES)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "not valid JSON"),
        (b"\xff[]", "not valid JSON"),
        (b'[{"a": 1, "a": 2}]', "occurs twice"),
        (b"[" * 100_000, "not valid JSON"),
        (b"{}", "expected a JSON list"),
        (b"[]", "'entries'"),
    ],
)
def test_a_file_that_is_no_list_of_entries_is_refused(data: bytes, problem: str) -> None:
    with pytest.raises(BadInput, match=problem):
        parse({**encoded(files()), BELIEFS: data}, PLACES)


def test_other_files_of_the_same_form_are_not_the_released_ones(tmp_path: Path) -> None:
    for name, data in zip(FILES, encoded(files()).values(), strict=True):
        (tmp_path / name).write_bytes(data)
    with pytest.raises(BadInput, match="not the released file"):
        PrecisionBenchmark().open(tmp_path)


def test_a_missing_file_names_the_command_that_gets_it(tmp_path: Path) -> None:
    benchmark = PrecisionBenchmark()
    assert not benchmark.available(tmp_path)
    with pytest.raises(BadInput, match="file not found") as refused:
        benchmark.open(tmp_path)
    assert refused.value.remedy is not None
    assert "memeval data pull precisionmembench" in refused.value.remedy


@pytest.mark.parametrize("folder", [".", FOLDER, "precisionmembench", f"precisionmembench/{FOLDER}"])
def test_the_files_are_found_in_each_layout(folder: str, tmp_path: Path) -> None:
    (tmp_path / folder).mkdir(parents=True, exist_ok=True)
    for name in FILES:
        (tmp_path / folder / name).touch()
    assert PrecisionBenchmark().available(tmp_path)


def test_a_parameter_is_refused() -> None:
    with pytest.raises(BadInput, match="no parameter 'seed'"):
        PrecisionBenchmark().open(parameters={"seed": 1})
