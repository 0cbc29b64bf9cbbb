"""One scenario through one system: readers that fail, stops, endpoints, and what systems say of their usage."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memeval.execution.readers import NoReader
from memeval.execution.runner import ScenarioRunner
from memeval.execution.steps import FinishedItems, ScenarioWork
from memeval.gateway.stops import BudgetSpent, GatewayStopped
from memeval.reading import Reader
from memeval.records.call import Phase
from memeval.records.response import Outcome, ReportedUsage, Response
from memeval.records.scenario import Export, Recall, Reflect, Retain, Scenario, Step, Task
from memeval.systems.process import SystemProcess
from tests.execution.helpers import (
    SEARCHING,
    Reads,
    RecordingEndpoint,
    native,
    rows_from,
    runner,
    searching,
    system,
    work,
)
from tests.systems.helpers import PATIENT

Said = list[tuple[str, str, str]]


def answers(
    system: SystemProcess, todo: ScenarioWork, reader: Reader | None = None, said: Said | None = None
) -> list[Response]:
    log: Said = [] if said is None else said
    with system:
        return rows_from(runner(system, reader, log=lambda *told: log.append(told)), todo)


def until_stopped(runs: ScenarioRunner, todo: ScenarioWork) -> list[FinishedItems]:
    """Run a scenario that a stop ends, and return what came to an end before."""
    finished = []
    steps = runs.run(todo)
    with pytest.raises(GatewayStopped):
        while True:
            finished.append(next(steps))
    return finished


def test_a_failed_reader_is_an_error_of_one_question_only(tmp_path: Path) -> None:
    said: Said = []
    rows = answers(searching(tmp_path), work(questions=3, items=3), Reads(fails=frozenset({2})), said)
    assert [row.outcome for row in rows] == [Outcome.OK, Outcome.READER_ERROR, Outcome.OK]
    failed = rows[1]
    assert (failed.answer, failed.error) == ("", "The model replied with a web page.")
    assert failed.reader_key == "sha256:" + "0" * 64
    assert failed.items is not None, "what was retrieved stays on record"
    assert failed.context_digest is not None
    assert said == [("read", "tiny-000:q01: 2 lines were not sent.", "tiny-000")]


def test_a_context_without_items_is_an_error_if_items_are_graded(tmp_path: Path) -> None:
    source = SEARCHING.replace("return self.told[:k]", "return {'context': ' '.join(self.told)}")
    (response,) = answers(system(tmp_path, source), work(), NoReader())
    assert response.outcome is Outcome.ADAPTER_ERROR
    assert response.error == "The reply has a context but no items. Return items: the benchmark grades them."


def test_a_system_that_says_it_is_not_ready_fails_all_questions_as_not_ready(tmp_path: Path) -> None:
    rows = answers(native(tmp_path, more="    def settle(self, timeout): return False"), work(questions=2, items=2))
    assert [row.outcome for row in rows] == [Outcome.NOT_READY] * 2
    assert rows[0].error == "settle returned False: the system is not ready."


def test_items_without_a_context_are_read_one_a_line(tmp_path: Path) -> None:
    source, reader = SEARCHING.replace("return self.told[:k]", "return ['first of all', 'second']"), Reads()
    answers(system(tmp_path, source), work(), reader)
    assert reader.seen == [("first of all\nsecond",)]


def test_the_time_of_a_search_is_kept_apart_from_that_of_a_query(tmp_path: Path) -> None:
    (searched,) = answers(searching(tmp_path), work(), Reads())
    assert searched.timings.search_seconds is not None
    assert searched.timings.ask_seconds is None
    (asked,) = answers(native(tmp_path), work())
    assert asked.timings.ask_seconds is not None
    assert asked.timings.search_seconds is None


def test_an_agent_that_keeps_context_reads_all_contexts(tmp_path: Path) -> None:
    todo = work(questions=3)
    reader = Reads()
    answers(
        searching(tmp_path),
        replace(todo, scenario=todo.scenario.model_copy(update={"agent_keeps_context": True})),
        reader,
    )
    assert [len(contexts) for contexts in reader.seen] == [1, 2, 3]
    reader = Reads()
    answers(searching(tmp_path), todo, reader)
    assert [len(contexts) for contexts in reader.seen] == [1, 1, 1]


def test_an_agent_keeps_the_context_of_its_item_alone(tmp_path: Path) -> None:
    """So the answers to an item do not depend on which others are open when a run resumes."""
    todo = work(questions=4, items=2)
    keeping = todo.scenario.model_copy(update={"agent_keeps_context": True})
    reader = Reads()
    answers(searching(tmp_path), replace(todo, scenario=keeping), reader)
    assert [len(contexts) for contexts in reader.seen] == [1, 2, 1, 2]


def test_a_stop_in_the_reader_keeps_only_finished_items(tmp_path: Path) -> None:
    with searching(tmp_path) as system:
        reader = Reads(stops={6: BudgetSpent("The budget is spent.")})
        runs = runner(system, reader)
        finished = until_stopped(runs, work(questions=8, items=4))
    assert [each.items for each in finished] == [("item-0-0",), ("item-0-1",)]
    assert [row.outcome for each in finished for row in each.responses] == [Outcome.OK] * 4


@pytest.mark.parametrize(
    "what_the_system_does",
    [
        "raise RuntimeError('402 Payment Required')",
        "os._exit(1)",
        "return 'I could not reach my model.'",
        "time.sleep(60)",  # longer than it may
    ],
)
def test_after_a_stop_no_failure_counts_against_the_system(tmp_path: Path, what_the_system_does: str) -> None:
    stopped = tmp_path / "stopped"
    on_query = (
        f"if self.asked == 3: open({str(stopped)!r}, 'w').close()\n        if self.asked >= 3: {what_the_system_does}"
    )

    def check() -> None:
        if stopped.exists():
            raise BudgetSpent("The budget is spent.")

    limits = PATIENT.model_copy(update={"ask_seconds": 2.0})
    with native(tmp_path, on_query, limits=limits) as system:
        runs = runner(system, check=check)
        finished = until_stopped(runs, work(questions=4, items=4))
    assert [each.items for each in finished] == [("item-0-0",), ("item-0-1",)]
    assert all(row.outcome is Outcome.OK for each in finished for row in each.responses)


def test_a_stop_during_ingest_leaves_no_row(tmp_path: Path) -> None:
    def check() -> None:
        raise GatewayStopped("The key is refused.")

    with native(tmp_path, more="    def settle(self, timeout): raise RuntimeError('no model')") as system:
        runs = runner(system, check=check)
        assert until_stopped(runs, work(questions=2, items=2)) == []


def test_an_endpoint_receives_every_pass_and_phase_in_order(tmp_path: Path) -> None:
    endpoint = RecordingEndpoint()
    died = tmp_path / "died"
    on_query = (
        f"if self.asked == 2 and not os.path.exists({str(died)!r}): open({str(died)!r}, 'w').close(); os._exit(1)"
    )
    with native(tmp_path, on_query) as system:
        runs = runner(system, endpoint=endpoint)
        rows = rows_from(runs, work(questions=2, items=2))
        list(runs.run(work(1)))
    assert [row.outcome for row in rows] == [Outcome.OK, Outcome.OK]
    once = [Phase.INGEST, Phase.SETTLE, Phase.ASK]
    assert endpoint.recorded == ["tiny-000", *once, "tiny-000", *once, "tiny-001", *once]


def test_a_question_that_always_crashes_uses_up_no_other_questions_repeat(tmp_path: Path) -> None:
    died = tmp_path / "died"
    on_query = (
        f"if '(0)' in question: os._exit(1)\n        if '(2)' in question and not os.path.exists({str(died)!r}): "
        f"open({str(died)!r}, 'w').close(); os._exit(1)"
    )
    rows = answers(native(tmp_path, on_query), work(questions=4, items=4))
    assert [row.outcome for row in rows] == [Outcome.ADAPTER_ERROR, *[Outcome.OK] * 3]


def test_an_item_that_crashes_late_keeps_its_earlier_answers(tmp_path: Path) -> None:
    rows = answers(native(tmp_path, "if self.asked == 2: os._exit(3)"), work(questions=3))
    assert [row.outcome for row in rows] == [Outcome.OK, Outcome.ADAPTER_ERROR, Outcome.ADAPTER_ERROR]
    assert rows[0].answer and not rows[1].answer


@pytest.mark.parametrize("counts", [True, False])
def test_the_ingestion_of_a_later_slice_is_not_counted_again(tmp_path: Path, counts: bool) -> None:
    (row,) = answers(native(tmp_path), replace(work(), counts_ingestion=counts))
    assert (row.timings.take_in_seconds is not None, row.timings.take_in_sessions > 0) == (counts, counts)


def test_a_search_is_a_separate_phase_at_the_endpoint(tmp_path: Path) -> None:
    endpoint = RecordingEndpoint()
    with searching(tmp_path) as system:
        list(runner(system, Reads(), endpoint=endpoint).run(work()))
    assert endpoint.recorded == ["tiny-000", Phase.INGEST, Phase.SETTLE, Phase.SEARCH]


@pytest.mark.parametrize("starts_again", [True, False])
def test_usage_is_the_difference_with_or_without_a_reset_of_totals(tmp_path: Path, starts_again: bool) -> None:
    on_reset = "self.n = 0" if starts_again else "self.n = getattr(self, 'n', 0)"
    source = f"""
