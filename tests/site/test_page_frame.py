"""Pages of runs are put into one frame: they have the bytes that MkDocs alone would give them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from markupsafe import Markup

from memeval.archive import run_cache
from memeval.records.base import digest_of
from memeval.site import build, plugin
from memeval.site.files import Asset, FramedPage, Heading, Page
from memeval.site.page_frame import NAME, Frame, empty_page
from memeval.site.publisher import publish_all
from memeval.site.site_folder import SiteFolder
from tests.site.conftest import whole
from tests.site.factory import HOSTILE, FakeBenchmark, Made, make_run

FRAME = (
    '<title>mv-frame-title</title><p>mv-frame-description</p><a href="#mv-frame-heading">skip</a><ul>\n'
    '<li class="md-nav__item"><a href="#mv-frame-heading">mv-frame-words</a></li> '
    '<li class="md-nav__item"><a href="#mv-frame-heading">mv-frame-words</a></li></ul><h1 mv-frame-body>'
)


FRAME_OF_PAGE = f"<head></head>{FRAME}"


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_every_file_is_the_same_as_without_a_frame(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    benchmark, results = FakeBenchmark(), tmp_path / "results"
    names = ("ours", "Ours & more"), ("other", f"{HOSTILE} é \u202e"), ("third", "<h1 mv-frame-body>")
    for slug, name in names:
        make_run(results, Made(slug, name), benchmark)
    (tmp_path / "memeval.toml").write_text('site_url = "https://example.org/board/"\n')
    build(results, tmp_path / "framed", find=lambda _name: benchmark)
    monkeypatch.setattr(plugin, "publish_all", lambda site: whole(publish_all(site)))
    build(results, tmp_path / "plain", find=lambda _name: benchmark)
    framed, plain = files_of(tmp_path / "framed"), files_of(tmp_path / "plain")
    assert len([name for name in framed if name.startswith("runs/") and name.endswith("index.html")]) == len(names)
    assert framed.keys() == plain.keys()
    assert [name for name in framed if framed[name] != plain[name] and not name.endswith(".gz")] == []
    assert plain["sitemap.xml"].count(b"/runs/") == len(names)


def test_a_mark_in_the_text_of_a_page_stays_as_it_is() -> None:
    page = Page(
        url="runs/one/",
        title="mv-frame-description",
        body=Markup("<p>mv-frame-title</p>"),
        description="mv-frame-words",
        headings=(Heading("mv-frame-name", "mv-frame-heading"),),
    )
    assert Frame(FRAME).around(page) == (
        '<title>mv-frame-description</title><p>mv-frame-words</p><a href="#mv-frame-name">skip</a><ul>\n'
        '<li class="md-nav__item"><a href="#mv-frame-name">mv-frame-heading</a></li></ul><p>mv-frame-title</p>'
    )


@pytest.mark.parametrize("part", ["mv-frame-title", "mv-frame-words", "<h1 mv-frame-body>"])
def test_a_theme_that_leaves_something_out_is_refused(part: str) -> None:
    with pytest.raises(ValueError, match="the theme has changed"):
        Frame(FRAME.replace(part, ""))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with an earlier site, which has one page with its chart."""
    monkeypatch.setattr(run_cache, "cache_home", lambda: tmp_path / "cache")
    (tmp_path / "out").mkdir()
    written(tmp_path, page("<p>1</p>"))
    return tmp_path


def page(body: str, inputs: str = "one") -> FramedPage:
    def make() -> list[Page | Asset]:
        made = Page("runs/one/", "A run", Markup(body), "One run", (Heading("a", "b"),))
        return [Asset("charts/one.json", body.encode()), made]

    return FramedPage("runs/one/", digest_of(inputs), make)


def written(folder: Path, page: FramedPage, frame: str = FRAME_OF_PAGE) -> dict[str, bytes]:
    """Replace a site by one with a page, and return its files."""
    (folder / "made").mkdir(exist_ok=True)
    site = SiteFolder(folder / "made", folder / "out")
    for file in Frame(frame).files(page):
        site.write(file)
    site.move_to(folder / "out")
    return files_of(folder / "out")


def test_a_page_that_the_earlier_site_has_is_not_made(folder: Path) -> None:
    before = files_of(folder / "out")
    assert b"<p>1</p>" in before["runs/one/index.html"] and before["charts/one.json"] == b"<p>1</p>"
    refuses = FramedPage("runs/one/", digest_of("one"), lambda: pytest.fail("made again"))
    assert written(folder, refuses) == before


def test_a_page_is_made_again_for_other_inputs(folder: Path) -> None:
    after = written(folder, page("<p>2</p>", "two"))
    assert b"<p>2</p>" in after["runs/one/index.html"] and after["charts/one.json"] == b"<p>2</p>"


def test_a_page_is_made_again_for_another_frame(folder: Path) -> None:
    after = written(folder, page("<p>1</p>"), FRAME_OF_PAGE.replace("skip", "go on"))
    assert b"go on" in after["runs/one/index.html"]


def test_a_page_is_made_once_for_all_its_files(folder: Path) -> None:
    one, times = page("<p>2</p>", "two"), iter(range(1))

    def make() -> Iterable[Page | Asset]:
        next(times)
        return one.make()

    assert b"<p>2</p>" in written(folder, FramedPage(one.url, one.inputs, make))["charts/one.json"]


def test_the_frame_has_an_address_of_its_own() -> None:
    assert empty_page("runs/").url == f"runs/{NAME}/"
