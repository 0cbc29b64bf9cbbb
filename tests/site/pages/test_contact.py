"""Where to submit, report and object, with and without a repository; and what only memeval's own board shows."""

import html
import re
from dataclasses import replace
from pathlib import Path

import pytest
from markupsafe import Markup

from memeval.records.errors import BadInput
from memeval.site.frame.guide import guide_files
from memeval.site.frame.page_frame import PageFrame
from memeval.site.model.content import SiteModel, read_site
from memeval.site.model.files import Page, assets_root
from memeval.site.pages.board_files import ContactPage
from memeval.site.release.new_board import NewBoard
from tests.site.reading import pages_of

ROOT = Path(__file__).parents[3]
REPOSITORY = 'repository = "https://example.org/boards/mine"\n'


def site(folder: Path, settings: str = "") -> SiteModel:
    (folder / "results").mkdir(exist_ok=True)
    (folder / "memeval.toml").write_text(settings, "utf-8")
    return read_site(folder / "results")


def contact(folder: Path, settings: str) -> str:
    return pages_of(site(folder, settings), ContactPage)["contact/"]


def test_a_board_without_an_address_says_whom_to_ask_and_what_to_send(tmp_path: Path) -> None:
    page = contact(tmp_path, "")
    assert "This board names no repository and no address." in page
    assert "as one archive" in page and "tar czf NAME.tar.gz" in page
    assert "memeval verify RUN" in page and "http" not in page


def test_a_board_with_a_repository_leads_to_pull_requests_and_issues(tmp_path: Path) -> None:
    page = contact(tmp_path, REPOSITORY)
    assert 'href="https://example.org/boards/mine/issues/new"' in page and "as a pull request" in page
    assert "tar czf" not in page and "names no repository" not in page


@pytest.mark.parametrize(
    ("address", "link"),
    [("board@example.org", "mailto:board@example.org"), ("https://example.org/us", "https://example.org/us")],
)
def test_an_address_is_a_link(tmp_path: Path, address: str, link: str) -> None:
    page = contact(tmp_path, f'contact = "{address}"\n')
    assert f'href="{link}"' in page and "names no repository" not in page


@pytest.mark.parametrize("address", ["javascript:alert(1)", "a b@c.d", "board@example", "http://example.org"])
def test_another_address_is_refused_with_its_remedy(tmp_path: Path, address: str) -> None:
    with pytest.raises(BadInput, match="contact") as caught:
        site(tmp_path, f'contact = "{address}"\n')
    assert "e-mail or web address" in (caught.value.remedy or "")
    with pytest.raises(BadInput):
        NewBoard("Mine", contact=address)


def test_every_page_links_to_it(tmp_path: Path) -> None:
    page = PageFrame(site(tmp_path)).around(Page("faq/", "x", Markup(""), "Words"))
    assert '<a href="../contact/">Contact</a>' in page


def test_the_status_of_memeval_and_its_demo_are_on_its_own_board_only(tmp_path: Path) -> None:
    assert assets_root() == ROOT
    board = site(tmp_path)
    assert not board.is_memevals
    mine = replace(board, is_memevals=True)
    pages = {own: {page.url for page in guide_files(own) if isinstance(page, Page)} for own in (True, False)}
    assert pages[True] - pages[False] == {"status/"}
    frames = {
        each.is_memevals: PageFrame(each).around(Page("faq/", "x", Markup(""), "Words")) for each in (board, mine)
    }
    for own, frame in frames.items():
        assert ("status/" in frame) is own and ("make demo" in frame) is own


def test_no_page_of_the_guide_that_others_have_links_to_the_status_of_memeval() -> None:
    for page in guide_files(own=False):
        if isinstance(page, Page):
            assert "status/" not in re.findall(r'href="\.\./([^"#]*)', html.unescape(str(page.body))), page.url
