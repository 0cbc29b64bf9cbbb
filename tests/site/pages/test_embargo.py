"""A finding that is unfavourable to somebody is nowhere on a published site until 14 days after its notice."""

import gzip
import html
import shutil
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

import pytest

from memeval.claims.embargo import Embargo, embargo, same_files
from memeval.claims.findings import read_findings
from memeval.claims.store import stored_regraded
from memeval.records.finding import RecountedClaim
from memeval.site import build
from memeval.site.pages.published import PublishedPages
from tests.claims.test_findings import board
from tests.site.conftest import draw, store_mirix
from tests.site.factory import FakeBenchmark, Made, make_run, release_of
from tests.site.reading import words_of

ROOT = Path(__file__).parents[3]
SENT = "2026-12-01"
VERSION = "2026.12"

DIFFERS = """
[[claim]]
id = "zankhaus"
system = "Mem0, as Zankhaus Labs ran it"
benchmark = "LoCoMo, 1,540 questions"
metric = "accuracy by an LLM judge"
claimed = "97.31"
repository = "zankhaus/labs"
commit = "5f1af7316e107039ac7a26555ac0f8ee09912f12"
stated = "README of the zankhaus labs"
link = "answers are in mem0.json"
answer_model = "gpt-4.1-mini"
licence = "Apache-2.0"
"""
RECOUNT = '[claim.recount]\nfiles = ["mirix/mem0"]\n'
HOLDS = (
    DIFFERS.replace("97.31", "78.05").replace("zankhaus", "fair").replace("Zankhaus", "Fair").replace("Mem0", "LangMem")
    + '[claim.recount]\nfiles = ["mirix/langmem"]\n'
)

CASES = {
    "differs": (DIFFERS + RECOUNT, ["zankhaus", "97.31", "62.47", "62.468"]),
    "named file absent": (DIFFERS + 'absent = "data/zankhaus.json"\n', ["zankhaus", "97.31"]),
    "not attributable": (
        DIFFERS.replace('link = "answers are in mem0.json"\n', "") + RECOUNT,
        ["zankhaus", "97.31", "62.47"],
    ),
    "the same file": (
        DIFFERS.replace("97.31", "62.47").replace("zankhaus", "other-name")
        + RECOUNT.replace("mirix/mem0", "other-name/own")
        + f'[claim.notice]\nsent = "{SENT}"\n'
        + DIFFERS.replace("97.31", "62.47").replace("zankhaus", "first-name")
        + RECOUNT,
        ["other-name", "first-name", "published/mirix/mem0", "62.47"],
    ),
    "signs of a broken run": (
        DIFFERS.replace("97.31", "57.74").replace("zankhaus", "brokenware") + RECOUNT.replace("mem0", "zep"),
        ["brokenware", "57.74", "published/mirix/zep"],
    ),
}
"""The claims of a board, and the words and numbers of their finding."""


def copy_under_another_name(imported: Path) -> None:
    """Store the file of Mem0 a second time, as that of another repository."""
    (imported / "other-name").mkdir()
    shutil.copy(imported / "mirix/mem0.jsonl.gz", imported / "other-name/own.jsonl.gz")
    text = (imported / "mirix/mem0.json").read_text()
    for there, here in (
        ("Mirix-AI/MIRIX", "other/name"),
        ('"mirix"', '"other-name"'),
        ('"file": "mem0"', '"file": "own"'),
    ):
        assert there in text
        text = text.replace(there, here)
    (imported / "other-name/own.json").write_text(text)


def findings_of(results: Path) -> tuple[RecountedClaim, ...]:
    report = read_findings(results)
    assert report is not None
    return report.findings


BuildSite = Callable[..., Path]


@pytest.fixture
def published(tmp_path: Path) -> BuildSite:
    """Return a function that builds the site of a release of a day, or with no day a site of this machine."""

    def make(claims: str, day: str | None) -> Path:
        results = board(tmp_path, claims + HOLDS)
        store_mirix(results)
        if "other-name" in claims:
            copy_under_another_name(results / "imported")
        benchmark = FakeBenchmark()
        make_run(results, Made("mem0", "Mem0 of our own"), benchmark)
        release = () if day is None else (release_of(day, VERSION),)
        version = None if day is None else VERSION
        build(results, tmp_path / "site", version=version, releases=release, find=lambda _name: benchmark)
        return tmp_path / "site"

    return make


def contents(site: Path) -> dict[str, str]:
    found = {}
    for path in site.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            data = gzip.decompress(data) if path.suffix == ".gz" else data
            name = path.relative_to(site).as_posix()
            found[name] = f"{name}\n{html.unescape(data.decode(errors='replace'))}"
    return found


