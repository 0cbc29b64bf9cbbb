"""The isolation probe: before a run, a system that recalls a text of another scenario is refused."""

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.run import conforming
from memeval.evaluation.run.conforming import probe_isolation
from memeval.evaluation.run.running import RunOptions, run_system
from memeval.execution.steps import SystemInstance
from memeval.records.errors import BadInput
from memeval.systems.channel import Log
from memeval.systems.child import Launch
from memeval.systems.process import SystemProcess
from memeval.systems.source import file_source
from tests.support.tiny import TinyBenchmark
from tests.systems.helpers import PATIENT

MEMORY = """
import os, re, time
SHARED = []
class Memory:
    kept_everywhere = []
    def __init__(self):
        {start}
        self.reset()
    def reset(self):
        self.kept = {reset}
    def ingest_session(self, session, timestamp):
        {ingest}
        self.kept += [turn["content"] for turn in session["turns"]]
    def search(self, query, k, timestamp="now"):
        words = set(re.findall(r"[a-z]+", query.lower()))
        found = lambda text: len(words & set(re.findall(r"[a-z]+", text.lower())))
        return [{{"text": text}} for text in sorted({search}, key=found, reverse=True)[:k]]
"""
FILE = "[*self.kept, *open(os.environ['SHARED']).read().splitlines()]"
WRITE = "open(os.environ['SHARED'], 'a').writelines(turn['content'] + chr(10) for turn in session['turns'])"
PARTS = {"start": "pass", "reset": "[]", "ingest": "pass", "search": "self.kept"}

BANKS = """
class Banks:
    def reset(self):
        {reset}
    def retain(self, content, bank=None, source_id=None, timestamp=None):
        self.__dict__.setdefault("kept", []).append(content)
    def recall(self, query, k, bank=None, timestamp=None):
        return [{{"text": text}} for text in getattr(self, "kept", [])[-k:]]
"""


@pytest.fixture
def instances(tmp_path: Path) -> Callable[[str], Callable[[Log], SystemInstance]]:
    """A function that returns what makes instances of an adapter."""

    def made(text: str) -> Callable[[Log], SystemInstance]:
        file, shared = tmp_path / "adapter.py", tmp_path / "shared"
        file.write_text(text, "utf-8")
        shared.touch()
        launch, environment = Launch(file), {"SHARED": str(shared)}
        return lambda log: SystemInstance(SystemProcess(launch, PATIENT, log, environment))

    return made


Instances = Callable[[str], Callable[[Log], SystemInstance]]


@pytest.mark.parametrize("text", [MEMORY.format(**PARTS), BANKS.format(reset="self.kept = []")])
def test_a_memory_that_empties_itself_passes(instances: Instances, text: str) -> None:
    assert probe_isolation("acme", instances(text), "seed", seconds=60) == ""


@pytest.mark.parametrize(
    ("text", "when"),
    [
        (MEMORY.format(**PARTS | {"reset": "getattr(self, 'kept', [])"}), "after reset, in the next scenario"),
        (BANKS.format(reset="pass"), "after reset, in the next scenario"),
        (MEMORY.format(**PARTS | {"ingest": WRITE, "search": FILE}), "in a new instance"),
    ],
)
def test_a_memory_that_recalls_another_scenario_is_refused_with_it(instances: Instances, text: str, when: str) -> None:
    with pytest.raises(BadInput) as refused:
        probe_isolation("acme", instances(text), "seed", seconds=60)
    assert refused.value.problem.startswith("'acme' recalls texts of other scenarios")
    assert when in refused.value.problem and "the item “" in refused.value.problem
    assert len(refused.value.problem) < 600
    assert refused.value.remedy is not None


def test_its_run_is_refused_before_anything_is_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conforming, "probe_isolation", partial(probe_isolation, seconds=60))
    adapter = tmp_path / "adapter.py"
    adapter.write_text(MEMORY.format(**PARTS | {"reset": "getattr(self, 'kept', [])"}), "utf-8")
    options = RunOptions(results=tmp_path / "results", limit=1)
    with pytest.raises(BadInput, match=r"'adapter' recalls texts of other scenarios.* after reset"):
        run_system(file_source(adapter), BenchmarkSession.open(TinyBenchmark()), options)
    assert not list(tmp_path.rglob("run.json")) and not list(tmp_path.rglob("journal"))
    unprobed = replace(options, skip_conformance=True)
    assert run_system(file_source(adapter), BenchmarkSession.open(TinyBenchmark()), unprobed).run.coverage.done == 1


def test_a_slow_system_is_not_probed_for_long(instances: Instances) -> None:
    began = time.monotonic()
    reason = probe_isolation("acme", instances(MEMORY.format(**PARTS | {"start": "time.sleep(60)"})), "seed", seconds=1)
    assert reason == (
        "acme was not checked for texts of other scenarios: that takes more than 1 s. "
        "Its adapter check does it without a limit: memeval submit check."
    )
    assert time.monotonic() - began < 20


@pytest.mark.parametrize(
    ("part", "says"),
    [
        ({"search": "[]"}, "it did not find the text that it had ingested."),
        ({"ingest": "raise RuntimeError('disk full')"}, "ingest_session raised RuntimeError: disk full"),
    ],
)
def test_a_system_that_finds_nothing_or_fails_may_run(instances: Instances, part: dict[str, str], says: str) -> None:
    assert says in probe_isolation("acme", instances(MEMORY.format(**PARTS | part)), "seed", seconds=60)
