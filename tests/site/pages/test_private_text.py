"""Where a benchmark's text is not ours to publish, none of its words may reach the site."""

import gzip
from pathlib import Path

import pytest

from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.run.running import RunOptions, run_system
from memeval.records.base import digest_bytes
from memeval.records.track import Redistribution
from memeval.site.model.content import read_site
from memeval.site.model.files import Asset, file_bytes
from memeval.site.pages.runs import RunPages
from memeval.systems.source import find_system
from tests.site.conftest import Built, build_board
from tests.site.factory import SECRET, FakeBenchmark
from tests.support.tiny import TinyBenchmark


@pytest.fixture(scope="module")
def private(tmp_path_factory: pytest.TempPathFactory) -> Built:
    benchmark = FakeBenchmark(redistribution=Redistribution.IDS)
    return build_board(tmp_path_factory.mktemp("private"), benchmark)


def content(path: Path) -> bytes:
    data = path.read_bytes()
    return gzip.decompress(data) if path.suffix == ".gz" else data


def test_no_file_of_the_site_holds_a_word_of_the_benchmark(private: Built) -> None:
    leaks = [
        str(path.relative_to(private.out))
        for path in private.out.rglob("*")
        if path.is_file() and SECRET.encode() in content(path)
    ]
    assert leaks == []


def test_the_same_board_does_hold_them_where_it_may(built: Built) -> None:
    assert any(SECRET.encode() in content(path) for path in built.out.rglob("*.json.gz"))


def test_digests_and_lengths_stand_for_the_text(private: Built) -> None:
    run_id = private.runs[0].run.run_id
    shard = private.shard(run_id)
    stored = next(private.runs[0].responses())
    shown = shard["items"][0]["responses"][0]
    assert shown["answer"] == {"digest": digest_bytes(stored.answer.encode()), "bytes": len(stored.answer.encode())}
    place, _score = shown["items"][0]
    assert shard["sources"][place]["turn_id"] == "s003:t01"
    assert "reason" not in shard["items"][0]


def test_rows_are_not_offered_as_files(private: Built) -> None:
    page = private.out / "runs" / private.runs[0].run.run_id
    assert [path.name for path in (page / "files").iterdir()] == ["run.json"]
    text = (page / "index.html").read_text()
    assert 'download="' not in text
    assert "The grades of this run are not published here" in text and "data-verify" not in text


def test_an_audits_figures_are_offered_and_its_answers_are_not(private: Built) -> None:
    folders = list((private.out / "benchmarks" / "fake@1" / "audits").iterdir())
    assert len(folders) == 3
    assert {path.name for folder in folders for path in folder.iterdir()} == {"audit.json"}


def test_rows_that_hold_references_in_the_place_of_words_are_offered(tmp_path: Path) -> None:
    benchmark = TinyBenchmark(2, redistribution=Redistribution.IDS)
    benchmark_session = BenchmarkSession.open(benchmark)
    run_system(find_system("full-context"), benchmark_session, RunOptions(results=tmp_path / "results"))
    site = read_site(tmp_path / "results", find=lambda name: benchmark)
    rows = {
        file.path.partition("-")[2]: file_bytes(file)
        for file in RunPages().publish(site)
        if isinstance(file, Asset) and file.path.endswith(".gz")
    }
    assert {"responses.jsonl.gz", "log.jsonl.gz"} <= rows.keys()
    said = [
        turn.content
        for each in benchmark_session.scenarios.values()
        for session in each.sessions()
        for turn in session.turns
    ]
    for name, packed in rows.items():
        held = gzip.decompress(packed).decode()
        assert not [text for text in said if text in held], name
