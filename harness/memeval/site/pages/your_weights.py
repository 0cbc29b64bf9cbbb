"""The data behind "Your weights" on tables."""

from collections.abc import Iterable, Sequence

from memeval.leaderboard.board import BoardRow
from memeval.records.overall import Overall
from memeval.site.model.content import SiteModel
from memeval.site.model.files import Asset, Data, GeneratedFile, encode
from memeval.site.model.products import Products
from memeval.site.model.urls import run_url, segment, system_url
from memeval.site.pages.publisher import Publisher
from memeval.site.table.standings import range_text, rank_text
from memeval.site.table.tables import TableView, view


def weights_path(name: str) -> str:
    return f"weights/{segment(name)}.json"


def board_weights(view: TableView) -> Asset:
    plan = view.table.track.categories
    rows = [line.row for line in view.lines if line.row.run.coverage.full]
    return _file(
        view.id,
        view.title,
        "category",
        [(view.benchmark.category_title(each.name), each.weight) for each in plan],
        [_row(row, [each.name for each in plan]) for row in rows],
    )


def suite_weights(name: str, table: Overall, titles: Sequence[str], products: Products) -> Asset | None:
    """Return the shares of the systems with an index, with the weights of the suite; ``None`` if there is no choice."""
    placed = [row for row in table.rows if row.index is not None]
    if len(titles) < 2 or sum(row.rank is not None for row in placed) < 2:
        return None
    total = sum(each.weight for each in table.suite.benchmarks)
    parts = [(title, each.weight / total) for title, each in zip(titles, table.suite.benchmarks, strict=True)]
    rows: list[Data] = [
        {
            "name": row.name,
            "url": products.address(system_url(row.system)),
            "control": row.is_control,
            "place": row.rank,
            "rank": range_text(*row.ranks) if row.ranks else None,
            "shares": list(row.shares),
            "span": [row.stability.best, row.stability.worst] if row.stability else None,
        }
        for row in placed
    ]
    return _file(name, table.suite.title, "benchmark", parts, rows)


def _file(name: str, title: str, kind: str, parts: Sequence[tuple[str, float]], rows: Sequence[Data]) -> Asset:
    data = {
        "title": title,
        "kind": kind,
        "parts": [{"title": part, "weight": weight} for part, weight in parts],
        "rows": rows,
    }
    return Asset(weights_path(name), encode(data))


def _row(row: BoardRow, categories: Sequence[str]) -> Data:
    scores = {each.name: each.tally.accuracy for each in row.run.scores.categories}
    return {
        "name": row.run.system.name,
        "url": run_url(row.run.run_id),
        "control": row.is_control,
        "place": row.place,
        "rank": rank_text(row),
        "shares": [scores.get(name) for name in categories],
        "span": None,
    }


class YourWeightsData(Publisher):
    name = "your-weights"
    order = 56

    def publish(self, site: SiteModel) -> Iterable[GeneratedFile]:
        views = (view(site, table) for table in site.board.tables)
        return (board_weights(each) for each in views if each.can_weigh)
