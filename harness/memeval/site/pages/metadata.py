"""Files that make a release citable and findable: citation, deposit metadata, Croissant, files for the Hub."""

import gzip
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from memeval.benchmarks.base import Dataset
from memeval.exchange.parquet import has_pyarrow
from memeval.leaderboard.board import BoardRow
from memeval.records.benchmark import BenchmarkInfo
from memeval.records.errors import MemevalError
from memeval.records.track import Redistribution
from memeval.site.model import text
from memeval.site.model.benchmark_data import BenchmarkData, OpenData
from memeval.site.model.content import BenchmarkView, SiteModel
from memeval.site.model.files import LEVEL, Asset, GeneratedFile, shared
from memeval.site.model.urls import benchmark_url, relative, run_url, segment
from memeval.site.pages.citing import Citation, citation_file, reference_text, works_of, yaml_text, zenodo_metadata
from memeval.site.pages.croissant import CSV, JSON_LINES, DataField, DataFile, DataSet, croissant
from memeval.site.pages.publisher import Publisher
from memeval.site.pages.score_table import COLUMNS, score_csv, score_parquet, score_rows

FOLDER = "metadata/"
CITATION = "CITATION.cff"
ZENODO = f"{FOLDER}zenodo.json"
SCORES = f"{FOLDER}scores.csv"
SCORES_PARQUET = f"{FOLDER}scores.parquet"
SCORES_CROISSANT = f"{FOLDER}scores.croissant.json"

_KEYS = (
    DataField("item_id", "Text", "Id of the item."),
    DataField("scenario_id", "Text", "Id of its scenario in scenarios.jsonl.gz."),
    DataField("category", "Text", "Its category."),
    DataField("cluster", "Text", "Items of one cluster are not independent."),
)
_SCENARIOS = (DataField("scenario_id", "Text", "Id of the scenario."),)


class MetadataFiles(Publisher):
    name = "metadata"
    order = 75

    def publish(self, site: SiteModel) -> Iterable[GeneratedFile]:
        citation = board_citation(site)
        yield Asset(CITATION, citation_file(citation))
        yield Asset(ZENODO, zenodo_metadata(citation))
        if (date := _date(site)) is not None:
            rows = score_rows(site.board)
            scores = score_csv(rows)
            yield Asset(SCORES, scores)
            if has_pyarrow():
                yield Asset(SCORES_PARQUET, score_parquet(rows))
            yield Asset(SCORES_CROISSANT, croissant(_scores_set(site, citation, scores, date)))
            yield from _generated_data(site, date)
            yield from _hub_scores(site)


def board_citation(site: SiteModel) -> Citation:
    settings = site.settings
    infos = [view.info for view in site.benchmarks.values() if view.info is not None and view.tables]
    return Citation(
        title=settings.title if "leaderboard" in settings.title.casefold() else f"{settings.title} leaderboard",
        authors=settings.authors or (f"The authors of {settings.title}",),
        abstract=(
            "Scores of memory systems for AI agents on memory benchmarks, measured with memeval under one protocol. "
            "Every score can be computed again from the published files."
        ),
        kind="dataset",
        works=works_of(infos),
        version=site.version,
        date=site.release.date if site.release else None,
        licence=settings.licence,
        repository=settings.repository,
    )


def croissant_path(benchmark: str) -> str:
    return f"{FOLDER}{segment(benchmark)}.croissant.json"


def hub_path(benchmark: str) -> str:
    return f"{FOLDER}{segment(benchmark)}.eval.yaml"


def hub_scores_path(slug: str) -> str:
    return f"{FOLDER}eval_results/{segment(slug)}.yaml"


def _hub_scores(site: SiteModel) -> Iterator[Asset]:
    """Yield the scores of each system on generated data, for the Hub; nothing if nobody has the data there."""
    if site.settings.hub is None:
        return
    ranked: dict[str, list[BoardRow]] = defaultdict(list)
    for view in site.benchmarks.values():
        if view.info is None or published_data(view) is None:
            continue
        for table in view.tables:
            if table.track.tier == view.info.tiers[0].name:
                for row in table.rows:
                    if row.rank is not None:
                        ranked[row.run.system.slug].append(row)
    for slug, rows in ranked.items():
        yield Asset(hub_scores_path(slug), hub_results(rows, site.settings.hub, site.address))


