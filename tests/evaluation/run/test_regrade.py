"""Regrading: the same responses on another track, with reuse of recorded judgments."""

import shutil
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from memeval.archive.runs import RunFolder, sealed_runs
from memeval.evaluation.judge.judges import choose_judge
from memeval.evaluation.run.models import RECORD
from memeval.evaluation.run.regrade import regrade_run
from memeval.evaluation.run.run_folders import unfinished_runs
from memeval.evaluation.run.running import run_system
from memeval.gateway.gateway import Gateway
from memeval.gateway.stops import BudgetSpent
from memeval.records.call import Call, Phase
from memeval.records.errors import BadInput
from memeval.records.grade import GradeState
from memeval.records.history import PackageIndex, ProductVersion
from memeval.systems.source import file_source
from tests.evaluation.asking import (
    DATED,
    LABEL,
    PickyServer,
    answer_in,
    benchmark_session,
    by_rules,
    fair,
    files_under,
    holds,
    judge,
    one_wrong,
    options,
    regrading,
    rows_of,
    said_to,
    searching_system,
)
from tests.support.adapters import plain_adapter

LOCK = f"sha256:{'1' * 64}"

STOPS = "judge.tokens=1700"
"""A budget that stops a run of four items."""


@pytest.fixture
def run(tmp_path: Path, server: PickyServer) -> RunFolder:
    return run_system(one_wrong(tmp_path), benchmark_session(), by_rules(tmp_path))


def test_the_answers_are_the_same_bytes_on_another_track(tmp_path: Path, run: RunFolder, server: PickyServer) -> None:
    again = regrade_run(run, judge(), regrading(tmp_path))
    for name in ("responses.jsonl", "contexts.jsonl"):
        assert again.file(name).read_bytes() == run.file(name).read_bytes()
    assert again.run.files["responses.jsonl"] == run.run.files["responses.jsonl"]
    assert again.run.answers_from == run.run.run_id
    assert again.run.track == judge().on(run.run.track)
    assert again.run.system == run.run.system
    assert again.run.seeds == run.run.seeds | {"judge": 42}
    assert again.path.parent == run.path.parent
    assert {call.run_id for call in again.judgments()} == {again.run.run_id}
    assert server.requests == 4
    assert [line["event"] for line in rows_of(again, "log.jsonl")] == ["judged"]
    assert holds(again)


