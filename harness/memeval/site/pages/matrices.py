"""A page for each stored matrix: configurations side by side, with significant differences and cost."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby

from memeval.archive.matrices import HEAD, MatrixFolder
from memeval.leaderboard.matrices import best_for_their_cost, frontier
from memeval.records.comparison import Difference
from memeval.records.matrix import CellState, ComparedTo, GateResult, Matrix, MatrixBenchmark, MatrixCell
from memeval.site.charts.charts import Chart
from memeval.site.charts.scatter import Plot, PlotSpot, scatter
from memeval.site.model import text
from memeval.site.model.content import SiteModel
from memeval.site.model.files import Asset, GeneratedFile, Heading, Page
from memeval.site.model.urls import segment
from memeval.site.pages.publisher import Publisher
from memeval.site.pages.rendering import render

TOKENS = "tokens_per_question"


@dataclass(frozen=True)
class MatrixGroup:
    anchor: str
    benchmark: MatrixBenchmark
    title: str
    reader: str | None
    cells: tuple[MatrixCell, ...]
    differences: dict[str, Difference]
    first: str | None
    best: frozenset[str]
    """Configurations on the Pareto front of cost and score; empty if costs are unknown."""
    chart: Chart | None
    gates: tuple[GateResult, ...]

    @property
    def numbers(self) -> tuple[str, ...]:
        done = [cell for cell in self.cells if cell.state is CellState.DONE]
        names = [name for cell in done for name in cell.metrics] + [name for cell in done for name in cell.figures]
        return tuple(dict.fromkeys(names))


class MatrixPages(Publisher):
    name = "matrices"
    order = 35

    def publish(self, site: SiteModel) -> Iterable[GeneratedFile]:
        yield Page(
            url="matrices/",
            title="Matrices",
            description="Comparisons of several configurations on the same questions.",
            body=render("pages/matrices.html", "matrices/", site=site, url_of=matrix_url),
        )
        for folder in site.matrices:
            yield from self._matrix(site, folder)

    def _matrix(self, site: SiteModel, folder: MatrixFolder) -> Iterator[GeneratedFile]:
        matrix = folder.matrix
        url = matrix_url(matrix)
        groups = tuple(_groups(site, matrix))
        yield Asset(f"{url}{HEAD}", (folder.path / HEAD).read_bytes())
        yield from (group.chart.asset() for group in groups if group.chart)
        runs = {row.folder.path.resolve(): row.run.run_id for row in site.board.runs}
        results = folder.path.parent.parent
        known = {cell.run: runs.get((results / cell.run).resolve()) for cell in matrix.cells if cell.run}
        yield Page(
            url=url,
            title=f"Matrix {matrix.plan.name}",
            description=f"{matrix.plan.name}: comparison of {len(matrix.plan.systems)} configurations.",
            body=render(
                "pages/matrix.html",
                url,
                site=site,
                matrix=matrix,
                groups=groups,
                known=known,
                head=f"{url}{HEAD}",
            ),
            headings=tuple(Heading(group.anchor, group.title) for group in groups),
        )


def matrix_url(matrix: Matrix) -> str:
    return f"matrices/{segment(matrix.matrix_id)}/"


def _groups(site: SiteModel, matrix: Matrix) -> Iterator[MatrixGroup]:
    for number, ((place, reader), found) in enumerate(
        groupby(matrix.cells, lambda cell: (cell.benchmark, cell.reader))
    ):
        cells, plan = tuple(found), matrix.plan.benchmarks[place]
        tests = [
            test
            for test in matrix.tests
            if (test.benchmark, test.reader) == (place, reader) and test.against is ComparedTo.FIRST
        ]
        view = site.benchmarks.get(plan.id)
        title = " · ".join(part for part in (view.title if view else plan.id, plan.protocol, plan.tier, reader) if part)
        yield MatrixGroup(
            anchor=f"part-{number + 1}",
            benchmark=plan,
            title=title,
            reader=reader,
            cells=cells,
            differences={test.system: test.overall for test in tests if test.overall is not None},
            first=tests[0].first if tests else None,
            best=frozenset(cell.system for cell in best_for_their_cost(cells)),
            chart=_chart(f"matrix-{segment(matrix.matrix_id)}-{number + 1}", title, cells),
            gates=tuple(gate for gate in matrix.gates if (gate.benchmark, gate.reader) == (place, reader)),
        )


def _chart(name: str, title: str, cells: Iterable[MatrixCell]) -> Chart | None:
    spots = []
    for cell in cells:
        composite, tokens = cell.composite, cell.figures.get(TOKENS)
        if composite is not None and composite.value is not None and tokens is not None:
            spots.append(PlotSpot(cell.system, tokens, composite.value, composite.interval, True, None))
    if len({spot.cost for spot in spots}) < 2:
        return None
    front = frontier([(spot.cost, spot.score) for spot in spots])
    numbers = {place: number for number, place in enumerate(front, start=1)}
    numbered = tuple(replace(spot, number=numbers.get(place)) for place, spot in enumerate(spots))
    named = ", ".join(spots[place].name for place in front)
    description = f"{len(spots)} configurations. No other one needs less context and scores more than these: {named}."
    title = f"{title}: score against context size"
    return scatter(Plot(name, title, description, "Tokens / question", numbered, text.count))