def published_data(view: BenchmarkView) -> BenchmarkData | None:
    """Return the data of a benchmark that the site publishes as files, else ``None``.

    That is generated data with the default parameters and tier, whose text may be published. Of several protocols that
    ran on it, the default one decides what is asked.
    """
    if view.info is None or view.benchmark is None:
        return None
    if not view.info.generated or view.redistribution is not Redistribution.FULL or not view.tables:
        return None
    protocol = view.info.protocols[0].name
    try:
        default = OpenData(view.benchmark, None, protocol, view.info.tiers[0].name).digest()
    except MemevalError:
        return None
    tracks = [table.track for table in view.tables if table.track.data_digest == default]
    tracks.sort(key=lambda track: track.protocol != protocol)
    return next((data for data in map(view.data_for, tracks) if data.is_here), None)


def _date(site: SiteModel) -> str | None:
    """Return the date of the release, else that of the newest data; ``None`` without any."""
    return site.release.date if site.release else site.latest and text.day(site.latest)


def _semantic(version: str) -> str:
    """Return a version as Croissant recommends it, ``MAJOR.MINOR.PATCH``; unchanged if its form is another one."""
    if not re.fullmatch(r"[0-9]+([.-][0-9]+){0,2}", version):
        return version
    numbers = [str(int(part)) for part in re.split("[.-]", version)]
    return ".".join([*numbers, "0", "0"][:3])


def _scores_set(site: SiteModel, citation: Citation, scores: bytes, date: str) -> DataSet:
    return DataSet(
        name=citation.title,
        description=citation.abstract,
        url=relative(FOLDER, ""),
        authors=citation.authors,
        version=_semantic(site.version or date),
        date=date,
        licence=citation.licence,
        cite_as="\n".join([*map(reference_text, citation.works), f"{citation.title}, {site.version or date}"]),
        files=(
            DataFile(
                name="scores.csv",
                link=relative(FOLDER, SCORES),
                content=scores,
                encoding=CSV,
                meaning="One row per run. Only runs with the same track_id can be compared.",
                fields=tuple(column.field for column in COLUMNS),
                key="run_id",
            ),
        ),
        responsible={
            "dataCollection": (
                "memeval ran each system on each benchmark, recorded its answers, and graded them. Vendors may run "
                "their own systems: the column answers says who did."
            ),
            "dataCollectionType": ["Experiments", "Software Collection"],
            "dataCollectionMissingData": "Items without a verdict are counted in the column errors, and as wrong.",
            "dataAnnotationProtocol": "Grades come from fixed rules or from a named judge: see the column judge.",
            "annotationsPerItem": "0 human labels",
            "personalSensitiveInformation": ["None in this table. It contains ids, counts and scores only."],
            "dataBiases": ["Most benchmarks are in English, and most histories are synthetic."],
            "dataLimitations": [
                "Scores of different tracks cannot be compared.",
                "Systems with overlapping ranks may not differ significantly.",
                "Answers that a vendor made on its own machine are the vendor's word.",
            ],
            "dataUseCases": ["Comparing memory systems on one track.", "Not for training."],
            "dataSocialImpact": "A rank can affect a vendor. Every decision about a run is in the public ledger.",
            "dataReleaseMaintenancePlan": ["A release never changes. Corrections are in the next release."],
        },
    )


def _generated_data(site: SiteModel, date: str) -> Iterator[Asset]:
    for view in site.benchmarks.values():
        data = published_data(view)
        if data is None or view.info is None:
            continue
        files = []
        for name, rows, fields, meaning in (
            (
                "scenarios.jsonl.gz",
                _scenarios,
                _SCENARIOS,
                "What a system receives: the steps of each scenario, in order.",
            ),
            ("keys.jsonl.gz", _keys, _KEYS, "The expected answer of each item. A system never receives it."),
        ):
            content = data.kept(f"{data.key} {name}", "data", partial(_packed, rows))
            asset = shared(content, ".jsonl.gz")
            yield asset
            link = ("" if site.version is None else "../") + relative(FOLDER, asset.path)
            files.append(DataFile(name, link, content, JSON_LINES, meaning, fields, fields[0].name))
        yield Asset(croissant_path(view.id), croissant(_data_set(view.info, date, tuple(files))))
        yield Asset(hub_path(view.id), hub_benchmark(view.info))


