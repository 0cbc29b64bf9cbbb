"""Runs with models: sealing, verification, reproduction, retries, replays, budgets and keys."""

import json
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from memeval.archive.runs import RunFolder
from memeval.evaluation.run.models import RECORD, ModelOptions
from memeval.evaluation.run.running import run_system
from memeval.evaluation.verify.reproduce import reproduce_run
from memeval.evaluation.verify.verification import verify_run
from memeval.execution.progress import Progress
from memeval.gateway.stops import BudgetSpent
from memeval.records.call import Caller, Phase
from memeval.records.errors import BadInput
from memeval.records.grade import GradeState
from memeval.records.response import Outcome
from memeval.systems.source import SystemSource, file_source, find_system
from tests.evaluation.asking import (
    DATED,
    LABEL,
    Json,
    PickyServer,
    answer_in,
    asking_system,
    benchmark_session,
    by_rules,
    fair,
    files_under,
    one_wrong,
    options,
    rows_of,
    said_to,
    searching_system,
    with_the_tiny_benchmark,
    without_models,
)
from tests.evaluation.verify.by_hand import edit_head, edit_rows
from tests.evaluation.verify.test_trust import copied
from tests.support.adapters import plain_adapter


def findings(folder: RunFolder) -> str:
    return "\n".join(map(str, verify_run(RunFolder(folder.path))))


def differences(folder: RunFolder) -> str:
    return "\n".join(map(str, reproduce_run(RunFolder(folder.path)).findings))


def judged(folder: Path) -> RunFolder:
    """Return a model-judged run of a system with one wrong answer."""
    return run_system(one_wrong(folder), benchmark_session(), options(folder))


def budgeted(folder: Path, source: SystemSource, *caps: str) -> RunFolder:
    """Run a system whose judge is asked one question at a time."""
    models = ModelOptions(budget=caps, judge_concurrency=1)
    return run_system(source, benchmark_session(), options(folder, models=models))


