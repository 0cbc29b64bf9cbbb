"""``memeval archive trajectory`` as users meet it."""

import csv
import io
import json
from functools import partial
from pathlib import Path
from xml.etree import ElementTree

import pytest

from memeval.archive.ledger import Ledger
from memeval.archive.runs import RunFolder
from memeval.objects import open_store, parse_place
from memeval.records.ledger import LedgerEvent
from tests.support.archives import push
from tests.support.calling import Call
from tests.support.made_versions import REASON, make_history
from tests.support.runs import edit_head, make_run, make_track

COUNTED = "Token counts changed from measured to self-reported."

HOSTILE = '</style><script>alert(1)</script>&"]]>'


@pytest.fixture
def call(call: Call) -> Call:
    return partial(call, "archive", "trajectory")


@pytest.fixture
def results(tmp_path: Path) -> Path:
    return tmp_path / "results"


def three_runs(results: Path) -> list[RunFolder]:
    """Write three versions on one track; the last one counts its tokens itself."""
    last = make_run(results, "acme", {"kept": 45}, started="2026-11-03T10:00:00.000+00:00", version=HOSTILE)
    return [
        make_run(results, "acme", {"kept": 40, "changed": 20}, started="2026-11-01T10:00:00.000+00:00"),
        make_run(results, "acme", {"kept": 20, "changed": 20}, started="2026-11-02T10:00:00.000+00:00", version="1.1"),
        edit_head(last, tokens=last.run.tokens.data() | {"source": "self-reported"}),
    ]


def test_the_table_has_versions_gaps_steps_and_tests(call: Call, results: Path) -> None:
    make_history(results, "acme")
    code, out, err = call()
    assert (code, err) == (0, "")
    lines = [line.strip() for line in out.splitlines()]
    assert lines[0] == "acme on made-up@1, judge, reader native, judge rules@3: Composite score, 4 versions"
    assert lines[1].split()[:4] == ["2024-03-01", "0.9.0", "no", "run"] and lines[1].endswith(REASON)
    assert [line.split()[:4] for line in lines[2:4]] == [
        ["2024-07-01", "0.10.0", "40.0", "%"],
        ["2025-03-01", "1.0.0", "90.0", "%"],
    ]
    assert lines[5].startswith("Step at 1.0.0, after 0.10.0: +50.0 points, mean 40.0 % to 90.0 %, p = 0.000")
    assert lines[6].startswith("0.10.0 to 1.0.0: +50.0 points [") and lines[6].endswith(": better.")
    assert lines[7] == "1.0.0 to 1.1.0: Both versions have the same grades."
    ratios = call("--measure", "search_ratio")[1].splitlines()
    assert "4.08 ×" in ratios[2] and len(ratios) == 5


def test_a_break_is_named_before_its_version(call: Call, results: Path) -> None:
    three_runs(results)
    counted = call("--measure", "tokens_per_question")[1].splitlines()
    assert counted[3] == f"  -- {COUNTED}"
    assert "1.1" in counted[2]


def test_another_track_is_another_series(call: Call, results: Path) -> None:
    three_runs(results)
    make_run(results, "acme", started="2026-11-04T10:00:00.000+00:00", track=make_track(judge="rules@4"))
    heads = [line.partition("judge rules")[2] for line in call()[1].splitlines() if line.startswith("acme")]
    assert heads == ["@3: Composite score, 3 versions", "@4: Composite score, 1 version"]


def test_csv_and_json_have_the_same_points(call: Call, results: Path) -> None:
    make_history(results, "acme")
    rows = list(csv.DictReader(io.StringIO(call("--csv")[1])))
    [series] = json.loads(call("--json")[1])
    assert [row["value"] for row in rows] == ["", "0.4", "0.9", "0.9"]
    assert [point["value"] for point in series["points"]] == [None, 0.4, 0.9, 0.9]
    assert [row["note"] for row in rows][:2] == [REASON, ""]
    [step] = series["steps"]
    assert (step["version_before"], step["version"]) == ("0.10.0", "1.0.0")
    assert [row["step_p"] for row in rows] == ["", "", repr(step["p"]), ""]
    assert series["change"]["difference"] == pytest.approx(0.5)
    [kept] = json.loads(call("--json", "--measure", "category_kept")[1])
    assert (kept["measure"], kept["unit"], kept["steps"], kept["tests"]) == ("category_kept", "share", [], [])


