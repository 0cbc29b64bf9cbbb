"""Runs with a model on this machine as reader, as judge, and as a model of the system."""

import gzip
import json
import os
import signal
import subprocess
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pytest

from memeval.archive.runs import RunFolder
from memeval.evaluation.judge.judges import choose_judge
from memeval.evaluation.run import models
from memeval.evaluation.run.estimate import estimate_run
from memeval.evaluation.run.models import ModelOptions
from memeval.evaluation.run.running import RunOptions, run_system
from memeval.evaluation.verify.audit import audit_judge, verify_audit
from memeval.evaluation.verify.reproduce import reproduce_run
from memeval.evaluation.verify.rerun import rerun
from memeval.evaluation.verify.verification import verify_run
from memeval.execution.setup import SystemSetup
from memeval.gateway.limits import GatewayOptions
from memeval.gateway.serving import slow_replies
from memeval.gateway.stops import GatewayStopped
from memeval.local.server import ServerEnded
from memeval.options import AuditOptions
from memeval.records.call import Phase
from memeval.records.errors import BadInput
from memeval.records.response import Outcome
from memeval.records.track import Limits
from memeval.systems.sandbox import SandboxMode
from memeval.systems.source import SystemSource, file_source
from tests.evaluation.asking import benchmark_session, by_rules, searching_system
from tests.support.tiny_model import NAME, gguf, pin, stand_in

LOCAL = f"local:{NAME}"


@pytest.fixture(autouse=True)
def pinned(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, no_models: None, tiny: None) -> Path:
    stand_in(monkeypatch)
    return pin(monkeypatch, tmp_path, gguf(), context=8192)


@pytest.fixture
def repin(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, pinned: Path) -> Callable[..., None]:
    """Return a function that gives the model other settings."""

    def again(**settings: Any) -> None:
        pinned.unlink()
        pinned.parent.rmdir()
        pin(monkeypatch, tmp_path, gguf(), **settings)

    return again


def chosen(folder: Path, **more: Any) -> RunOptions:
    return by_rules(folder, **{"reader": LOCAL, **more})


def run(folder: Path, source: SystemSource | None = None, **more: Any) -> RunFolder:
    return run_system(source or searching_system(folder), benchmark_session(), chosen(folder, **more))


def test_a_reader_on_this_machine_is_named_with_weights_engine_and_settings(tmp_path: Path) -> None:
    made = run(tmp_path)
    track = made.run.track
    assert track.reader == f"{LOCAL}@1"
    assert track.reader_endpoint is not None and track.reader_endpoint.startswith(f"{LOCAL}/")
    assert track.limits.reader_tokens == 600
    texts = {prompt.name: prompt.text for prompt in made.prompts()}
    setup = json.loads(texts["reader/model"])
    assert (setup["engine"], setup["context"], setup["weights"][:7]) == ("xllamacpp 1.0", 8192, "sha256:")
    assert {"reader/model", "reader/answer"} <= set(track.prompts)
    usage = made.run.usage[Phase.READ]
    assert usage.calls == 4 and usage.failed == 0 and usage.usd is None


def test_the_readers_instructions_are_computed_once(tmp_path: Path) -> None:
    kept = {row.answer.split("+")[0] for row in run(tmp_path).responses()}
    assert len(kept) == 1 and int(kept.pop()) > 500


def test_it_is_verified_reproduced_and_replayed_without_the_model(tmp_path: Path, pinned: Path) -> None:
    made = run(tmp_path)
    assert list(map(str, verify_run(made))) == []
    assert reproduce_run(made).equal
    pinned.unlink()
    again = run(tmp_path / "again", searching_system(tmp_path), models=ModelOptions(replay=made), reader=None)
    assert again.run.fingerprint == made.run.fingerprint
    assert [row.comparable() for row in again.responses()] == [row.comparable() for row in made.responses()]


