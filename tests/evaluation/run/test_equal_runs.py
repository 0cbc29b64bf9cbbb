"""Equal runs have equal rows, whatever their concurrency and interruptions."""

from pathlib import Path

import pytest

from memeval.archive.runs import RunFolder
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.run.running import RunOptions, run_system
from memeval.execution.journal import Journal
from memeval.records.base import comparable_digest
from memeval.records.errors import BadInput
from memeval.systems.source import SystemSource
from tests.evaluation.asking import searching_system
from tests.support.equal_runs import comparable_digests
from tests.support.tiny import Stops, TinyBenchmark

SLOWLY = "import random, time; time.sleep(random.uniform(0, 0.01)); self.told = self.told[-1:]"
"""Has a search find a sentence that every scenario has, after a random time."""

ITEMS = 16


@pytest.fixture
def searcher(tmp_path: Path) -> SystemSource:
    return searching_system(tmp_path, SLOWLY)


def run(searcher: SystemSource, results: Path, concurrency: int = 4, stop_at: int | None = None) -> RunFolder:
    session = BenchmarkSession.open(TinyBenchmark(ITEMS))
    options = RunOptions(results=results, concurrency=concurrency, skip_conformance=True)
    return run_system(searcher, session, options, None if stop_at is None else Stops(stop_at))


def interrupted(searcher: SystemSource, results: Path) -> Path:
    with pytest.raises(KeyboardInterrupt):
        run(searcher, results, stop_at=ITEMS // 2)
    (journal,) = results.glob("*/*/*/journal")
    return journal


def test_runs_at_any_concurrency_and_resumed_runs_have_equal_digests(searcher: SystemSource, tmp_path: Path) -> None:
    runs = [run(searcher, tmp_path / str(number), number) for number in (1, 8)]
    interrupted(searcher, tmp_path / "resumed")
    runs.append(run(searcher, tmp_path / "resumed", 2))
    digests = [comparable_digests(each) for each in runs]
    assert digests[0].keys() == {"responses.jsonl", "contexts.jsonl", "grades.jsonl", "failures.jsonl"}
    assert digests[1:] == digests[:1] * 2
    assert len({each.run.fingerprint for each in runs}) == 1
    contexts = list(runs[0].contexts())
    assert len({context.digest for context in contexts}) == 1
    assert [context.scenario_id for context in contexts] == [row.scenario_id for row in runs[0].responses()]
    assert runs[0].run.responses_digest == comparable_digest(runs[0].responses())
    assert len({each.run.files["responses.jsonl"].digest for each in runs}) == 3, "clocks differ"


@pytest.mark.parametrize("name", ["responses.jsonl", "contexts.jsonl"])
def test_a_damaged_line_is_refused_and_its_item_asked_again(searcher: SystemSource, tmp_path: Path, name: str) -> None:
    path = interrupted(searcher, tmp_path / "results") / name
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:2], lines[2].replace(b"tiny", b"tinz", 1), *lines[3:]]))
    with pytest.raises(BadInput, match=rf"{name}:3: the line is damaged: .* checksum\. Remove the line: "):
        run(searcher, tmp_path / "results")
    path.write_bytes(b"".join(lines[:2] + lines[3:]))
    with Journal(path.parent.parent) as journal:
        assert len(journal.responses) == len(lines) - 1
    again, calm = run(searcher, tmp_path / "results"), run(searcher, tmp_path / "calm")
    assert comparable_digests(again) == comparable_digests(calm)