def _packed(rows: Callable[[Dataset], Iterator[str]], dataset: Dataset) -> bytes:
    return gzip.compress("".join(f"{row}\n" for row in rows(dataset)).encode(), LEVEL, mtime=0)


def _scenarios(dataset: Dataset) -> Iterator[str]:
    return ("".join(each.json_pieces()) for each in dataset.scenarios())


def _keys(dataset: Dataset) -> Iterator[str]:
    return (key.to_json() for key in dataset.answer_keys())


def _data_set(info: BenchmarkInfo, date: str, files: tuple[DataFile, ...]) -> DataSet:
    statement = info.statement
    responsible: dict[str, str | list[str]] = {
        "dataCollection": info.made,
        "dataCollectionType": ["Others"],
        "annotationsPerItem": "0 human labels",
        "dataLimitations": [f"{defect.problem} {defect.handling}" for defect in info.defects] or [info.made],
        "dataReleaseMaintenancePlan": [f"{info.id} never changes. A correction has the next version."],
    }
    if statement is not None:
        responsible |= {
            "dataAnnotationProtocol": statement.labels,
            "personalSensitiveInformation": [statement.personal],
            "dataBiases": list(statement.biases),
            "dataUseCases": list(statement.uses),
            "dataSocialImpact": statement.impact,
        }
    return DataSet(
        name=info.title,
        description=info.summary,
        url=relative(FOLDER, benchmark_url(info.id)),
        authors=("The memeval authors",),
        version=f"{info.id.partition('@')[2]}.0.0",
        date=date,
        licence=info.licence,
        cite_as="\n".join([*map(reference_text, info.works), f"{info.title}, {info.id}, memeval"]),
        files=files,
        responsible=responsible,
    )


FRAMEWORK = "memeval"
"""Not ``inspect-ai``: under that name, Inspect allows only its own solvers and scorers, which grade otherwise."""


def hub_benchmark(info: BenchmarkInfo) -> bytes:
    """Return the ``eval.yaml`` of a benchmark on the Hub of Hugging Face: one task for each protocol.

    Fields of this file and the next are those of *Evaluation Results* (huggingface/hub-docs, docs/hub/eval-results.md).
    """
    return yaml_text(
        {
            "name": info.title,
            "description": info.summary,
            "evaluation_framework": FRAMEWORK,
            "tasks": [{"id": protocol.name} for protocol in info.protocols],
        }
    )


def hub_results(rows: Sequence[BoardRow], hub: str, address: str | None) -> bytes:
    """Return the ``.eval_results/*.yaml`` of a system: one entry for each ranked run.

    ``hub``: who has the data on the Hub. ``address``: address of the site's root, with a slash at its end; without it,
    no entry has a source. Values are composite scores in percent.
    """
    return yaml_text([_hub_entry(row, hub, address) for row in rows])


def _hub_entry(row: BoardRow, hub: str, address: str | None) -> dict[str, object]:
    run, value = row.run, row.score
    if value is None:
        raise ValueError(f"{run.run_id} has no composite score, so it cannot be ranked.")
    source = {"url": address + run_url(run.run_id), "name": f"Run {run.run_id}"} if address else None
    return {
        "dataset": {"id": f"{hub}/{run.track.benchmark.replace('@', '-')}", "task_id": run.track.protocol},
        "value": round(100 * value, 2),
        "date": run.timing.started,
        **({"source": source} if source else {}),
        "evaluation_framework": FRAMEWORK,
        "notes": text.visible(f"{run.system.name}; reader {run.track.reader}; judge {run.track.judge}"),
    }
