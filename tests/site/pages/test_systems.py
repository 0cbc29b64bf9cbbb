"""What readers see of a system: what held it, whether it keeps to the contract, and what its vendor says."""

import html
import re
from pathlib import Path
from typing import Any

import pytest

from memeval.archive.conformance import store
from memeval.archive.ledger import Ledger
from memeval.archive.runs import RunFolder
from memeval.records.base import digest_of
from memeval.records.conformance import CheckOutcome, Conformance, ConformanceCheck
from memeval.records.ledger import LedgerEvent, Runner
from memeval.site.model.files import Page
from memeval.site.pages.runs import RunPages
from memeval.site.pages.score_table import score_rows
from memeval.site.pages.systems import SystemPages
from memeval.site.table.overview import overviews
from memeval.site.table.tables import view
from tests.site.conftest import whole
from tests.site.factory import FakeBenchmark, Made, make_conformance, make_run
from tests.site.reading import api_of, compared, pages_of, site_of, submitted, words_of
from tests.support.runs import edit_head

HOSTILE = '</td><script>alert("1")</script>{{ config }}'
VENDOR = {"name": f"Acme {HOSTILE}", "never_run": True, "notified": None, "agreed": None}
TOLD: dict[str, Any] = {
    "adapter_kind": "daemon",
    "mock": True,
    "product": {
        "name": f"Product {HOSTILE}",
        "package": f"package {HOSTILE}",
        "version": f"3.1 {HOSTILE}",
        "licence": f"MIT {HOSTILE}",
        "homepage": f"https://acme.example/{HOSTILE}",
        "storage": f"one file {HOSTILE}",
    },
    "configuration": {
        "model": f"scripted {HOSTILE}",
        "mode": f"verbatim {HOSTILE}",
        "replaced": [f"the LLM {HOSTILE}"],
        "caveats": [f"it forgets {HOSTILE}"],
    },
    "self_reported": ["tokens"],
    "deterministic": False,
    "environment": {"digest": digest_of("lock"), "tool": "uv 0.9.1", "locked": True},
    "services": [{"name": "redis", "version": f"7.0 {HOSTILE}", "digest": digest_of("redis")}],
    "hosts": [{"host": "api.acme.example", "origin": "http://127.0.0.1:8000"}],
    "vendor": VENDOR,
}


def check(name: str, outcome: CheckOutcome, mandatory: bool = False) -> ConformanceCheck:
    return ConformanceCheck(
        name=name,
        title=f"Title of {name}.",
        mandatory=mandatory,
        outcome=outcome,
        detail=f"Saw {name} {HOSTILE}",
        remedy=f"Mend {name}.",
        seconds=0.25,
    )


def report(run: RunFolder, **changes: Any) -> Conformance:
    system = run.run.system
    checks = (
        check("planted-fact", CheckOutcome.PASSED, mandatory=True),
        check("event-time", CheckOutcome.FAILED),
        check("forget-forgets", CheckOutcome.NOT_APPLICABLE),
        check("repeatable", CheckOutcome.DECLARED),
    )
    digests = {"submission_digest": system.submission_digest, "environment_digest": system.environment_digest}
    return make_conformance(*checks, **{"slug": system.slug, "version": HOSTILE} | digests | changes)


@pytest.fixture
def run(tmp_path: Path) -> RunFolder:
    return make_run(tmp_path, Made(slug="acme", name="Acme"), FakeBenchmark())


def page(results: Path, publisher: type[SystemPages | RunPages]) -> str:
    (body,) = (body for url, body in pages_of(site_of(results), publisher).items() if url != "systems/")
    assert "<script" not in body.replace("&lt;script", "")
    return body


def told(run: RunFolder, **head: Any) -> RunFolder:
    return edit_head(run, system=run.run.system.data() | TOLD, **head)


