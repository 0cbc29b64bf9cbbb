"""Badges: a small SVG for each system and track, to show in another page or a README."""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from textwrap import wrap

import vl_convert
from markupsafe import Markup, escape

from memeval.leaderboard.board import BoardRow, BoardTable, RankStatus
from memeval.site.model.content import SiteModel
from memeval.site.model.files import Asset, GeneratedFile
from memeval.site.model.labels import label
from memeval.site.model.products import ProductGroup
from memeval.site.model.text import counted, day, percent, visible
from memeval.site.model.urls import relative, segment, system_url
from memeval.site.pages.front import DEFAULT_TITLE, HEADING
from memeval.site.pages.product_results import SystemResult
from memeval.site.pages.publisher import Publisher
from memeval.site.table.overview import Overview, OverviewRow, overviews
from memeval.site.table.standings import range_text, rank_text

HEIGHT, PADDING = 20, 7
"""Height of a badge, and space beside each text, in pixels."""

CHARACTER = 6.6
"""Mean width of a character at a font size of 11 pixels."""

NAME_LENGTH = 40

PRIMARY, ACCENT, NEUTRAL = "#123b49", "#0a6c7c", "#555c60"
"""Colours of the parts unless the board has its own: the benchmark, the score, and the track. Text on them is white."""


@dataclass(frozen=True)
class Badge:
    path: str
    alt: str
    svg: Markup

    def asset(self) -> Asset:
        return Asset(self.path, str(self.svg).encode())


def badge_of(site: SiteModel, table: BoardTable, row: BoardRow) -> Badge | None:
    if row.is_control:
        return None
    track, system = table.track, row.run.system
    path = f"badges/{segment(system.slug)}/{segment(track.id)}.svg"
    score, rank = _score(row), _rank(row)
    accepted = () if row.accepted else ("not accepted",)
    version = () if site.version is None else (f"release {site.version}",)
    name = f"{system.name} on {track.benchmark}: {', '.join((score, rank, *accepted, f'track {track.id}', *version))}"
    colours = site.settings.colours
    parts = (
        (f"memeval {_shortened(track.benchmark)}", colours.primary or PRIMARY),
        (" · ".join((score, rank, *accepted)), colours.accent or ACCENT),
        (f"track {track.id}", NEUTRAL),
    )
    alt = f"memeval {segment(track.benchmark)}: {', '.join((score, rank, *accepted))}"
    address = site.products.address(system_url(system.slug))
    return Badge(path, alt, _drawn(parts, name, relative(path.rpartition("/")[0] + "/", address)))


def score_words(row: BoardRow) -> str:
    """Return the score of a run and its rank, such as ``76.2 %, rank 2–4 of 9``."""
    return f"{_score(row)}, {_rank(row)}"


def _score(row: BoardRow) -> str:
    value = row.score
    return "no score" if value is None else f"{percent(value)} %"


def _rank(row: BoardRow) -> str:
    if row.rank is None:
        return "not ranked" if row.standing is RankStatus.RANKED else f"not ranked ({label(row.standing)})"
    return "only entry" if row.ranked == 1 else f"rank {rank_text(row)} of {row.ranked}"


def _shortened(name: str, most: int = NAME_LENGTH) -> str:
    return name if len(name) <= most else f"{name[: most - 1]}…"


def _width(text: str) -> int:
    """Return the width of a text in pixels; wide characters count twice."""
    units = sum(2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in text)
    return round(CHARACTER * units)


