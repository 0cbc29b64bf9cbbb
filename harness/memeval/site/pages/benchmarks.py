"""A page for each benchmark: purpose, data, grading and known problems, and items of it to read."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from memeval.archive.audits import AuditFolder
from memeval.benchmarks.base import Dataset
from memeval.grading.evidence import TurnIndex
from memeval.keys import ItemKey
from memeval.records.base import digest_of
from memeval.records.scenario import Question, Scenario
from memeval.records.track import Redistribution
from memeval.site.charts.studies import studies
from memeval.site.charts.trade_offs import MARGIN, board_trade_off
from memeval.site.model.benchmark_data import BenchmarkData
from memeval.site.model.content import BenchmarkView, SiteModel
from memeval.site.model.files import Asset, GeneratedFile, Heading, Page
from memeval.site.model.urls import benchmark_url, samples_url, segment, table_url
from memeval.site.pages.product_results import headline_tables
from memeval.site.pages.publisher import Publisher
from memeval.site.pages.rendering import render, templates_digest
from memeval.site.table.judges import accepts, anchor, audits_of, by_kind, prompts_id
from memeval.site.table.tables import TableView, board_views, download_files
from memeval.site.table.tiers import tier_powers
from memeval.systems.controls import controls_of


class BenchmarkPages(Publisher):
    name = "benchmarks"
    order = 40

    def publish(self, site: SiteModel) -> Iterable[GeneratedFile]:
        listed = sorted(site.benchmarks.values(), key=lambda benchmark: not benchmark.tables)
        yield Page(
            url="benchmarks/",
            title="Benchmarks",
            description="All benchmarks on the leaderboard.",
            body=render("pages/benchmarks.html", "benchmarks/", site=site, benchmarks=listed),
        )
        front = {table.track.id for table in headline_tables(site)}
        boards = [(each, board_views(site, each, front)) for each in site.benchmarks.values()]
        yield Page(
            url="tracks/",
            title="All score tables",
            description="The exact settings of every table. Scores of different tables are not comparable.",
            body=render("pages/tracks.html", "tracks/", site=site, boards=boards),
            wide=True,
        )
        for benchmark, views in boards:
            yield from download_files(views)
            yield from self._benchmark(site, benchmark, views)
            for view in views[1:]:
                yield self._table(site, view, views)

    def _table(self, site: SiteModel, view: TableView, views: Sequence[TableView]) -> Page:
        """Return the page of a table that is not the first of its benchmark."""
        url = table_url(view.id)
        return Page(
            url=url,
            title=view.title,
            description=f"{view.title}: scores of all systems.",
            body=render(
                "pages/table.html",
                url,
                site=site,
                view=view,
                others=[each for each in views if each is not view],
                traded=board_trade_off(view),
                margin=MARGIN,
            ),
            searchable=False,
            wide=True,
        )

    def _benchmark(
        self, site: SiteModel, benchmark: BenchmarkView, views: Sequence[TableView]
    ) -> Iterator[GeneratedFile]:
        url = benchmark_url(benchmark.id)
        audits = audits_of(site, benchmark.id)
        words = benchmark.redistribution is Redistribution.FULL
        catalogue, info = f"{url}catalogue.json", benchmark.info
        if info is not None:
            yield Asset(catalogue, (info.to_json() + "\n").encode())
        files = {
            folder.path: dict(_files(url, folder, words)) for found in audits for folder in (found.latest, *found.older)
        }
        for folder_path, found_files in files.items():
            yield from (Asset(path, folder_path / name) for name, path in found_files.items())
        shown = studies(site, benchmark)
        yield from (study.figure.asset() for study in shown if study.figure is not None)
        yield Page(
            url=url,
            title=benchmark.title,
            description=f"{benchmark.title}: scores of all systems, categories, data, grading and known problems.",
            body=render(
                "pages/benchmark.html",
                url,
                site=site,
                benchmark=benchmark,
                views=views,
                traded=board_trade_off(views[0]) if views else None,
                margin=MARGIN,
                catalogue=catalogue,
                powers=tier_powers(info, benchmark.tables) if info else (),
                tested=[table for table in benchmark.tables if table.tests is not None],
                studies=shown,
                control_table=controls_of(benchmark.id).values(),
                audits=audits,
                sampled=sampled_data(benchmark) is not None,
                anchor=anchor,
                accepts=accepts,
                by_kind=by_kind,
                prompts_id=prompts_id,
                downloads=lambda folder: files[folder.path].items(),
            ),
            wide=True,
        )


def _files(url: str, folder: AuditFolder, words: bool) -> Iterator[tuple[str, str]]:
    """Yield the downloadable files of an audit with their addresses; rows may contain private text."""
    offered = words or folder.audit.redistribution is Redistribution.IDS
    names = [folder.HEAD, *(f"{name}.gz" for name in sorted(folder.audit.files) if offered)]
    for name in names:
        path = folder.path / name
        if segment(name) == name and path.is_file() and not path.is_symlink():
            yield name, f"{url}audits/{segment(folder.audit.audit_id)}/{name}"


EACH = 30

TURNS = 12


@dataclass(frozen=True)
class ShownTurn:
    date: str
    speaker: str
    text: str


@dataclass(frozen=True)
class Sample:
    item_id: str
    question: Question
    further: int
    right: tuple[str, ...]
    traps: tuple[str, ...]
    """What else the history says about it, and is wrong."""
    evidence: tuple[ShownTurn, ...]
    """The turns that the right answer follows from."""
    left_out: int


class SamplesPages(Publisher):
    name = "samples"
    order = 41

    def publish(self, site: SiteModel) -> Iterable[GeneratedFile]:
        for benchmark in site.benchmarks.values():
            data = sampled_data(benchmark)
            if data is None:
                continue
            url = samples_url(benchmark.id)
            body, categories = _kept_page(benchmark, data, url)
            yield Page(
                url=url,
                title=f"{benchmark.title}: samples",
                description=f"{benchmark.title}: up to {EACH} items of each category, with right answers and evidence.",
                body=Markup(body),  # noqa: S704 - rendered by the template
                headings=tuple(Heading(name, benchmark.category_title(name)) for name in categories),
                searchable=False,
            )


def _kept_page(benchmark: BenchmarkView, data: BenchmarkData, url: str) -> tuple[str, list[str]]:

    def made(dataset: Dataset) -> bytes:
        shown = samples(dataset)
        body = render("pages/samples.html", url, benchmark=benchmark, samples=shown, each=EACH)
        return json.dumps([body, list(shown)]).encode()

    depends = digest_of([benchmark.info and benchmark.info.to_json(), templates_digest()])
    body, categories = json.loads(data.kept(url, "samples", made, depends))
    return body, categories


def sampled_data(benchmark: BenchmarkView) -> BenchmarkData | None:
    """Return the data that samples are taken from: the first protocol and tier, as on the board.

    Returns:
        ``None`` if memeval does not generate it, or its text may not be published.
    """
    info = benchmark.info
    if info is None or not info.generated or benchmark.redistribution is not Redistribution.FULL:
        return None
    wanted = info.protocols[0].name, info.tiers[0].name
    tracks = (each.track for each in benchmark.tables if (each.track.protocol, each.track.tier) == wanted)
    return next((data for data in map(benchmark.data_for, tracks) if data.is_here), None)


def samples(dataset: Dataset) -> dict[str, list[Sample]]:
    """Return items to read by category, the first one of each category and others at equal distances."""
    keys: dict[str, list[ItemKey]] = defaultdict(list)
    for key in dataset.answer_keys():
        keys[key.category].append(key)
    chosen = {
        key.item_id: key for mine in keys.values() for key in _spread(sorted(mine, key=lambda each: each.item_id))
    }
    wanted = {key.scenario_id for key in chosen.values()}
    found: dict[str, Sample] = {}
    for scenario in dataset.scenarios():
        if scenario.scenario_id in wanted:
            mine = [key for key in chosen.values() if key.scenario_id == scenario.scenario_id]
            found |= {sample.item_id: sample for sample in _of_scenario(scenario, mine)}
    return {
        category: [found[each.item_id] for each in chosen.values() if each.category == category] for category in keys
    }


def _spread(keys: Sequence[ItemKey]) -> list[ItemKey]:
    count = min(EACH, len(keys))
    return [keys[number * len(keys) // count] for number in range(count)]


def _of_scenario(scenario: Scenario, keys: Iterable[ItemKey]) -> Iterator[Sample]:
    history = TurnIndex(scenario)
    questions = {question.question_id: question for question in scenario.questions()}
    for key in keys:
        names = key.key.relevant_turns or [turn for each in key.evidence or () for turn in history.turns_of(each)]
        turns = [
            ShownTurn(session.date, turn.speaker or turn.role, turn.content)
            for session, turn in (history.turns[name] for name in names[:TURNS])
        ]
        yield Sample(
            key.item_id,
            questions[key.question_ids[0]],
            len(key.question_ids) - 1,
            key.key.references,
            key.key.traps,
            tuple(turns),
            max(0, len(names) - TURNS),
        )
