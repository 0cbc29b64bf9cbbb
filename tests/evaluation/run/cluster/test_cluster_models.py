"""Model calls of systems and readers on Dask workers: this machine makes them, with its budget, limits and key."""

import gzip
import os
import re
import signal
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest
from pydantic import BaseModel

from memeval.archive.runs import RunFolder
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.run.models import ModelOptions
from memeval.evaluation.run.running import RunOptions, run_system
from memeval.execution.cluster.node_models import CallsOfWorkers, RunModels
from memeval.execution.cluster.parcel import NodeCall
from memeval.execution.setup import SystemSetup
from memeval.gateway.endpoints import Endpoint
from memeval.gateway.gateway import Gateway
from memeval.gateway.record import CallRecord
from memeval.gateway.stops import BudgetSpent
from memeval.records.base import Record
from memeval.records.call import Api, Caller, ModelRequest, Phase
from memeval.records.errors import BadInput
from memeval.records.response import Outcome
from memeval.records.submission import Host, Submission
from memeval.systems.sandbox import SandboxMode
from memeval.systems.source import SystemSource
from tests.evaluation.asking import PickyServer, asking_system, said_to, searching_system
from tests.support.equal_runs import comparable_digests
from tests.support.tiny import CITIES, TinyBenchmark

KEY = "sk-the-key-of-this-machine"
SCENARIOS, QUESTIONS = 6, 4

REFUSED = """
        other = {"model": "large", "messages": [{"role": "user", "content": question}]}
        headers = {"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
        address = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
        try:
            urllib.request.urlopen(urllib.request.Request(address, json.dumps(other).encode(), headers))
            return "a model that is not declared replied"
        except OSError as error:
            assert error.code == 403
""".strip()


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch, no_models: None, tiny: None) -> Iterator[PickyServer]:
    """A server of models with a key that only this machine has: the workers have started before."""
    with PickyServer(answer=lambda body: f"about: {said_to(body)[-200:]}", key=KEY) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        yield server


def run(
    source: SystemSource,
    results: Path,
    scheduler: str | None,
    *caps: str,
    benchmark: TinyBenchmark | None = None,
    **more: Any,
) -> RunFolder:
    options = RunOptions(
        results, scheduler=scheduler, **{"concurrency": 2, "models": ModelOptions(budget=tuple(caps)), **more}
    )
    benchmark = benchmark or TinyBenchmark(SCENARIOS, QUESTIONS)
    return run_system(source, BenchmarkSession.open(benchmark), options)


@pytest.mark.parametrize("mode", [SandboxMode.BWRAP, SandboxMode.NONE])
def test_a_system_on_workers_calls_models_without_a_key(
    cluster: Any, tmp_path: Path, models: PickyServer, monkeypatch: pytest.MonkeyPatch, mode: SandboxMode
) -> None:
    source, setup = asking_system(tmp_path, "print(*os.environ.values())"), SystemSetup(sandbox=mode)
    here = run(source, tmp_path / "here", None, setup=setup)
    sent: list[str] = []

    def dumped(record: Record, **how: Any) -> str:
        sent.append(BaseModel.model_dump_json(record, **how))
        return sent[-1]

    monkeypatch.setattr(Record, "model_dump_json", dumped)
    there = run(source, tmp_path / "there", cluster.scheduler_address, setup=setup)
    assert comparable_digests(here) == comparable_digests(there)
    calls = [(call.key, call.scenario_id, call.ordinal, call.phase, call.reply) for call in there.calls()]
    assert calls == [(call.key, call.scenario_id, call.ordinal, call.phase, call.reply) for call in here.calls()]
    assert len(calls) == SCENARIOS * QUESTIONS
    assert {headers["authorization"] for headers in models.headers} == {f"Bearer {KEY}"}
    assert there.run.usage[Phase.ASK].calls == len(calls)
    assert any("about:" in text for text in sent) and not [text for text in sent if KEY in text]
    workers = [psutil.Process(nanny.pid) for nanny in cluster.workers.values()]
    assert not [worker for worker in workers if KEY in worker.environ().values()]


def test_calls_for_undeclared_models_are_refused_and_recorded(
    cluster: Any, tmp_path: Path, models: PickyServer
) -> None:
    there = run(asking_system(tmp_path, REFUSED), tmp_path / "there", cluster.scheduler_address)
    assert {row.outcome for row in there.responses()} == {Outcome.OK}
    tried = Counter(call.request.model for call in there.calls())
    assert tried == {"small": SCENARIOS * QUESTIONS, "large": SCENARIOS * QUESTIONS}
    assert {body["model"] for body in models.bodies} == {"small"}
    log = gzip.decompress((there.path / "log.jsonl.gz").read_bytes()).decode()
    assert "The model 'large' is not declared by the submission." in log


