"""Times of a system beside a control: real processes, in turns, on one conversation."""

from pathlib import Path

import pytest

from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.run.beside import CONTROL, REPEATS
from memeval.evaluation.run.running import RunOptions, run_system
from memeval.execution.progress import Progress
from memeval.execution.setup import SystemSetup
from memeval.records.run import Run
from memeval.statistics.time_ratios import time_ratio
from memeval.systems.sandbox import SandboxMode
from memeval.systems.source import file_source
from tests.support.tiny import TinyBenchmark

ADAPTER = """
import time

class Slow:
    def __init__(self):
        self.texts = []
    def ingest_session(self, session, timestamp):
        time.sleep({ingest})
        self.texts += [turn["content"] for turn in session["turns"]]
    def {method}(self, question, {more}timestamp=None):
        time.sleep({seconds})
        {fails}
        return {reply}
    def reset(self):
        self.texts = []
"""

SEARCHES = {"method": "search", "more": "k, ", "reply": '[{"text": text} for text in self.texts[:k]]', "fails": ""}


def measured(folder: Path, options: RunOptions | None = None, /, **adapter: object) -> tuple[Run, list[str]]:
    folder.mkdir(exist_ok=True)
    file = folder / "slow.py"
    file.write_text(ADAPTER.format(**{"ingest": 0.02, "seconds": 0.03} | SEARCHES | adapter), encoding="utf-8")
    notes: list[str] = []

    class Noted(Progress):
        def note(self, sentence: str) -> None:
            notes.append(sentence)

    setup = SystemSetup(sandbox=SandboxMode.NONE)
    options = options or RunOptions(folder / "results", setup=setup, times_beside=True, skip_conformance=True)
    session = BenchmarkSession.open(TinyBenchmark(3, 4))
    return run_system(file_source(file), session, options, Noted()).run, notes


def test_a_slow_system_is_slower_than_the_control_beside_it(tmp_path: Path) -> None:
    run, _notes = measured(tmp_path)
    times = run.beside
    assert times is not None
    assert (times.control, times.sessions, times.questions) == (CONTROL, 2, 4)
    assert (len(times.ingest), len(times.search)) == (REPEATS, REPEATS)
    assert all(pair.system >= 2 * 0.02 for pair in times.ingest), "two sessions"
    assert all(pair.system >= 4 * 0.03 for pair in times.search), "four questions"
    assert len(times.fastest) == 4 and all(pair.system >= 0.03 for pair in times.fastest)
    assert sum(pair.system for pair in times.fastest) <= min(pair.system for pair in times.search) + 1e-5
    ratio = time_ratio([(pair.system, pair.control) for pair in times.fastest])
    assert 1 < ratio.low < ratio.value < ratio.high


def test_times_change_no_answer_and_are_no_part_of_a_comparison(tmp_path: Path) -> None:
    run, _notes = measured(tmp_path / "one", ingest=0, seconds=0)
    setup = SystemSetup(sandbox=SandboxMode.NONE)
    other, _notes = measured(
        tmp_path / "two",
        RunOptions(tmp_path / "two" / "results", setup=setup, skip_conformance=True),
        ingest=0,
        seconds=0,
    )
    assert other.beside is None
    assert run.beside is not None
    assert "beside" in Run.VOLATILE
    assert (run.fingerprint, run.responses_digest) == (other.fingerprint, other.responses_digest)


@pytest.mark.parametrize(
    ("adapter", "note"),
    [
        (
            {"method": "query", "more": "", "reply": '"Lima"'},
            "No times beside bm25: it takes part only where a reader or a grader gets what a search found.",
        ),
        (
            {"fails": 'raise ValueError("no")', "ingest": 0, "seconds": 0},
            "No times beside bm25: a question of the measured conversation failed.",
        ),
    ],
    ids=["answers itself", "fails"],
)
def test_without_times_a_sentence_says_why(tmp_path: Path, adapter: dict[str, object], note: str) -> None:
    run, notes = measured(tmp_path, None, **adapter)
    assert run.beside is None
    assert note in notes
