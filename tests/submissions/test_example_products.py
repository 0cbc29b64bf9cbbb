"""Three small products of the examples, measured as the guides say: an MCP server, an HTTP server and a class."""

from pathlib import Path

import pytest

from memeval.benchmarks import find
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.run.running import run_system
from memeval.evaluation.submit.submitting import check_submission
from memeval.options import CheckOptions, RunOptions
from memeval.systems.source import folder_source

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize(
    ("name", "protocol", "whole"),
    [
        ("mcp-ids", "search", {"provenance": 84}),
        ("mcp-ids", "banks", {"provenance": 84}),
        ("http-diary", "search", {"provenance": 84}),
        ("class-index", "banks", {"provenance": 84, "forget": 120, "keep-apart": 112}),
    ],
)
def test_an_example_product_gets_a_row_without_errors_and_names_its_sources(
    tmp_path: Path, name: str, protocol: str, whole: dict[str, int]
) -> None:
    files = {path: path.stat().st_mtime_ns for path in (EXAMPLES / name).rglob("*")}
    session = BenchmarkSession.open(find("lifecycle@1"), protocol=protocol)
    run = run_system(folder_source(EXAMPLES / name), session, RunOptions(results=tmp_path, protocol=protocol)).run
    assert (run.coverage.full, run.scores.overall.errors, run.crashes) == (True, 0, 0)
    right = {category.name: category.tally.correct for category in run.scores.categories}
    assert {part: right[part] for part in whole} == whole
    assert {path: path.stat().st_mtime_ns for path in (EXAMPLES / name).rglob("*")} == files


@pytest.mark.parametrize("name", ["mcp-ids", "http-diary", "class-index"])
def test_an_example_product_passes_the_check_of_a_submission(tmp_path: Path, name: str) -> None:
    report = check_submission(EXAMPLES / name, CheckOptions(results=tmp_path))
    assert report.holds, [problem for step in report.steps for problem in step.problems]