def test_a_reader_on_this_machine_is_asked_again_by_a_maintainer(tmp_path: Path, repin: Callable[..., None]) -> None:
    source = searching_system(tmp_path)
    made = run(tmp_path, source)
    found = rerun(made, source, setup=SystemSetup(sandbox=SandboxMode.NONE))
    assert (found.sample.asked, found.sample.agreed) == (len(list(made.responses())), found.sample.asked)
    calls = json.loads((made.path / "run.json").read_text())["usage"]["read"]["calls"]
    assert calls == found.sample.asked, "no recorded reply answers for the model"
    repin(context=8192, batch=32)
    with pytest.raises(BadInput, match="other weights, settings or engine"):
        rerun(made, source, setup=SystemSetup(sandbox=SandboxMode.NONE))


def test_other_weights_or_settings_are_another_track(tmp_path: Path, repin: Callable[..., None]) -> None:
    first = run(tmp_path)
    assert run(tmp_path).path == first.path, "the same are reused"
    repin(context=8192, batch=32)
    assert run(tmp_path).run.track_id != first.run.track_id


def test_a_changed_setup_is_found(tmp_path: Path) -> None:
    made = run(tmp_path)
    head = json.loads((made.path / "run.json").read_text())
    head["track"]["reader_endpoint"] = f"{LOCAL}/000000000000"
    (made.path / "run.json").write_text(json.dumps(head))
    assert "its setup has" in "\n".join(map(str, verify_run(RunFolder(made.path))))


def test_a_judge_on_this_machine_needs_no_label_and_no_key(tmp_path: Path) -> None:
    made = run(tmp_path, reader="extractive", judge=LOCAL)
    track = made.run.track
    assert track.judge == f"{LOCAL}@1" and track.judge_label is None
    assert track.judge_endpoint is not None and track.judge_endpoint.startswith(f"{LOCAL}/")
    assert {"judge/model"} <= set(track.prompts)
    assert list(map(str, verify_run(made))) == []
    assert reproduce_run(made).equal


def test_a_judge_on_this_machine_is_audited_under_its_setup(tmp_path: Path) -> None:
    options = AuditOptions(results=tmp_path / "results", items=1)
    folder = audit_judge(choose_judge(LOCAL, None), benchmark_session(), options)
    assert (folder.audit.judge, folder.audit.judge_label) == (f"{LOCAL}@1", None)
    assert folder.audit.judge_endpoint is not None and folder.audit.judge_endpoint.startswith(f"{LOCAL}/")
    assert folder.audit.overall.unparsed.share == 1.0, "the stand-in says neither yes nor no"
    assert verify_audit(folder) == []


def test_reader_and_judge_share_one_server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    seen = watched(monkeypatch)
    run(tmp_path, judge=LOCAL)
    assert len(seen) == 1
    assert not psutil.pid_exists(seen[0]), "and it ended with the run"


