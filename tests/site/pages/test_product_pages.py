"""One page a product: its configurations, its verdict from the data, how to cite it, and bad input."""

import html
import re
from datetime import date, timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from memeval.claims.embargo import embargo
from memeval.leaderboard.board import BoardRow
from memeval.records.benchmark import CategoryInfo
from memeval.records.run import SystemKind
from memeval.site import build
from memeval.site.pages.benchmarks import BenchmarkPages
from memeval.site.pages.citing import bibtex
from memeval.site.pages.front import FrontPage
from memeval.site.pages.product_results import Probe, promises
from memeval.site.pages.published import PublishedPages
from memeval.site.pages.systems import SystemPages
from tests.claims.test_findings import board
from tests.site.factory import HOSTILE, FakeBenchmark, Made, make_run, release_of
from tests.site.pages.test_embargo import DIFFERS, findings_of
from tests.site.reading import pages_of, site_of, submitted, words_of
from tests.support.runs import edit_head

LONG = "A memory with a name of eighty letters, which no table and no phone has room for"
MANIFEST = """slug = "{slug}"
name = "{name}"
version = "1"
[product]
name = "{product}"
[configuration]
mode = "{slug} mode"
caveats = ["deleted memories stay in its history"]
"""


def product(results: Path, slug: str, name: str, skill: float = 0.6, **stated: Any) -> None:
    run = make_run(results, Made(slug, slug.title(), skill), FakeBenchmark(told=stated.pop("told", {})))
    configuration = {"mode": f"{slug} mode", "caveats": ["deleted memories stay in its history"]}
    edit_head(run, system=run.run.system.data() | {"product": {"name": name}, "configuration": configuration} | stated)


def described(results: Path, slug: str, name: str, more: str = "") -> None:
    submitted(results, slug, MANIFEST.format(slug=slug, name=slug, product=name) + more)


def pages(results: Path, **fields: Any) -> dict[str, str]:
    results.mkdir(exist_ok=True)
    return pages_of(site_of(results, benchmark=FakeBenchmark(**fields)), SystemPages)


def keyword_search(results: Path, skill: float) -> None:
    make_run(results, Made("bm25", "BM25", skill, SystemKind.CONTROL), FakeBenchmark())


@pytest.mark.parametrize(
    ("skill", "said"),
    [
        (0.95, "Finds more than plain keyword search on 1 benchmark."),
        (0.05, "Finds less than plain keyword search on 1 benchmark."),
        (0.5, "On 1 benchmark, its difference from plain keyword search may be chance."),
    ],
)
def test_the_verdict_follows_from_the_tests_against_keyword_search(tmp_path: Path, skill: float, said: str) -> None:
    product(tmp_path / "results", "one", "One", skill)
    keyword_search(tmp_path / "results", 0.5)
    assert said in words_of(pages(tmp_path / "results")["systems/one/"])


def risky(benchmark: FakeBenchmark) -> dict[str, Any]:
    first, *rest = benchmark.info.categories
    told = {"risk": "After a delete, is the text still found?", "promise": "deletes what it is told to"}
    return {"categories": (first.model_copy(update=told), *rest)}


def test_what_a_buyer_fears_is_answered_from_the_probes_with_the_caveat_of_the_configuration(tmp_path: Path) -> None:
    told = risky(FakeBenchmark())
    for slug, skill in (("good", 1.0), ("poor", 0.5), ("bad", 0.0)):
        product(tmp_path / "results", slug, slug, skill)
    found = {url: words_of(body) for url, body in pages(tmp_path / "results", told=told).items()}
    said = "Deletes what it is told to in 30 of 30 probes. But deleted memories stay in its history."
    assert said in found["systems/good/"]
    for slug, answer in (("good", "no 30 of 30"), ("poor", r"sometimes \d+ of 30"), ("bad", "yes 0 of 30")):
        assert re.search(f"After a delete, is the text still found\\? {answer}", found[f"systems/{slug}/"])


def test_a_run_with_many_failed_calls_does_not_say_what_a_buyer_fears(tmp_path: Path) -> None:
    make_run(tmp_path / "results", Made("one", "One", 1.0, errors=9), FakeBenchmark())
    found = words_of(pages(tmp_path / "results", told=risky(FakeBenchmark()))["systems/one/"])
    assert "After a delete, is the text still found?" not in found and "deletes what" not in found.lower()


def test_a_category_that_a_protocol_tests_otherwise_answers_another_question(tmp_path: Path) -> None:
    benchmark = FakeBenchmark()
    (first, *_rest), (protocol, *others) = benchmark.info.categories, benchmark.info.protocols
    special = first.model_copy(update={"risk": "Does one user see another’s memory?", "promise": "keeps users apart"})
    told = {
        "categories": (first.model_copy(update={"risk": "Are people mixed up?"}), *benchmark.info.categories[1:]),
        "protocols": (protocol, *others, protocol.model_copy(update={"name": "elsewhere", "categories": (special,)})),
    }
    product(tmp_path / "results", "one", "One", 1.0)
    found = words_of(pages(tmp_path / "results", told=told)["systems/one/"])
    assert "Are people mixed up? no 30 of 30" in found
    assert "Does one user see" not in found and "eeps users apart" not in found


