"""The pages of findings and of judges on trial, with and without findings."""

import html
import json
import re
import shutil
from pathlib import Path

import pytest

from memeval.site.pages.findings import FindingsPages
from memeval.site.pages.front import FrontPage
from memeval.site.pages.imported import ImportedPage
from tests.site.conftest import draw
from tests.site.items.test_failure_tables import text_of

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("findings")
    shutil.copytree(ROOT / "results/imported", folder / "results/imported")
    shutil.copytree(ROOT / "sources/findings", folder / "sources/findings")
    claims = folder / "sources/findings/claims.toml"
    changed = claims.read_text().replace('system = "memU"', 'system = "<script>alert(1)</script>"')
    claims.write_text(changed + '[[claim]]\nid = "sent"\nsystem = "S"\nbenchmark = "B"\nmetric = "M"\nclaimed = "1"\n')
    with claims.open("a") as stream:
        stream.write('repository = "o/n"\nstated = "README"\nlicence = "MIT"\n')
        stream.write(
            '[claim.notice]\nsent = "2026-11-24"\nreply = "Our <b>reply</b>."\nchanges = "A line was added."\n'
        )
    draw(folder / "results", folder / "site", FindingsPages(), ImportedPage(), FrontPage())
    return folder / "site"


def said(site: Path, page: str) -> str:
    return html.unescape(text_of((site / page / "index.html").read_text()))


def test_every_claim_is_listed_with_its_verdict_and_its_chain(site: Path) -> None:
    page = said(site, "findings")
    assert "78.05 % 78.052 % holds" in page
    assert "79.09 % – named file absent notice not sent The file is in no branch of the repository." in page
    assert "93.05 % 92.446 % not attributable to this claim" in page
    assert "differs 0" in page, "a verdict without findings is counted too"
    assert "memeval is not affiliated" in page
    raw = (site / "findings/index.html").read_text()
    assert 'href="../imported/zep-papers/zep/"' in raw
    file = (site / "imported/zep-papers/zep/index.html").read_text()
    assert 'href="https://github.com/getzep/zep-papers/tree/4b7f26cc76cca20743314ba9acb8c2cb6adc42f6/kg_arch' in file
    assert "judge: gpt-4o-mini" in page and "commit 5f1af7316e10" in page


def test_notice_and_reply_are_shown_word_for_word_and_escaped(site: Path) -> None:
    raw = (site / "findings/index.html").read_text()
    assert "Our &lt;b&gt;reply&lt;/b&gt;." in raw and "<script>alert(1)" not in raw
    page = said(site, "findings")
    assert "2026-11-24 Reply Our <b>reply</b>. A line was added." in page
    assert "not yet" in page


def test_corrections_of_our_own_stand_on_the_page_newest_first(site: Path) -> None:
    page = said(site, "findings")
    assert page.index("Smallest difference that a board can show") < page.index("Turn metrics of retrieval")


def test_wrong_and_vague_answers_are_apart(site: Path) -> None:
    raw = (site / "judges/index.html").read_text()
    table = raw[raw.index('id="test-answers"') : raw.index('id="three-verdicts"')]
    tests = html.unescape(text_of(table))
    assert "Wrong on purpose, specific (locomo-audit) gpt-4o-mini 10.6" in tests and "Vague on purpose" in tests
    assert "Full context" not in tests
    assert "Vague on purpose" not in text_of(raw[raw.index('id="three-verdicts"') :])
    assert "17 of 180 answers (9.4 %) did not get the same verdict from all judges." in said(site, "judges")


def test_the_data_file_has_what_the_page_shows(site: Path) -> None:
    data = json.loads((site / "findings.json").read_text())
    assert {finding["verdict"] for finding in data["findings"]} == {
        "holds",
        "named file absent",
        "not attributable to this claim",
    }
    assert data["corrections"] and data["trials"]["panels"]


def test_nothing_of_it_is_on_the_front_page(site: Path) -> None:
    front = said(site, "")
    assert "not attributable" not in front and "MIRIX" not in front


def test_no_link_leads_to_a_raw_file_elsewhere(site: Path) -> None:
    linked = re.findall(r'href="(https?://[^"]+)"', (site / "imported/zep-papers/zep/index.html").read_text())
    assert linked and not [each for each in linked if re.search(r"\.(js|css|woff2?)", each)]


def test_a_board_without_findings_says_so(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    draw(tmp_path / "results", tmp_path / "site", FindingsPages())
    assert "This board has no findings." in said(tmp_path / "site", "findings")
    assert "This board has no published verdicts." in said(tmp_path / "site", "judges")
    assert not (tmp_path / "site/findings.json").exists()