def test_a_formula_in_a_version_is_no_formula_in_csv(call: Call, results: Path) -> None:
    make_run(results, "acme", version="=HYPERLINK(1)")
    assert ",'=HYPERLINK(1)," in call("--csv")[1]


@pytest.mark.parametrize("name", ["trend.svg", "trend.html"])
def test_a_chart_file_needs_nothing_else_and_escapes_text(call: Call, results: Path, tmp_path: Path, name: str) -> None:
    three_runs(results)
    code, out, err = call("--measure", "tokens_per_question", "--chart", name)
    written = (tmp_path / name).read_text(encoding="utf-8")
    assert (code, err) == (0, f"memeval: {name} written.\n")
    assert out.startswith("acme on made-up")
    assert "<script" not in written and "http" not in written.replace("http://www.w3.org/2000/svg", "").replace(
        "http-equiv", ""
    )
    assert COUNTED in written
    if name.endswith("svg"):
        drawn = ElementTree.fromstring(written)
        marks = [each for each in drawn.iter() if each.get("class") == "mv-trend-line"]
        assert len(marks) == 2, "one line, for there is none over the break, and one in the legend"


def test_systems_need_charts_of_their_own(call: Call, results: Path, tmp_path: Path) -> None:
    make_run(results, "acme")
    make_run(results, "borealis")
    assert call("--chart", "trend.svg").fails("2 systems need a chart each")
    assert not (tmp_path / "trend.svg").exists()
    assert call("--chart", "trend.html")[0] == 0
    assert (tmp_path / "trend.html").read_text().count("<h2>") == 2


def test_runs_that_are_only_in_the_archive_are_read_with_from(call: Call, results: Path, tmp_path: Path) -> None:
    kept, archived, _third = three_runs(results)
    push(open_store(parse_place(str(tmp_path / "archive"))), archived)
    for path in sorted(archived.path.iterdir()):
        path.unlink()
    archived.path.rmdir()
    assert archived.run.run_id not in call()[1]
    [series] = json.loads(call("--from", "archive", "--json").done)
    assert archived.run.run_id in [point["run_id"] for point in series["points"]]
    assert series["tests"][0]["reason"] == "The rows of a run are not here."
    assert kept.run.run_id == series["points"][0]["run_id"]


def test_what_is_left_out_is_said(call: Call, results: Path) -> None:
    good, bad, _other = three_runs(results)
    Ledger(results).append(LedgerEvent.INVALIDATED, bad, by="m", reason="Leaked.")
    out = call()[1]
    assert bad.run.run_id not in out and good.run.run_id in out
    assert out.endswith("\nLeft out: 1 run, invalidated.\n")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nobody",), "there is no run of system 'nobody' here."),
        (("--benchmark", "beliefs"), "there is no run of benchmark 'beliefs' here."),
        (("--track", "0123456789ab"), "there is no run of track '0123456789ab' here."),
        (("--measure", "speed"), "there is no measure 'speed'."),
        (("--csv", "--json"), "--csv and --json are both given."),
        (("--chart", "trend.png"), "trend.png is neither an .svg nor an .html file."),
        (("--chart", "missing/trend.svg"), "missing/trend.svg: cannot be written"),
        (("--measure", "cost_usd", "--chart", "trend.svg"), "there is no value to draw."),
        (("--from", "nowhere"), "there is no archive here."),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_wrong_call_is_refused(call: Call, results: Path, words: tuple[str, ...], said: str) -> None:
    edit_head(make_run(results, "acme"), cost={"usd": None, "reason": "no price is known"})
    refused = call(*words)
    assert refused.fails(said) and refused.out == ""


def test_an_empty_folder_is_refused(call: Call) -> None:
    assert call().fails("there are no runs here")


def test_a_damaged_head_is_named(call: Call, results: Path) -> None:
    run = make_run(results, "acme")
    (run.path / "run.json").write_text("{")
    assert call().fails(f"{run.path.relative_to(results.parent) / 'run.json'}")
