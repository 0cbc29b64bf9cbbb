"""Pages of runs are put into one frame: they have the bytes that MkDocs alone would give them."""

from __future__ import annotations

from pathlib import Path

import pytest
from markupsafe import Markup

from memeval.site import build, plugin
from memeval.site.files import Heading, Page
from memeval.site.page_frame import NAME, Frame, empty_page
from memeval.site.publisher import publish_all
from tests.site.conftest import whole
from tests.site.factory import HOSTILE, FakeBenchmark, Made, make_run

FRAME = (
    '<title>mv-frame-title</title><p>mv-frame-description</p><a href="#mv-frame-heading">skip</a><ul>\n'
    '<li class="md-nav__item"><a href="#mv-frame-heading">mv-frame-words</a></li> '
    '<li class="md-nav__item"><a href="#mv-frame-heading">mv-frame-words</a></li></ul><h1 mv-frame-body>'
)


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


def test_the_frame_has_an_address_of_its_own() -> None:
    assert empty_page("runs/").url == f"runs/{NAME}/"
