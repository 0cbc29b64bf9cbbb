"""The frame of every page: what it says of a page, and which pages are made again."""

import re
from collections.abc import Iterable
from pathlib import Path

import pytest
from markupsafe import Markup

from memeval.archive import run_cache
from memeval.records.base import digest_of
from memeval.records.errors import BadInput
from memeval.site import build
from memeval.site.frame import navigation, page_frame
from memeval.site.frame.page_frame import PageFrame
from memeval.site.frame.site_folder import SiteFolder
from memeval.site.model.content import SiteModel, read_site
from memeval.site.model.files import Asset, Heading, KeptPage, Page
from memeval.site.pages.rendering import environment
from tests.site.factory import HOSTILE, FakeBenchmark, Made, make_run
from tests.support.archives import contents


def empty_site(folder: Path) -> SiteModel:
    (folder / "results").mkdir(exist_ok=True)
    return read_site(folder / "results")


def framed(folder: Path, url: str, *headings: Heading, title: str = "A title", wide: bool = False) -> str:
    return PageFrame(empty_site(folder)).around(Page(url, title, Markup("<h1>x</h1>"), "Words", headings, wide=wide))


def test_a_page_of_any_depth_leads_to_the_same_places(tmp_path: Path) -> None:
    for url, root in (("", "./"), ("systems/", "../"), ("reference/cli/", "../../")):
        page = framed(tmp_path, url)
        assert f'<a class="mv-home" href="{root}">' in page and f'href="{root}repeat/"' in page
        assert f'<meta name="memeval-root" content="{root}">' in page
        assert f'src="{root}assets/js/main.js"' in page


def test_names_from_outside_are_text_in_the_head_and_in_the_contents(tmp_path: Path) -> None:
    page = framed(tmp_path, "systems/x/", Heading("x", HOSTILE), title=f"{HOSTILE} {{{{ title }}}}")
    assert "<script>alert" not in page and "\x00" not in page
    assert "{{ title }} - memeval</title>" in page


def test_the_contents_have_sections_in_sections_and_a_wide_page_has_none(tmp_path: Path) -> None:
    heading = Heading("one", "One", (Heading("two", "Two"),))
    nested = '<li><a href="#one">One</a><ul><li><a href="#two">Two</a></li></ul></li>'
    assert nested in framed(tmp_path, "systems/x/", heading)
    assert 'aria-label="Table of contents"' not in framed(tmp_path, "", heading, wide=True)
    assert 'aria-label="Table of contents"' not in framed(tmp_path, "ledger/")


def test_a_page_of_the_guide_has_the_guide_beside_it_and_others_have_not(tmp_path: Path) -> None:
    page = framed(tmp_path, "faq/").partition('class="mv-beside"')[2]
    assert '<a href="../faq/" aria-current="page">Questions and answers</a>' in page
    assert "mv-beside" not in framed(tmp_path, "systems/")


@pytest.mark.parametrize(
    ("url", "section"),
    [
        ("", "Board"),
        ("systems/acme/", "Products"),
        ("published/mirix/zep/", "Published scores"),
        ("reference/cli/", "Guide"),
        ("runs/x/", ""),
    ],
)
def test_the_section_of_a_page_is_marked_in_the_header(tmp_path: Path, url: str, section: str) -> None:
    marked = re.findall(r'md-tabs__link" href="[^"]*" aria-current="true">([^<]+)<', framed(tmp_path, url))
    assert marked == ([section] if section else [])


def test_a_sitemap_lists_every_page_of_a_site_with_an_address(tmp_path: Path) -> None:
    benchmark, results = FakeBenchmark(), tmp_path / "results"
    for slug in ("ours", "other"):
        make_run(results, Made(slug, slug), benchmark)
    (tmp_path / "memeval.toml").write_text('site_url = "https://example.org/board/"\n')
    build(results, tmp_path / "site", find=lambda _name: benchmark)
    site = contents(tmp_path / "site")
    listed = re.findall(r"<loc>https://example\.org/board/([^<]*)</loc>", site["sitemap.xml"].decode())
    pages = {name.removesuffix("index.html") for name in site if name.endswith("index.html")}
    assert len(listed) == len(set(listed)) and set(listed) == pages
    canonical = '<link rel="canonical" href="https://example.org/board/systems/ours/">'
    assert canonical in site["systems/ours/index.html"].decode()


@pytest.mark.parametrize("text", ["nav: []\n", "nav: [faq.md]\n", "nav: {\n", "[]\n"])
def test_a_guide_without_a_list_of_pages_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    (tmp_path / "mkdocs.yml").write_text(text)
    monkeypatch.setattr(navigation, "assets_root", lambda: tmp_path)
    with pytest.raises(BadInput, match="'nav' lists no page of the guide"):
        navigation.guide.__wrapped__(own=False)


def test_a_missing_template_is_named() -> None:
    page = environment().from_string('{% import "parts/none.html" as nothing %}')
    with pytest.raises(BadInput, match="this template is missing") as caught:
        page.render()
    assert str(caught.value.where).endswith("templates/parts/none.html")


def test_a_theme_without_its_style_sheets_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_frame, "find_spec", lambda _name: None)
    with pytest.raises(BadInput, match="Material's style sheets are missing"):
        page_frame.theme_style_sheets.__wrapped__()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(run_cache, "cache_home", lambda: tmp_path / "cache")
    (tmp_path / "out").mkdir()
    written(tmp_path, page("<p>1</p>"))
    return tmp_path


def page(body: str, inputs: str = "one") -> KeptPage:
    def make() -> list[Page | Asset]:
        made = Page("runs/one/", "A run", Markup(body), "One run", (Heading("a", "b"),))
        return [Asset("charts/one.json", body.encode()), made]

    return KeptPage("runs/one/", digest_of(inputs), make)


def written(folder: Path, page: KeptPage, frame: PageFrame | None = None) -> dict[str, bytes]:
    """Replace a site by one with a page, and return its files."""
    (folder / "made").mkdir(exist_ok=True)
    site = SiteFolder(folder / "made", folder / "out")
    for file in (frame or PageFrame(empty_site(folder))).files(page):
        site.write(file)
    site.move_to(folder / "out")
    return contents(folder / "out")


def test_a_page_that_the_earlier_site_has_is_not_made(folder: Path) -> None:
    before = contents(folder / "out")
    assert b"<p>1</p>" in before["runs/one/index.html"] and before["charts/one.json"] == b"<p>1</p>"
    refuses = KeptPage("runs/one/", digest_of("one"), lambda: pytest.fail("made again"))
    assert written(folder, refuses) == before


def test_a_page_is_made_again_for_other_inputs(folder: Path) -> None:
    after = written(folder, page("<p>2</p>", "two"))
    assert b"<p>2</p>" in after["runs/one/index.html"] and after["charts/one.json"] == b"<p>2</p>"


def test_a_page_is_made_again_for_another_frame(folder: Path) -> None:
    (folder / "memeval.toml").write_text('title = "Another board"\n')
    after = written(folder, page("<p>1</p>"))
    assert b"Another board" in after["runs/one/index.html"]


def test_a_page_is_made_once_for_all_its_files(folder: Path) -> None:
    one, times = page("<p>2</p>", "two"), iter(range(1))

    def make() -> Iterable[Page | Asset]:
        next(times)
        return one.make()

    assert b"<p>2</p>" in written(folder, KeptPage(one.url, one.inputs, make))["charts/one.json"]