def watched(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that receives the process id of every server that is started."""
    pids: list[int] = []
    popen = subprocess.Popen

    def noted(*words: Any, **more: Any) -> Any:
        process = popen(*words, **more)
        if words[0][-1] == "memeval.local.child":
            pids.append(process.pid)
        return process

    monkeypatch.setattr(subprocess, "Popen", noted)
    return pids


def saying(folder: Path, text: str) -> SystemSource:
    """Return a system whose search finds this text."""
    return searching_system(folder, f"self.told = [{text!r}]")


def test_a_server_that_was_killed_is_started_again_and_no_answer_is_lost(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    seen = watched(monkeypatch)
    made = run(tmp_path, saying(tmp_path, "DIE-ONCE"))
    assert {(row.outcome, row.error) for row in made.responses()} == {(Outcome.OK, None)}
    assert len(seen) == 2


def test_a_server_that_always_dies_stops_the_run_which_resumes(tmp_path: Path) -> None:
    source = saying(tmp_path, "DIE")
    with pytest.raises((ServerEnded, GatewayStopped), match="Progress is saved"):
        run(tmp_path, source)
    assert not list((tmp_path / "results").rglob("run.json"))


def test_a_run_that_was_interrupted_resumes_with_equal_answers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    whole = run(tmp_path / "whole", searching_system(tmp_path))
    seen = watched(monkeypatch)
    timer = threading.Timer(0.0, lambda: None)

    def interrupt() -> None:
        while not seen:
            timer.finished.wait(0.01)
        os.kill(os.getpid(), signal.SIGTERM)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with suppress(KeyboardInterrupt):
        run(tmp_path, searching_system(tmp_path))
    thread.join()
    assert not any(map(psutil.pid_exists, seen))
    resumed = run(tmp_path, searching_system(tmp_path))
    assert [row.answer for row in resumed.responses()] == [row.answer for row in whole.responses()]


def test_a_model_that_never_stops_is_cut_and_the_log_says_so(tmp_path: Path) -> None:
    made = run(tmp_path, saying(tmp_path, "STOP-NEVER\n"))
    assert [len(row.answer.split()) for row in made.responses()] == [512] * 4
    log = gzip.decompress((made.path / "log.jsonl.gz").read_bytes()).decode()
    assert log.count("The model's reply is not complete") == 4


def test_a_prompt_longer_than_the_context_fails_alone_with_a_sentence(
    tmp_path: Path, repin: Callable[..., None]
) -> None:
    repin(context=256)
    made = run(tmp_path)
    rows = list(made.responses())
    assert {row.outcome for row in rows} == {Outcome.READER_ERROR}
    assert all("exceeds the available context size (256 tokens)" in str(row.error) for row in rows)


@pytest.mark.parametrize(
    ("name", "problem"),
    [("local:", "no local model ''"), ("local:unknown", "no local model 'unknown'"), (f"{LOCAL}@9", "no version 9")],
)
def test_names_that_do_not_exist_are_refused(tmp_path: Path, name: str, problem: str) -> None:
    with pytest.raises(BadInput, match=problem):
        run(tmp_path, reader=name)


def test_missing_weights_stop_the_run_before_any_answer(tmp_path: Path, pinned: Path) -> None:
    pinned.unlink()
    with pytest.raises(BadInput, match="memeval model pull tiny"):
        run(tmp_path)


CALLING = """
import json, os, urllib.request

class Calling:
    def reset(self):
        self.facts = []

    def ingest_session(self, session, timestamp):
        self.facts.append(self._ask(session["turns"][0]["content"]))

    def query(self, question, timestamp="now"):
        return " ".join(self.facts)

    def _ask(self, text):
        text = "%s" or text
        body = {"model": "%s", "messages": [{"role": "system", "content": "Keep it. " * 20},
                                            {"role": "user", "content": text}], "max_tokens": 4000}
        request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions",
            json.dumps(body).encode(), {"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"],
                                        "Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=%s) as reply:
            return json.load(reply)["choices"][0]["message"]["content"]
"""


def calling(folder: Path, word: str = "", patience: float | None = None) -> SystemSource:
    """Return a system that sends each session to its model, or this word in place of it.

    ``patience``: seconds without a byte after which its client gives up.
    """
    file = folder / "calling.py"
    file.write_text(CALLING % (word, LOCAL, patience))
    return replace(file_source(file), declared_models=(LOCAL,))


def test_a_systems_model_on_this_machine_is_served_through_the_gateway_and_recorded(tmp_path: Path) -> None:
    source = calling(tmp_path)
    made = run_system(source, benchmark_session(), chosen(tmp_path, reader=None))
    assert {(row.outcome, row.error) for row in made.responses()} == {(Outcome.OK, None)}
    (declared,) = made.run.system.declared_models
    assert declared.startswith(f"{LOCAL}/")
    calls = list(made.calls())
    assert calls and {call.request.endpoint for call in calls} == {declared}
    assert all(call.prompt_tokens for call in calls)
    replayed = run(tmp_path / "again", source, reader=None, models=ModelOptions(replay=made))
    assert replayed.run.fingerprint == made.run.fingerprint
    assert [row.answer for row in replayed.responses()] == [row.answer for row in made.responses()]


def test_an_estimate_has_the_readers_limit_one_call_at_a_time_and_the_speed_of_a_machine(tmp_path: Path) -> None:
    source, session = searching_system(tmp_path), benchmark_session()
    (before,) = estimate_run(source, session, chosen(tmp_path)).parts
    assert (before.calls, before.concurrency, before.usd) == (4, 1, None)
    assert before.basis == "at most, on two quiet processors"
    assert before.seconds_per_call > before.completion_tokens / before.calls / 8
    made = run(tmp_path, source)
    (after,) = estimate_run(source, session, chosen(tmp_path)).parts
    assert after.basis == f"median of run {made.run.run_id}"


def test_the_time_of_a_slow_model_and_of_its_queue_is_not_the_systems(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("STAND_IN_SECONDS", "3")
    chosen_limits = chosen(tmp_path, reader=None, limits=Limits(take_in_seconds=2.0))
    made = run_system(calling(tmp_path, "SLOW"), benchmark_session(2), chosen_limits)
    assert {(row.outcome, row.error) for row in made.responses()} == {(Outcome.OK, None)}
    usage = made.run.usage[Phase.INGEST]
    assert usage.service is not None and usage.service.p50 > 2
    assert usage.queue is not None and usage.queue.p95 > 2, "two scenarios share the server"


def test_a_systems_client_does_not_give_up_on_a_slow_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(slow_replies, "BLANK_SECONDS", 0.1)
    monkeypatch.setenv("STAND_IN_SECONDS", "5")
    source = calling(tmp_path, "SLOW", patience=4)
    made = run_system(source, benchmark_session(scenarios=1), chosen(tmp_path, reader=None))
    assert {(row.outcome, row.error) for row in made.responses()} == {(Outcome.OK, None)}


def test_a_client_that_is_gone_before_the_first_blank_is_an_error_of_its_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(slow_replies, "BLANK_SECONDS", 0.3)
    source = calling(tmp_path, "SLOW", patience=0.1)
    made = run_system(source, benchmark_session(), chosen(tmp_path, reader=None))
    assert {row.outcome for row in made.responses()} == {Outcome.ADAPTER_ERROR}
    assert all("timed out" in str(row.error) for row in made.responses())


def test_a_slow_call_that_fails_in_the_end_fails_for_the_system_too(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, repin: Callable[..., None]
) -> None:
    repin(context=256)
    monkeypatch.setattr(slow_replies, "BLANK_SECONDS", 0.1)
    source = calling(tmp_path, "SLOW " + "word " * 100)
    made = run_system(source, benchmark_session(), chosen(tmp_path, reader=None))
    assert {row.outcome for row in made.responses()} == {Outcome.ADAPTER_ERROR}
    assert all("exceeds the available context size" in str(call.error) for call in made.calls())


def test_a_reader_waits_longer_for_a_model_on_this_machine_than_for_an_endpoint(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(models, "GatewayOptions", partial(GatewayOptions, timeout_seconds=0.5))
    made = run(tmp_path, saying(tmp_path, "SLOW"))
    assert {(row.outcome, row.error) for row in made.responses()} == {(Outcome.OK, None)}


def test_a_systems_answer_of_4000_tokens_ends_at_the_models_limit(tmp_path: Path) -> None:
    made = run_system(calling(tmp_path, "STOP-NEVER"), benchmark_session(), chosen(tmp_path, reader=None))
    assert {call.completion_tokens for call in made.calls()} == {2048}
    assert {row.outcome for row in made.responses()} == {Outcome.OK}


def test_a_server_that_was_killed_during_a_systems_call_answers_it_after_all(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    seen = watched(monkeypatch)
    made = run_system(calling(tmp_path, "DIE-ONCE"), benchmark_session(), chosen(tmp_path, reader=None))
    assert {(row.outcome, row.error) for row in made.responses()} == {(Outcome.OK, None)}
    assert len(seen) == 2 and all(call.error is None for call in made.calls())


def test_two_runs_at_once_have_a_server_each_and_equal_answers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    seen, source = watched(monkeypatch), saying(tmp_path, "SLOW")
    with ThreadPoolExecutor(2) as both:
        first, second = both.map(lambda name: run(tmp_path / name, source), ("first", "second"))
    assert len(seen) == 2 and not any(map(psutil.pid_exists, seen))
    assert [row.answer for row in first.responses()] == [row.answer for row in second.responses()]
