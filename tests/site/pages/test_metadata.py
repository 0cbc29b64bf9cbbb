"""Citations, metadata of deposits, and Croissant descriptions."""

import csv
import gzip
import json
import logging
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from memeval.benchmarks import all_benchmarks
from memeval.exchange.parquet import has_pyarrow
from memeval.records.base import digest_bytes
from memeval.records.benchmark import CitedWork, WorkKind
from memeval.records.track import Redistribution
from memeval.site.model.content import SiteModel
from memeval.site.model.files import Asset, Page
from memeval.site.pages.citing import Citation, citation_file, reference_text, zenodo_metadata
from memeval.site.pages.metadata import (
    CITATION,
    SCORES,
    SCORES_CROISSANT,
    SCORES_PARQUET,
    ZENODO,
    MetadataFiles,
    croissant_path,
    hub_path,
    hub_scores_path,
)
from memeval.site.pages.releases import ReleasesPage
from tests.site import reading
from tests.site.conftest import Built
from tests.site.factory import HOSTILE, SECRET, FakeBenchmark, Made, release_of
from tests.support.products import PYARROW, run_with
from tests.tools.citation import ROOT, memeval_citation

PAPER = CitedWork(
    kind=WorkKind.PAPER,
    title="On the memory of: choirs",
    authors=("Ngata, Aroha", "The choir group"),
    year=2024,
    venue="ACL 2024",
    doi="10.48550/arXiv.2402.17753",
    url="https://example.org/choirs",
)
DATA = f"{croissant_path('fake@1')}"


def schema_problems(file: Path) -> str:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.citation-file-format", str(file)]
    said = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return said.stdout if said.returncode else ""


def site_of(folder: Path, benchmark: FakeBenchmark, settings: str = "", version: str | None = None) -> SiteModel:
    (folder / "memeval.toml").write_text(settings, encoding="utf-8")
    release = release_of("2026-09-03", "2026.9")
    made = Made("ours", "Ours")
    return reading.site_of(folder / "results", made, benchmark=benchmark, version=version, releases=[release])


def written(site: SiteModel, folder: Path) -> dict[str, Path]:
    found = {}
    root = folder / "site" / (site.version or "")
    for made in MetadataFiles().publish(site):
        assert isinstance(made, Asset) and isinstance(made.content, bytes)
        is_shared = made.path.startswith("data/")
        path = (folder / "site" if is_shared else root) / made.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(made.content)
        found[made.path] = path
    return found


def opened(file: Path, caplog: pytest.LogCaptureFixture) -> Any:
    import mlcroissant  # takes a second, in each process that collects the tests

    with caplog.at_level(logging.WARNING):
        found = mlcroissant.Dataset(jsonld=str(file))
    issues = found.metadata.ctx.issues
    assert not issues.errors and not issues.warnings
    assert not [line for line in caplog.messages if "standard" in line]
    return found


def records(found: Any, name: str) -> list[dict[str, Any]]:
    return [
        {key.partition("/")[2]: value.decode() if isinstance(value, bytes) else value for key, value in row.items()}
        for row in found.records(record_set=name)
    ]


