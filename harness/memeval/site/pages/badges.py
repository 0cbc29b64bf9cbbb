"""Badges: a small SVG for each system and track, to show in another page or a README."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from markupsafe import Markup, escape

from memeval.leaderboard.board import BoardRow, BoardTable, RankStatus
from memeval.records.run import SystemKind
from memeval.site.model.content import SiteModel
from memeval.site.model.files import Asset
from memeval.site.model.labels import label
from memeval.site.model.text import percent, visible
from memeval.site.model.urls import relative, segment, system_url
from memeval.site.table.standings import rank_text

HEIGHT, PADDING = 20, 7
"""Height of a badge, and space beside each text, in pixels."""

CHARACTER = 6.6
"""Mean width of a character at a font size of 11 pixels."""

NAME_LENGTH = 40
"""Longest name in a badge, in characters."""

PRIMARY, ACCENT, NEUTRAL = "#123b49", "#0a6c7c", "#555c60"
"""Colours of the parts unless the board has its own: the benchmark, the score, and the track. Text on them is white."""


@dataclass(frozen=True)
class Badge:
    """The badge of a system on a track."""

    path: str
    """Its address, relative to the root of the site."""
    alt: str
    """Its text for a Markdown image: no character that means something in Markdown."""
    svg: Markup
    """The image."""

    def asset(self) -> Asset:
        """Return the image as a file."""
        return Asset(self.path, str(self.svg).encode())


def badge_of(site: SiteModel, table: BoardTable, row: BoardRow) -> Badge | None:
    """Return the badge of a row; ``None`` for a built-in baseline."""
    if row.run.system.kind is SystemKind.CONTROL:
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
    return Badge(path, alt, _drawn(parts, name, relative(path.rpartition("/")[0] + "/", system_url(system.slug))))


def _score(row: BoardRow) -> str:
    value = row.run.scores.composite.value
    return "no score" if value is None else f"{percent(value)} %"


def _rank(row: BoardRow) -> str:
    if row.rank is None:
        return "not ranked" if row.standing is RankStatus.RANKED else f"not ranked ({label(row.standing)})"
    return "only entry" if row.ranked == 1 else f"rank {rank_text(row)} of {row.ranked}"


def _shortened(name: str) -> str:
    return name if len(name) <= NAME_LENGTH else f"{name[: NAME_LENGTH - 1]}…"


def _width(text: str) -> int:
    """Return the width of a text in pixels; wide characters count twice."""
    units = sum(2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in text)
    return round(CHARACTER * units)


def _drawn(parts: tuple[tuple[str, str], ...], name: str, address: str) -> Markup:
    """Draw a badge.

    Args:
        parts: each text with the colour behind it, from left to right.
        name: the whole content in words, for screen readers.
        address: the page that it links to if it is opened as a page; relative to the image.
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
