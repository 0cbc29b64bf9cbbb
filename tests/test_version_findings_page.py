"""The page *What old versions show*: short scripts that need nothing of memeval, and numbers of stored runs."""

import ast
import re
from datetime import date
from statistics import median

import pytest

from memeval.archive.histories import history_of_system, measured_runs, stored_histories
from memeval.archive.runs import RunFolder, sealed_runs
from memeval.leaderboard.samples import GRADES, graded_items, read_samples
from memeval.records.history import VersionHistory, VersionOutcome, VersionRun
from memeval.site.trends.product_trends import EMBEDDER
from memeval.statistics.time_ratios import TimeRatio, time_ratio
from memeval.statistics.version_steps import find_steps
from tests.support.commands import ROOT

PAGE = (ROOT / "site/version-findings.md").read_text(encoding="utf-8")
SCRIPTS = re.findall(r"^```python\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)

SAID = (
    (
        "bm25s",
        ("0.2.13", "0.2.14", "0.3.3", "0.3.9", "0.3.11", "0.3.16"),
        {"lifecycle@1": "80.9", "lifecycle@1/banks": "85.8", "locomo@1": "73.2"},
    ),
    ("llamaindex", ("0.3.1",), {"lifecycle@1": "81.4", "locomo@1": "72.9"}),
    ("llamaindex", ("0.5.0", "0.5.2", "0.6.5", "0.7.1", "0.8.0"), {"lifecycle@1": "81.0", "locomo@1": "72.9"}),
    ("haystack", ("2.18.1", "2.21.0", "2.26.1"), {"lifecycle@1": "81.0", "locomo@1": "63.6"}),
    ("haystack", ("2.30.2", "3.2.0"), {"lifecycle@1": "79.8", "locomo@1": "63.4"}),
    ("haystack", ("3.4.1",), {"lifecycle@1": "79.5", "locomo@1": "65.9"}),
    (
        "langgraph-store",
        ("2.1.1", "3.0.1", "4.0.1", "4.1.1", "4.2.0", "4.3.2"),
        {"lifecycle@1": "81.6", "locomo@1": "62.5"},
    ),
    (
        "mcp-memory",
        ("2025.8.4", "2025.9.25", "2025.11.25", "2026.1.26", "2026.7.4", "2026.8.31"),
        {"lifecycle@1": "69.5", "lifecycle@1/banks": "76.8", "locomo@1": "74.4"},
    ),
    (
        "sqlite-fts5",
        ("3.50.4.0", "3.51.1.0", "3.51.3.0", "3.53.2.0", "3.53.4.0", "3.54.1.0"),
        {"lifecycle@1": "77.3", "lifecycle@1/banks": "83.8", "locomo@1": "70.1"},
    ),
    ("txtai", ("8.6.0", "9.0.1", "9.3.0", "9.7.0", "9.10.0", "9.13.0"), {"lifecycle@1": "78.5", "locomo@1": "65.5"}),
)
"""Products, versions with equal grades, and their scores in per cent."""


def history_of(slug: str) -> VersionHistory:
    history = history_of_system(ROOT / "results", slug)
    assert history is not None
    return history


def in_words(run: VersionRun) -> str:
    """Return the benchmark of a run, with its protocol unless that is search alone."""
    return run.benchmark if run.protocol in ("search", "retrieval") else f"{run.benchmark}/{run.protocol}"


def test_every_script_is_short_and_stands_alone() -> None:
    assert SCRIPTS
    for script in SCRIPTS:
        assert sum(isinstance(node, ast.stmt) for node in ast.walk(ast.parse(script))) <= 10
        assert "memeval" not in script


@pytest.mark.parametrize(("slug", "versions", "scores"), SAID)
def test_the_numbers_are_those_of_the_stored_runs(slug: str, versions: tuple[str, ...], scores: dict[str, str]) -> None:
    assert all(version in PAGE for version in versions)
    assert all(f"{score} %" in PAGE for score in scores.values())
    history = history_of(slug)
    for benchmark, score in scores.items():
        runs = [
            folder.run
            for version, each, folder in measured_runs(ROOT / "results", history)
            if folder is not None and in_words(each) == benchmark and version.version in versions
        ]
        assert len(runs) == len(versions)
        assert {f"{100 * (run.scores.composite.value or 0):.1f}" for run in runs} == {score}
        assert len({run.files[GRADES].digest for run in runs}) == 1


def row_of(history: VersionHistory) -> str:
    """Return the row of a product in the table of versions."""
    ran = [version for version in history.versions if version.outcome is VersionOutcome.RAN]
    first, last = (f"{date.fromisoformat(each.released):%b %Y}" if each.released else "" for each in (ran[0], ran[-1]))
    when = f"{first} to {last}" if history.dated else "date unknown"
    others = "; ".join(f"{each.version}: {each.reason}" for each in history.versions if each not in ran)
    return f"| {history.product} | {when} | {', '.join(each.version for each in ran)} | {others or 'none'} |"


def test_the_table_has_every_stored_history() -> None:
    histories = stored_histories(ROOT / "results")
    rows = "\n".join(map(row_of, histories))
    assert f"|---|---|---|---|\n{rows}\n\n" in PAGE
    assert len(histories) == 7 and "released versions of seven products" in PAGE


def test_forms_of_an_adapter_give_equal_answers_where_both_run() -> None:
    for slug, said in (
        ("llamaindex", "On 0.6.5, which accepts both forms"),
        ("mcp-memory", "On 2026.1.26, which accepts both forms"),
        ("haystack", "On 3.0.0, which accepts both forms"),
    ):
        history = history_of(slug)
        assert said in PAGE
        assert [checked.equal for checked in history.forms] == [True, True]
        assert {checked.version for checked in history.forms} == {said.split()[1].rstrip(",")}


def folders_of(slug: str, benchmark: str) -> dict[str, RunFolder]:
    """Return the runs of a product on a benchmark by version, oldest first."""
    history = history_of(slug)
    measured = measured_runs(ROOT / "results", history)
    return {version.version: folder for version, each, folder in measured if folder and in_words(each) == benchmark}


@pytest.mark.parametrize(
    ("slug", "benchmark"), sorted({(slug, benchmark) for slug, _versions, scores in SAID for benchmark in scores})
)
def test_no_release_made_a_step(slug: str, benchmark: str) -> None:
    assert "No measured release made a step in what its product finds." in PAGE
    samples = read_samples(list(folders_of(slug, benchmark).values()))
    assert not find_steps(samples.parts()[:, 0], samples.clusters)


def test_only_the_order_of_equal_texts_differs_between_two_versions_of_llamaindex() -> None:
    folders = folders_of("llamaindex", "lifecycle@1")
    old, new = folders["0.3.1"], folders["0.5.0"]
    pairs = list(zip(old.responses(), new.responses(), strict=True))
    assert len(pairs) == 448 and "in all 448 lists" in PAGE
    for one, two in pairs:
        assert [item.score for item in one.items or ()] == [item.score for item in two.items or ()]
    flipped = [one for one, two in zip(graded_items(old), graded_items(new), strict=True) if one != two]
    assert len(flipped) == 6 and "Six of the 448 probes differ" in PAGE


def test_the_differences_of_haystack_are_not_those_of_its_adapter() -> None:
    history = history_of("haystack")
    form = {version.version: version.form for version in history.versions}
    assert form["2.26.1"] == form["2.30.2"] != form["3.2.0"]
    assert [checked.equal for checked in history.forms] == [True, True]
    for benchmark in ("lifecycle@1", "locomo@1"):
        folders = folders_of("haystack", benchmark)
        assert folders["2.30.2"].run.responses_digest == folders["3.2.0"].run.responses_digest


def ratio_of(folder: RunFolder) -> TimeRatio:
    """Return how many times as long as the control a version searched."""
    assert folder.run.beside is not None
    pairs = folder.run.beside.fastest or folder.run.beside.search
    return time_ratio([(pair.system, pair.control) for pair in pairs])


def test_the_search_times_of_bm25s_are_those_of_the_stored_runs() -> None:
    ratios: dict[str, list[TimeRatio]] = {"lifecycle@1": [], "locomo@1": []}
    for benchmark, measured in ratios.items():
        for folder in folders_of("bm25s", benchmark).values():
            measured.append(ratio_of(folder))
    for benchmark, words in (("locomo@1", "0.98 to 1.11 times"), ("lifecycle@1", "0.77 to 1.68 times")):
        values = [ratio.value for ratio in ratios[benchmark]]
        assert f"{min(values):.2f} to {max(values):.2f} times" == words and words in PAGE
        assert max(ratio.low for ratio in ratios[benchmark]) <= min(ratio.high for ratio in ratios[benchmark])
    widest = max((ratio for each in ratios.values() for ratio in each), key=lambda ratio: ratio.high / ratio.low)
    assert f"{widest.low:.2f} to {widest.high:.2f}" in PAGE


def test_two_versions_of_sqlite_search_slower_than_the_others() -> None:
    ratios = {version: ratio_of(folder) for version, folder in folders_of("sqlite-fts5", "locomo@1").items()}
    slow = [ratios.pop("3.51.1.0"), ratios.pop("3.51.3.0")]
    assert "276 and 275 times as long" in PAGE and [f"{ratio.value:.0f}" for ratio in slow] == ["276", "275"]
    values = [ratio.value for ratio in ratios.values()]
    assert f"{min(values):.1f} to {max(values):.1f} times as long" in PAGE
    assert min(ratio.low for ratio in slow) > max(ratio.high for ratio in ratios.values())


@pytest.mark.parametrize("benchmark", ["lifecycle@1", "locomo@1"])
@pytest.mark.parametrize(
    ("slug", "name"), [("mcp-memory", "The official MCP memory server"), ("txtai", "txtai's keyword search")]
)
def test_all_versions_that_are_said_to_give_the_same_answers_do(slug: str, name: str, benchmark: str) -> None:
    assert f"{name} gives the same answers in " in PAGE
    assert len({folder.run.responses_digest for folder in folders_of(slug, benchmark).values()}) == 1


def test_every_version_of_txtai_ran_with_the_same_pytorch() -> None:
    locks = (ROOT / "results/history/txtai").glob("*/sources/*/*/requirements.lock")
    found = [line.split()[0] for lock in locks for line in lock.read_text("utf-8").splitlines() if "torch==" in line]
    assert found == 6 * ["torch==2.13.0+cpu"] and "PyTorch 2.13.0 without CUDA (`2.13.0+cpu`)" in PAGE


def test_the_control_was_slower_beside_the_versions_of_the_mcp_memory_server_with_a_low_ratio() -> None:
    ratios, controls = [], []
    for folder in folders_of("mcp-memory", "locomo@1").values():
        assert folder.run.beside is not None
        if pairs := folder.run.beside.fastest:
            ratios.append(f"{ratio_of(folder).value:.0f}")
            controls.append(1000 * median(pair.control for pair in pairs))
    assert ratios == ["39", "28", "31", "77"] and "39, 28, 31 and 77 times as long" in PAGE
    *before, last = controls
    said = f"took {last:.1f} ms when 2026.8.31 was measured, and {min(before):.0f} to {max(before):.0f} ms"
    assert said in PAGE
    assert "ratios from 28 to 77" in (ROOT / "site/history.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("benchmark", ["lifecycle@1", "locomo@1"])
def test_every_version_of_langgraph_has_the_grades_of_our_embedder(benchmark: str) -> None:
    folders = folders_of("langgraph-store", benchmark)
    track = next(iter(folders.values())).run.track_id
    embedders = (each for each in sealed_runs(ROOT / "results") if each.path.parent.name == EMBEDDER)
    [alone] = [each for each in embedders if each.run.track_id == track]
    scores = [[each[1::2] for each in graded_items(folder)] for folder in (alone, *folders.values())]
    assert all(each == scores[0] for each in scores)
