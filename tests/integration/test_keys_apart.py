"""What a system could find if it looked: nothing of the key is in its process."""

import sys
from pathlib import Path

import pytest

from memeval.benchmarks import find
from memeval.benchmarks.base import Dataset
from memeval.benchmarks.session import BenchmarkSession
from memeval.execution.runner import ScenarioRunner
from memeval.records.run import View
from memeval.records.track import Limits
from memeval.systems.process import SystemProcess
from memeval.systems.source import file_source
from tests.benchmarks.factconsolidation import made as facts
from tests.benchmarks.vehiclemembench import made as vehicle
from tests.security.memory import memory_holds
from tests.support.adapters import plain_adapter

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


def opened(name: str, folder: Path) -> BenchmarkSession:
    """Return a benchmark with little data; of a released one, with data made up for tests."""
    if name == "beliefs@2":
        return BenchmarkSession.open(find(name), None, {"size": 3})
    data: Dataset = facts.dataset() if name == "factconsolidation@1" else vehicle.dataset(folder)
    return BenchmarkSession(find(name), data, "retrieval", "full")


@pytest.mark.parametrize(
    ("name", "secrets"), [("beliefs@2", 100), ("factconsolidation@1", 5), ("vehiclemembench@1", 5)]
)
def test_the_memory_of_a_worker_holds_its_sessions_and_nothing_of_the_key(
    tmp_path: Path, name: str, secrets: int
) -> None:
    benchmark_session = opened(name, tmp_path / "data")
    source = file_source(plain_adapter(tmp_path))
    with SystemProcess(source.launch, Limits(), lambda line: None) as system:
        runner = ScenarioRunner(system, None, 10, lambda *said: None, lambda: False)
        seen: list[str] = []
        for key in benchmark_session.keys:
            (work,) = benchmark_session.works([key], View.ALL, {})
            list(runner.run(work))
            seen += [turn.content for session in work.scenario.sessions() for turn in session.turns]
        assert system.child is not None
        told = seen[-1]
        secret = {key.item_id for key in benchmark_session.keys} | {key.scenario_id for key in benchmark_session.keys}
        secret |= {question for key in benchmark_session.keys for question in key.question_ids}
        secret |= {category.name for category in benchmark_session.benchmark.categories if "-" in category.name}
        secret |= {name.partition("@")[0], benchmark_session.dataset.digest[7:]}
        heard = "\n".join(seen)
        secret |= {text for key in benchmark_session.keys for text in _key_texts(key.key.data()) if text not in heard}
        needles = {text.encode() for text in secret if len(text) >= 7}
        assert len(needles) > secrets
        assert memory_holds(system.child.pid, {told.encode()}), "the scan finds what is there"
        assert memory_holds(system.child.pid, needles) == set()


def _key_texts(value: object) -> list[str]:
    """Return the sentences of a key; single phrases occur in the history by rights."""
    if isinstance(value, dict):
        return [text for name, part in value.items() if name not in ("kind", "phrases") for text in _key_texts(part)]
    if isinstance(value, (list, tuple)):
        return [text for part in value for text in _key_texts(part)]
    return [value] if isinstance(value, str) and " " in value else []