def test_each_check_is_shown_with_its_outcome_and_what_was_seen(tmp_path: Path, run: RunFolder) -> None:
    store(tmp_path, report(run))
    said = words_of(page(tmp_path, SystemPages))
    assert "Suite conformance@2, 2026-11-20" in said
    for wanted in (
        "Ingested facts are found as soon as settle returns. planted-fact · required passed Saw planted-fact",
        "Dates of sessions are stored and used. event-time failed Saw event-time",
        "Mend event-time.",
        "A forgotten fact is not found, not even by a paraphrase. forget-forgets not applicable",
        "Two identical runs give equal replies, or the submission declares otherwise. repeatable declared",
    ):
        assert wanted in said
    assert "Mend planted-fact." not in said
    assert "other files than" not in said


def test_a_report_of_another_suite_keeps_its_own_titles(tmp_path: Path, run: RunFolder) -> None:
    store(tmp_path, report(run, suite="conformance@0"))
    assert "Title of planted-fact. planted-fact" in words_of(page(tmp_path, SystemPages))


def test_a_report_of_other_files_says_so_and_the_latest_one_counts(tmp_path: Path, run: RunFolder) -> None:
    store(tmp_path, report(run))
    later = report(run, submission_digest=digest_of("other files"), at="2026-11-21T10:00:00.000+00:00")
    store(tmp_path, later)
    said = words_of(page(tmp_path, SystemPages))
    assert "2026-11-21" in said
    assert "other files than the latest run" in said


def test_a_system_without_a_report_has_no_such_table(tmp_path: Path, run: RunFolder) -> None:
    assert "Conformance checks" not in page(tmp_path, SystemPages)


def test_a_systems_page_says_how_it_is_reached_and_what_it_needs(tmp_path: Path, run: RunFolder) -> None:
    told(run, isolation="sandboxed", network="declared", sandbox="bubblewrap 0.8.0")
    said = words_of(page(tmp_path, SystemPages))
    for wanted in (
        "HTTP server (jeffs-brain protocol)",
        "A stand-in replaces a part that the product needs, so the system is never ranked.",
        "vendor’s service not used",
        "not notified yet",
        "sandboxed, network: declared hosts only",
        "redis 7.0",
        "api.acme.example ; memeval cannot see which models it uses",
        "Self-reported tokens",
    ):
        assert wanted in said


def test_a_runs_page_says_what_held_the_system_and_what_it_was_built_from(tmp_path: Path, run: RunFolder) -> None:
    told(run, isolation="sandboxed", network="declared", sandbox="bubblewrap 0.8.0")
    said = words_of(page(tmp_path, RunPages))
    for wanted in (
        "Not ranked: mock",
        "Isolation sandboxed Sandbox bubblewrap 0.8.0 Network declared hosts only",
        "Packages from its lock file, installed with uv 0.9.1",
        "api.acme.example , sent to http://127.0.0.1:8000",
        "Deterministic no (declared)",
        "--host api.acme.example=http://127.0.0.1:8000",
    ):
        assert wanted in said


def test_what_only_the_runner_can_know_is_the_word_of_the_submitter_or_a_maintainer(
    tmp_path: Path, run: RunFolder
) -> None:
    said = words_of(page(tmp_path, RunPages))
    assert "Isolation, times, environment, command said by the submitter" in said
    assert "Times: said by the submitter." in said
    assert "said by the submitter" in words_of(page(tmp_path, SystemPages))
    Ledger(tmp_path).append(LedgerEvent.ACCEPTED, run, by="M", reason="seen", runner=Runner.MAINTAINER)
    said = words_of(page(tmp_path, RunPages))
    assert "Isolation, times, environment, command measured by a maintainer" in said
    assert "said by the submitter" not in said


def test_a_vendors_reply_stands_on_the_pages_of_system_and_run(tmp_path: Path, run: RunFolder) -> None:
    Ledger(tmp_path).append(LedgerEvent.REPLIED, run, by="Acme", reason=f"1.3 keeps dates. {HOSTILE}")
    for publisher in (SystemPages, RunPages):
        assert "Reply of the vendor 1.3 keeps dates." in words_of(page(tmp_path, publisher))


