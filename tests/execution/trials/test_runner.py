"""A scenario of trials through the runner of scenarios, as in a run."""

import queue
from collections.abc import Callable
from pathlib import Path

from memeval.execution.executor import Arrival
from memeval.execution.local import LocalExecutor
from memeval.execution.runner import ScenarioRunner
from memeval.execution.steps import FinishedItems, ScenarioWork, SystemInstance
from memeval.execution.trials.memory import STORED, Written
from memeval.records.response import Outcome
from memeval.records.scenario import Scenario
from memeval.records.track import Limits
from memeval.records.trials import CrashFault, CrashObservation
from memeval.records.trials_of_use import FreshnessObservation, Onlooker
from memeval.systems.child import Launch
from memeval.systems.controls import all_controls
from memeval.systems.process import SystemProcess
from tests.execution.trials.test_crash import trial
from tests.execution.trials.test_trials_of_use import added
from tests.systems.helpers import PATIENT, write


def test_a_trial_becomes_a_response_whose_answer_is_the_observation() -> None:
    control = all_controls()["sqlite-full"]
    system = SystemProcess(Launch(control.file, control.class_name, stores=True), Limits(), lambda line: None)
    runner = ScenarioRunner(system, None, 10, lambda event, text, scenario: None, lambda: False)
    scenario = Scenario(scenario_id="s", steps=(added(Onlooker.WRITER),))
    try:
        (finished,) = runner.run(ScenarioWork(scenario=scenario, items={"item": ("q",)}, attempt=1))
    finally:
        runner.close()
    (response,) = finished.responses
    assert response.outcome is Outcome.OK and response.item_id == "item"
    assert FreshnessObservation.model_validate_json(response.answer).is_fresh


def test_instances_fill_a_storage_folder_once_and_each_trial_has_its_copy(tmp_path: Path) -> None:
    source = """
import os, pathlib
class Memory:
    def __init__(self): self.file = pathlib.Path(os.environ["MEMEVAL_STORAGE"], "texts")
    def reset(self): pass
    def retain(self, content, bank=None, timestamp=None, source_id=None):
        with self.file.open("a") as file: file.write(content + "\\n")
        with open({log!r}, "a") as file: file.write(content + "\\n")
    def recall(self, query, k, bank=None, timestamp=None):
        texts = self.file.read_text().splitlines() if self.file.exists() else []
        return [text for text in texts if text == query][:k]
"""
    log = tmp_path / "log"
    adapter = write(tmp_path, source.format(log=str(log)))

    def instance(said: Callable[[str], None] = lambda line: None) -> SystemInstance:
        return SystemInstance(SystemProcess(Launch(adapter, stores=True), PATIENT, said), None)

    works = [
        ScenarioWork(
            scenario=Scenario(scenario_id=name, steps=(trial(CrashFault.STOP, stored=30, probed=30, seed=number),)),
            items={name: ("q",)},
            attempt=1,
        )
        for number, name in enumerate(["a", "b", "c"])
    ]
    first = instance()
    first.process.start()
    executor = LocalExecutor(first, instance, None, 10, concurrency=3)
    arrived = queue.SimpleQueue[Arrival]()
    executor.start(works, arrived.put)
    finished = [each for each in iter(arrived.get, None) if isinstance(each, FinishedItems)]
    seen = [CrashObservation.model_validate_json(each.responses[0].answer) for each in finished]
    assert len(seen) == 3 and all(each.is_whole and each.probed == each.acknowledged + 30 for each in seen)
    stored = [Written(STORED, number).text for number in range(30)]
    assert [line for line in log.read_text("utf-8").splitlines() if line in stored] == stored
