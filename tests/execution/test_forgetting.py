"""Steps that ask a system to forget: in order, for what they name, and no more."""

from __future__ import annotations

from pathlib import Path

import pytest

from memeval.execution.runner import ScenarioRunner
from memeval.execution.work import ScenarioWork
from memeval.records.response import Outcome, Response
from memeval.records.scenario import Export, Forget, Recall, Retain, Scenario, Step
from tests.execution.helpers import system

BANKS = """
class Banks:
    def reset(self):
        self.kept, self.waiting, self.settled = [], [], 0
    def retain(self, content, bank=None, source_id=None):
        self.kept.append({"text": content, "source_ids": [source_id], "bank": bank})
    def settle(self, timeout):
        self.settled += 1
        self.kept = [one for one in self.kept if one["source_ids"][0] not in self.waiting]
        return True
    def recall(self, query, k, bank=None):
        return [one for one in self.kept if one["bank"] == bank]
    def export_memories(self):
        return [{"text": str(self.settled)}]
    def forget(self, bank=None, ids=None{more}):
        {refuse}
        self.waiting += [one["source_ids"][0] for one in self.kept if one["bank"] == bank
                         and (ids is None or one["source_ids"][0] in ids)]
"""

STEPS: tuple[Step, ...] = (
    Retain(text_id="s001", content="Rows.", bank="a", source_id="r1"),
    Retain(text_id="s002", content="Sings.", bank="a", source_id="r2"),
    Recall(question_id="before", question="?", bank="a"),
)


def rows(tmp_path: Path, forget: Forget, more: str = "", refuse: str = "") -> list[Response]:
    """Run the steps with a request to forget before the last two questions, and return the responses."""
    after = (Recall(question_id="after", question="?", bank="a"), Export(question_id="kept", question="?"))
    scenario = Scenario(scenario_id="forgetting", steps=(*STEPS, forget, *after))
    work = ScenarioWork(scenario, {each.question_id: (each.question_id,) for each in scenario.questions()})
    source = BANKS.replace("{more}", more).replace("{refuse}", refuse)
    with system(tmp_path, source) as process:
        runner = ScenarioRunner(process, None, 10, lambda *told: None, lambda: False)
        return [row for finished in runner.run(work) for row in finished.responses]


def found(row: Response) -> list[str]:
    return [item.turn_id or item.text or "" for item in row.items or ()]


def test_a_text_is_forgotten_at_its_step_and_the_system_settles_after_it(tmp_path: Path) -> None:
    before, after, kept = rows(tmp_path, Forget(bank="a", ids=("s001",)))
    assert found(before) == ["s001:t01", "s002:t01"]
    assert found(after) == ["s002:t01"], "it deletes in the background, so it must settle"
    assert found(kept) == ["2"]
    assert after.timings.take_in_sessions == 0


def test_a_bank_is_forgotten(tmp_path: Path) -> None:
    before, after, _ = rows(tmp_path, Forget(bank="a"))
    assert (len(found(before)), found(after)) == (2, [])


@pytest.mark.parametrize(
    ("forget", "refuse", "error"),
    [
        (Forget(bank="a", ids=("s001",)), "raise RuntimeError('read only')", "forget raised RuntimeError: read only"),
        (Forget(bank="a", query="rowing"), "", "forget has no keyword 'query', so it cannot forget by it"),
    ],
)
def test_a_failed_request_fails_the_questions_after_it(tmp_path: Path, forget: Forget, refuse: str, error: str) -> None:
    before, *others = rows(tmp_path, forget, refuse=refuse)
    assert before.outcome is Outcome.OK
    assert [row.outcome for row in others] == [Outcome.ADAPTER_ERROR] * 2
    assert all(error in (row.error or "") for row in others)


def test_a_request_to_forget_comes_first_in_an_empty_memory(tmp_path: Path) -> None:
    scenario = Scenario(
        scenario_id="empty", steps=(Forget(bank="a"), *STEPS[:1], Recall(question_id="q", question="?", bank="a"))
    )
    with system(tmp_path, BANKS.replace("{more}", "").replace("{refuse}", "")) as process:
        runner = ScenarioRunner(process, None, 10, lambda *told: None, lambda: False)
        (finished,) = runner.run(ScenarioWork(scenario, {"q": ("q",)}))
    assert found(finished.responses[0]) == ["s001:t01"]
