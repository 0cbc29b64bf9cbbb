"""What the page of a system says of its strengths, its evidence, its costs and of published scores."""

import html
import re
from dataclasses import replace
from pathlib import Path

import pytest

from memeval.records.failure import EvidenceFound, Failure
from memeval.records.finding import ClaimVerdict, FindingsReport, JudgeTrials, PublishedClaim, RecountedClaim
from memeval.records.grade import Grade
from memeval.records.run import SystemKind
from memeval.site.model.content import SiteModel
from memeval.site.pages.product_results import claims_about
from memeval.site.pages.systems import SystemPages
from tests.site.factory import Made, every_second
from tests.site.reading import pages_of, site_of, words_of
from tests.support.runs import edit_head


def strong_in(category: str) -> Made:

    def graded(_number: int, grade: Grade) -> Grade:
        return grade.model_copy(update={"verdict": grade.category == category})

    def found(grade: Grade) -> Failure:
        number = int(grade.item_id[-2:])
        values = [EvidenceFound.ALL, EvidenceFound.SOME, EvidenceFound.NONE, EvidenceFound.UNKNOWN, EvidenceFound.ALL]
        where = values[number % 5]
        right = grade.category == category
        return Failure(item_id=grade.item_id, category=grade.category, right=right, found=where)

    return Made("acme", "Acme", grades=graded, failures=found)


ECHO = Made("echo-question", "Echo of the question", kind=SystemKind.CONTROL, grades=every_second)


def page(site: SiteModel, slug: str = "acme") -> str:
    return pages_of(site, SystemPages)[f"systems/{slug}/"]


def test_runs_without_a_known_cost_or_time_are_not_under_cost_and_speed(tmp_path: Path) -> None:
    site = site_of(tmp_path, strong_in("A"))
    assert 'id="cost"' in page(site)
    uncounted = {"source": "none", "per_question": None, "total": None}
    (row,) = site.board.runs
    edit_head(row.folder, usage={}, tokens=uncounted, timing=row.run.timing.data() | {"phases": {}})
    assert 'id="cost"' not in page(site_of(tmp_path))


def test_categories_that_differ_significantly_are_named_with_difference_and_p(tmp_path: Path) -> None:
    other = replace(strong_in("noise-resistance"), slug=ECHO.slug, name=ECHO.name, kind=ECHO.kind)
    site = site_of(tmp_path, strong_in("belief-update"), other)
    said = words_of(page(site))
    assert "Strengths and weaknesses" in said
    strong = r"Belief update \+100\.0 p [<=] 0\.0\d+; score 100\.0 \[\d\d\.\d, 100\.0\]"
    weak = r"Noise resistance −100\.0 p [<=] 0\.0\d+; score 0\.0 \[0\.0, \d\d\.\d\]"
    assert re.search(f"{strong} {weak}", said)
    table = site.board.tables[0]
    acme, echo = sorted(table.rows, key=lambda row: row.run.system.slug)
    assert table.tests is not None
    test = table.tests.pair(acme.folder.path, echo.folder.path, "belief-update")
    assert test.difference == pytest.approx(1.0) and test.apart


def test_no_difference_is_said_plainly(tmp_path: Path) -> None:
    site = site_of(tmp_path, Made("acme", "Acme", grades=every_second), ECHO)
    assert "overall: +0.0, p = 1.000 none none" in words_of(page(site))


def test_a_run_without_a_rank_or_a_baseline_is_not_compared_and_says_why(tmp_path: Path) -> None:
    site = site_of(tmp_path / "alone", Made("acme", "Acme"))
    assert "Not compared: no simple baseline ran here." in words_of(page(site))
    (row,) = site.board.runs
    edit_head(row.folder, system=row.run.system.data() | {"mock": True})
    again = site_of(tmp_path / "alone")
    assert "Not compared: the run has no rank (" in words_of(page(again))


def test_evidence_counts_open_their_questions(tmp_path: Path) -> None:
    site = site_of(tmp_path, strong_in("belief-update"))
    run = f"../../items/?run={site.board.runs[0].run.run_id}"
    found = dict(re.findall(r'href="([^"]+evidence=[^"]+)">([^<]+)</a>', html.unescape(page(site))))
    assert found == {
        f"{run}&evidence=all&verdict=right": "12",
        f"{run}&evidence=all&verdict=missed": "12",
        f"{run}&evidence=some": "12",
        f"{run}&evidence=none": "12",
        f"{run}&evidence=unknown": "12",
    }


def test_a_control_says_what_it_does_and_is_not_compared(tmp_path: Path) -> None:
    site = site_of(tmp_path, strong_in("belief-update"), ECHO)
    body = page(site, "echo-question")
    assert "Strengths and weaknesses" not in body
    assert "Any score above zero means that the grader accepts words of the question." in body
    listed = pages_of(site, SystemPages)["systems/"]
    assert "Repeats the question as its answer." in listed


def test_the_list_has_products_before_controls_each_with_its_verdict_and_runs(tmp_path: Path) -> None:
    tiers = [Made("acme", "Acme", tier=name) for name in ("full", "small", "tiny", "large")]
    site = site_of(tmp_path, *tiers, ECHO)
    listed = pages_of(site, SystemPages)["systems/"]
    order = r"Runs Acme 1.0 .* was not tested here\. 4 Controls .* Runs Echo of the question Repeats the question"
    assert re.search(order, words_of(listed))


def claim(system: str) -> RecountedClaim:
    made = PublishedClaim(
        id="x",
        system=system,
        benchmark="LoCoMo",
        metric="judge",
        claimed="91.5",
        repository="o/n",
        stated="README",
        licence="MIT",
    )
    return RecountedClaim(claim=made, recount=None, verdict=ClaimVerdict.NOT_ATTRIBUTABLE)


def test_published_scores_of_a_product_are_shown_and_those_of_others_are_not(tmp_path: Path) -> None:
    site = site_of(tmp_path, Made("mem0", "Mem0 (open source)"))
    findings = (claim("mem0 2.0.18"), claim("Mem0, run by <b>X</b>"), claim("Mem01"), claim("BM25, run by X"))
    report = FindingsReport(findings=findings, trials=JudgeTrials(), corrections=())
    site = SiteModel(**{**vars(site), "findings": report})
    assert [each.claim.system for each in claims_about(site, "Mem0 (open source)")] == [
        "mem0 2.0.18",
        "Mem0, run by <b>X</b>",
    ]
    assert claims_about(site, "BM25 and MiniLM") == claims_about(site, " ") == []
    body = page(site, "mem0")
    assert "Mem0, run by &lt;b&gt;X" in body and "91.5 %" in body
    assert "these numbers and ours are not comparable" in words_of(body)
