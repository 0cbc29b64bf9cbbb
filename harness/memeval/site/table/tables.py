"""The tables of a track and of a benchmark, ready for the templates, with their downloads."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from markupsafe import Markup

from memeval.leaderboard.board import BoardRow, BoardTable, RankStatus
from memeval.leaderboard.pairwise import has_pairs, is_comparable
from memeval.records.run import Run, SystemKind
from memeval.site.model import text
from memeval.site.model.content import BenchmarkView, SiteModel
from memeval.site.model.files import Asset
from memeval.site.table.columns import Column, ColumnGroup, TableCell, spans
from memeval.site.table.downloads import as_csv, as_json
from memeval.site.table.flags import marks
from memeval.site.table.judges import JudgeNote, judge_note
from memeval.site.table.metrics import columns, own_column
from memeval.site.table.standings import reader_ceiling, ties, verdict

_OPEN = re.compile(
    r"\b(mit|apache|[al]?gplv?|gnu|bsd|mpl|mozilla|isc|epl|eclipse|eupl|unlicense|zlib|psf|python|postgresql|cc0)\b",
    re.IGNORECASE,
)
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
    """Return what the system of a run needs."""
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
        return self.row.run.system.kind is SystemKind.CONTROL

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
    judge: JudgeNote
    own_weights: str | None
    """The board's own weights, as text; ``None`` without."""
    headline: bool
    withdrawn: tuple[BoardRow, ...]

    @property
    def title(self) -> str:
        return self.benchmark.track_title(self.table.track)

    @property
    def tab(self) -> str:
        return text.capitalize_first(self.title.removeprefix(f"{self.benchmark.title}: "))

    @property
    def summary(self) -> str:
        return self.benchmark.track_summary(self.table.track)

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
    def spans(self) -> list[tuple[ColumnGroup, int]]:
        return spans(self.columns)

    @property
    def download(self) -> str:
        return f"downloads/{self.id}"


def view(site: SiteModel, table: BoardTable, rows: tuple[BoardRow, ...] | None = None) -> TableView:
    benchmark = site.benchmark_of(table.track)
    weights = site.own_weights(table.track)
    own = None if weights is None else own_column(weights, lambda row: site.own_scores.get(row.folder.path))
    described = columns(table, benchmark, partial(marks, site, table), own)
    gone = (RankStatus.INVALIDATED, RankStatus.SUPERSEDED)
    track_id = table.track.id  # computed anew each time
    return TableView(
        id=track_id,
        table=table,
        benchmark=benchmark,
        columns=described,
        lines=tuple(
            TableLine(
                row,
                tuple(column.cell(row) for column in described),
                needs(row.run),
            )
            for row in (table.rows if rows is None else rows)
        ),
        judge=judge_note(site, table.track),
        own_weights=weights,
        headline=track_id in site.headline,
        withdrawn=tuple(r for r in site.board.runs if r.run.track_id == track_id and r.standing in gone),
    )


def board_views(site: SiteModel, benchmark: BenchmarkView, front: Collection[str]) -> list[TableView]:
    """Return the tables of a benchmark: the headline tracks, then the one with the most ranked systems.

    ``front``: the tracks that the front page shows. They come after the headline track of the settings.
    """
    views = [view(site, table) for table in benchmark.tables]

    def order(shown: TableView) -> tuple[bool, bool, int, int]:
        return not shown.headline, shown.id not in front, -shown.table.ranked, -len(shown.lines)

    return sorted(views, key=order)


def legend(views: Sequence[TableView]) -> list[Column]:
    named = {column.name: column for shown in views for column in shown.columns}
    return [column for column in named.values() if column.group is not ColumnGroup.CATEGORIES]


def download_files(views: Sequence[TableView]) -> Iterator[Asset]:
    for shown in views:
        yield Asset(f"{shown.download}.csv", as_csv(shown.table, shown.columns))
        yield Asset(f"{shown.download}.json", as_json(shown.table, shown.columns))
