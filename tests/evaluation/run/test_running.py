"""Runs with real processes: storage, reuse, refusals, and failing systems."""

from pathlib import Path
from typing import Any

import pytest

from memeval.archive.runs import RunFolder
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.run.running import RunOptions, run_system
from memeval.evaluation.verify.verification import verify_run
from memeval.execution.journal import Journal
from memeval.records.errors import BadInput
from memeval.records.response import Outcome
from memeval.records.track import Limits
from memeval.storage import checked_line
from memeval.systems.source import file_source, find_system
from tests.evaluation.asking import rows_of, searching_system
from tests.support.adapters import plain_adapter
from tests.support.runs import plan_of
from tests.support.tiny import Notes, TinyBenchmark


def benchmark_session(scenarios: int = 8, questions: int = 1) -> BenchmarkSession:
    return BenchmarkSession.open(TinyBenchmark(scenarios, questions))


def options(folder: Path, **more: Any) -> RunOptions:
    usual: dict[str, Any] = {"results": folder / "results", "concurrency": 2, "skip_conformance": True}
    return RunOptions(**usual | more)


def ran(folder: Path, on_query: str = "pass", scenarios: int = 8, questions: int = 1, **more: Any) -> RunFolder:
    """Run the plain adapter with a statement of the test's own in its ``query``; ``more``: options."""
    source = file_source(plain_adapter(folder, on_query=on_query))
    return run_system(source, benchmark_session(scenarios, questions), options(folder, **more))


def outcomes(run: RunFolder) -> dict[str, Outcome]:
    return {row.question_id: row.outcome for row in run.responses()}


def test_a_run_is_sealed_whole_and_verifies(tmp_path: Path) -> None:
    run = ran(tmp_path)
    assert run.path.parts[-3:-1] == ("tiny", "plain")
    assert run.run.scores.composite.value == 1.0
    assert run.run.coverage.full
    assert verify_run(run) == []
    assert not (run.path / "journal").exists()
    assert sorted(path.name for path in run.path.iterdir()) == [
        "contexts.jsonl.gz",
        "failures.jsonl.gz",
        "grades.jsonl.gz",
        "log.jsonl.gz",
        "responses.jsonl.gz",
        "run.json",
    ]


def test_the_same_inputs_are_reused_and_fresh_starts_another(tmp_path: Path) -> None:
    source = file_source(plain_adapter(tmp_path))
    notes = Notes()
    first = run_system(source, benchmark_session(), options(tmp_path))
    assert run_system(source, benchmark_session(), options(tmp_path), notes).path == first.path
    assert "reused" in notes.said[0]


def test_a_changed_adapter_is_another_run(tmp_path: Path) -> None:
    one, two = ran(tmp_path), ran(tmp_path, "return 'Oslo'")
    assert one.run.fingerprint != two.run.fingerprint
    assert one.run.track_id == two.run.track_id


def test_an_adapter_that_raises_on_one_question_fails_only_that_question(tmp_path: Path) -> None:
    run = ran(tmp_path, "if 'Lima' in self.told[0]: raise ValueError('no such place')", 4)
    assert list(outcomes(run).values()) == [Outcome.ADAPTER_ERROR, Outcome.OK, Outcome.OK, Outcome.OK]
    failed = next(row for row in run.responses() if row.outcome.is_error)
    assert failed.answer == ""
    assert failed.error is not None and "ValueError: no such place" in failed.error
    assert run.run.scores.states == {"adapter_error": 1, "graded": 3, "skipped": 0}


def test_an_adapter_that_hangs_costs_its_item_and_the_rest_goes_on(tmp_path: Path) -> None:
    hangs = "if '(1)' in question and 'Lima' in self.told[0]: time.sleep(60)"
    run = ran(tmp_path, hangs, 2, questions=3, limits=Limits(ask_seconds=0.5))
    assert list(outcomes(run).values()) == [Outcome.OK, Outcome.TIMEOUT, Outcome.OK] + [Outcome.OK] * 3
    assert run.run.scores.overall.correct == 5


def test_a_process_that_dies_once_is_started_again_and_the_item_repeated(tmp_path: Path) -> None:
    mark = tmp_path / "died"
    dies_once = f"if not os.path.exists({str(mark)!r}): open({str(mark)!r}, 'w').close(); os._exit(3)"
    run = ran(tmp_path, dies_once, 3, concurrency=1)
    assert set(outcomes(run).values()) == {Outcome.OK}
    log = rows_of(run, "log.jsonl")
    assert [line["event"] for line in log] == ["crashed", "repeated"]
    assert "exit code 3" in log[0]["detail"]


def test_a_process_that_always_dies_is_an_error_and_no_endless_loop(tmp_path: Path) -> None:
    run = ran(tmp_path, "os._exit(3)", 3, questions=2)
    assert set(outcomes(run).values()) == {Outcome.ADAPTER_ERROR}
    assert run.run.coverage.done == 6