def test_a_systems_page_shows_what_was_submitted(tmp_path: Path) -> None:
    results = tmp_path / "results"
    make_run(results, Made(slug="acme", name="Acme"), FakeBenchmark())
    manifest = """slug = "acme"
name = "Acme"
version = "1"
summary = "Finds turns. <b>Fast</b>"
licence = "MIT"
homepage = "https://acme.example/memory"
[interests]
product = "Acme <i>Ltd</i>"
relation = "none"
"""
    submitted(results, "acme", manifest)
    body = page(results, SystemPages)
    assert "Finds turns. <b>Fast</b>" in words_of(body) and "<b>Fast" not in body
    assert "Adapter licence MIT" in words_of(body)
    assert "Product by Acme <i>Ltd</i> ; relation of the adapter’s authors: none" in words_of(body)
    assert 'href="https://acme.example/memory" rel="noopener noreferrer nofollow"' in body


def test_what_of_a_product_ran_stands_on_its_pages_in_comparisons_and_in_the_api(tmp_path: Path) -> None:
    stated = {"product": TOLD["product"], "configuration": TOLD["configuration"]}
    for slug in ("acme", "borealis"):
        made = make_run(tmp_path, Made(slug=slug, name=slug.title()), FakeBenchmark())
        edit_head(made, system=made.run.system.data() | stated)
    site = site_of(tmp_path)
    wanted = {
        "configured": f"Product {HOSTILE} 3.1 {HOSTILE} · verbatim {HOSTILE}, scripted {HOSTILE}",
        "licence": f"MIT {HOSTILE}",
        "storage": f"one file {HOSTILE}",
        "replaced": f"the LLM {HOSTILE}",
        "caveats": f"it forgets {HOSTILE}",
    }
    for url, body in pages_of(site, SystemPages, RunPages).items():
        missing = [each for each in wanted.values() if each not in html.unescape(re.sub(r"</?[a-z]+>", "", body))]
        assert url == "systems/" or not missing, url
    assert [told for told, _note in compared(site)["runs"][0]["settings"]] == [*wanted.values(), "0"]
    system = api_of(site, "systems")[0]
    assert system["configured"] == wanted["configured"] and system["product"]["licence"] == wanted["licence"]
    assert system["configuration"]["caveats"] == [wanted["caveats"]] and system["adapter_licence"] is None
    first = next(row for each in overviews(site) for row in each.rows)
    named = wanted["configured"].replace(" · ", f" ({first.slug}) · ")
    assert " · ".join((first.name, first.settings or "")) == named, "the front page has the full name"


def test_only_a_mock_is_said_to_replace_a_part_of_the_product(tmp_path: Path, run: RunFolder) -> None:
    said = "A mock replaced a part of the product"
    edit_head(run, system=run.run.system.data() | TOLD | {"mock": False, "vendor": None, "hosts": []})
    assert said not in words_of(page(tmp_path, RunPages)), "a part was left out, and no stand-in took its place"
    edit_head(run, system=run.run.system.data() | TOLD | {"vendor": None, "hosts": []})
    assert said in words_of(page(tmp_path, RunPages))


def test_crashes_stand_where_scores_are_read(tmp_path: Path) -> None:
    for slug, crashes in (("acme", 2), ("borealis", 0)):
        edit_head(make_run(tmp_path, Made(slug=slug, name=slug.title()), FakeBenchmark()), crashes=crashes)
    site = site_of(tmp_path)
    (table,) = site.board.tables
    for publisher in (RunPages, SystemPages):
        pages = {file.title: file for file in whole(publisher().publish(site)) if isinstance(file, Page)}
        said = {name: words_of(str(file.body)) for name, file in pages.items() if name != "Products"}
        assert {"crashed 2 times" in words for name, words in said.items() if name.startswith("Acme")} == {True}
        assert not any("crashed" in words for name, words in said.items() if not name.startswith("Acme"))
    errors = next(column for column in view(site, table).columns if column.name == "error_rate")
    notes = {row.run.system.slug: errors.read(row).note for row in table.rows}
    assert notes == {"acme": "0 items, process crashed 2 times", "borealis": "0 items"}
    assert {run["system"]: run["crashes"] for run in api_of(site, "runs")} == {"acme": 2, "borealis": 0}
    assert {row["system"]: row["crashes"] for row in score_rows(site.board)} == {"acme": 2, "borealis": 0}
    assert {run["slug"]: run["settings"][-1][0] for run in compared(site)["runs"]} == {"acme": "2", "borealis": "0"}
