"""A page for each stored matrix: configurations side by side, with significant differences and cost."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from memeval.analysis.matrix_table import best_for_their_cost
from memeval.archive.matrices import HEAD, MatrixFolder
from memeval.records.comparison import Difference
from memeval.records.matrix import CellState, ComparedTo, GateResult, Matrix, MatrixBenchmark, MatrixCell
from memeval.site.model.content import SiteModel
from memeval.site.model.files import Asset, GeneratedFile, Heading, Page
from memeval.site.model.urls import segment
from memeval.site.pages.publisher import Publisher
from memeval.site.pages.rendering import render


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
        runs = {row.folder.path.resolve(): row.run.run_id for row in site.board.runs}
        results = folder.path.parent.parent
        known = {cell.run: runs.get((results / cell.run).resolve()) for cell in matrix.cells if cell.run}
        yield Page(
            url=url,
            title=f"Matrix {matrix.plan.name}",
            description=f"{matrix.plan.name}: comparison of {len(matrix.plan.systems)} configurations.",
            body=render(
                "pages/matrix.html", url, site=site, matrix=matrix, groups=groups, known=known, head=f"{url}{HEAD}"
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
            gates=tuple(gate for gate in matrix.gates if (gate.benchmark, gate.reader) == (place, reader)),
        )