def _drawn(parts: tuple[tuple[str, str], ...], name: str, address: str) -> Markup:
    """Draw a badge.

    ``name``: the whole content in words, for screen readers. ``address``: the page that it links to if it is opened as
    a page; relative to the image.
    """
    boxes, texts, left = [], [], 0
    for shown, colour in ((visible(text), colour) for text, colour in parts):
        width = _width(shown)
        boxes.append(f'<rect x="{left}" width="{width + 2 * PADDING}" height="{HEIGHT}" fill="{escape(colour)}"/>')
        texts.append(f'<text x="{left + PADDING}" y="14" textLength="{width}">{escape(shown)}</text>')
        left += width + 2 * PADDING
    title = escape(visible(name))
    return Markup(  # noqa: S704 - text escaped above
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left}" height="{HEIGHT}" role="img" aria-label="{title}">'
        f"<title>{title}</title>"
        f'<clipPath id="r"><rect width="{left}" height="{HEIGHT}" rx="3"/></clipPath>'
        f'<a href="{escape(address)}" target="_top"><g clip-path="url(#r)">{"".join(boxes)}</g>'
        f'<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">{"".join(texts)}</g></a></svg>\n'
    )


PICTURE = "assets/preview.png"
PICTURE_WIDTH, PICTURE_HEIGHT = 1200, 630
"""Size in pixels, as the Open Graph protocol's users recommend."""

MOST = 8

PICTURE_NAME_LENGTH = 27

_DRAWN = 0x530
"""Below this code point, the font has every letter; other names are shown as their slugs."""

_FONT = Markup('font-family="Liberation Sans"')
"""A font that vl-convert carries: the fonts of a machine would change the picture."""

_LEFT, _RIGHT = 560, 1050


@dataclass(frozen=True)
class PictureLine:
    rank: str
    name: str
    value: float
    ends: tuple[float, float] | None
    mark: float | None = None
    """The baseline of this line alone."""


class PictureFile(Publisher):
    name = "picture"
    order = 77

    def publish(self, site: SiteModel) -> Iterable[GeneratedFile]:
        if site.address is not None and has_picture(site):
            yield Asset(PICTURE, vl_convert.svg_to_png(drawing(site)))


def has_picture(site: SiteModel) -> bool:
    return any(_lines(each) for each in overviews(site)[:1])


def drawing(site: SiteModel) -> str:
    overview = overviews(site)[0]
    lines = _lines(overview)[:MOST]
    title = (
        HEADING if site.settings.title == DEFAULT_TITLE or not _is_drawn(site.settings.title) else site.settings.title
    )
    what = (
        "overall index" if overview.table else f"{overview.columns[0].benchmark.title}, {overview.columns[0].protocol}"
    )
    out = _sheet(site, title, [f"{overview.measure.heading}: {what}, with 95 % intervals"], _facts(site, overview))
    out += _rows(site, lines, 212)
    base = _baseline(overview)
    if base is not None:
        x = _place(base)
        bottom = 212 + 46 * len(lines) - 36
        out.append(f'<rect x="{x - 1.5:.1f}" y="184" width="3" height="{bottom - 184}" fill="#b3590a"/>')
        out.append(_text(60, 568, 20, "Orange line: best simple baseline", fill="#8f4708"))
    return _svg(out)


def product_picture(site: SiteModel, group: ProductGroup, found: Sequence[SystemResult], verdict: str) -> Asset | None:
    """Return the picture of a product's page; ``None`` if the board has no address, or the product no score."""
    lines = []
    for each in found:
        score, base = each.row.run.scores.composite, each.table.baseline
        if score.value is not None:
            ends = (score.interval.low, score.interval.high) if score.interval else None
            title = each.benchmark.title
            lines.append(PictureLine("", title, score.value, ends, base.scores.composite.value if base else None))
    if site.address is None or not lines:
        return None
    name = _shortened(group.name if _is_drawn(group.name) else group.slug)
    out = _sheet(site, name, wrap(verdict if _is_drawn(verdict) else "", 100)[:2], site.settings.title)
    out += [
        *_rows(site, lines[: MOST - 1], 252),
        _text(60, 568, 20, "Orange mark: best simple baseline", fill="#8f4708"),
    ]
    return Asset(f"assets/systems/{segment(group.slug)}.png", vl_convert.svg_to_png(_svg(out)))


