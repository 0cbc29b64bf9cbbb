"""``memeval items`` as users meet it, and as the guide shows it."""

import csv
import io
import json
import re
from functools import partial
from pathlib import Path

import pytest

from memeval.archive.runs import sealed_runs
from memeval.records.items import ItemReport
from memeval.records.run import SystemKind
from memeval.records.track import CategoryPlan
from tests.support.calling import Call
from tests.support.runs import make_run, make_track

ROOT = Path(__file__).parents[2]

SHOWN = frozenset(
    {
        "20261125T154828Z-69625e73",
        "20261125T154840Z-03c706ff",
        "20261125T154901Z-0d4825aa",
        "20261125T154927Z-869e158e",
        "20261125T155215Z-5a2934d7",
        "20261125T185128Z-42bd552e",
        "20261125T231623Z-e337a2fa",
        "20261125T233640Z-b159b305",
        "20261126T000132Z-f653297c",
    }
)
"""The runs of the guide's example."""


@pytest.fixture
def call(call: Call) -> Call:
    return partial(call, "items")


def three_systems(results: Path) -> None:
    for number, slug in enumerate(("weak", "good", "best")):
        make_run(results, slug, {"kept": 10 + number, "changed": 4})


def test_the_example_of_the_guide_is_what_the_command_prints(call: Call, tmp_path: Path) -> None:
    for folder in sealed_runs(ROOT / "results"):
        if folder.path.name in SHOWN:
            place = tmp_path / folder.path.relative_to(ROOT)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(folder.path)
    page = (ROOT / "site" / "comparing.md").read_text(encoding="utf-8")
    command, expected = re.findall(r"^\$ (memeval items .*)\n([^`]*)```", page, re.MULTILINE)[0]
    assert call(*command.split()[2:]) == (0, expected, "")


def test_csv_has_a_line_for_every_item(call: Call, tmp_path: Path) -> None:
    three_systems(tmp_path / "results")
    rows = list(csv.DictReader(io.StringIO(call("--format", "csv").done)))
    assert len(rows) == 100
    decisive = next(row for row in rows if row["item_id"] == "kept-010")
    assert (decisive["category"], decisive["best_control"]) == ("kept", "")
    assert float(decisive["discrimination"]) == pytest.approx(0.5)
    assert float(decisive["difficulty"]) == pytest.approx(2 / 3)
    assert decisive["moved"] == "1"


def test_text_that_a_spreadsheet_would_run_is_disarmed(call: Call, tmp_path: Path) -> None:
    plan = (CategoryPlan(name="=1+1", weight=1.0, items=10, grader="judged@1"),)
    make_run(tmp_path / "results", "acme", {"=1+1": 4}, track=make_track(categories=plan))
    rows = csv.DictReader(io.StringIO(call("--format", "csv").done))
    assert {row["category"] for row in rows} == {"'=1+1"}


def test_json_is_a_list_of_reports(call: Call, tmp_path: Path) -> None:
    three_systems(tmp_path / "results")
    (data,) = json.loads(call("made-up", "--format", "json").done)
    report = ItemReport.parse(json.dumps(data), "output")
    assert (report.systems, len(report.items)) == (("best", "good", "weak"), 100)


def test_the_table_ends_where_it_is_told(call: Call, tmp_path: Path) -> None:
    three_systems(tmp_path / "results")
    out = call("--top", "1").done
    assert "2 decisive items:" in out and "and 1 more; --top 2 lists them." in out
    assert "kept-0" not in call("--top", "0")[1]


def test_too_few_clusters_are_said_so(call: Call, tmp_path: Path) -> None:
    plan = (CategoryPlan(name="kept", weight=1.0, items=4, grader="judged@1"),)
    make_run(tmp_path / "results", "acme", {"kept": 2}, track=make_track(categories=plan))
    assert "minimum detectable difference: none; there are too few clusters to show any" in call()[1]


@pytest.mark.parametrize("words", [("absent",), ("--results", "nowhere"), ("--format", "xml"), ("--top", "-1")])
def test_a_wrong_call_is_refused_with_a_sentence(call: Call, tmp_path: Path, words: tuple[str, ...]) -> None:
    make_run(tmp_path / "results", "bm25", kind=SystemKind.CONTROL)
    assert call(*words)[:2] == (2, "")
