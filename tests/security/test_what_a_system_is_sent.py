"""All that reaches a system of LoCoMo and LongMemEval: no id of the source's, no category, no mark of the answer."""

import json
from pathlib import Path

import pytest

from memeval.benchmarks.longmemeval import LongMemEvalBenchmark
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.run.running import RunOptions, run_system
from memeval.evaluation.withhold.decoding import decoded_run
from memeval.systems.source import file_source
from tests.benchmarks.longmemeval.rows import KINDS, row, written
from tests.support.elsewhere import locomo_exam

ECHO = """
import json, os, sys

class Echo:
    def reset(self, *told, **named):
        self.seen = [told, named]
    def ingest_session(self, *told, **named):
        self.seen += [told, named]
    def query(self, *told, **named):
        around = [os.getcwd(), sys.argv, sys.orig_argv, dict(os.environ), sorted(os.listdir("."))]
        return json.dumps([self.seen, told, named, around], default=repr)
"""


def sent(folder: Path, benchmark_session: BenchmarkSession) -> list[str]:
    """Return, per question, everything that a system got hold of up to it."""
    path = folder / "echo.py"
    path.write_text(ECHO)
    run = decoded_run(
        run_system(file_source(path), benchmark_session, RunOptions(results=folder / "results", concurrency=1)),
        benchmark_session,
    )
    responses = list(run.responses())
    assert [response.error for response in responses if response.error] == []
    return [response.answer for response in responses]


@pytest.mark.parametrize("choice", [False, True], ids=["free", "choice"])
def test_locomos_ids_and_keys_stay_here(tmp_path: Path, choice: bool) -> None:
    benchmark_session = locomo_exam(choice=choice)
    seen = sent(tmp_path, benchmark_session)
    assert len(seen) == len(benchmark_session.keys)
    everything = "\n".join(seen)
    assert "The peppers are ripe." in everything and "[shares a photo: a red kite]" in everything
    assert "2024-02-08T13:56:00Z" in everything and "Who sang?" in everything
    hidden = {"syn-1", "syn-2", "D2:1", "D10:1", "D2:", '"S2"', '"S10"', "images.example", "re-download", "evidence"}
    hidden |= {key.item_id for key in benchmark_session.keys} | {key.category for key in benchmark_session.keys}
    hidden |= {"kites, song", "yes; maybe", "She sings.", "session_2", "dia_id", "adversarial", "category"}
    assert {word for word in hidden if word in everything} == set()


def test_longmemevals_ids_and_marks_stay_here(tmp_path: Path) -> None:
    given = [row(f"7e{n}5d3c1b{'_abs' if n == 0 else ''}", kind, answer=f"gold-{n}") for n, kind in enumerate(KINDS)]
    benchmark_session = BenchmarkSession.open(LongMemEvalBenchmark(), written(tmp_path, given))
    seen = sent(tmp_path, benchmark_session)
    assert len(seen) == len(given)
    everything = "\n".join(seen)
    assert "What is a rhombus?" in everything and "How many kites have I built?" in everything
    assert "2024-05-30T23:40:00Z" in everything and "s001:t01" in everything
    hidden = {"answer_", "noans", "ultrachat", "sharegpt", "has_answer", "_abs", "haystack", "question_type", "gold-"}
    hidden |= {key.item_id for key in benchmark_session.keys} | {*KINDS}
    assert {word for word in hidden if word in everything} == set()
    assert all(isinstance(json.loads(one), list) for one in seen)