def test_a_request_is_written_just_in_time(
    tmp_path: Path, run: RunFolder, server: PickyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting: list[int] = []
    under_way = 0
    real = Gateway.ask

    async def ask(*given: Any) -> Call:
        nonlocal under_way
        waiting.append(under_way := under_way + 1)
        call = await real(*given)
        under_way -= 1
        return call

    monkeypatch.setattr(Gateway, "ask", ask)
    again = regrade_run(run, judge(), regrading(tmp_path, judge_concurrency=1))
    assert holds(again)
    assert len(waiting) == len(list(run.responses())) > max(waiting) == 2


def test_recorded_judgments_are_reused_even_with_fresh(tmp_path: Path, run: RunFolder, server: PickyServer) -> None:
    first = regrade_run(run, judge(), regrading(tmp_path))
    assert regrade_run(run, judge(), regrading(tmp_path)).path == first.path
    fresh = regrade_run(run, judge(), regrading(tmp_path, fresh=True))
    assert fresh.path != first.path
    assert server.requests == 4
    usage = fresh.run.usage[Phase.JUDGE]
    assert (usage.calls, usage.cached, usage.usd) == (0, 4, 0.0)
    assert usage.cached_usd == first.run.usage[Phase.JUDGE].usd
    assert rows_of(fresh, "grades.jsonl") == rows_of(first, "grades.jsonl")
    assert holds(fresh)


def test_another_label_is_another_judge_with_the_same_judgments(
    tmp_path: Path, run: RunFolder, server: PickyServer
) -> None:
    first = regrade_run(run, judge(), regrading(tmp_path))
    other = regrade_run(run, choose_judge("openai:gpt-4o", "someone else"), regrading(tmp_path))
    assert first.run.track_id != other.run.track_id
    assert server.requests == 4


def test_one_that_was_stopped_goes_on_under_the_same_id(tmp_path: Path, run: RunFolder, server: PickyServer) -> None:
    with pytest.raises(BudgetSpent):
        regrade_run(run, judge(), regrading(tmp_path, STOPS, judge_concurrency=1))
    (unfinished,) = unfinished_runs(run.path.parent)
    asked = server.requests
    assert 0 < asked < 4
    assert [folder.path for folder in sealed_runs(tmp_path / "results")] == [run.path]
    again = regrade_run(run, judge(), regrading(tmp_path))
    assert again.path == unfinished
    assert sum(server.answered.values()) == 4
    assert again.run.usage[Phase.JUDGE].calls == 4
    assert not (again.path / "journal").exists()
    assert holds(again)


def test_an_unfinished_regrading_is_not_resumed_by_a_run(tmp_path: Path, run: RunFolder, server: PickyServer) -> None:
    with pytest.raises(BudgetSpent):
        regrade_run(run, judge(), regrading(tmp_path, STOPS, judge_concurrency=1))
    (unfinished,) = unfinished_runs(run.path.parent)
    same = run_system(one_wrong(tmp_path), benchmark_session(), options(tmp_path))
    changed = file_source(plain_adapter(tmp_path, on_query="return 'Lima'"))
    other = run_system(changed, benchmark_session(), options(tmp_path))
    assert same.run.track == judge().on(run.run.track)
    assert same.run.answers_from is other.run.answers_from is None
    assert unfinished not in (same.path, other.path)
    assert list(unfinished_runs(run.path.parent)) == [unfinished]
    again = regrade_run(run, judge(), regrading(tmp_path))
    assert again.path == unfinished
    assert again.run.usage[Phase.JUDGE].cached > 0, "what the run paid for meanwhile was asked again"
    assert holds(again)


def test_an_unfinished_run_is_not_in_the_way_of_judging(tmp_path: Path, run: RunFolder, server: PickyServer) -> None:
    with pytest.raises(BudgetSpent):
        run_system(one_wrong(tmp_path), benchmark_session(), options(tmp_path, "judge.tokens=1"))
    (unfinished,) = unfinished_runs(run.path.parent)
    again = regrade_run(run, judge(), regrading(tmp_path))
    assert again.path != unfinished
    assert run_system(one_wrong(tmp_path), benchmark_session(), options(tmp_path)).path == unfinished


def test_regrading_a_model_judged_run_gives_rule_grades(tmp_path: Path, run: RunFolder, server: PickyServer) -> None:
    by_model = run_system(one_wrong(tmp_path), benchmark_session(), options(tmp_path, fresh=True))
    back = regrade_run(by_model, choose_judge("rules"), regrading(tmp_path))
    assert rows_of(back, "grades.jsonl") == rows_of(run, "grades.jsonl")
    assert back.run.scores == run.run.scores
    assert back.run.track == run.run.track
    assert back.run.fingerprint == run.run.fingerprint
    assert back.run.usage == {}
    assert "judgments.jsonl" not in back.run.files and "prompts.jsonl" not in back.run.files
    assert holds(back)


def test_what_a_reader_took_stays_apart_from_what_judging_takes(tmp_path: Path, server: PickyServer) -> None:
    server.answer = lambda body: fair(body) if "----- answer " in said_to(body) else said_to(body)[:3000]
    chosen = by_rules(tmp_path, reader="openai:gpt-4o-mini")
    read = run_system(searching_system(tmp_path), benchmark_session(), chosen)
    again = regrade_run(read, judge(), regrading(tmp_path))
    assert rows_of(again, "calls.jsonl") == rows_of(read, "calls.jsonl")
    reading, judging = again.run.usage[Phase.READ], again.run.usage[Phase.JUDGE]
    assert (reading.calls, reading.cached, reading.usd) == (0, 4, 0.0)
    assert reading.cached_usd == read.run.usage[Phase.READ].usd
    assert judging.calls == 4
    assert {prompt.name for prompt in again.prompts()} == {*judge().on(read.run.track).prompts}
    assert "reader/answer" in again.run.track.prompts
    assert holds(again)
    back = regrade_run(again, choose_judge("rules"), regrading(tmp_path))
    assert back.run.track == read.run.track
    assert holds(back)


def test_a_failed_judgment_is_asked_for_again_only_when_wanted(
    tmp_path: Path, run: RunFolder, server: PickyServer
) -> None:
    server.fails_on = lambda body: answer_in(body) == "Nowhere."
    failed = regrade_run(run, judge(), regrading(tmp_path))
    assert [grade.state for grade in failed.grades()][1] is GradeState.JUDGE_ERROR
    server.fails_on = lambda _body: False
    assert regrade_run(run, judge(), regrading(tmp_path)).path == failed.path
    asked = server.requests
    assert regrade_run(failed, judge(), regrading(tmp_path)).path == failed.path
    retried = regrade_run(failed, judge(), regrading(tmp_path, fresh=True))
    assert server.requests == asked + 1
    assert retried.run.answers_from == failed.run.run_id
    assert [grade.verdict for grade in retried.grades()] == [True, False, True, True]
    assert holds(failed) and holds(retried)


def test_judgments_that_a_run_brings_along_are_not_asked_for_again(tmp_path: Path, server: PickyServer) -> None:
    run = run_system(one_wrong(tmp_path), benchmark_session(), options(tmp_path))
    (tmp_path / "results" / RECORD).unlink()
    asked = server.requests
    again = regrade_run(run, judge(), regrading(tmp_path / "elsewhere", fresh=True))
    assert server.requests == asked
    assert rows_of(again, "judgments.jsonl") == rows_of(run, "judgments.jsonl")
    assert holds(again)


def test_nothing_is_left_where_there_is_no_key(tmp_path: Path, run: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    before = set(files_under(tmp_path))
    monkeypatch.delenv("OPENAI_BASE_URL")
    with pytest.raises(BadInput, match="there is no key for the judge's model"):
        regrade_run(run, choose_judge("openai:gpt-4o"), regrading(tmp_path))
    assert set(files_under(tmp_path)) - before <= {f"results/{RECORD}"}
    assert not unfinished_runs(run.path.parent)


def test_nothing_is_left_where_an_option_or_the_run_is_bad(tmp_path: Path, run: RunFolder) -> None:
    before = set(files_under(tmp_path))
    with pytest.raises(BadInput, match="--judge-concurrency is 0"):
        regrade_run(run, judge(), regrading(tmp_path, judge_concurrency=0))
    run.file("responses.jsonl").write_bytes(b"rubbish")
    with pytest.raises(BadInput, match="responses"):
        regrade_run(run, judge(), regrading(tmp_path))
    assert set(files_under(tmp_path)) == before


def test_judging_by_rules_leaves_no_record_of_calls(tmp_path: Path, run: RunFolder, server: PickyServer) -> None:
    regrade_run(run, choose_judge("rules"), regrading(tmp_path))
    assert not (tmp_path / "results" / RECORD.parent).exists()
    assert server.requests == 0


def test_a_partial_run_stays_partial(tmp_path: Path, server: PickyServer) -> None:
    run = run_system(one_wrong(tmp_path), benchmark_session(), by_rules(tmp_path, limit=2))
    again = regrade_run(run, judge(), regrading(tmp_path))
    assert again.run.coverage == run.run.coverage
    assert (again.run.track.judge, again.run.track.judge_label) == (DATED, LABEL)
    assert again.run.scores.composite.value is None
    assert holds(again)


def test_a_run_without_a_results_folder_above_it_is_regraded(tmp_path: Path, server: PickyServer) -> None:
    run = run_system(one_wrong(tmp_path), benchmark_session(), by_rules(tmp_path))
    with TemporaryDirectory(dir="/tmp") as place:  # two folders deep
        alone = RunFolder(shutil.copytree(run.path, Path(place), dirs_exist_ok=True))
        assert regrade_run(alone, judge(), regrading(tmp_path)).run.answers_from == run.run.run_id


def test_a_run_of_a_released_version_is_regraded_in_its_own_folder_alone(tmp_path: Path, server: PickyServer) -> None:
    stated = ProductVersion(package="p", version="1", index=PackageIndex.PYPI, released=None, form="a.py", lock=LOCK)
    source = replace(one_wrong(tmp_path), product_version=stated)
    run = run_system(source, benchmark_session(), by_rules(tmp_path))
    with pytest.raises(BadInput, match="measures a released version") as refused:
        regrade_run(run, judge(), regrading(tmp_path / "elsewhere"))
    assert f"--results {tmp_path / 'results'}" in str(refused.value)
    assert regrade_run(run, judge(), regrading(tmp_path)).run.product_version == stated