def test_an_adapter_that_cannot_take_a_session_in_fails_the_scenario(tmp_path: Path) -> None:
    path = plain_adapter(tmp_path, on_ingest="if 'Oslo' in str(session): raise RuntimeError('full')")
    run = run_system(file_source(path), benchmark_session(4), options(tmp_path))
    assert list(outcomes(run).values()) == [Outcome.OK, Outcome.ADAPTER_ERROR, Outcome.OK, Outcome.OK]


def test_an_invalid_answer_is_an_error_with_a_sentence(tmp_path: Path) -> None:
    run = ran(tmp_path, "return 'Lima \\ud800'", 2)
    rows = list(run.responses())
    assert {row.outcome for row in rows} == {Outcome.ADAPTER_ERROR}
    assert "surrogate" in (rows[0].error or "")
    assert verify_run(run) == []


def test_a_blank_answer_is_wrong_and_no_error(tmp_path: Path) -> None:
    run = ran(tmp_path, "return '  '", 4)
    assert set(outcomes(run).values()) == {Outcome.EMPTY}
    assert run.run.scores.overall.errors == 0
    assert run.run.scores.overall.graded_accuracy == 0.0


def test_a_limited_run_takes_the_categories_in_turn_and_is_partial(tmp_path: Path) -> None:
    run = ran(tmp_path, limit=3)
    assert [grade.category for grade in run.grades()] == ["far", "near", "far"]
    assert (run.run.coverage.done, run.run.coverage.planned, run.run.coverage.limit) == (3, 8, 3)
    assert run.run.scores.composite.value is None
    assert run.run.scores.states["skipped"] == 5


