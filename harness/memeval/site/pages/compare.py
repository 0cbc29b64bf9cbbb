"""The compare page: two systems in every table that both are in, with a data file of each table and of each run."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from memeval.execution.readers import NoReader
from memeval.leaderboard.board import BoardRow
from memeval.leaderboard.pairwise import TablePairs, ValueDifference, table_pairs
from memeval.leaderboard.ranking import TrackTests
from memeval.leaderboard.samples import graded_items
from memeval.records.comparison import Sign
from memeval.records.run import Run, SystemKind
from memeval.records.submission import Configuration
from memeval.site.model.content import SiteModel
from memeval.site.model.files import Asset, Data, GeneratedFile, Page, encode, packed
from memeval.site.model.labels import label, licence_text
from memeval.site.model.text import ABSENT, percent
from memeval.site.model.urls import run_url, segment
from memeval.site.pages.product_results import views_from_headlines
from memeval.site.pages.publisher import Publisher
from memeval.site.pages.rendering import render
from memeval.site.table.columns import Column, ColumnGroup
from memeval.site.table.standings import rank_text
from memeval.site.table.tables import TableView

FACTS = (ColumnGroup.SPENT, ColumnGroup.TIME)
"""Groups of the columns that stand below the differences."""

FOLDER = "compare/data"


@dataclass(frozen=True)
class ComparedTable:
    view: TableView
    file: Asset
    """Describes the table and its runs."""
    runs: tuple[tuple[Run, Asset], ...]
    """The runs, each with a file of its item scores, and of its comparison with every other run, as
    ``memeval compare RUN OTHER`` prints it."""


def comparison(view: TableView) -> ComparedTable | None:
    """Return the data of a table; ``None`` if fewer than two of its runs can be compared."""
    pairs = table_pairs(view.table)
    if pairs is None:
        return None
    runs = [(row.run, packed(encode(_run(view, pairs, place, row)))) for place, row in enumerate(pairs.rows)]
    return ComparedTable(view, Asset(f"{FOLDER}/{segment(view.id)}.json", encode(_table(view, pairs))), tuple(runs))


SETTINGS: tuple[tuple[str, Callable[[Run], str | None]], ...] = (
    ("Product", lambda run: run.system.configured),
    ("Package licence", lambda run: licence_text(run.system.product)),
    ("Storage", lambda run: run.system.product.storage if run.system.product else None),
    ("Replaced or left out", lambda run: "; ".join((run.system.configuration or Configuration()).replaced)),
    ("Caveats", lambda run: "; ".join((run.system.configuration or Configuration()).caveats)),
    ("Crashes of the process", lambda run: str(run.crashes)),
)


def _table(view: TableView, pairs: TablePairs) -> Data:
    plan = {each.name: each for each in pairs.samples.plan}
    weights = dict(zip(pairs.names, pairs.samples.weights, strict=True))
    compared = {row.folder.path for row in pairs.rows}
    facts = [column for column in view.columns if column.group in FACTS]
    score = view.benchmark.score_name(view.table.track)
    return {
        "title": view.title,
        "summary": view.summary,
        "values": [
            {
                "name": name,
                "title": view.benchmark.category_title(name) if name in plan else score,
                "items": int((weights[name] > 0).sum()),
            }
            for name in pairs.names
        ],
        "items": list(pairs.samples.items),
        "categories": [view.benchmark.category_title(each.name) for each in pairs.samples.plan],
        "category": pairs.samples.category.tolist(),
        "verdicts": all(row.run.scores.overall.points is None for row in pairs.rows),
        "facts": [{"title": column.title, "help": column.help} for column in facts],
        "settings": [{"title": title} for title, _read in SETTINGS],
        "runs": [_described(row, facts, pairs, place) for place, row in enumerate(pairs.rows)],
        "left_out": [
            *(
                _left_out(row, "The run is partial, or its grades are not here.")
                for row in view.table.rows
                if row.folder.path not in compared
            ),
            *(_left_out(row, f"The run is {label(row.standing)}.") for row in view.withdrawn),
        ],
    }


def _described(row: BoardRow, facts: list[Column], pairs: TablePairs, place: int) -> Data:
    run, cells = row.run, [column.cell(row) for column in facts]
    interval = run.scores.composite.interval
    return {
        "run": segment(run.run_id),
        "name": run.system.name,
        "slug": run.system.slug,
        "version": run.system.version,
        "control": run.system.kind is SystemKind.CONTROL,
        "standing": rank_text(row) or label(row.standing),
        "url": run_url(run.run_id),
        "interval": [percent(interval.low), percent(interval.high)] if interval else None,
        "values": [percent(value) for value in pairs.values[place].tolist()],
        "settings": [[read(run) or ABSENT, ""] for _title, read in SETTINGS],
        "facts": [
            [cell.text, ", ".join(filter(None, [cell.reading.note, *(text for _kind, text in cell.reading.badges)]))]
            for cell in cells
        ],
    }


def _left_out(row: BoardRow, why: str) -> Data:
    return {"run": segment(row.run.run_id), "name": row.run.system.name, "why": why}


def _run(view: TableView, pairs: TablePairs, place: int, row: BoardRow) -> Data:
    against: Data = {}
    for other, theirs in enumerate(pairs.rows):
        if other != place:
            against[segment(theirs.run.run_id)] = {
                "values": [_difference(each) for each in pairs.between(place, other)],
                "table": _in_table(view.table.tests, row, theirs),
            }
    errors = {item for _category, item, _cluster, score in graded_items(row.folder) if score is None}
    return {
        "scores": [round(score, 6) for score in pairs.samples.scores[place].tolist()],
        "errors": [number for number, item in enumerate(pairs.samples.items) if item in errors],
        "against": against,
    }


def _in_table(tests: TrackTests | None, row: BoardRow, theirs: BoardRow) -> Data | None:
    """Return the test of the ranks, which corrects for all pairs of the table; ``None`` if it has not both rows."""
    if tests is None or not {row.folder.path, theirs.folder.path} <= tests.runs.keys():
        return None
    test = tests.pair(theirs.folder.path, row.folder.path)
    return {"p": _p(test.corrected), "apart": test.apart}


def _difference(found: ValueDifference) -> list[str | None]:
    low, high = (None if each is None else _gap(each) for each in (found.low, found.high))
    return [_gap(found.difference), low, high, _p(found.corrected), _WORDS[found.sign]]


_WORDS = {Sign.BETTER: "better", Sign.WORSE: "worse", Sign.EVEN: "even"}


def _gap(value: float) -> str:
    return f"{100 * value:+.1f}"


def _p(value: float) -> str:
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def index(tables: Sequence[ComparedTable]) -> Data:
    """Return the tables and systems that a reader can choose: of each system its runs, by table, with their files."""
    systems: dict[str, Data] = {}
    for table in tables:
        for run, file in table.runs:
            entry: Data = {"slug": run.system.slug, "name": run.system.name, "what": run.system.configured, "runs": []}
            found = systems.setdefault(run.system.slug, entry)
            found["runs"].append([segment(table.view.id), segment(run.run_id), file.path])
    return {
        "tables": [
            {
                "track": segment(table.view.id),
                "title": table.view.title,
                "verb": "finds" if table.view.table.track.reader == NoReader.name else "scores",
            }
            for table in tables
        ],
        "systems": sorted(systems.values(), key=lambda each: (str(each["name"]).casefold(), each["slug"])),
    }


class ComparePage(Publisher):
    name = "compare"
    order = 53

    def publish(self, site: SiteModel) -> Iterable[GeneratedFile]:
        tables = [found for each in views_from_headlines(site) if (found := comparison(each)) is not None]
        for table in tables:
            yield from (file for _run, file in table.runs)
            yield table.file
        yield Asset(f"{FOLDER}/systems.json", encode(index(tables)))
        yield Page(
            url="compare/",
            title="Compare",
            description="The difference between two systems, with its interval and p-value, by category and question.",
            body=render("pages/compare.html", "compare/", site=site, tables=tables),
            wide=True,
        )