def test_one_budget_holds_for_all_workers_and_the_run_resumes(
    cluster: Any, tmp_path: Path, models: PickyServer
) -> None:
    source = asking_system(tmp_path)
    here = run(source, tmp_path / "here", None)
    used = sum((call.prompt_tokens or 0) + (call.completion_tokens or 0) for call in here.calls())
    before = models.requests
    with pytest.raises(BudgetSpent, match=r"the cap of .* tokens for the run is reached"):
        run(source, tmp_path / "there", cluster.scheduler_address, "tokens=4500")
    made = models.requests - before
    assert 0 < made < SCENARIOS * QUESTIONS
    there = run(source, tmp_path / "there", cluster.scheduler_address)
    assert comparable_digests(here) == comparable_digests(there)
    spent = sum((call.prompt_tokens or 0) + (call.completion_tokens or 0) for call in there.calls())
    assert spent >= used and sum(1 for _ in there.calls()) == models.requests - before


def test_a_reader_on_workers_asks_equal_questions_once(cluster: Any, tmp_path: Path, models: PickyServer) -> None:
    repeated = TinyBenchmark(len(CITIES) + 4, 2)  # the last four scenarios are like the first
    how: dict[str, Any] = {"benchmark": repeated, "reader": "openai:small", "concurrency": 8}
    source, runs, requests = searching_system(tmp_path), [], []
    for name, scheduler in (("here", None), ("there", cluster.scheduler_address)):
        before = models.requests
        runs.append(run(source, tmp_path / name, scheduler, **how))
        requests.append(models.requests - before)
    here, there = runs
    assert comparable_digests(here) == comparable_digests(there)
    assert {row.outcome for row in there.responses()} == {Outcome.OK}
    assert requests == [len(CITIES) * 2] * 2
    again = run(source, tmp_path / "there", cluster.scheduler_address, fresh=True, **how)
    assert comparable_digests(again) == comparable_digests(there)
    assert models.requests == sum(requests), "a recorded call is not made again"


def test_a_worker_killed_in_its_model_calls_changes_no_row(cluster: Any, tmp_path: Path, models: PickyServer) -> None:
    source = asking_system(tmp_path)
    here = run(source, tmp_path / "here", None)
    models.latency = 0.2
    already = models.requests

    def kill() -> None:
        models.wait_for(already + 3, 60)
        os.kill(next(nanny.pid for nanny in cluster.workers.values() if nanny.pid), signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    there = run(source, tmp_path / "there", cluster.scheduler_address)
    killer.join()
    assert comparable_digests(here) == comparable_digests(there)


def test_a_system_that_declares_hosts_is_refused(cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VENDOR_API_KEY", KEY)
    hosts = (Host(host="api.vendor.com", variable="VENDOR_URL", key="VENDOR_API_KEY"),)
    submission = Submission.model_construct(slug="asking", name="Asking", version="1", hosts=hosts)
    source = replace(asking_system(tmp_path), submission=submission)
    said = "'asking' reaches the host api.vendor.com. --executor dask passes on model calls, but no requests to hosts"
    with pytest.raises(BadInput, match=re.escape(said)):
        run(source, tmp_path / "there", cluster.scheduler_address)
    assert not (tmp_path / "there").exists()


@pytest.mark.parametrize(
    ("caller", "url", "model"),
    [
        (Caller.SYSTEM, "http://127.0.0.1:1/v1", "large"),
        (Caller.SYSTEM, "http://127.0.0.1:2/v1", "small"),
        (Caller.READER, "http://127.0.0.1:1/v1", "small"),
    ],
)
def test_a_worker_cannot_spend_on_what_the_run_does_not_use(caller: Caller, url: str, model: str) -> None:
    replies: list[tuple[str, str]] = []
    request = ModelRequest(endpoint=url, api=Api.CHAT, body={"model": model, "messages": []})
    asked = NodeCall(worker="tcp://127.0.0.1:5", number=0, caller=caller, phase=Phase.ASK, request=request)
    with Gateway(CallRecord(None)) as gateway:
        allowed = {Caller.SYSTEM: (Endpoint("http://127.0.0.1:1/v1", KEY), ("small",))}
        calls = CallsOfWorkers(RunModels(gateway, allowed), lambda *reply: replies.append(reply))
        with pytest.raises(BadInput, match=r"worker tcp://127\.0\.0\.1:5 asked for a model that this run does not use"):
            calls.make(asked)
        calls.close()
    assert not replies
