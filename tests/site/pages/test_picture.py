"""The preview picture and the addresses of a board that knows where it is published."""

import re
import struct
from pathlib import Path
from xml.etree.ElementTree import fromstring

from memeval.site import build
from memeval.site.model.content import SiteModel
from memeval.site.pages.pictures import (
    MOST,
    PICTURE,
    PICTURE_HEIGHT,
    PICTURE_NAME_LENGTH,
    PICTURE_WIDTH,
    PictureFile,
    drawing,
    has_picture,
)
from tests.site.conftest import Built, draw
from tests.site.factory import HOSTILE, FakeBenchmark, Made
from tests.site.reading import site_of

URL = 'site_url = "https://board.example/x"\n'
ATOM = "{http://www.w3.org/2005/Atom}"


def addressed(folder: Path, *systems: Made, version: str | None = None) -> SiteModel:
    (folder / "results").mkdir(exist_ok=True)
    (folder / "memeval.toml").write_text(URL)
    return site_of(folder / "results", *systems, version=version)


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in fromstring(svg).iter() if element.tag.endswith("text")]


def test_the_picture_is_a_png_of_the_usual_size_and_every_page_names_it(tmp_path: Path) -> None:
    addressed(tmp_path, Made("acme", "Acme", 0.8), Made("borealis", "Borealis"))
    build(tmp_path / "results", tmp_path / "site", find=lambda _name: FakeBenchmark())
    draw(tmp_path / "results", tmp_path / "again", PictureFile(), find=lambda _name: FakeBenchmark())
    data = (tmp_path / "site" / PICTURE).read_bytes()
    assert data == (tmp_path / "again" / PICTURE).read_bytes()
    assert data.startswith(b"\x89PNG") and struct.unpack(">II", data[16:24]) == (PICTURE_WIDTH, PICTURE_HEIGHT)
    for path in ("index.html", "systems/acme/index.html", "faq/index.html"):
        page = (tmp_path / "site" / path).read_text()
        picture = "assets/systems/acme.png" if "acme" in path else PICTURE
        assert f'<meta property="og:image" content="https://board.example/x/{picture}">' in page
        assert (tmp_path / "site" / picture).read_bytes().startswith(b"\x89PNG")
        where = path.removesuffix("index.html")
        assert f'<link rel="canonical" href="https://board.example/x/{where}">' in page
    feed = fromstring((tmp_path / "site/feed.xml").read_text())
    links = [link.get("href") for link in feed.findall(f"{ATOM}link")]
    assert links == ["https://board.example/x/feed.xml", "https://board.example/x/ledger/"]


def test_the_picture_has_the_first_systems_with_their_scores(tmp_path: Path) -> None:
    site = addressed(tmp_path, *(Made(f"s{n}", f"System {n}", 0.2 + 0.07 * n) for n in range(MOST + 3)))
    shown = texts(drawing(site))
    rows = sorted(site.board.tables[0].rows, key=lambda row: -(row.run.scores.composite.value or 0))
    assert [name for name in shown if name.startswith("System ")] == [row.run.system.name for row in rows[:MOST]]
    assert f"{100 * (rows[0].run.scores.composite.value or 0):.1f}" in shown


def test_names_that_are_long_or_hostile_or_have_other_letters_do_no_harm(tmp_path: Path) -> None:
    site = addressed(tmp_path, Made("wide", "W" * 80), Made("arabic", "ذاكرة"), Made("hostile", HOSTILE))
    svg = drawing(site)
    assert "<script" not in svg and "hostile" in texts(svg) and "arabic" in texts(svg)
    assert max(map(len, re.findall("W+", svg))) < PICTURE_NAME_LENGTH


def test_an_empty_board_has_no_picture(tmp_path: Path) -> None:
    assert not has_picture(addressed(tmp_path))


def test_a_board_without_an_address_has_no_picture_and_no_canonical_address(built: Built) -> None:
    page = built.read("index.html")
    assert "og:image" not in page and 'rel="canonical"' not in page and not (built.out / PICTURE).exists()


def test_a_release_has_the_address_of_its_version(tmp_path: Path) -> None:
    assert addressed(tmp_path).address == "https://board.example/x/"
    assert addressed(tmp_path, version="2026.11").address == "https://board.example/x/2026.11/"