@pytest.mark.parametrize("version", [None, "2026.9"])
def test_croissant_leads_to_the_scores_and_to_the_generated_data(
    version: str | None, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    benchmark = FakeBenchmark()
    site = site_of(tmp_path, benchmark, 'licence = "CC-BY-4.0"\n', version)
    files = written(site, tmp_path)
    scores = records(opened(files[SCORES_CROISSANT], caplog), "scores")
    (row,) = site.board.runs
    assert [each["run_id"] for each in scores] == [row.run.run_id]
    assert scores[0]["composite"] == pytest.approx(row.run.scores.composite.value)
    data = opened(files[DATA], caplog)
    assert [each["scenario_id"] for each in records(data, "scenarios")] == [
        each.scenario_id for each in benchmark.dataset.scenarios()
    ]
    assert [each["item_id"] for each in records(data, "keys")] == [
        each.item_id for each in list(benchmark.dataset.answer_keys())
    ]
    for file in json.loads(files[DATA].read_bytes())["distribution"]:
        (place,) = (path for name, path in files.items() if name.endswith(file["contentUrl"].lstrip("./")))
        assert file["name"].endswith(".jsonl.gz") and gzip.decompress(place.read_bytes()).startswith(b"{")


def test_the_hub_can_know_generated_data_as_a_benchmark(tmp_path: Path) -> None:
    benchmark = FakeBenchmark()
    files = written(site_of(tmp_path, benchmark), tmp_path)
    described = yaml.safe_load(files[hub_path("fake@1")].read_bytes())
    assert list(described) == ["name", "description", "evaluation_framework", "tasks"], "what the Hub requires"
    assert described["name"] == benchmark.info.title and described["description"] == benchmark.info.summary
    assert described["evaluation_framework"] == "memeval"
    assert [task["id"] for task in described["tasks"]] == [each.name for each in benchmark.info.protocols]


@pytest.mark.parametrize(("version", "folder"), [(None, ""), ("2026.9", "2026.9/")])
def test_the_scores_of_a_system_are_a_file_for_the_hub_if_somebody_has_the_data_there(
    tmp_path: Path, version: str | None, folder: str
) -> None:
    settings = 'hub = "my-lab"\nsite_url = "https://board.example/"\n'
    site = site_of(tmp_path, FakeBenchmark(), settings, version)
    files = written(site, tmp_path)
    (entry, *_others) = yaml.safe_load(files[hub_scores_path("ours")].read_bytes())
    (run,) = (row.run for row in site.board.runs)
    assert entry["dataset"] == {"id": "my-lab/fake-1", "task_id": run.track.protocol}
    assert entry["value"] == pytest.approx(100 * (run.scores.composite.value or 0), abs=0.005)
    assert entry["date"] == run.timing.started and entry["evaluation_framework"] == "memeval"
    assert entry["source"]["url"] == f"https://board.example/{folder}runs/{run.run_id}/"


def test_without_a_name_on_the_hub_there_are_no_such_files(tmp_path: Path) -> None:
    assert not [name for name in written(site_of(tmp_path, FakeBenchmark()), tmp_path) if "eval_results" in name]


def test_a_changed_data_file_is_found_by_its_digest(tmp_path: Path) -> None:
    import mlcroissant

    files = written(site_of(tmp_path, FakeBenchmark()), tmp_path)
    described = json.loads(files[SCORES_CROISSANT].read_bytes())["distribution"][0]
    assert "sha256:" + described["sha256"] == digest_bytes(files[SCORES].read_bytes())
    files[SCORES].write_bytes(files[SCORES].read_bytes() + b"x")
    with pytest.raises(Exception, match=r"scores\.csv"):
        list(mlcroissant.Dataset(jsonld=str(files[SCORES_CROISSANT])).records(record_set="scores"))


@pytest.mark.parametrize(
    "benchmark", [FakeBenchmark(redistribution=Redistribution.IDS), FakeBenchmark(told={"by_hand": "Ask."})]
)
def test_data_that_is_not_generated_or_not_public_is_not_published(tmp_path: Path, benchmark: FakeBenchmark) -> None:
    files = written(site_of(tmp_path, benchmark), tmp_path)
    assert DATA not in files
    assert not any(SECRET.encode() in path.read_bytes() for path in files.values())


def test_every_row_of_the_score_table_is_a_run_of_the_board(built: Built) -> None:
    rows = list(csv.DictReader(built.read(SCORES).splitlines()))
    assert sorted(row["run_id"] for row in rows) == sorted(run.run.run_id for run in built.runs)
    assert {row["standing"] for row in rows} >= {"ranked", "superseded", "control"}
    assert all(not row["best_rank"] for row in rows if row["standing"] != "ranked")


def test_a_release_is_cited_with_its_version_its_date_and_the_benchmarks_first(tmp_path: Path) -> None:
    benchmark = FakeBenchmark(told={"works": (PAPER,)})
    settings = 'title = "Board: of # us"\nauthors = ["Sato, Kei"]\nlicence = "CC-BY-4.0"\n'
    files = written(site_of(tmp_path, benchmark, settings, "2026.9"), tmp_path)
    assert schema_problems(files[CITATION]) == ""
    cited = yaml.safe_load(files[CITATION].read_bytes())
    assert list(cited)[:3] == ["cff-version", "message", "references"]
    assert cited["references"][0]["doi"] == PAPER.doi
    assert cited["references"][0]["authors"] == [
        {"family-names": "Ngata", "given-names": "Aroha"},
        {"name": "The choir group"},
    ]
    assert (cited["title"], cited["version"], cited["date-released"], cited["license"]) == (
        "Board: of # us leaderboard",
        "2026.9",
        "2026-09-03",
        "CC-BY-4.0",
    )
    described = json.loads(files[SCORES_CROISSANT].read_bytes())
    assert (described["creator"], described["version"]) == ([{"@type": "sc:Person", "name": "Kei Sato"}], "2026.9.0")
    deposit = json.loads(files[ZENODO].read_bytes())
    assert deposit["creators"] == [{"name": "Sato, Kei"}]
    assert deposit["related_identifiers"][0] == {"identifier": PAPER.doi, "relation": "isDerivedFrom"}


def test_without_a_release_no_version_and_no_licence_are_invented(tmp_path: Path) -> None:
    files = written(site_of(tmp_path, FakeBenchmark()), tmp_path)
    cited = yaml.safe_load(files[CITATION].read_bytes())
    assert cited.keys().isdisjoint({"version", "date-released", "license", "references"})
    assert "license" not in json.loads(files[SCORES_CROISSANT].read_bytes())
    assert schema_problems(files[CITATION]) == ""


def test_an_empty_board_has_a_citation_and_no_data(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    assert written(reading.site_of(tmp_path / "results"), tmp_path).keys() == {CITATION, ZENODO}


def test_text_from_outside_stays_text_in_every_file(tmp_path: Path) -> None:
    work = PAPER.model_copy(update={"title": HOSTILE.replace("\x00", ""), "authors": ("a: [b", "- c")})
    told = Citation("t", ("x: y",), f"<b>{HOSTILE}</b>".replace("\x00", ""), "dataset", (work,))
    file = tmp_path / CITATION
    file.write_bytes(citation_file(told))
    assert schema_problems(file) == ""
    assert yaml.safe_load(file.read_bytes())["references"][0]["title"] == work.title
    deposit = json.loads(zenodo_metadata(told))
    assert "<script" not in deposit["description"] and "<b>" not in deposit["description"]
    site = site_of(tmp_path, FakeBenchmark(told={"works": (work,)}))
    (page,) = ReleasesPage().publish(site)
    assert isinstance(page, Page)
    assert "&lt;script&gt;" in page.body and "<script" not in page.body
    assert f'href="../{SCORES_CROISSANT}"' in page.body


def test_a_reference_names_the_year_once() -> None:
    assert reference_text(PAPER) == (
        "Ngata, Aroha; The choir group. On the memory of: choirs. ACL 2024. https://doi.org/10.48550/arXiv.2402.17753"
    )


def test_every_benchmark_that_others_made_says_what_to_cite() -> None:
    for info in (each.info for each in all_benchmarks()):
        assert info.works or info.citation is None, info.id
        for work in info.works:
            assert work.doi is None or work.doi.startswith("10."), info.id


def test_the_citation_of_memeval_follows_from_the_catalogues() -> None:
    file = ROOT / "CITATION.cff"
    assert schema_problems(file) == ""
    assert file.read_bytes() == memeval_citation(), "Write it again: python -m tests.tools.citation"


READ = """
import io, sys
from pathlib import Path
import pandas
from memeval.archive.runs import RunFolder
from memeval.site.model.content import read_site
from memeval.site.pages.score_table import score_parquet, score_rows
from tests.site.factory import FakeBenchmark
from tests.support.standing import made_up
for head in Path(sys.argv[2]).glob("*/*/*/run.json"):
    made_up(RunFolder(head.parent).run)
site = read_site(Path(sys.argv[2]), find=lambda _name: FakeBenchmark())
content = score_parquet(score_rows(site.board))
written, kept = pandas.read_csv(sys.argv[1]), pandas.read_parquet(io.BytesIO(content))
assert content == score_parquet(score_rows(site.board))
assert list(written) == list(kept) and len(written) == len(kept) > 5
for name in written:
    assert written[name].isna().tolist() == kept[name].isna().tolist(), name
    known = kept[name].notna()
    assert written[name][known].tolist() == kept[name][known].tolist(), name
print(*(f"{name}={kind}" for name, kind in kept.dtypes.items()))
"""


@pytest.mark.products
def test_pandas_reads_the_same_scores_from_parquet_and_from_csv(built: Built) -> None:
    done = run_with(PYARROW, "-c", READ, str(built.out / SCORES), str(built.results))
    assert done.returncode == 0, done.stderr
    types = dict(each.split("=") for each in done.stdout.split())
    names = ("composite", "planned", "accepted", "system", "cost_per_question_usd")
    assert [types[name] for name in names] == ["float64", "int64", "bool", "str", "float64"]


@pytest.mark.skipif(has_pyarrow(), reason="pyarrow is installed")
def test_a_board_that_is_built_without_pyarrow_offers_no_parquet(built: Built) -> None:
    page = built.read("index.html")
    assert f'href="{SCORES}" download' in page
    assert not (built.out / SCORES_PARQUET).exists()
    assert all("parquet" not in built.read(name) for name in ("index.html", "api/v1/index.json", "releases/index.html"))


def test_the_score_table_says_who_is_better_than_the_best_simple_baseline(built: Built) -> None:
    rows = {row["run_id"]: row for row in csv.DictReader(built.read(SCORES).splitlines())}
    acme = rows[built.runs[0].run.run_id]
    assert acme["against_baseline"] in ("better", "not better")
    assert float(acme["tokens_per_question"]) == 812
    assert {row["against_baseline"] for row in rows.values() if row["standing"] == "control"} == {""}
