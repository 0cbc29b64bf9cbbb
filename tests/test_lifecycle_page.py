"""The results on the page *Lifecycle* are as expected."""

import json

from bench.lifecycle import CONTROLS, OUT, measure
from memeval.benchmarks.lifecycle.expected import COMPARED, EXPECTED, ORACLE, REFERENCE
from tests.support.commands import ROOT

RESULT = json.loads((ROOT / OUT).read_text("utf-8"))


def test_the_stored_results_are_as_expected() -> None:
    for name, row in RESULT["probes"].items():
        category, _, probe = name.partition("/")
        protocol = "export" if category == "export-after-deletion" else "banks"
        assert set(row) == set(CONTROLS)
        assert row[ORACLE][0] == row[ORACLE][1]
        for slug in COMPARED:
            if EXPECTED.fails(slug, protocol, category, probe):
                assert row[slug][0] == 0, (slug, name)
            elif not EXPECTED.differs(slug, protocol, category, probe):
                assert row[slug] == row[REFERENCE], (slug, name)


def test_a_small_run_counts_every_item_of_every_control() -> None:
    found = measure({"size": 1})
    for row in found["probes"].values():
        assert set(row) == set(CONTROLS)
        assert len({all_items for _, all_items in row.values()}) == 1
    assert set(found["sizes"]) == {"1x", "10x", "100x"}