def places(site: Path, words: list[str]) -> dict[str, list[str]]:
    found = contents(site)
    return {word: [name for name, text in found.items() if word.lower() in text.lower()] for word in words}


@pytest.mark.parametrize("case", CASES)
def test_no_file_of_a_published_site_has_a_word_or_number_of_it_before_its_day(published: BuildSite, case: str) -> None:
    claims, words = CASES[case]
    site = published(claims, "2026-12-25")
    assert not any(places(site, words).values())
    assert "78.05" in (site / "published/index.html").read_text(), "what holds is published"


@pytest.mark.parametrize("case", CASES)
def test_it_is_published_on_the_fourteenth_day_after_the_notice_and_not_before(
    published: BuildSite, tmp_path: Path, case: str
) -> None:
    claims, words = CASES[case]
    told = f'{claims}[claim.notice]\nsent = "{SENT}"\n'
    day = date.fromisoformat(SENT) + timedelta(days=14)
    assert not any(places(published(told, (day - timedelta(days=1)).isoformat()), words).values())
    for folder in ("results", "site", "sources"):
        shutil.rmtree(tmp_path / folder)
    site = published(told, day.isoformat())
    assert all(places(site, words[:2]).values())
    assert ">notice not sent</span>" not in (site / "published/index.html").read_text()


@pytest.mark.parametrize("case", CASES)
def test_a_site_of_this_machine_shows_it_with_a_mark(published: BuildSite, case: str) -> None:
    claims, words = CASES[case]
    site = published(claims, None)
    assert all(places(site, words[:2]).values())
    marked = [path for path, text in contents(site).items() if 'mv-badge-warning">notice not sent<' in text]
    assert "published/index.html" in marked and "systems/mem0/index.html" in marked
    front = words_of((site / "index.html").read_text())
    assert "This board is not published. It shows files whose authors were not notified in time" in front


def test_the_same_file_is_said_on_both_pages_alike_and_waits_for_both_notices(tmp_path: Path) -> None:
    claims, _words = CASES["the same file"]
    notice = f'[claim.notice]\nsent = "{SENT}"\n'
    results = board(tmp_path, claims)
    shutil.copytree(ROOT / "results/imported/mirix", results / "imported/mirix")
    copy_under_another_name(results / "imported")
    for told in (claims, claims.replace(notice, ""), claims.replace(notice, "") + notice):
        board(tmp_path, told)
        findings = findings_of(results)
        waits = embargo(findings, stored_regraded(results), "2026-12-31")
        assert set(waits.claims) == {"other-name", "first-name"}
        assert {"other-name/own", "mirix/mem0"} <= set(waits.files)
        assert {tuple(one.same_files) for one in findings} == {("mirix/mem0",), ("other-name/own",)}
    board(tmp_path, claims + notice)
    assert not embargo(findings_of(results), stored_regraded(results), "2026-12-31").claims
    draw(results, tmp_path / "site", PublishedPages())
    for one, other in (("other-name/own", "MIRIX"), ("mirix/mem0", "other/name")):
        page = words_of((tmp_path / "site/published" / one / "index.html").read_text())
        assert "This is the same file, byte for byte, as Mem0" in page and other in page


def test_two_entries_of_one_repository_from_one_file_are_no_finding() -> None:
    files = tuple(stored_regraded(ROOT / "results"))
    assert same_files(files) == {
        "memobase/memobase-0-0-32": ("powermemo/powermemo-0-0-32",),
        "powermemo/powermemo-0-0-32": ("memobase/memobase-0-0-32",),
    }
    assert same_files(file for file in files if file.source == "ronsenberg") == {}


def test_a_mark_names_the_day_when_a_notice_was_sent(published: BuildSite) -> None:
    site = published(f'{DIFFERS}{RECOUNT}[claim.notice]\nsent = "{SENT}"\n', None)
    assert 'mv-badge-warning">public from 2026-12-15<' in (site / "published/index.html").read_text()


def test_a_release_of_an_unknown_day_publishes_nothing_that_waits(tmp_path: Path) -> None:
    results = board(tmp_path, DIFFERS + f'absent = "a.json"\n[claim.notice]\nsent = "{SENT}"\n')
    findings = findings_of(results)
    assert embargo(findings, (), "").claims == {"zankhaus": "public from 2026-12-15"}
    assert embargo(findings, (), "2026-12-15") == Embargo()


def test_the_stored_findings_that_wait_are_those_without_a_notice() -> None:
    findings, files = findings_of(ROOT / "results"), tuple(stored_regraded(ROOT / "results"))
    found = embargo(findings, files, "2026-12-31")
    unsent = {one.claim.id for one in findings if one.verdict.value != "holds" and one.claim.notice.sent is None}
    assert unsent <= set(found.claims)
    assert "mirix/zep" in found.files, "a file with signs of a broken run"