def test_ten_configurations_share_one_page_and_links_lead_to_their_place_on_it(tmp_path: Path) -> None:
    results = tmp_path / "results"
    for number in range(9):
        product(results, f"big-{number}", "Big" if number % 2 else " BIG", 0.9 if number == 7 else 0.4)
    described(results, "big", "Big (cloud)")
    keyword_search(results, 0.5)
    found = pages(results)
    assert sorted(found) == ["systems/", "systems/big/", "systems/bm25/"]
    body = found["systems/big/"]
    assert "10 configurations" in body and "It has no stored run." in body
    assert {f'id="big-{number}"' in body for number in range(9)} == {True}
    assert 'href="../../systems/big/#big-3"' not in found["systems/"]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("", "Not measured here yet. Its adapter is ready, and anybody can run it."),
        (
            '[[hosts]]\nhost = "api.acme.example"\nvariable = "ACME_URL"\nkey = "ACME_API_KEY"\n',
            "Not measured here yet: it runs at its vendor's service, which needs a key (ACME_API_KEY).",
        ),
    ],
)
def test_a_product_without_a_run_says_what_is_missing(tmp_path: Path, more: str, said: str) -> None:
    described(tmp_path / "results", "acme", "Acme", more)
    found = words_of(pages(tmp_path / "results")["systems/acme/"])
    assert said in found and "No run yet." in found and "Acme mode" in found


def test_a_product_with_claims_only_shows_them_and_a_name_of_eighty_letters_is_whole(tmp_path: Path) -> None:
    assert len(LONG) == 80
    results = board(tmp_path, f'{DIFFERS.replace("Mem0,", "A,")}absent = "a.json"\n')
    described(results, "long", LONG)
    found = pages(results)["systems/long/"]
    assert f"<bdi>{LONG}</bdi>" in found and "97.31 %" in found and "not yet: run it" in found


def test_published_scores_lead_to_the_page_of_a_product_that_also_ran_here(tmp_path: Path) -> None:
    results, told = board(tmp_path, f'{DIFFERS}absent = "a.json"\n'), {"title": "LoCoMo"}
    product(results, "mem0-verbatim", "Mem0", told=told)
    described(results, "mem0", "Mem0")
    site = site_of(results, benchmark=FakeBenchmark(told=told))
    page = pages_of(site, PublishedPages)["published/"]
    assert 'href="../systems/mem0/#mem0-verbatim"' in page


@pytest.mark.parametrize("late", [0, 1])
def test_a_claim_appears_on_the_page_on_the_day_when_its_notice_expires(tmp_path: Path, late: int) -> None:
    sent, version = date(2026, 12, 1), "2026.12"
    results = board(tmp_path, f'{DIFFERS}absent = "a.json"\n[claim.notice]\nsent = "{sent}"\n')
    described(results, "mem0", "Mem0")
    day = (sent + timedelta(days=14 - late)).isoformat()
    site = site_of(results, version=version, releases=(release_of(day, version),))
    assert ("97.31 %" in pages_of(site, SystemPages)["systems/mem0/"]) is (late == 0)
    assert bool(embargo(findings_of(results), (), day).claims) is (late == 1)


def test_a_release_without_an_address_is_cited_with_its_version_day_and_digest(tmp_path: Path) -> None:
    results = tmp_path / "results"
    product(results, "one", "One & {Only}")
    release = release_of("2026-12-03", "2026.12")
    site = site_of(results, version="2026.12", releases=(release,))
    (row,) = site.board.runs
    entry = html.unescape(re.findall(r"@misc.*?\n}", pages_of(site, SystemPages)["systems/one/"], re.S)[0])
    assert entry.startswith("@misc{memeval-2026.12-one-") and "year = {2026}" in entry
    assert "release 2026.12" in entry and f"{row.folder.digest}" in entry and "url =" not in entry
    assert r"One \& Only" in " ".join(entry.split())
    (tmp_path / "memeval.toml").write_text('site_url = "https://board.example"\n')
    site = site_of(results, version="2026.12", releases=(release,))
    assert (
        f"url = {{https://board.example/2026.12/runs/{row.run.run_id}/}}" in pages_of(site, SystemPages)["systems/one/"]
    )


