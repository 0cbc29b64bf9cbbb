"""A scenario of trials through the runner of scenarios, as in a run."""

from memeval.execution.runner import ScenarioRunner
from memeval.execution.steps import ScenarioWork
from memeval.records.response import Outcome
from memeval.records.scenario import Scenario
from memeval.records.track import Limits
from memeval.records.trials_of_use import FreshnessObservation, Onlooker
from memeval.systems.child import Launch
from memeval.systems.controls import all_controls
from memeval.systems.process import SystemProcess
from tests.execution.trials.test_trials_of_use import added


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
