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
from memeval.leaderboard.board import build_board
from memeval.leaderboard.releases import frozen, keep
from memeval.objects import open_store, parse_place
from memeval.records.ledger import LedgerEvent
from memeval.records.run import Isolation
from tests.support.archives import push
from tests.support.calling import Call
from tests.support.runs import edit_head, make_run, make_track

SANDBOXED = "Isolation changed from not sandboxed to sandboxed."

HOSTILE = '</style><script>alert(1)</script>&"]]>'


@pytest.fixture
def call(call: Call) -> Call:
    return partial(call, "archive", "trajectory")


@pytest.fixture
def results(tmp_path: Path) -> Path:
    return tmp_path / "results"


def three_runs(results: Path) -> list[RunFolder]:
    """Write three runs on one track; the sandbox begins with the last."""
    return [
        make_run(results, "acme", {"kept": 40, "changed": 20}, started="2026-11-01T10:00:00.000+00:00"),
        make_run(results, "acme", {"kept": 20, "changed": 20}, started="2026-11-02T10:00:00.000+00:00", version="1.1"),
        make_run(
            results,
            "acme",
            {"kept": 45},
            started="2026-11-03T10:00:00.000+00:00",
            isolation=Isolation.SANDBOXED,
            version=HOSTILE,
        ),
    ]


def test_the_table_has_values_breaks_and_tests(call: Call, results: Path) -> None:
    one, two, three = (run.run.run_id for run in three_runs(results))
    code, out, err = call()
    lines = out.splitlines()
    assert (code, err) == (0, "")
    assert lines[0] == "acme on made-up, judge, reader native, judge rules@3: Composite score, %, 3 runs"
    assert [line.split()[:4] for line in lines[1:3]] == [
        ["2026-11-01", "10:00", "1.0", "60.0"],
        ["2026-11-02", "10:00", "1.1", "40.0"],
    ]
    assert lines[3].endswith(three)
    assert lines[4].startswith(f"  {one} to {two}: -20.0 points [")
    assert lines[4].endswith(": worse.")
    timed = call("--measure", "ask_p50_seconds")[1].splitlines()
    assert timed[3:] == [f"  -- {SANDBOXED}", timed[4]]
    assert timed[4].endswith(three)


def test_another_track_is_another_series(call: Call, results: Path) -> None:
    three_runs(results)
    make_run(results, "acme", started="2026-11-04T10:00:00.000+00:00", track=make_track(judge="rules@4"))
    heads = [line.partition("judge rules")[2] for line in call()[1].splitlines() if line.startswith("acme")]
    assert heads == ["@3: Composite score, %, 3 runs", "@4: Composite score, %, 1 run"]


def test_csv_and_json_have_the_same_points(call: Call, results: Path) -> None:
    three_runs(results)
    rows = list(csv.DictReader(io.StringIO(call("--csv", "--measure", "kept")[1])))
    [series] = json.loads(call("--json", "--measure", "category_kept")[1])
    assert [float(row["value"]) for row in rows] == [point["value"] for point in series["points"]] == [0.8, 0.4, 0.9]
    timed = list(csv.DictReader(io.StringIO(call("--csv", "--measure", "ask_p50_seconds")[1])))
    assert [row["break"] for row in timed] == ["", "", SANDBOXED]
    assert (series["measure"], series["unit"], series["steps"]) == ("category_kept", "share", [])


def test_a_formula_in_a_version_is_no_formula_in_csv(call: Call, results: Path) -> None:
    make_run(results, "acme", version="=HYPERLINK(1)")
    assert ",'=HYPERLINK(1)," in call("--csv")[1]


@pytest.mark.parametrize("name", ["trend.svg", "trend.html"])
def test_a_chart_file_needs_nothing_else_and_escapes_text(call: Call, results: Path, tmp_path: Path, name: str) -> None:
    three_runs(results)
    code, out, err = call("--measure", "ask_p50_seconds", "--chart", name)
    written = (tmp_path / name).read_text(encoding="utf-8")
    assert (code, err) == (0, f"memeval: {name} written.\n")
    assert out.startswith("acme on made-up")
    assert "<script" not in written and "http" not in written.replace("http://www.w3.org/2000/svg", "").replace(
        "http-equiv", ""
    )
    assert SANDBOXED in written
    if name.endswith("svg"):
        drawn = ElementTree.fromstring(written)
        marks = [each for each in drawn.iter() if each.get("class") == "mv-trend-line"]
        assert len(marks) == 2, "one line, for there is none over the break, and one in the legend"


def test_runs_of_different_settings_need_charts_of_their_own(call: Call, results: Path, tmp_path: Path) -> None:
    make_run(results, "acme")
    make_run(results, "acme", track=make_track(reader="extractive@2"))
    code, _out, err = call("--chart", "trend.svg")
    assert (code, (tmp_path / "trend.svg").exists()) == (2, False)
    assert "need 2 charts" in err and "--track" in err
    assert call("--chart", "trend.html")[0] == 0
    assert (tmp_path / "trend.html").read_text().count("<h2>") == 2


def test_runs_that_are_only_in_the_archive_are_read_with_from(call: Call, results: Path, tmp_path: Path) -> None:
    kept, archived, _third = three_runs(results)
    push(open_store(parse_place(str(tmp_path / "archive"))), archived)
    for path in sorted(archived.path.iterdir()):
        path.unlink()
    archived.path.rmdir()
    assert archived.run.run_id not in call()[1]
    code, out, _err = call("--from", "archive", "--json")
    [series] = json.loads(out)
    assert code == 0 and archived.run.run_id in [point["run_id"] for point in series["points"]]
    assert series["tests"][0]["reason"] == "The rows of a run are in the archive only."
    assert kept.run.run_id == series["points"][0]["run_id"]


def test_ranks_come_from_releases(call: Call, results: Path) -> None:
    runs = three_runs(results)
    assert call("--measure", "rank")[1] == "No release ranks these systems.\n"
    release, _new = frozen(build_board(runs, Ledger(results)), results, "2026.11", "0.1.0")
    keep(release, results)
    _code, out, _err = call("--measure", "rank")
    assert out.splitlines()[1].split()[:3] == [release.date, "2026.11", "1"]


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
    code, out, err = call(*words)
    assert (code, out) == (2, "") and said in err


def test_an_empty_folder_is_refused(call: Call) -> None:
    assert call()[0] == 2
    assert "there are no runs here" in call()[2]


def test_a_damaged_head_is_named(call: Call, results: Path) -> None:
    run = make_run(results, "acme")
    (run.path / "run.json").write_text("{")
    code, _out, err = call()
    assert code == 2 and f"{run.path.relative_to(results.parent) / 'run.json'}" in err