def test_text_from_outside_cannot_end_a_bibtex_entry() -> None:
    entry = bibtex(f"key {HOSTILE}", {"title": f"}} {HOSTILE} \\input{{x}} 5 % # $ _", "url": None})
    assert entry.count("{") == entry.count("}") == 2 and "\\input" not in entry and "url" not in entry
    assert r"5 \% \# \$ \_" in entry and "\x00" not in entry and "," not in entry.split("\n")[0][:-1]


def test_two_versions_on_one_track_are_the_history_of_a_product(tmp_path: Path) -> None:
    for version, started in (("1.0", "2026-10-01T10:00:00+00:00"), ("2.0", "2026-11-01T10:00:00+00:00")):
        make_run(tmp_path, Made("acme", "Acme", version=version, started=started), FakeBenchmark())
    make_run(tmp_path, Made("other", "Other"), FakeBenchmark())
    found = {url: words_of(body) for url, body in pages(tmp_path).items()}
    assert "Fake benchmark: systems answer: 2 of 2 versions" in found["systems/acme/"]
    assert re.search(r"1\.0 date unknown [\d.]+ [\d.–]+ – – 2\.0 date unknown [\d.]+", found["systems/acme/"])
    assert "Only one version ran on each track, on 2026-11-01." in found["systems/other/"]


def test_every_page_of_a_built_board_leads_to_citing_following_reporting_and_replying(tmp_path: Path) -> None:
    product(tmp_path / "results", "one-a", "One")
    product(tmp_path / "results", "one", "One", 0.2)
    build(tmp_path / "results", tmp_path / "site", find=lambda _name: FakeBenchmark())
    contact = (tmp_path / "site/contact/index.html").read_text()
    assert "names no repository" in contact
    for path in ("index.html", "systems/one/index.html", "faq/index.html"):
        page = (tmp_path / "site" / path).read_text()
        footer = page[page.index("<footer") :]
        for target, name in re.findall(r'href="[./]*(contact/|releases/)#(\w+)"', footer):
            assert f'id="{name}"' in (tmp_path / "site" / target / "index.html").read_text()
        assert len(re.findall("#report|#reply|#cite|feed.xml", footer)) == 4
    api = (tmp_path / "site/api/v1/systems.json").read_text()
    assert "systems/one/#one-a" in api and not (tmp_path / "site/systems/one-a").exists()


def test_the_front_of_a_release_without_an_address_has_relative_links_only(tmp_path: Path) -> None:
    results = tmp_path / "results"
    product(results, "one", "One")
    release = release_of("2026-12-03", "2026.12")
    site = site_of(results, version="2026.12", releases=(release,))
    page = pages_of(site, FrontPage)[""]
    assert "release 2026.12" in words_of(page) and 'href="systems/one/"' in page
    assert [
        address for address in re.findall(r'(?:href|src)="([^"]*)"', page) if re.match(r"https?:|//|/", address)
    ] == []


def test_a_benchmark_that_no_product_has_is_listed_and_makes_no_claim_about_products(tmp_path: Path) -> None:
    results = tmp_path / "results"
    keyword_search(results, 0.5)
    site = site_of(results)
    page = words_of(pages_of(site, FrontPage)[""])
    assert "No system has a complete run yet." in page and "product" not in page
    boards = pages_of(site, BenchmarkPages)
    assert "No run in this table is ranked." in words_of(boards["benchmarks/fake@1/"])
    assert 'href="fake@1/"' in boards["benchmarks/"] or 'href="../benchmarks/fake@1/"' in boards["benchmarks/"]


def test_the_verdict_names_the_worst_broken_promises_and_counts_the_others() -> None:
    def probe(promise: str, passed: int) -> Probe:
        category = CategoryInfo(name=promise, title=promise, items=4, tests="", graded="", promise=promise)
        return Probe(category, cast(BoardRow, None), passed, 4, "")

    probes = [probe("syncs", 4), probe("deletes", 4), probe("exports", 1), probe("keeps users apart", 4)]
    said = promises(probes[:1], ())
    assert said == "Syncs in 4 of 4 probes."
    assert promises(probes[:2], ()) == "Syncs in 4 of 4 probes and deletes in 4 of 4 probes."
    assert promises(probes, ()) == "Exports in 1 of 4 probes. The other 3 promises held."
    assert promises(probes[:3], ["deleted texts stay"]) == (
        "Exports in 1 of 4 probes. The other 2 promises held. But deleted texts stay."
    )
    kept = [probe(str(number), 4) for number in range(5)]
    assert promises(kept, ()).endswith("2 in 4 of 4 probes. The other 2 promises held.")
    broken = [probe(str(number), number) for number in range(4)]
    assert promises(broken, ()) == (
        "0 in 0 of 4 probes, 1 in 1 of 4 probes and 2 in 2 of 4 probes. These are the worst 3 of 4."
    )
    assert promises(broken[1:], ()).endswith("3 in 3 of 4 probes."), "nothing is left"