def _sheet(site: SiteModel, title: str, words: Sequence[str], facts: str) -> list[str]:
    """Return the ground of a picture with its head and foot; each of ``words`` is a line below the head."""
    return [
        f'<rect width="{PICTURE_WIDTH}" height="{PICTURE_HEIGHT}" fill="#fff"/>',
        f'<rect width="{PICTURE_WIDTH}" height="116" fill="{site.settings.colours.primary or PRIMARY}"/>',
        _text(60, 72, 44 if len(title) < 44 else 31, title, fill="#fff", bold=True),
        *(_text(60, 164 + 30 * n, 26 if len(words) == 1 else 22, each, fill="#4b5a61") for n, each in enumerate(words)),
        _text(60, 604, 22, facts, fill="#4b5a61"),
    ]


def _rows(site: SiteModel, lines: Sequence[PictureLine], top: int) -> Iterator[str]:
    for y, line in zip(count(top, 46), lines, strict=False):
        yield _text(60, y, 24, line.rank, fill="#4b5a61")
        yield _text(130 if line.rank else 60, y, 26, line.name, bold=True)
        yield from _bar(y, line, site)
        if line.mark is not None:
            yield f'<rect x="{_place(line.mark) - 1.5:.1f}" y="{y - 26}" width="3" height="32" fill="#b3590a"/>'


def _svg(parts: Sequence[str]) -> str:
    size = f'width="{PICTURE_WIDTH}" height="{PICTURE_HEIGHT}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{"".join(parts)}</svg>'


def _facts(site: SiteModel, overview: Overview) -> str:
    parts = [counted(len(overview.rows), "system"), counted(len(overview.columns), "benchmark")]
    parts += [day(site.latest)] if site.latest else []
    return " · ".join([*parts, "every number can be recomputed offline"])


def _lines(overview: Overview) -> list[PictureLine]:
    found = []
    for row in overview.rows:
        value, ends = _value(row, overview)
        if value is not None:
            found.append(PictureLine(range_text(*row.ranks) if row.ranks else "", _name(row), value, ends))
    return found


def _value(row: OverviewRow, overview: Overview) -> tuple[float | None, tuple[float, float] | None]:
    if overview.table is not None:
        index = row.index
        if index is None:
            return None, None
        return index.index, None if index.low is None or index.high is None else (index.low, index.high)
    cell = row.cells[0]
    if cell is None:
        return None, None
    score = cell.row.run.scores.composite
    return score.value, (score.interval.low, score.interval.high) if score.interval else None


def _baseline(overview: Overview) -> float | None:
    if overview.table is not None:
        return overview.baseline.index if overview.baseline else None
    return overview.columns[0].baseline


def _name(row: OverviewRow) -> str:
    return _shortened(row.name if _is_drawn(row.name) else row.slug, PICTURE_NAME_LENGTH)


def _is_drawn(words: str) -> bool:
    return all(ord(letter) < _DRAWN for letter in words)


def _place(value: float) -> float:
    return _LEFT + (_RIGHT - _LEFT) * min(max(value, 0.0), 1.0)


def _bar(y: int, line: PictureLine, site: SiteModel) -> list[str]:
    accent = site.settings.colours.accent or ACCENT
    out = [
        f'<rect x="{_LEFT}" y="{y - 20}" width="{_RIGHT - _LEFT}" height="20" fill="#e3e9eb"/>',
        f'<rect x="{_LEFT}" y="{y - 20}" width="{_place(line.value) - _LEFT:.1f}" height="20" fill="{accent}"/>',
        _text(1140, y, 26, percent(line.value), bold=True, end=True),
    ]
    if line.ends is not None:
        low, high = map(_place, line.ends)
        out.append(f'<rect x="{low:.1f}" y="{y - 12}" width="{max(high - low, 1.0):.1f}" height="4" fill="#14242b"/>')
    return out


def _text(
    x: int, y: int, size: int, words: str, *, fill: str = "#14242b", bold: bool = False, end: bool = False
) -> Markup:
    return Markup('<text x="{}" y="{}" {} font-size="{}" font-weight="{}" text-anchor="{}" fill="{}">{}</text>').format(
        x, y, _FONT, size, "bold" if bold else "normal", "end" if end else "start", fill, escape(visible(words))
    )
