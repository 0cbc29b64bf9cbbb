"""The tables of a track and of a benchmark, ready for the templates, with their downloads."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

from markupsafe import Markup

from memeval.leaderboard.board import WITHDRAWN, BoardRow, BoardTable
from memeval.leaderboard.pairwise import has_pairs, is_comparable
from memeval.records.run import Run, SystemKind
from memeval.site.model import text
from memeval.site.model.content import BenchmarkView, SiteModel
from memeval.site.model.files import Asset
from memeval.site.model.urls import benchmark_url, table_url
from memeval.site.table.columns import Column, TableCell
from memeval.site.table.downloads import as_csv, as_json
from memeval.site.table.flags import marks
from memeval.site.table.judges import JudgeNote, judge_note
from memeval.site.table.metrics import columns, own_column
from memeval.site.table.standings import reader_ceiling, ties, verdict

_OPEN = re.compile(
    r"\b(mit|apache|[al]?gplv?|gnu|bsd|mpl|mozilla|isc|epl|eclipse|eupl|unlicense|zlib|psf|python|postgresql|cc0)\b",
    re.IGNORECASE,
)
ALWAYS = ("rank", "system", "composite", "run")
"""Columns that a table has even if no two systems differ in them."""

_CLOSED = re.compile(r"proprietary|commercial|commons clause|business source|licenseref|non-?commercial", re.IGNORECASE)


@dataclass(frozen=True)
class Needs:
    local: bool
    """Whether it needs no network host. Imported answers were made elsewhere: nobody knows where."""
    keyless: bool
    """Whether it needs neither a host nor a model."""
    open: bool
    """Whether its product states an open licence. Controls have the licence of memeval."""


def needs(run: Run) -> Needs:
    here = run.imported is None and not run.system.hosts
    return Needs(here, here and not run.system.declared_models, _is_open(run))


def _is_open(run: Run) -> bool:
    """Return whether the product states a licence that is known as open. That of its adapter does not count."""
    if run.system.kind is SystemKind.CONTROL:
        return True
    licence = run.system.product.licence if run.system.product is not None else None
    return licence is not None and bool(_OPEN.search(re.sub(r"[-_.\d]", " ", licence))) and not _CLOSED.search(licence)


@dataclass(frozen=True)
class TableLine:
    row: BoardRow
    cells: tuple[TableCell, ...]
    needs: Needs

    @property
    def control(self) -> bool:
        return self.row.is_control

    @property
    def comparable(self) -> bool:
        return is_comparable(self.row)


@dataclass(frozen=True)
class TableView:
    id: str
    table: BoardTable
    benchmark: BenchmarkView
    columns: tuple[Column, ...]
    lines: tuple[TableLine, ...]
    same: tuple[TableCell, ...]
    """Cells of the main columns in which no two systems differ. They are said in a sentence, and not shown at first."""
    judge: JudgeNote
    own_weights: str | None
    """The board's own weights, as text; ``None`` without."""
    url: str
    withdrawn: tuple[BoardRow, ...]

    @property
    def title(self) -> str:
        return self.benchmark.track_title(self.table.track)

    @property
    def words(self) -> str:
        """What is run, in words for a stranger."""
        return text.capitalize_first(self.benchmark.track_words(self.table.track))

    @property
    def summary(self) -> str:
        return self.benchmark.track_summary(self.table.track)

    @cached_property
    def systems(self) -> tuple[TableLine, ...]:
        return tuple(line for line in self.lines if not line.control)

    @property
    def idle_chips(self) -> list[str]:
        """Properties in which no two systems differ."""
        return [
            name
            for name in ("local", "keyless", "open")
            if len({getattr(line.needs, name) for line in self.systems}) < 2
        ]

    @property
    def best(self) -> list[TableLine]:
        """The ranked systems with the highest score: several if their scores are equal."""
        ranked = [line for line in self.lines if line.row.rank is not None]
        scores = [line.row.run.scores.composite.value for line in ranked]
        return [line for line, score in zip(ranked, scores, strict=True) if score == scores[0]]

    @property
    def comparable(self) -> bool:
        return has_pairs(self.table)

    @property
    def can_weigh(self) -> bool:
        """Whether a reader can weigh its categories: it has at least two of them, and two ranked runs."""
        return len(self.table.track.categories) > 1 and self.table.ranked > 1

    @property
    def verdict(self) -> Markup | None:
        return verdict(self.table)

    @property
    def ties(self) -> list[str]:
        return ties(self.table)

    @property
    def ceiling(self) -> Markup | None:
        return reader_ceiling(self.table)

    @property
    def download(self) -> str:
        return f"downloads/{self.id}"


def view(site: SiteModel, table: BoardTable) -> TableView:
    benchmark = site.benchmark_of(table.track)
    weights = site.own_weights(table.track)
    own = None if weights is None else own_column(weights, lambda row: site.own_scores.get(row.folder.path))
    described = columns(table, benchmark, partial(marks, site, table), own)
    cells = {row.folder.path: tuple(column.cell(row) for column in described) for row in table.rows}
    same = _same([cells[row.folder.path] for row in table.rows if not row.is_control])
    described = tuple(replace(each, first=False) if place in same else each for place, each in enumerate(described))
    track_id = table.track.id  # computed anew each time
    return TableView(
        id=track_id,
        table=table,
        benchmark=benchmark,
        columns=described,
        lines=tuple(TableLine(row, cells[row.folder.path], needs(row.run)) for row in table.rows),
        same=tuple(same.values()),
        judge=judge_note(site, table.track),
        own_weights=weights,
        url=table_url(track_id),
        withdrawn=tuple(r for r in site.board.runs if r.run.track_id == track_id and r.standing in WITHDRAWN),
    )


def _same(lines: Sequence[tuple[TableCell, ...]]) -> dict[int, TableCell]:
    """Return a cell of each main column in which several systems do not differ, by the place of the column."""
    found = {}
    for place, cells in enumerate(zip(*lines, strict=True) if len(lines) > 1 else ()):
        said = {(cell.text, cell.reading.note, cell.reading.badges) for cell in cells}
        if len(said) == 1 and cells[0].column.first and cells[0].column.name not in ALWAYS:
            found[place] = cells[0]
    return found


def board_views(site: SiteModel, benchmark: BenchmarkView, front: Collection[str]) -> list[TableView]:
    """Return the tables of a benchmark: the headline tracks, then the one with the most ranked systems.

    The first is on the benchmark's own page. ``front``: the tracks that the front page shows. They come after the
    headline track of the settings.
    """
    views = [view(site, table) for table in benchmark.tables]

    def order(shown: TableView) -> tuple[bool, bool, int, int]:
        return shown.id not in site.headline, shown.id not in front, -shown.table.ranked, -len(shown.lines)

    ordered = sorted(views, key=order)
    return [replace(each, url=benchmark_url(benchmark.id)) for each in ordered[:1]] + ordered[1:]


def download_files(views: Sequence[TableView]) -> Iterator[Asset]:
    for shown in views:
        yield Asset(f"{shown.download}.csv", as_csv(shown.table, shown.columns))
        yield Asset(f"{shown.download}.json", as_json(shown.table, shown.columns))
