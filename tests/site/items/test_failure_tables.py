"""What went wrong with a run, on its page and in its items."""

import re
from pathlib import Path

import pytest

from memeval.records.failure import Cause, EvidenceFound, Failure
from memeval.records.grade import Grade
from memeval.records.track import Redistribution
from memeval.site.pages.runs import RunPages
from tests.site.conftest import Built, draw
from tests.site.factory import SECRET, FakeBenchmark, Made, make_run
from tests.site.reading import words_of


def told(grade: Grade) -> Failure:
    right = grade.verdict is True
    return Failure(
        item_id=grade.item_id,
        category=grade.category,
        right=right,
        found=EvidenceFound.ALL if right else EvidenceFound.NONE,
        rank=7 if right else None,
        cause=None if right else Cause.WRONG_TIME,
    )


def built_of(folder: Path, benchmark: FakeBenchmark, *board: Made) -> Built:
    runs = [make_run(folder / "results", made, benchmark) for made in board]
    draw(folder / "results", folder / "site", find=lambda _name: benchmark)
    return Built(folder / "site", folder / "results", benchmark, runs)


def page_of(site: Built, number: int = 0) -> str:
    return site.read(f"runs/{site.runs[number].run.run_id}/index.html")


def test_a_run_that_was_sealed_without_an_analysis_is_analysed_where_its_data_is_here(built: Built) -> None:
    run = built.runs[0].run
    right = run.scores.overall.correct
    items = built.index_of(run.run_id)["items"]
    assert len(items) == 60 and sum("cause" in line for line in items) == 60 - right
    said = words_of(page_of(built))
    assert "Wrong answers by cause" in said and f"memeval failures {run.run_id} --json" in said
    assert f"All evidence {right} {60 - right} {100 * right / 60:.1f}" in said


def test_each_cause_leads_to_its_items_and_the_index_names_it(built: Built) -> None:
    run = built.runs[0].run
    items = built.index_of(run.run_id)["items"]
    causes = set(re.findall(rf"items/\?run={run.run_id}&amp;cause=([^\"]+)\"", page_of(built)))
    assert causes == {line["cause"].replace(" ", "%20") for line in items if "cause" in line}


def test_what_a_run_was_sealed_with_is_shown_even_where_the_data_is_not_here(tmp_path: Path) -> None:
    benchmark = FakeBenchmark(absent=True, redistribution=Redistribution.IDS)
    site = built_of(tmp_path, benchmark, Made("acme", "Acme", failures=told), Made("older", "Older"))
    wrong = 60 - site.runs[0].run.scores.overall.correct
    assert f"Wrong in total {wrong} of 60" in words_of(page_of(site))
    assert "memeval failures" in page_of(site), "its rows are not published"
    offered = built_of(tmp_path / "full", FakeBenchmark(), Made("offered", "Offered", failures=told))
    assert 'download="failures.jsonl.gz">failures.jsonl.gz</a>' in page_of(offered).partition('id="outcomes"')[0]
    index = site.index_of(site.runs[0].run.run_id)
    assert {line.get("rank") for line in index["items"]} == {7, None}
    full = offered.index_of(offered.runs[0].run.run_id)
    assert (index["words"], full["words"]) == (False, True), "the page says where private text is only if it has none"
    assert "Wrong answers by cause" not in page_of(site, 1)
    assert not any(SECRET in page_of(site, number) for number in (0, 1))


def test_an_analysis_that_knows_nothing_is_not_shown(tmp_path: Path) -> None:
    def nothing(grade: Grade) -> Failure:
        unknown = {"found": EvidenceFound.UNKNOWN, "rank": None, "cause": None if grade.verdict else Cause.UNKNOWN}
        return told(grade).model_copy(update=unknown)

    site = built_of(tmp_path, FakeBenchmark(), Made("acme", "Acme", failures=nothing))
    assert "Wrong answers by cause" not in page_of(site)
    assert 'id="failures"' not in page_of(site)


@pytest.mark.parametrize("bad", [b"", b"not rows"])
def test_an_analysis_that_cannot_be_read_costs_its_section_and_no_more(tmp_path: Path, bad: bytes) -> None:
    benchmark = FakeBenchmark()
    run = make_run(tmp_path / "results", Made("acme", "Acme", failures=told), benchmark)
    run.file("failures.jsonl").write_bytes(bad)
    draw(tmp_path / "results", tmp_path / "site", RunPages(), find=lambda _name: benchmark)
    assert "Wrong answers by cause" not in (tmp_path / "site/runs" / run.run.run_id / "index.html").read_text()
