"""A whole run of DeepMemEval with a trivial adapter, beside a bare pipe with the same calls and fsyncs."""

from __future__ import annotations

import json
import os
import shutil
import statistics
from dataclasses import replace
from functools import partial
from pathlib import Path

from bench.measure import PYTHON, Cost, Ratio, cost_of, in_turn, ratio
from memeval.benchmarks import find
from memeval.records.scenario import Forget, Question, Scenario
from memeval.systems.messages import session_json

ADAPTER = """
class Trivial:
    def __init__(self):
        self.told = []

    def ingest_session(self, session, timestamp):
        self.told += [turn["content"] for turn in session["turns"]]

    def query(self, question, timestamp="now"):
        return self.told[0]

    def get_context_tokens(self):
        return 100

    def reset(self):
        self.told = []
"""

PAIRS = 5
PROMISED = 0.002


def released() -> Path | None:
    """Return the released data file, from the test data or from where ``memeval data pull`` keeps it."""
    folder = os.environ.get("MEMEVAL_TEST_DATA")
    path = Path(folder) / "deepmemeval" / "deepmemeval_500.json" if folder else None
    return path if path is not None and path.is_file() else None


def trivial_run(scratch: Path) -> tuple[str, list[str], list[str]]:
    """Write the trivial adapter.

    Returns: The benchmark whose data is here, DeepMemEval or else ``beliefs@2``; the options that name its data, and
    the command that runs the adapter on it.
    """
    data = released()
    name = "deepmemeval" if data or find("deepmemeval").available() else "beliefs@2"
    given = ["--data", str(data)] if data else []
    (scratch / "trivial.py").write_text(ADAPTER, encoding="utf-8")
    return name, given, [PYTHON, "-m", "memeval", "run", "trivial.py", "--benchmark", name, *given]


def measure(scratch: Path) -> list[Ratio]:
    """Measure on the released data where it is here, else on ``beliefs@2``.

    Two references: a bare pipe that has each answer on disk before it counts it, which is what a run promises, and one
    that flushes an answer's whole scenario at once. A run shares flushes between the scenarios in flight.
    """
    name, _data, run = trivial_run(scratch)
    questions = 0
    with (scratch / "scenarios.jsonl").open("w", encoding="utf-8") as lines:
        for scenario in find(name).open(released()).scenarios():
            questions += sum(isinstance(step, Question) for step in scenario.steps)
            lines.write(json.dumps(_plain(scenario)) + "\n")

    def ours() -> Cost:
        shutil.rmtree(scratch / "out", ignore_errors=True)
        return cost_of([*run, "--results", "out"], scratch)

    def bare_pipe(each: str) -> Cost:
        script = str(Path(__file__).with_name("bare_pipe.py"))
        return cost_of([PYTHON, script, "scenarios.jsonl", "rows.jsonl", each], scratch)

    found = [
        ratio(
            f"run on {name}, trivial adapter, whole process",
            costs := in_turn(ours, partial(bare_pipe, each), PAIRS),
            target=1.5,
            peak_target_mb=200.0,
            reference=f"the same calls over a bare JSON-lines pipe, an fsync a {each}",
        )
        for each in ("row", "scenario")
    ]
    own = statistics.median(cost.cpu_seconds for cost in costs[0]) / questions
    return [
        *found,
        replace(
            found[-1],
            name=f"run on {name}, processor seconds a question",
            ours_seconds=own,
            reference_seconds=PROMISED,
            ratio=own / PROMISED,
            target=1.0,
            reference=f"the promised {PROMISED:g} processor seconds, start, grading and the system's process included",
        ),
    ]


def _plain(scenario: Scenario) -> list[object]:
    return [
        step.question if isinstance(step, Question) else json.loads(session_json(step.session))
        for step in scenario.steps
        if not isinstance(step, Forget)
    ]
