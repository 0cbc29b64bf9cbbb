"""Times of a system beside a control: real processes, in turns, on one conversation."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memeval.benchmarks import find
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.run import beside
from memeval.evaluation.run.beside import CONTROL, REPEATS
from memeval.evaluation.run.running import RunOptions, run_system
from memeval.execution.setup import SystemSetup
from memeval.gateway.stops import BudgetSpent
from memeval.records.call import Phase
from memeval.records.run import Run
from memeval.statistics.time_ratios import time_ratio
from memeval.systems.controls import all_controls
from memeval.systems.sandbox import SandboxMode
from memeval.systems.source import control_source, file_source
from tests.evaluation.asking import PickyServer
from tests.support.tiny import Notes, TinyBenchmark

SETUP = SystemSetup(sandbox=SandboxMode.NONE)

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

CALLS = """\
import json, os, urllib.request
        body = json.dumps({"model": "small", "messages": [{"role": "user", "content": question}]}).encode()
        address, key = os.environ["OPENAI_BASE_URL"], os.environ["OPENAI_API_KEY"]
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}
        urllib.request.urlopen(urllib.request.Request(f"{address}/chat/completions", body, headers)).read()
"""
"""Has each search call a model."""

SEARCHES = {"method": "search", "more": "k, ", "reply": '[{"text": text} for text in self.texts[:k]]', "fails": ""}


def measured(folder: Path, options: RunOptions | None = None, /, **adapter: object) -> tuple[Run, list[str]]:
    folder.mkdir(exist_ok=True)
    file = folder / "slow.py"
    file.write_text(ADAPTER.format(**{"ingest": 0.02, "seconds": 0.03} | SEARCHES | adapter), encoding="utf-8")
    notes = Notes()
    options = options or RunOptions(folder / "results", setup=SETUP, times_beside=True, skip_conformance=True)
    session = BenchmarkSession.open(TinyBenchmark(3, 4))
    source = replace(file_source(file), declared_models=("small",) if adapter.get("fails") == CALLS else ())
    return run_system(source, session, options, notes).run, notes.said


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
    unmeasured = RunOptions(tmp_path / "two" / "results", setup=SETUP, skip_conformance=True)
    other, _notes = measured(tmp_path / "two", unmeasured, ingest=0, seconds=0)
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


@pytest.mark.parametrize(
    "stop", [KeyboardInterrupt(), BudgetSpent("the budget is spent.")], ids=["interrupt", "budget"]
)
def test_what_is_called_beside_a_control_is_not_of_the_run(
    tmp_path: Path, server: PickyServer, monkeypatch: pytest.MonkeyPatch, stop: BaseException
) -> None:
    server.answer, measure = lambda _body: "noted", beside.times_beside

    def stopped(*given: Any) -> None:
        assert measure(*given) is not None
        raise stop

    adapter: dict[str, object] = {"fails": CALLS, "ingest": 0, "seconds": 0}
    with monkeypatch.context() as patch:
        patch.setattr(beside, "times_beside", stopped)
        if isinstance(stop, KeyboardInterrupt):
            with pytest.raises(KeyboardInterrupt):
                measured(tmp_path, None, **adapter)
        else:
            run, notes = measured(tmp_path, None, **adapter)
            assert (run.beside, notes[-1]) == (None, "No times beside bm25: the budget is spent.")
    run, _notes = measured(tmp_path, None, **adapter)
    assert run.usage[Phase.SEARCH].calls == 12, "one for each question"


def test_the_control_searches_as_many_items_as_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[int] = []
    monkeypatch.setattr(beside, "times_beside", lambda *given: found.append(given[4].search_items))
    session = BenchmarkSession.open(find("qa-smoke@1"))
    options = RunOptions(tmp_path / "results", setup=SETUP, times_beside=True, skip_conformance=True, limit=1)
    run = run_system(control_source(all_controls()["bm25"]), session, options).run
    assert found == [run.track.limits.search_items] == [5]