@pytest.mark.parametrize("bad", [{"limit": 0}, {"concurrency": 0}, {"judge": "gpt"}, {"reader": "wizard"}])
def test_a_wrong_call_is_refused_before_anything_is_stored(tmp_path: Path, bad: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        ran(tmp_path, **bad)
    assert not (tmp_path / "results").exists()


def test_an_adapter_that_cannot_be_loaded_is_refused_before_anything_is_stored(tmp_path: Path) -> None:
    path = tmp_path / "broken.py"
    path.write_text("import nothing_of_that_name\n", encoding="utf-8")
    with pytest.raises(BadInput, match="nothing_of_that_name"):
        run_system(file_source(path), benchmark_session(), options(tmp_path))
    assert not (tmp_path / "results").exists()


def interrupted(
    folder: Path,
    source_file: Path,
    scenarios: int = 8,
    *,
    fresh: bool = False,
    again: RunFolder | None = None,
    rows: int | None = None,
) -> Path:
    """Leave a run of ``source_file`` unfinished, with its first rows stored, and return its folder."""
    chosen = options(folder, fresh=fresh, retry_errors=again is not None)
    run = run_system(file_source(source_file), benchmark_session(3 if again else scenarios), chosen)
    journal = run.path / "journal"
    journal.mkdir()
    plan = plan_of(run.run, seeds=run.run.seeds, carries_over=again.run.run_id if again else None)
    (journal / "plan.json").write_bytes(checked_line(plan.to_json()))
    stored = [checked_line(row.to_json()) for row in (again or run).responses()]
    kept = stored[: scenarios // 2 if rows is None else rows]
    (journal / "contexts.jsonl").write_bytes(b"".join(checked_line(row.to_json()) for row in (again or run).contexts()))
    (journal / "responses.jsonl").write_bytes(b"".join(kept))
    for path in run.path.glob("*.gz"):
        path.unlink()
    (run.path / "run.json").unlink()
    return run.path


def test_an_unfinished_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    path = plain_adapter(tmp_path)
    unfinished = interrupted(tmp_path, path)
    asked = Journal(unfinished)
    with asked as journal:
        before = {key: row.timings.started for key, row in journal.responses.items()}
    notes = Notes()
    run = run_system(file_source(path), benchmark_session(), options(tmp_path), notes)
    assert run.path == unfinished
    assert notes.started == (8, 4)
    after = {(row.question_id, row.attempt): row.timings.started for row in run.responses()}
    assert before.items() <= after.items(), "a stored row was asked again"
    assert run.run.coverage.full
    assert verify_run(run) == []


def test_reuse_removes_the_journal_of_a_run_killed_after_its_head(tmp_path: Path) -> None:
    path = plain_adapter(tmp_path)
    run = run_system(file_source(path), benchmark_session(), options(tmp_path))
    (run.path / "journal").mkdir()
    (run.path / "journal" / "plan.json").write_text("{}")
    assert "does not belong" in str(verify_run(run)[0])
    assert run_system(file_source(path), benchmark_session(), options(tmp_path)).path == run.path
    assert verify_run(run) == []


def test_only_a_shipped_control_is_known_to_cost_nothing(tmp_path: Path) -> None:
    assert run_system(find_system("no-memory"), benchmark_session(), options(tmp_path)).run.cost.usd == 0.0
    cost = ran(tmp_path).run.cost
    assert cost.usd is None
    assert cost.reason == "memeval does not see whether the system calls models"


def test_a_run_with_other_inputs_is_not_resumed_and_the_difference_is_named(tmp_path: Path) -> None:
    unfinished = interrupted(tmp_path, plain_adapter(tmp_path))
    before = {path: path.read_bytes() for path in unfinished.rglob("*") if path.is_file()}
    changed = file_source(plain_adapter(tmp_path, on_query="time.sleep(0)"))
    with pytest.raises(BadInput, match="Different: submission_digest"):
        run_system(changed, benchmark_session(), options(tmp_path))
    with pytest.raises(BadInput, match=r"Different: track\.limits, submission_digest"):
        run_system(changed, benchmark_session(), options(tmp_path, limits=Limits(ask_seconds=1)))
    assert {path: path.read_bytes() for path in unfinished.rglob("*") if path.is_file()} == before
    for asked in (options(tmp_path, retry_errors=True), options(tmp_path, fresh=True)):
        run = run_system(changed, benchmark_session(), asked)
        assert run.path != unfinished and unfinished.exists(), "the command that the error of a stopped run names works"


def test_retrying_errors_does_not_hide_that_the_track_changed(tmp_path: Path) -> None:
    interrupted(tmp_path, plain_adapter(tmp_path))
    asked = options(tmp_path, limits=Limits(ask_seconds=1), retry_errors=True)
    with pytest.raises(BadInput, match=r"Different: track\.limits\."):
        run_system(file_source(plain_adapter(tmp_path)), benchmark_session(), asked)


def test_errors_are_tried_again_only_on_request_and_both_attempts_stay(tmp_path: Path) -> None:
    mark = tmp_path / "mended"
    fails = f"if 'Lima' in self.told[0] and not os.path.exists({str(mark)!r}): raise OSError('down')"
    first = ran(tmp_path, fails, 3)
    mark.touch()
    assert ran(tmp_path, fails, 3).path == first.path
    again = ran(tmp_path, fails, 3, retry_errors=True)
    assert again.path != first.path
    tries = [(row.question_id, row.attempt, row.outcome) for row in again.responses()]
    assert tries == [
        ("tiny-000:q01", 1, Outcome.ADAPTER_ERROR),
        ("tiny-000:q01", 2, Outcome.OK),
        ("tiny-001:q01", 1, Outcome.OK),
        ("tiny-002:q01", 1, Outcome.OK),
    ]
    assert again.run.coverage.retried == 1
    assert again.run.scores.overall.correct == 3
    assert first.run.scores.overall.correct == 2
    assert verify_run(again) == []


def retry_left_unfinished(folder: Path, rows: int) -> tuple[Path, RunFolder]:
    """Leave an unfinished retry of a failed item, with this many rows carried over; the adapter is fixed."""
    mark = folder / "mended"
    path = plain_adapter(
        folder, on_query=f"if 'Lima' in self.told[0] and not os.path.exists({str(mark)!r}): raise OSError('down')"
    )
    first = run_system(file_source(path), benchmark_session(3), options(folder))
    mark.touch()
    second = interrupted(folder, path, again=first, rows=rows)
    assert second != first.path
    return path, first


@pytest.mark.parametrize("rows", [0, 1, 2])
def test_a_retry_killed_during_carry_over_repeats_no_successful_question(tmp_path: Path, rows: int) -> None:
    path, first = retry_left_unfinished(tmp_path, rows)
    before = {(row.question_id, row.attempt): row.timings.started for row in first.responses()}
    again = run_system(file_source(path), benchmark_session(3), options(tmp_path))
    after = {(row.question_id, row.attempt): row.timings.started for row in again.responses()}
    assert again.path != first.path
    assert before.items() < after.items()
    assert after.keys() - before.keys() == {("tiny-000:q01", 2)}
    assert again.run.scores.overall.correct == 3
    assert verify_run(again) == []


def test_a_fresh_run_that_was_interrupted_takes_nothing_from_a_finished_one(tmp_path: Path) -> None:
    path = plain_adapter(tmp_path)
    first = run_system(file_source(path), benchmark_session(), options(tmp_path))
    interrupted(tmp_path, path, fresh=True)
    again = run_system(file_source(path), benchmark_session(), options(tmp_path, retry_errors=True))
    assert again.path != first.path
    assert not {row.timings.started for row in again.responses()} & {row.timings.started for row in first.responses()}


def test_the_oracle_is_shown_the_evidence_alone(tmp_path: Path) -> None:
    run = run_system(find_system("oracle"), benchmark_session(2), options(tmp_path))
    parts = [part.turn_id for context in run.contexts() for part in context.parts]
    assert set(parts) == {"s001:t01", "s001:t02"}
    assert run.run.system.view == "evidence"


def test_no_more_is_read_of_a_search_than_was_asked_for(tmp_path: Path) -> None:
    source = searching_system(tmp_path, "return [{'text': f'item {n}', 'source_ids': ['s001']} for n in range(k * 5)]")
    run = run_system(source, benchmark_session(2), options(tmp_path, limits=Limits(search_items=3)))
    rows = list(run.responses())
    assert [len(row.items or ()) for row in rows] == [3, 3]
    contexts = list(run.contexts())
    assert [[part.text for part in context.parts] for context in contexts] == [["item 0\nitem 1\nitem 2"]] * 2
    assert [context.scenario_id for context in contexts] == ["tiny-000", "tiny-001"]
    assert run.run.track.reader == "extractive@2"