class Counting:
    def reset(self):
        {on_reset}
    def ingest_session(self, session, timestamp):
        self.n += 100
    def query(self, question, timestamp="now"):
        self.n += 3
        return "fine"
    def usage(self):
        return {{"prompt_tokens": self.n, "cost_usd": 0.1 * self.n}}
"""
    with system(tmp_path, source) as counting:
        runs = runner(counting)
        for number in range(2):
            rows = rows_from(runs, work(number, questions=2))
            assert [row.usage for row in rows] == [
                ReportedUsage(prompt_tokens=203, cost_usd=20.3),
                ReportedUsage(prompt_tokens=3, cost_usd=0.3),
            ]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("return 'much'", "usage returned str ('much'), not a dict (adapter.py:17)."),
        (
            "return {'prompt_tokens': -1}",
            "usage returned a dict whose 'prompt_tokens' is a negative number (adapter.py:17).",
        ),
        ("return {'prompt_tokens': float('nan')}", "not finite"),
        ("return {'cost_usd': 10 ** 400}", "not finite"),
        ("return {'prompt_tokens': 100 - 10 * self.asked}", "usage returned less than before."),
        ("raise RuntimeError('no idea')", "usage raised RuntimeError: no idea (adapter.py:17 in usage)."),
    ],
)
def test_impossible_usage_is_logged_once_and_fails_no_item(tmp_path: Path, body: str, words: str) -> None:
    said: Said = []
    rows = answers(native(tmp_path, more=f"    def usage(self): {body}"), work(questions=3, items=3), None, said)
    assert [(row.outcome, row.usage) for row in rows] == [(Outcome.OK, None)] * 3
    ((event, detail, scenario_id),) = said
    assert (event, scenario_id) == ("usage", "tiny-000")
    assert words in detail


def test_a_system_that_crashes_in_usage_loses_no_item(tmp_path: Path) -> None:
    said: Said = []
    more = "    def usage(self):\n        if self.asked: os._exit(1)\n        return {}"
    rows = answers(native(tmp_path, more=more), work(questions=3, items=3), None, said)
    assert [row.outcome for row in rows] == [Outcome.OK] * 3
    assert [event for event, _, _ in said] == ["usage", "crashed", "repeated"]


def test_a_partial_usage_report_is_accepted(tmp_path: Path) -> None:
    more = "    def usage(self): return {'completion_tokens': 4 * self.asked, 'model': 'mine'}"
    rows = answers(native(tmp_path, more=more), work(questions=2))
    assert [row.usage for row in rows] == [ReportedUsage(completion_tokens=4)] * 2


BANKS = """
import asyncio

