"""Steps that ask a system to forget: in order, for what they name, and no more."""

from pathlib import Path

import pytest

from memeval.execution.steps import ScenarioWork
from memeval.records.response import Outcome, Response
from memeval.records.scenario import Export, Forget, Recall, Retain, Scenario, Step
from tests.execution.helpers import rows_from, runner, system

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


def rows(tmp_path: Path, forget: Forget, more: str = "", refuse: str = "", source: str = BANKS) -> list[Response]:
    """Run the steps with a request to forget before the last two questions, and return the responses."""
    after = (Recall(question_id="after", question="?", bank="a"), Export(question_id="kept", question="?"))
    return responses(tmp_path, (*STEPS, forget, *after), more, refuse, source)


def responses(
    tmp_path: Path, steps: tuple[Step, ...], more: str = "", refuse: str = "", source: str = BANKS
) -> list[Response]:
    scenario = Scenario(scenario_id="forgetting", steps=steps)
    work = ScenarioWork(scenario, {each.question_id: (each.question_id,) for each in scenario.questions()})
    with system(tmp_path, source.replace("{more}", more).replace("{refuse}", refuse)) as process:
        return rows_from(runner(process), work)


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
        (Forget(bank="a", query="rowing"), "", "Declare it as forget(self, bank=None, ids=None, query=None)."),
    ],
)
def test_a_failed_request_fails_the_questions_after_it(tmp_path: Path, forget: Forget, refuse: str, error: str) -> None:
    before, *others = rows(tmp_path, forget, refuse=refuse)
    assert before.outcome is Outcome.OK
    assert [row.outcome for row in others] == [Outcome.ADAPTER_ERROR] * 2
    assert all(error in (row.error or "") for row in others)


def test_a_request_to_forget_comes_first_in_an_empty_memory(tmp_path: Path) -> None:
    (after,) = responses(tmp_path, (Forget(bank="a"), *STEPS[:1], Recall(question_id="q", question="?", bank="a")))
    assert found(after) == ["s001:t01"]


@pytest.mark.parametrize(
    ("returned", "error"),
    [
        ("None", None),
        ("0", None),
        ("1.0", None),
        ("'1'", "forget returned"),
        ("-1", "forget returned"),
        ("0.5", "forget returned a number that is not whole"),
        ("float('nan')", "forget returned"),
        ("[1]", "forget returned"),
    ],
)
def test_what_forget_returns_is_a_count_or_nothing(tmp_path: Path, returned: str, error: str | None) -> None:
    _, after, _ = rows(tmp_path, Forget(bank="a", ids=("s001",)), refuse=f"return {returned}")
    assert after.outcome is (Outcome.OK if error is None else Outcome.ADAPTER_ERROR)
    assert (error or "") in (after.error or "")


def test_forget_may_be_asynchronous(tmp_path: Path) -> None:
    source = "import asyncio\n" + BANKS.replace("    def forget", "    async def forget")
    before, after, _ = rows(tmp_path, Forget(bank="a", ids=("s001",)), refuse="await asyncio.sleep(0)", source=source)
    assert (len(found(before)), found(after)) == (2, ["s002:t01"])


def test_a_deletion_that_is_still_running_without_settle_is_found_to_have_left_the_text(tmp_path: Path) -> None:
    source = BANKS.replace("    def settle", "    def not_settle")
    _, after, _ = rows(tmp_path, Forget(bank="a", ids=("s001",)), source=source)
    assert "s001:t01" in found(after)


def test_a_deletion_of_everything_leaves_nothing_for_later_questions(tmp_path: Path) -> None:
    _, after, _ = rows(tmp_path, Forget(bank="a", ids=("s001",)), refuse="self.kept = []; return 2")
    assert (after.outcome, found(after)) == (Outcome.OK, [])


@pytest.mark.parametrize("bank", ["team/ana", "Ana ", "../ana", "*", "ana\nben", "Ünï", "%2F", "'; --"])
def test_names_of_banks_reach_a_system_as_they_are(tmp_path: Path, bank: str) -> None:
    texts = (
        Retain(text_id="s001", content="Rows.", bank=bank, source_id="r1"),
        Retain(text_id="s002", content="Sings.", bank="ana", source_id="r2"),
    )
    asked = (Recall(question_id="own", question="?", bank=bank), Recall(question_id="other", question="?", bank="ana"))
    again = (Forget(bank=bank), Recall(question_id="gone", question="?", bank=bank))
    own, other, gone = responses(tmp_path, (*texts, *asked, *again))
    assert (found(own), found(other), found(gone)) == (["s001:t01"], ["s002:t01"], [])


def test_a_clock_that_goes_backwards_changes_no_order(tmp_path: Path) -> None:
    texts = tuple(
        Retain(text_id=f"s00{number}", content=text, bank="a", source_id=text, occurred_at=day)
        for number, (text, day) in enumerate((("Late.", "2025-03-01"), ("Early.", "2024-03-01")), 1)
    )
    asked = Recall(question_id="q", question="?", bank="a", timestamp="2023-01-01")
    (response,) = responses(tmp_path, (*texts, asked))
    assert found(response) == ["s001:t01", "s002:t01"]


@pytest.mark.parametrize(
    ("exported", "outcome", "error"),
    [
        ("[]", Outcome.OK, ""),
        ("[{'text': ''}]", Outcome.OK, ""),
        ("[{'source_ids': ['s001']}]", Outcome.ADAPTER_ERROR, "text"),
        ("None", Outcome.ADAPTER_ERROR, "export_memories"),
        ("'everything'", Outcome.ADAPTER_ERROR, "export_memories"),
    ],
)
def test_an_export_without_texts_is_empty_or_an_error(
    tmp_path: Path, exported: str, outcome: Outcome, error: str
) -> None:
    source = BANKS.replace('return [{"text": str(self.settled)}]', f"return {exported}")
    *_, kept = rows(tmp_path, Forget(bank="a", ids=("s001",)), source=source)
    assert kept.outcome is outcome
    assert error in (kept.error or "")


def test_an_id_that_names_two_texts_deletes_both(tmp_path: Path) -> None:
    texts = tuple(Retain(text_id="s001", content=text, bank="a", source_id=text) for text in ("Rows.", "Sings."))
    asked = [Recall(question_id=name, question="?", bank="a") for name in ("before", "after")]
    before, after = responses(tmp_path, (*texts, asked[0], Forget(bank="a", ids=("s001",)), asked[1]))
    assert (len(found(before)), found(after)) == (2, [])
