"""PrecisionMemBench from the data to the scores, and its download."""

from __future__ import annotations

import functools
import http.server
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from memeval.benchmarks.precisionmembench import PrecisionBenchmark
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.run.running import RunOptions, run_system
from memeval.records.errors import BadInput
from memeval.records.scores import Scores
from memeval.systems.source import file_source
from tests.benchmarks.precisionmembench.made import Invented
from tests.support.data import test_data

STORE = '''
class Store:
    """Returns the texts of a bank that have one of the tags, in order."""

    def __init__(self):
        self.reset()

    def reset(self):
        self.texts = []

    def retain(self, content, bank=None, tags=None, source_id=None):
        self.texts.append((bank, set(tags or ()), source_id, content))

    def recall(self, query, k, bank=None, tags=None):
        found = [one for one in self.texts if one[0] == bank and one[1] & set(tags or ())]
        return [{"text": text, "source_ids": [source]} for _, _, source, text in found[:k]]
'''


def scores(folder: Path, benchmark: PrecisionBenchmark, data: Path | None = None) -> Scores:
    """Return the scores of the store above."""
    adapter = folder / "store.py"
    adapter.write_text(STORE, encoding="utf-8")
    session = BenchmarkSession.open(benchmark, data)
    return run_system(file_source(adapter), session, RunOptions(results=folder / "results")).run.scores


def metric(found: Scores, name: str) -> Mapping[str, float | None]:
    """Return the means of a metric by category."""
    return {each.name: each.metrics[name] for each in found.categories if name in each.metrics}


def test_the_score_is_the_precision_of_searches_with_a_match(tmp_path: Path) -> None:
    found = scores(tmp_path, Invented())
    # The tag finds six texts, of which one is pinned: 1, 2 and 2 of the other five are expected.
    assert found.composite.value == pytest.approx((1 / 5 + 2 / 5 + 2 / 5) / 3)
    assert {each.name: each.weight for each in found.categories if each.weight} == {"match": 1.0}
    assert set(metric(found, "user_leaks").values()) == {0.0}


@pytest.mark.data
def test_a_real_process_that_returns_a_scope_has_the_golden_scores(tmp_path: Path) -> None:
    data = test_data("precisionmembench/fixtures/beliefs.seed.json").parent
    found = scores(tmp_path, PrecisionBenchmark(), data)
    tallies = {each.name: each.tally for each in found.categories}
    passed = sum(each.alternates["published"].correct for each in found.categories if each.name != "conversation")
    assert passed == 11 - 5, "five of 77 cases pass without being sent"
    assert tallies["conversation"].correct == 0
    recall = metric(found, "recall")["match"]
    drift = metric(found, "drift_published")["conversation"]
    assert recall is not None and drift is not None
    assert (round(recall, 4), round(drift, 4)) == (0.9419, 0.9259)
    assert found.composite.value == pytest.approx(0.0619 * 67 / 43, abs=1e-4)


@pytest.fixture
def served() -> Iterator[str]:
    """Serve the released files, and yield their address."""
    folder = test_data("precisionmembench/fixtures/beliefs.seed.json").parent
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def served_benchmark(address: str) -> PrecisionBenchmark:
    """Return the benchmark whose files are at another address."""
    benchmark = PrecisionBenchmark()
    sources = tuple(
        source.model_copy(update={"url": f"{address}/{source.filename}"}) for source in benchmark.info.sources
    )
    benchmark.info = benchmark.info.model_copy(update={"sources": sources})
    return benchmark


@pytest.mark.data
def test_one_command_downloads_all_three_files(tmp_path: Path, served: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMEVAL_DATA", str(tmp_path))
    benchmark = served_benchmark(served)
    assert not benchmark.available()
    folder = benchmark.pull()
    assert sorted(each.name for each in folder.glob("*.json")) == sorted(s.filename for s in benchmark.info.sources)
    assert benchmark.available()
    assert len(list(benchmark.open().answer_keys())) == 84


@pytest.mark.data
def test_a_download_of_other_bytes_is_refused(tmp_path: Path, served: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMEVAL_DATA", str(tmp_path))
    benchmark = served_benchmark(served)
    first, *rest = benchmark.info.sources
    wrong = first.model_copy(update={"url": rest[0].url})
    benchmark.info = benchmark.info.model_copy(update={"sources": (wrong, *rest)})
    with pytest.raises(BadInput):
        benchmark.pull()
    assert not benchmark.available()
