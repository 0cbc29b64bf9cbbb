"""The table of times on the page *Read trends* is that of its measurements, and load does not change a ratio."""

import json
from itertools import groupby
from typing import Any

import pytest

from bench.beside import OUT, PAGE, page_of
from tests.support.commands import ROOT

ROWS: list[dict[str, Any]] = json.loads((ROOT / OUT).read_text("utf-8"))


def test_the_page_has_the_table_of_the_measurements() -> None:
    page = (ROOT / PAGE).read_text("utf-8")
    assert page_of(page, ROWS) == page


def test_a_page_without_a_place_for_the_table_is_an_error() -> None:
    with pytest.raises(ValueError, match="has no lines"):
        page_of("# Read trends", ROWS)


def test_each_system_was_measured_with_and_without_other_work_and_its_ratio_stayed() -> None:
    for _system, rows in groupby(ROWS, lambda row: row["system"]):
        alone, beside = rows
        assert alone["busy"] == 0 < beside["busy"]
        for name in ("search", "ingest"):
            _value, low, high = alone[name]
            _other, other_low, other_high = beside[name]
            assert max(low, other_low) <= min(high, other_high), "the intervals overlap"
