"""Other work on the machine does not change the ratio of times of a system and a control beside it."""

import json
from itertools import groupby
from typing import Any

from bench.beside import OUT
from tests.support.commands import ROOT

ROWS: list[dict[str, Any]] = json.loads((ROOT / OUT).read_text("utf-8"))


def test_each_system_was_measured_with_and_without_other_work_and_its_ratio_stayed() -> None:
    for _system, rows in groupby(ROWS, lambda row: row["system"]):
        alone, beside = rows
        assert alone["busy"] == 0 < beside["busy"]
        for name in ("search", "ingest"):
            _value, low, high = alone[name]
            _other, other_low, other_high = beside[name]
            assert max(low, other_low) <= min(high, other_high), "the intervals overlap"
