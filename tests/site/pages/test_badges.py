"""Badges: well-formed images with escaped text, and Markdown that cannot break out."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest

from memeval.archive.ledger import Ledger
from memeval.leaderboard.board import RankStatus
from memeval.records.ledger import LedgerEvent
from memeval.records.run import SystemKind
from memeval.records.settings import BoardSettings, Colours
from memeval.site.model.content import SiteModel
from memeval.site.model.files import Asset, Page
from memeval.site.pages.pictures import Badge, badge_of
from memeval.site.pages.systems import SystemPages
from memeval.statistics.ranks import RankRange
from tests.site.factory import HOSTILE, FakeBenchmark, Made, make_run
from tests.site.reading import site_of

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def site(tmp_path: Path) -> SiteModel:
    folder = make_run(tmp_path, Made(slug="acme", name=HOSTILE), FakeBenchmark())
    Ledger(tmp_path).append(LedgerEvent.ACCEPTED, folder, by="me", reason="a test")
    return site_of(tmp_path, version="2026.11")


def made(site: SiteModel, **row: object) -> Badge:
    (table,) = site.board.tables
    badge = badge_of(site, table, replace(table.rows[0], **row))  # type: ignore[arg-type]
    assert badge is not None
    return badge


def texts(badge: Badge) -> list[str]:
    return [found.text or "" for found in ET.fromstring(str(badge.svg)).iter(f"{SVG}text")]


def test_a_badge_shows_benchmark_score_rank_and_track(site: SiteModel) -> None:
    (table,) = site.board.tables
    value = table.rows[0].run.scores.composite.value
    assert value is not None
    assert texts(made(site, rank=RankRange(1, 1), ranked=7, standing=RankStatus.RANKED)) == [
        f"memeval {table.track.benchmark}",
        f"{100 * value:.1f} % · rank 1 of 7",
        f"track {table.track.id}",
    ]
    assert texts(made(site, rank=RankRange(2, 4), ranked=7))[1].endswith(" · rank 2–4 of 7")
    assert texts(made(site, rank=RankRange(1, 1), ranked=1))[1].endswith(" · only entry")


def test_a_run_without_a_rank_says_why(site: SiteModel) -> None:
    assert texts(made(site, rank=None, standing=RankStatus.PARTIAL))[1].endswith("· not ranked (partial)")
    assert texts(made(site, entries=()))[1].endswith("· not accepted")


def test_a_hostile_name_stays_text(site: SiteModel) -> None:
    root = ET.fromstring(str(made(site).svg))
    assert {each.tag.removeprefix(SVG) for each in root.iter()} == {
        "svg",
        "title",
        "clipPath",
        "rect",
        "a",
        "g",
        "text",
    }
    title = root.findtext(f"{SVG}title") or ""
    assert "<script>alert(1)</script>" in title and "\x00" not in title and "release 2026.11" in title
    assert root.get("aria-label") == title
    (link,) = root.iter(f"{SVG}a")
    assert link.get("href") == "../../systems/acme/"
    assert not any(name.startswith("on") for each in root.iter() for name in each.attrib)


def test_a_hostile_benchmark_cannot_end_the_markdown(site: SiteModel) -> None:
    (table,) = site.board.tables
    evil = replace(table, track=table.track.model_copy(update={"benchmark": f"x](y) {HOSTILE}" * 20}))
    badge = badge_of(site, evil, table.rows[0])
    assert badge is not None and not set(badge.alt) & set("[]()<>`\n\\")
    assert all(len(text) <= 80 for text in texts(badge))
    assert re.fullmatch(r"badges/acme/[0-9a-f]+\.svg", badge.path)


def test_a_badge_has_the_colours_of_the_board(site: SiteModel) -> None:
    own = replace(site, settings=BoardSettings(colours=Colours(primary="#000080", accent="#006400")))
    fills = [each.get("fill") for each in ET.fromstring(str(made(own).svg)).iter(f"{SVG}rect")]
    assert fills[1:3] == ["#000080", "#006400"]


def test_the_page_of_a_system_shows_each_badge_with_markdown_and_a_baseline_has_none(site: SiteModel) -> None:
    files = list(SystemPages().publish(site))
    (badge,) = (each for each in files if isinstance(each, Asset) and each.path.startswith("badges/"))
    (page,) = (each for each in files if isinstance(each, Page) and each.url == "systems/acme/")
    assert f'<img src="../../{badge.path}"' in page.body
    assert f"](../../{badge.path})](./)</code></pre>" in page.body
    assert "<summary>Badges for a README</summary>" in page.body
    (table,) = site.board.tables
    run = table.rows[0].run
    control = run.model_copy(update={"system": run.system.model_copy(update={"kind": SystemKind.CONTROL})})
    assert badge_of(site, table, replace(table.rows[0], run=control)) is None