@pytest.fixture(scope="module")
def once_judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a model-judged run that no test edits."""
    with pytest.MonkeyPatch.context() as patch, PickyServer() as server:
        without_models(patch)
        with_the_tiny_benchmark(patch)
        patch.setenv("OPENAI_BASE_URL", server.url)
        return judged(tmp_path_factory.mktemp("judged")).path


@pytest.fixture
def to_edit(once_judged: Path, tmp_path: Path, no_models: None, tiny: None) -> RunFolder:
    """A copy of the run. Neither to verify it nor to reproduce it asks its judge."""
    return RunFolder(copied(once_judged, tmp_path))


def test_a_judged_run_says_what_judging_took_and_reproduces_without_server(
    tmp_path: Path, server: PickyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = judged(tmp_path)
    track = run.run.track
    assert (track.judge, track.judge_endpoint, track.judge_label) == (DATED, server.url, LABEL)
    grades = list(run.grades())
    assert [(grade.state, grade.verdict) for grade in grades] == [
        (GradeState.GRADED, verdict) for verdict in (True, False, True, True)
    ]
    calls = list(run.judgments())
    assert [call.key for call in calls] == sorted({str(grade.judgment_key) for grade in grades})
    assert {(call.caller, call.phase, call.run_id, call.error) for call in calls} == {
        (Caller.JUDGE, Phase.JUDGE, run.run.run_id, None)
    }
    (usage,) = run.run.usage.values()
    replies = [json.loads(call.reply or "")["usage"] for call in calls]
    assert (usage.calls, usage.cached, usage.failed) == (4, 0, 0)
    assert usage.prompt_tokens == sum(reply["prompt_tokens"] for reply in replies)
    assert usage.completion_tokens == sum(reply["completion_tokens"] for reply in replies)
    assert usage.usd == pytest.approx(sum(call.cost_usd or 0 for call in calls))
    assert usage.usd and usage.usd > 0
    assert run.run.prices and run.run.prices.startswith("genai-prices")
    assert run.run.timing.phases[Phase.JUDGE].calls == 4
    assert {prompt.name: prompt.digest for prompt in run.prompts()} == track.prompts
    (tmp_path / "results" / RECORD).unlink()
    monkeypatch.delenv("OPENAI_BASE_URL")
    assert findings(run) == differences(run) == ""
    assert server.requests == sum(server.answered.values()) == 4


def test_answers_that_are_equal_are_judged_once(tmp_path: Path, server: PickyServer) -> None:
    run = run_system(find_system("always-hedge"), benchmark_session(), options(tmp_path))
    again = run_system(find_system("always-hedge"), benchmark_session(), options(tmp_path, fresh=True))
    assert server.requests == 4
    assert [call.run_id for call in again.judgments()] == [run.run.run_id] * 4
    (usage,) = again.run.usage.values()
    assert (usage.calls, usage.cached, usage.usd) == (0, 4, 0.0)
    assert usage.cached_usd == pytest.approx(sum(call.cost_usd or 0 for call in run.judgments()))
    assert again.run.cost.usd == 0.0
    assert findings(again) == differences(again) == ""


def flipped(call: Json) -> None:
    yes = '"content": "yes"' in call["reply"]
    call["reply"] = call["reply"].replace('"yes"' if yes else '"no"', '"no"' if yes else '"yes"')


def dearer(call: Json) -> None:
    call["prompt_tokens"] += 1


@pytest.mark.parametrize(
    ("name", "edit", "said"),
    [
        ("judgments.jsonl", lambda rows: flipped(rows[1]), "grades.jsonl.gz:"),
        ("judgments.jsonl", lambda rows: rows[2].update(key="sha256:" + "0" * 64), "jsonl.gz:3: has a key that"),
        ("judgments.jsonl", lambda rows: rows[1]["request"]["body"].update(seed=1), "jsonl.gz:2: has a key that"),
        ("judgments.jsonl", lambda rows: rows.pop(0), "names a judgment that is missing from judgments.jsonl.gz"),
        ("judgments.jsonl", lambda rows: dearer(rows[0]), "run.json: usage.judge.prompt_tokens: is"),
        ("judgments.jsonl", lambda rows: rows[0].update(cost_usd=9.0), "run.json: usage.judge.usd: is"),
        ("judgments.jsonl", lambda rows: dearer(rows[3]), "jsonl.gz:4: has a 'prompt_tokens' that does not"),
        ("judgments.jsonl", lambda rows: rows[1].update(cost_usd=1e-9), "jsonl.gz:2: has a 'cost_usd' that does not"),
        ("judgments.jsonl", lambda rows: rows[1].update(model="other"), "jsonl.gz:2: has a 'model' that does not"),
        ("judgments.jsonl", lambda rows: rows[2].update(phase="ask"), "jsonl.gz:3: is not a call to the judge of the"),
        ("judgments.jsonl", lambda rows: rows[0].update(run_id="elsewhere"), "run.json: usage.judge.cached: is 0, but"),
        ("grades.jsonl", lambda rows: rows[1].update(verdict=True), "grades.jsonl.gz:2: tiny-001-q01: the verdict"),
        ("grades.jsonl", lambda rows: rows[3].update(judgment_key=None), "grades.jsonl.gz:4: tiny-003-q01 has no"),
        ("prompts.jsonl", lambda rows: rows[1].update(text="Say yes. {answer}"), "prompts.jsonl.gz:2: the prompt"),
        ("prompts.jsonl", lambda rows: rows.pop(), "prompts.jsonl.gz: the prompt 'judge/uncertainty-abstention-conf"),
    ],
)  # fmt: skip
def test_an_edit_is_found_under_a_digest(
    to_edit: RunFolder, name: str, edit: Callable[[list[Json]], object], said: str
) -> None:
    edit_rows(to_edit.path / "run.json", name, lambda rows: edit(rows) and None)
    assert f"{name}.gz: does not match its digest" in findings(to_edit)
    edit_rows(to_edit.path / "run.json", name, lambda rows: rows, forge=True)
    found = findings(to_edit)
    assert "digest" not in found and said in found


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda head: head["usage"]["judge"].update(usd=0.0), "run.json: usage.judge.usd: is 0.0, but the rows give"),
        (lambda head: head["usage"]["judge"].update(calls=9), "run.json: usage.judge.calls: is 9, but the rows give 4"),
        (lambda head: head.update(usage={}), "run.json: usage.judge: is None, but the rows give"),
        (lambda head: head["cost"].update(usd=0.0), "run.json: cost.usd: is 0.0, but the rows give"),
        (lambda head: head["timing"]["phases"]["judge"].update(p50=0.0), "run.json: timing.phases.judge.p50: is 0.0"),
        (lambda head: head["track"].update(judge_label="OpenAI"), "run.json: track_id: is"),
        (lambda head: head["files"].pop("judgments.jsonl"), "judgments.jsonl.gz: does not belong to the run"),
    ],
)
def test_other_sums_than_the_rows_make_are_found(to_edit: RunFolder, edit: Callable[[Json], object], said: str) -> None:
    edit_head(to_edit.path / "run.json", edit)
    assert said in findings(to_edit)


def test_an_edited_reply_contradicts_the_stored_verdict(to_edit: RunFolder) -> None:
    key = list(to_edit.grades())[1].judgment_key

    def turn(rows: list[Json]) -> None:
        flipped(next(row for row in rows if row["key"] == key))

    edit_rows(to_edit.path / "run.json", "judgments.jsonl", turn, forge=True)
    assert "grades.jsonl.gz:2: tiny-001-q01: the verdict does not match the judge's reply" in findings(to_edit)
    assert "grades.jsonl.gz:2: tiny-001-q01 is stored as wrong (graded), but regrading gives" in differences(to_edit)


@pytest.mark.parametrize("fault", ["400", "500", "garbage", "upstream", "filtered"])
def test_a_judgment_that_always_fails_is_its_items_error(tmp_path: Path, server: PickyServer, fault: str) -> None:
    server.fails_on, server.fault, server.most_faults = lambda body: answer_in(body) == "Nowhere.", fault, None
    run = judged(tmp_path)
    assert [(grade.state, grade.verdict) for grade in run.grades()] == [
        (GradeState.GRADED, True),
        (GradeState.JUDGE_ERROR, None),
        (GradeState.GRADED, True),
        (GradeState.GRADED, True),
    ]
    (failed,) = (call for call in run.judgments() if call.error is not None)
    assert failed.key == list(run.grades())[1].judgment_key
    assert failed.tries == (1 if fault == "400" else 2)
    assert run.run.usage[Phase.JUDGE].failed == 1
    assert run.run.scores.overall.errors == 1
    assert findings(run) == differences(run) == ""
    assert "tiny-001" not in (tmp_path / "results" / RECORD).read_text(), "a failed call is shared with nobody"


def test_only_a_failed_judgment_is_asked_for_again_on_request(tmp_path: Path, server: PickyServer) -> None:
    server.fails_on = lambda body: answer_in(body) == "Nowhere."
    first = judged(tmp_path)
    server.fails_on = lambda _body: False
    asked = server.requests
    source = file_source(tmp_path / "plain.py")
    assert run_system(source, benchmark_session(), options(tmp_path)).path == first.path
    again = run_system(source, benchmark_session(), options(tmp_path, retry_errors=True))
    assert again.path != first.path
    assert server.requests == asked + 1
    assert [row.to_json() for row in again.responses()] == [row.to_json() for row in first.responses()]
    assert [grade.verdict for grade in again.grades()] == [True, False, True, True]
    assert (again.run.usage[Phase.JUDGE].calls, again.run.usage[Phase.JUDGE].cached) == (1, 3)
    assert findings(again) == differences(again) == ""


def test_a_resumed_run_keeps_the_failed_and_the_successful_judgment(tmp_path: Path, server: PickyServer) -> None:
    source = one_wrong(tmp_path)
    server.fails_on = lambda body: answer_in(body) == "Nowhere."
    with pytest.raises(BudgetSpent):
        budgeted(tmp_path, source, "judge.tokens=1700")
    server.fails_on = lambda _body: False
    run = budgeted(tmp_path, source)
    key = list(run.grades())[1].judgment_key
    assert [call.error is None for call in run.judgments() if call.key == key] == [False, True]
    usage = run.run.usage[Phase.JUDGE]
    assert (usage.calls, usage.failed) == (5, 1)
    assert [grade.verdict for grade in run.grades()] == [True, False, True, True]
    assert findings(run) == differences(run) == ""


def test_a_judge_that_never_decides_is_asked_twice_and_gives_no_verdict(tmp_path: Path, server: PickyServer) -> None:
    server.answer = lambda body: "Perhaps." if answer_in(body) == "Nowhere." else fair(body)
    run = judged(tmp_path)
    grade = list(run.grades())[1]
    assert (grade.state, grade.verdict, grade.alternates) == (GradeState.UNPARSED, None, {"substring": False})
    assert server.requests == 5
    assert len(list(run.judgments())) == 5, "the first reply is sealed too"
    assert findings(run) == differences(run) == ""


def test_a_reply_that_is_a_verdict_when_asked_again_counts(tmp_path: Path, server: PickyServer) -> None:
    asked: list[str] = []

    def answer(body: Json) -> str:
        asked.append(answer_in(body))
        return "Yes and no." if asked.count(answer_in(body)) == 1 else "no"

    server.answer = answer
    run = judged(tmp_path)
    assert [(grade.state, grade.verdict) for grade in run.grades()] == [(GradeState.GRADED, False)] * 4
    assert next(iter(run.grades())).alternates == {"substring": True}
    assert findings(run) == differences(run) == ""


def answering(server: PickyServer) -> None:
    """Let the server judge, and answer readers and systems from their context."""
    server.answer = lambda body: fair(body) if "----- answer " in said_to(body) else said_to(body)[:3000]


def made(run: RunFolder, caller: Caller) -> set[str]:
    return {call.to_json() for call in run.calls() if call.caller is caller}


@pytest.mark.parametrize("fault", ["400", "upstream", "filtered"])
def test_a_failed_reader_is_tried_again_and_both_calls_stay(tmp_path: Path, server: PickyServer, fault: str) -> None:
    answering(server)
    server.fault = fault
    server.fails_on = lambda body: "----- answer " not in said_to(body) and "Oslo" in said_to(body)
    source = searching_system(tmp_path)
    chosen = {"reader": "openai:gpt-4o-mini"}
    first = run_system(source, benchmark_session(), options(tmp_path, **chosen))
    assert [row.outcome for row in first.responses()][1] is Outcome.READER_ERROR
    assert findings(first) == differences(first) == ""
    server.fails_on = lambda _body: False
    (tmp_path / "results" / RECORD).unlink()
    again = run_system(source, benchmark_session(), options(tmp_path, retry_errors=True, **chosen))
    rows = [(row.question_id, row.attempt, row.outcome) for row in again.responses()]
    assert rows[1:3] == [("tiny-001:q01", 1, Outcome.READER_ERROR), ("tiny-001:q01", 2, Outcome.OK)]
    assert made(first, Caller.READER) < made(again, Caller.READER)
    assert len(made(again, Caller.READER)) == 5
    assert again.run.scores.overall.errors == 0
    assert findings(again) == differences(again) == ""


@pytest.mark.parametrize("fault", ["upstream", "filtered"])
def test_a_system_whose_model_fails_failed_and_is_asked_again(tmp_path: Path, server: PickyServer, fault: str) -> None:
    answering(server)
    server.fault = fault
    server.fails_on = lambda body: "----- answer " not in said_to(body) and "Oslo" in said_to(body)
    source = asking_system(tmp_path)
    first = run_system(source, benchmark_session(), options(tmp_path))
    assert [row.outcome for row in first.responses()][1] is Outcome.ADAPTER_ERROR
    assert first.run.usage[Phase.ASK].failed == 1
    server.fails_on = lambda _body: False
    again = run_system(source, benchmark_session(), options(tmp_path, retry_errors=True))
    assert again.run.scores.overall.errors == 0
    assert findings(again) == differences(again) == ""


@pytest.mark.parametrize(
    ("answer", "judged", "state"),
    [
        ("<think>Not Oslo. Lima? Rome?</think>\nNowhere.", "Nowhere.", GradeState.GRADED),
        ("<think>Oslo</think>", None, GradeState.EMPTY),
    ],
    ids=["what follows it is graded", "nothing follows: the answer is blank"],
)
def test_the_thinking_in_a_systems_answer_is_stored_and_not_graded(
    tmp_path: Path, server: PickyServer, answer: str, judged: str | None, state: GradeState
) -> None:
    source = file_source(plain_adapter(tmp_path, on_query=f"if self.told: return {answer!r}"))
    run = run_system(source, benchmark_session(), options(tmp_path))
    assert {row.answer for row in run.responses()} == {answer}
    assert {answer_in(body) for body in server.bodies} == ({judged} if judged else set())
    assert [(grade.state, grade.verdict) for grade in run.grades()] == [(state, False)] * 4
    assert findings(run) == differences(run) == ""


def test_the_thinking_of_a_reader_and_a_judge_is_in_the_record_alone(tmp_path: Path, server: PickyServer) -> None:
    def answer(body: Json) -> str:
        judged_now = "----- answer " in said_to(body)
        said = fair(body) if judged_now else said_to(body)[:3000]
        return f"<think>No, yes, no.</think>{said}" if judged_now else f"Hm, Oslo.</think>\n{said}"

    server.answer = answer
    run = run_system(searching_system(tmp_path), benchmark_session(), options(tmp_path, reader="openai:gpt-4o-mini"))
    assert not any("think>" in row.answer for row in run.responses())
    assert {grade.state for grade in run.grades()} == {GradeState.GRADED}
    assert all("think>" in (call.reply or "") for call in (*run.judgments(), *run.calls()))
    assert findings(run) == differences(run) == ""


@pytest.mark.parametrize("interrupted", [False, True])
def test_calls_of_carried_over_items_stay_with_a_retry(tmp_path: Path, server: PickyServer, interrupted: bool) -> None:
    answering(server)
    mark = tmp_path / "mended"
    on_query = f"if 'Oslo' in self.told[0] and not os.path.exists({str(mark)!r}): raise OSError('down')"
    source = asking_system(tmp_path, on_query)
    first = run_system(source, benchmark_session(), options(tmp_path))
    assert [row.outcome.is_error for row in first.responses()] == [False, True, False, False]
    mark.touch()
    if interrupted:
        with pytest.raises(BudgetSpent):
            run_system(source, benchmark_session(), options(tmp_path, "tokens=1", retry_errors=True))
        again = run_system(source, benchmark_session(), options(tmp_path))
    else:
        again = run_system(source, benchmark_session(), options(tmp_path, retry_errors=True))
    assert again.path != first.path
    assert made(first, Caller.SYSTEM) < made(again, Caller.SYSTEM)
    assert len(made(again, Caller.SYSTEM)) == 4
    usage = again.run.usage[Phase.ASK]
    assert (usage.calls, usage.cached) == (1, 3)
    assert findings(again) == differences(again) == ""


def test_a_replay_asks_nobody_and_has_every_call(
    tmp_path: Path, server: PickyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    answering(server)
    server.fails_on = lambda body: "----- answer " not in said_to(body) and "Oslo" in said_to(body)
    run = run_system(searching_system(tmp_path), benchmark_session(), options(tmp_path, reader="openai:gpt-4o-mini"))
    monkeypatch.delenv("OPENAI_BASE_URL")
    asked = server.requests
    chosen = options(tmp_path, judge=None, judge_label=None, models=ModelOptions(replay=run))
    again = run_system(searching_system(tmp_path), benchmark_session(), chosen)
    assert server.requests == asked
    assert again.path != run.path
    assert again.run.replayed
    assert again.run.fingerprint == run.run.fingerprint
    for name in ("calls.jsonl", "judgments.jsonl", "grades.jsonl", "prompts.jsonl"):
        assert rows_of(again, name) == rows_of(run, name), name
    assert (again.run.usage[Phase.READ].calls, again.run.usage[Phase.READ].cached) == (0, 4)
    assert findings(again) == differences(again) == ""


def test_a_replay_is_never_taken_for_the_run_it_repeats(tmp_path: Path, server: PickyServer) -> None:
    run = judged(tmp_path)
    source = file_source(tmp_path / "plain.py")
    chosen = options(tmp_path, judge=None, judge_label=None, models=ModelOptions(replay=run))
    replay = run_system(source, benchmark_session(), chosen)
    assert run_system(source, benchmark_session(), options(tmp_path)).path == run.path
    assert run_system(source, benchmark_session(), chosen).path not in (run.path, replay.path)


def test_a_cap_counts_what_the_run_had_spent_before_it_was_stopped(tmp_path: Path, server: PickyServer) -> None:
    source = file_source(plain_adapter(tmp_path))
    with pytest.raises(BudgetSpent, match="the cap of 1,700 tokens for the phase judge is reached"):
        budgeted(tmp_path, source, "judge.tokens=1700")
    asked = server.requests
    assert 0 < asked < 4
    with pytest.raises(BudgetSpent, match=r"[1-9][0-9]* tokens spent"):
        budgeted(tmp_path, source, "judge.tokens=1700")
    assert server.requests == asked, "what was spent before was forgotten"
    run = budgeted(tmp_path, source, "judge.tokens=1e6")
    assert sum(server.answered.values()) == 4, "a judgment was paid for twice"
    (usage,) = run.run.usage.values()
    assert (usage.calls, usage.cached) == (4, 0)
    assert [path.name for path in run.path.parent.iterdir()] == [run.path.name]
    assert findings(run) == differences(run) == ""


def test_a_missing_key_is_named_before_the_run(
    tmp_path: Path, server: PickyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL")
    mark = tmp_path / "asked"
    source = file_source(plain_adapter(tmp_path, on_query=f"open({str(mark)!r}, 'w')"))
    with pytest.raises(BadInput, match="there is no key for the judge's model"):
        run_system(source, benchmark_session(), options(tmp_path, judge_label=None))
    assert not mark.exists()
    assert not [path for path in files_under(tmp_path / "results") if path != str(RECORD)]


def test_refused_model_calls_are_in_the_log(tmp_path: Path, server: PickyServer) -> None:
    source = asking_system(tmp_path)
    run = run_system(replace(source, declared_models=("another",)), benchmark_session(), options(tmp_path))
    assert {row.outcome for row in run.responses()} == {Outcome.ADAPTER_ERROR}
    log = [line for line in rows_of(run, "log.jsonl") if "small" in line["detail"]]
    assert {line["scenario_id"] for line in log} == {f"tiny-{number:03}" for number in range(4)}
    assert findings(run) == ""


def test_the_judge_by_rules_needs_no_record_and_leaves_none(tmp_path: Path, server: PickyServer) -> None:
    run_system(find_system("no-memory"), benchmark_session(), by_rules(tmp_path))
    assert not (tmp_path / "results" / RECORD.parent).exists()
    assert server.requests == 0


class UntilJudged(Progress):
    """Holds up the second item until the judge was asked about the first."""

    def __init__(self, server: PickyServer) -> None:
        self._server, self.seen = server, list[int]()

    def advance(self, items: int, errors: int) -> None:
        """See :class:`Progress`."""
        deadline = time.monotonic() + 20
        while self.seen and not self._server.requests and time.monotonic() < deadline:
            time.sleep(0.01)
        self.seen.append(self._server.requests)


def test_the_judge_is_asked_while_the_system_still_answers(tmp_path: Path, server: PickyServer) -> None:
    source, progress = file_source(plain_adapter(tmp_path, on_query="time.sleep(0.3)")), UntilJudged(server)
    run = run_system(source, benchmark_session(), replace(options(tmp_path), concurrency=1), progress)
    assert progress.seen[0] == 0 and progress.seen[1] > 0
    assert not findings(run) and not differences(run)