class Banks:
    def reset(self):
        self.kept, self.calls, self.most, self.now = [], [], 0, 0
    def retain(self, content, bank=None, occurred_at=None, tags=None, source_id=None, fact_type=None, metadata=None):
        self.kept.append({"text": content, "source_ids": [source_id], "bank": bank})
        self.calls.append((content, bank, occurred_at, tags, source_id, fact_type, metadata))
    async def recall(self, query, k, bank=None, tags=None, since=None, until=None, timestamp=None):
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.02)
        self.now -= 1
        if query == "fail":
            raise RuntimeError("the index is gone")
        if query == "calls":
            return [repr(call) for call in self.calls]
        if query == "at once":
            return [str(self.most)]
        if query == "asked":
            return [repr((k, bank, tags, since, until, timestamp))]
        return [one for one in self.kept if one["bank"] == bank]
    def reflect(self, query, bank=None, timestamp=None, dispositions=None):
        return "" if query == "nothing" else repr((query, bank, timestamp, dispositions))
    def export_memories(self):
        return self.kept
    def search(self, query, k, timestamp="now"):
        return self.kept[:k]
"""

TEXTS = (
    Retain(
        text_id="s001",
        content="Rows.",
        bank="a",
        occurred_at="2025-01-02",
        tags=("sport",),
        fact_type="world",
        metadata={"sure": True},
        source_id="r1",
    ),
    Retain(text_id="s002", content="Sings.", bank="b", source_id="r2"),
)


def asked(*steps: Step) -> ScenarioWork:
    """Return work of texts to retain and of questions, each an item of its own."""
    made = Scenario(scenario_id="banks", steps=(*TEXTS, *steps))
    return ScenarioWork(scenario=made, items={each.question_id: (each.question_id,) for each in made.questions()})


def recalls(*queries: str, **more: Any) -> tuple[Recall, ...]:
    """Return searches, in order."""
    return tuple(Recall(question_id=f"q{place}", question=query, **more) for place, query in enumerate(queries))


def texts_of(row: Response) -> list[str]:
    """Return the texts of what was brought up, by id where they are those of the history."""
    return [item.turn_id or item.text or "" for item in row.items or ()]


def test_texts_are_retained_with_their_metadata_and_a_bank_is_searched(tmp_path: Path) -> None:
    todo = asked(*recalls("calls", "asked", k=3, bank="a", tags=("sport",), since="2025-01-01", until="2025-02-01"))
    calls, called = answers(system(tmp_path, BANKS), todo)
    assert texts_of(calls) == [
        repr(("Rows.", "a", "2025-01-02", ["sport"], "s001", "world", {"sure": True})),
        repr(("Sings.", "b", None, None, "s002", None, None)),
    ]
    assert texts_of(called) == [repr((3, "a", ["sport"], "2025-01-01", "2025-02-01", None))]
    assert (calls.outcome, calls.answer) == (Outcome.OK, "")
    assert len(calls.timings.retain_seconds) == calls.timings.take_in_sessions == 2
    assert calls.timings.search_seconds is not None and calls.timings.ask_seconds is None


def test_an_empty_search_result_is_an_answer(tmp_path: Path) -> None:
    empty = Recall(question_id="none", question="y", bank="c")
    found, nothing = answers(system(tmp_path, BANKS), asked(*recalls("x", bank="a"), empty))
    assert texts_of(found) == ["s001:t01"]
    assert (nothing.outcome, nothing.items) == (Outcome.OK, ())


def by_question(rows: list[Response]) -> list[Response]:
    return sorted(rows, key=lambda row: row.question_id)


def test_each_of_several_concurrent_searches_has_its_own_response(tmp_path: Path) -> None:
    todo = asked(*recalls("x", "fail", *["x"] * 6, "at once", in_flight=4, bank="a"))
    rows = by_question(answers(system(tmp_path, BANKS), todo))
    assert [row.question_id for row in rows] == [f"q{place}" for place in range(9)]
    assert [row.outcome for row in rows] == [Outcome.OK, Outcome.ADAPTER_ERROR, *[Outcome.OK] * 7]
    assert "the index is gone" in (rows[1].error or "")
    (at_once,) = texts_of(rows[-1])
    assert 2 <= int(at_once) <= 4
    alone = answers(system(tmp_path, BANKS), asked(*recalls("x", "x", "at once", bank="a")))
    assert texts_of(alone[-1]) == ["1"]


def test_the_usage_of_concurrent_searches_is_in_the_last_response(tmp_path: Path) -> None:
    source = BANKS.replace(
        "    def export", "    def usage(self): return {'prompt_tokens': 5 * len(self.kept)}\n    def export"
    )
    source = source.replace(
        '        if query == "fail":',
        '        self.kept.append({"text": "x", "bank": "z"})\n        if query == "fail":',
    )
    rows = answers(system(tmp_path, source), asked(*recalls("x", "fail", *["x"] * 6, in_flight=4, bank="a")))
    assert [row.outcome for row in by_question(rows)] == [Outcome.OK, Outcome.ADAPTER_ERROR, *[Outcome.OK] * 6]
    assert [row.usage for row in rows] == [*[None] * 7, ReportedUsage(prompt_tokens=5 * (2 + 8))]


def test_a_crash_during_concurrent_searches_fails_one_of_them(tmp_path: Path) -> None:
    dies = "import os; await asyncio.sleep(0.3); os._exit(1)"
    source = BANKS.replace('raise RuntimeError("the index is gone")', dies)
    rows = answers(system(tmp_path, source), asked(*recalls("x", "fail", "x", "x", in_flight=2, bank="a")))
    assert [row.question_id for row in rows if row.outcome is not Outcome.OK] == ["q1"]
    assert len(rows) == 4


def test_a_reflection_is_the_systems_answer_and_receives_its_dispositions(tmp_path: Path) -> None:
    steps = (
        Reflect(question_id="f1", question="why", bank="a", timestamp="2025-03-01", dispositions={"skepticism": 5}),
        Reflect(question_id="f2", question="how"),
        Reflect(question_id="f3", question="nothing"),
    )
    first, second, third = answers(system(tmp_path, BANKS), asked(*steps))
    assert first.answer == repr(("why", "a", "2025-03-01", {"skepticism": 5}))
    assert second.answer == repr(("how", None, None, None))
    assert third.outcome is Outcome.EMPTY
    assert first.timings.ask_seconds is not None


def test_an_export_returns_all_items_and_no_context(tmp_path: Path) -> None:
    (shown,) = answers(system(tmp_path, BANKS), asked(Export(question_id="e", question="")))
    assert texts_of(shown) == ["s001:t01", "s002:t01"]
    assert (shown.outcome, shown.context_digest, shown.context_tokens) == (Outcome.OK, None, None)


def test_a_system_without_retain_ingests_texts_as_sessions(tmp_path: Path) -> None:
    todo = asked(Task(question_id="t", question="Do it.", query="sings"))
    (row,) = answers(searching(tmp_path), todo, Reads())
    assert texts_of(row) == ["s001:t01", "s002:t01"]
    assert row.timings.retain_seconds == () and row.timings.take_in_sessions == 2
