"""``memeval overall`` as users meet it."""

import csv
import io
import json
from functools import partial
from pathlib import Path

import pytest

from memeval.records.run import SystemKind
from tests.support.calling import Call
from tests.support.runs import make_run, make_track
from tests.support.suites import ENTRY, SUITE


@pytest.fixture
def call(call: Call, tmp_path: Path) -> Call:
    (tmp_path / "mine.toml").write_text(
        SUITE
        + ENTRY
        + ENTRY.replace("beliefs@2", "qa-smoke@1")
        .replace("judge = ", "weight = 3.0\njudge = ")
        .replace('protocol = "judge"', 'protocol = "search-retrieve-only"'),
        encoding="utf-8",
    )
    return partial(call, "overall")


@pytest.fixture
def mine(tmp_path: Path) -> tuple[str, ...]:
    """Runs of two systems and of the ends of the scale; gives the options that read them."""
    tracks = [
        make_track(benchmark=name, protocol=protocol, reader="extractive@2")
        for name, protocol in (("beliefs@2", "judge"), ("qa-smoke@1", "search-retrieve-only"))
    ]
    scores = {"no-memory": (0, 0), "oracle": (40, 50), "acme": (30, 20), "blue": (10, 25)}
    for slug, rights in scores.items():
        kind = SystemKind.CONTROL if slug in ("no-memory", "oracle") else SystemKind.SUBMISSION
        for track, right in zip(tracks, rights, strict=True):
            uneven = 5 if slug == "acme" and track is tracks[0] else 0  # else all people have equal shares: no variance
            correct = {"kept": right + uneven, "changed": right - uneven}
            make_run(tmp_path / "results", slug, correct, track=track, kind=kind)
    make_run(tmp_path / "results", "cyan", {"kept": 3}, track=tracks[0])
    return "--suites", "mine.toml"


def test_the_table_has_index_ranks_and_reasons(call: Call, mine: tuple[str, ...]) -> None:
    code, out, err = call("mine", *mine)
    lines = out.splitlines()
    assert (code, err) == (0, "")
    assert lines[:2] == ["mine@1: Mine, 2 benchmarks", "  beliefs@2, judge: 0 is 0.0 %, 100 is 80.0 %."]
    table = {line.split()[1]: line.split() for line in lines[5:7]}
    assert (table["acme"][0], table["acme"][2]) == ("1–2", "48.8")
    assert (table["blue"][0], table["blue"][2]) == ("1–2", "43.8")
    assert table["acme"][-1] == "1–2"
    assert lines[-1] == "  cyan: 1 of 2. No ranked run on qa-smoke@1."


def test_json_has_what_the_table_has(call: Call, mine: tuple[str, ...]) -> None:
    (table,) = json.loads(call("mine", "--json", *mine).done)
    assert [(row["system"], row["rank"]) for row in table["rows"]] == [("acme", 1), ("blue", 2), ("cyan", None)]
    assert table["suite"]["id"] == "mine@1" and table["seed"] and table["weightings"] == 10_000


def test_csv_has_a_line_for_each_system(call: Call, mine: tuple[str, ...]) -> None:
    rows = list(csv.DictReader(io.StringIO(call("--csv", *mine).done)))
    assert [row["system"] for row in rows] == ["acme", "blue", "cyan"]
    assert [float(row["beliefs@2"]) for row in rows] == pytest.approx([0.75, 0.25, 0.0375])
    assert [row["qa-smoke@1"] for row in rows] == ["0.4", "0.5", ""]
    assert rows[2]["index"] == "" and rows[2]["reason"] == "No ranked run on qa-smoke@1."


def test_lead_says_how_often_one_system_is_ahead(call: Call, mine: tuple[str, ...]) -> None:
    lead = ("mine@1", "--lead", "acme", "blue", *mine)
    out = call(*lead).done
    assert out.startswith("mine@1, 10,000 weightings:\n")
    assert "acme leads blue in 8" in out and "blue leads acme in 1" in out
    shares = json.loads(call(*lead, "--json").done)["shares"]
    assert shares["first"] == pytest.approx(5 / 6, abs=0.01)
    assert sum(shares.values()) == pytest.approx(1)


def test_without_runs_every_shipped_suite_says_so(call: Call) -> None:
    code, out, err = call()
    assert (code, err) == (0, "") and out.count("No system has a run on these benchmarks.") == 2


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("nothing@1",), "there is no suite 'nothing@1'."),
        (("--lead", "acme", "blue"), "--lead needs a suite."),
        (("--csv", "--json"), "--csv and --json are both given."),
        (("mine", "--csv", "--lead", "acme", "blue"), "--csv and --lead are both given."),
        (("mine", "--lead", "acme", "cyan"), "cyan has no index on mine@1: No ranked run on qa-smoke@1."),
        (("mine", "--lead", "acme", "acme"), "acme is named twice."),
        (("--suites", "absent.toml"), "absent.toml: cannot be read"),
    ],
)
def test_a_wrong_call_exits_with_2(call: Call, mine: tuple[str, ...], words: tuple[str, ...], problem: str) -> None:
    said = call(*words, *(() if "--suites" in words else mine))
    assert said.fails(problem) and said.out == ""
