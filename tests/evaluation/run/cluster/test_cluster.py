"""Runs on a real Dask cluster of two processes have the rows of runs on this machine."""

import gzip
import os
import signal
import socket
import threading
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from memeval.archive.runs import RunFolder
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.run import on_cluster
from memeval.evaluation.run.running import RunOptions, run_system
from memeval.execution.progress import Progress
from memeval.execution.setup import SystemSetup
from memeval.records.errors import BadInput
from memeval.records.response import Outcome
from memeval.records.track import Limits
from memeval.systems.messages import AdapterInfo
from memeval.systems.sandbox import SandboxMode
from memeval.systems.source import SystemSource, file_source, find_system
from tests.support.equal_runs import comparable_digests
from tests.support.tiny import Notes, Stops, TinyBenchmark
from tests.support.waiting import wait_until

SCENARIOS = 12

UNSANDBOXED = SystemSetup(sandbox=SandboxMode.NONE)

SEARCHER = """
import time
import helper

class Searcher:
    def reset(self):
        self.told = []

    def ingest_session(self, session, timestamp):
        self.told += [turn["content"] for turn in session["turns"]]
        print("ingested", len(self.told))

    def search(self, query, k, timestamp="now"):
        time.sleep(helper.PAUSE)
        return [{"text": text, "source_ids": []} for text in self.told[-1:]]
"""

TOGETHER = """
import threading, time

class Together:
    questions_at_once = 4

    def __init__(self):
        self.guard, self.now = threading.Lock(), 0

    def reset(self):
        self.told = []

    def ingest_session(self, session, timestamp):
        self.told += [turn["content"] for turn in session["turns"]]
        print("ingested")

    def query(self, question, timestamp="now"):
        with self.guard:
            self.now += 1
            print(self.now, "in flight")
        number = int(question.split("(")[1].split(")")[0])
        time.sleep(0.02 + 0.005 * (7 - number))
        with self.guard:
            self.now -= 1
        return f"{self.told[0]} {number}"
"""


FAILS_ONCE = """
import os, time

class FailsOnce:
    questions_at_once = 2

    def reset(self):
        self.told = []

    def ingest_session(self, session, timestamp):
        if {fails!r} == "ingestion" and self.is_first():
            raise RuntimeError("no memory left")
        self.told += [turn["content"] for turn in session["turns"]]

    def query(self, question, timestamp="now"):
        print("asked", question)
        if {fails!r} in question and self.is_first():
            time.sleep(60)
        return f"{{self.told[0]}} {{question}}"

    def is_first(self):
        try:
            with open({worker!r}, "x") as stream:
                stream.write(str(os.getppid()))
        except FileExistsError:
            return False
        return True
"""
"""A system that fails once, and names the process of its worker in a file."""


@pytest.fixture
def both_workers(cluster: Any) -> str:
    """Return the address of the cluster once both workers are there: an earlier test may have killed one."""
    wait_until(lambda: len(cluster.scheduler.workers) == 2, 30)
    return str(cluster.scheduler_address)


def searcher(folder: Path, pause: float = 0.0) -> SystemSource:
    (folder / "helper.py").write_text(f"PAUSE = {pause}\n", encoding="utf-8")
    (folder / "searcher.py").write_text(SEARCHER, encoding="utf-8")
    return file_source(folder / "searcher.py")


def run(
    source: SystemSource,
    results: Path,
    scheduler: str | None = None,
    progress: Progress | None = None,
    benchmark: TinyBenchmark | None = None,
    **more: Any,
) -> RunFolder:
    options = RunOptions(results=results, scheduler=scheduler, **{"concurrency": 2, "skip_conformance": True, **more})
    return run_system(source, BenchmarkSession.open(benchmark or TinyBenchmark(SCENARIOS)), options, progress)


def logged(made: RunFolder) -> str:
    return gzip.decompress((made.path / "log.jsonl.gz").read_bytes()).decode()


def worker_pids(cluster: Any) -> list[int]:
    nannies = cluster.workers.values()
    return [nanny.pid for nanny in nannies if nanny.pid is not None and psutil.pid_exists(nanny.pid)]


def test_a_cluster_gives_the_rows_of_this_machine(cluster: Any, tmp_path: Path) -> None:
    source = searcher(tmp_path)
    here, there = run(source, tmp_path / "here"), run(source, tmp_path / "there", cluster.scheduler_address)
    assert comparable_digests(here) == comparable_digests(there)
    assert here.run.fingerprint == there.run.fingerprint
    assert logged(there).count("ingested") >= SCENARIOS


def test_a_worker_has_as_many_questions_in_flight_as_the_adapter_declares(cluster: Any, tmp_path: Path) -> None:
    (tmp_path / "together.py").write_text(TOGETHER, encoding="utf-8")
    source, few = file_source(tmp_path / "together.py"), TinyBenchmark(3, 8)
    here = run(source, tmp_path / "here", None, None, few, concurrency=1)
    there = run(source, tmp_path / "there", cluster.scheduler_address, None, few, concurrency=16)
    assert comparable_digests(here) == comparable_digests(there)
    assert [row.question_id for row in there.responses()] == [row.question_id for row in here.responses()]
    assert "4 in flight" in logged(there) and "5 in flight" not in logged(there)
    halves = run(source, tmp_path / "halves", cluster.scheduler_address, None, few, concurrency=4)
    assert "2 in flight" in logged(halves) and "3 in flight" not in logged(halves), "4 questions over 2 workers"
    notes = Notes()
    run(source, tmp_path / "one", cluster.scheduler_address, notes, few, concurrency=1)
    assert [note for note in notes.said if "--concurrency is 1. Use --concurrency 8." in note]


def test_workers_share_the_questions_of_one_conversation(both_workers: str, tmp_path: Path) -> None:
    (tmp_path / "together.py").write_text(TOGETHER, encoding="utf-8")
    source, one = file_source(tmp_path / "together.py"), TinyBenchmark(1, 16)
    here = run(source, tmp_path / "here", None, None, one, concurrency=16)
    there = run(source, tmp_path / "there", both_workers, None, one, concurrency=16)
    assert comparable_digests(here) == comparable_digests(there)
    assert [row.question_id for row in there.responses()] == [row.question_id for row in here.responses()]
    assert (logged(here).count("ingested"), logged(there).count("ingested")) == (2, 4), "sessions, once a slice"
    for made in (here, there):
        times = [row.timings for row in made.responses()]
        assert [each.take_in_sessions for each in times] == [2] + [0] * 15, "one ingestion is counted"
        assert [each.take_in_seconds is None for each in times] == [False] + [True] * 15
    alone = run(source, tmp_path / "alone", both_workers, None, one, concurrency=4)
    assert logged(alone).count("ingested") == 2, "one worker has all questions in flight"


def fails_once(folder: Path, fails: str) -> tuple[SystemSource, Path]:
    """Return a system that fails once, at ingestion or at a question, and the file that names its worker."""
    worker = folder / "worker"
    (folder / "fails_once.py").write_text(FAILS_ONCE.format(fails=fails, worker=str(worker)), encoding="utf-8")
    return file_source(folder / "fails_once.py"), worker


def answers(made: RunFolder) -> dict[str, str]:
    return {row.question_id: row.answer for row in made.responses() if row.outcome is Outcome.OK}


def test_a_slice_of_a_killed_worker_runs_again_and_the_other_slice_does_not(both_workers: str, tmp_path: Path) -> None:
    (source, worker), one = fails_once(tmp_path, "(6)"), TinyBenchmark(1, 8)

    def kill() -> None:
        wait_until(lambda: worker.exists() and worker.read_text(), 30)
        os.kill(int(worker.read_text()), signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    there = run(source, tmp_path / "there", both_workers, None, one, concurrency=4, setup=UNSANDBOXED)
    killer.join()
    here = run(source, tmp_path / "here", None, None, one, setup=UNSANDBOXED)
    assert comparable_digests(here) == comparable_digests(there)
    assert [logged(there).count(f"({number})") for number in range(4)] == [1] * 4
    questions = [row.question_id for row in there.responses()]
    assert len(questions) == len(set(questions)) == 8


def test_a_slice_whose_ingestion_fails_fails_alone_and_is_retried(both_workers: str, tmp_path: Path) -> None:
    source, _worker = fails_once(tmp_path, "ingestion")
    one, how = TinyBenchmark(1, 8), {"concurrency": 4, "setup": UNSANDBOXED}
    there = run(source, tmp_path / "there", both_workers, None, one, **how)
    failed = [row.question_id for row in there.responses() if row.outcome is Outcome.ADAPTER_ERROR]
    asked = [row.question_id for row in there.responses()]
    assert failed in (asked[:4], asked[4:])
    again = run(source, tmp_path / "there", both_workers, None, one, retry_errors=True, **how)
    here = run(source, tmp_path / "here", None, None, one, **how)
    assert answers(again) == answers(here) and len(answers(here)) == 8


ALONE = AdapterInfo("Memory", ("ingest_session", "query"), "cpython", "3.11", {})
TOGETHER_INFO = replace(ALONE, questions_at_once=4)


@pytest.mark.parametrize(
    ("hello", "models", "divides"),
    [
        (TOGETHER_INFO, (), True),
        (ALONE, (), False),
        (TOGETHER_INFO, ("small",), False),
        (replace(TOGETHER_INFO, capabilities=("query", "usage")), (), False),
    ],
)
def test_workers_share_questions_only_if_these_are_independent(
    hello: AdapterInfo, models: tuple[str, ...], divides: bool
) -> None:
    source = SimpleNamespace(declared_models=models)
    on_nodes: Any = SimpleNamespace(adapter=hello, source=source)
    assert on_cluster._divides(on_nodes) is divides


def test_an_interrupted_slice_is_resumed(both_workers: str, tmp_path: Path) -> None:
    (tmp_path / "together.py").write_text(TOGETHER, encoding="utf-8")
    source, one = file_source(tmp_path / "together.py"), TinyBenchmark(1, 16)
    with pytest.raises(KeyboardInterrupt):
        run(source, tmp_path / "there", both_workers, Stops(), one, concurrency=8)
    there = run(source, tmp_path / "there", both_workers, None, one, concurrency=8)
    here = run(source, tmp_path / "here", None, None, one, concurrency=8)
    assert comparable_digests(here) == comparable_digests(there)


def test_a_control_runs_on_a_cluster(cluster: Any, tmp_path: Path) -> None:
    bm25 = find_system("bm25")
    here, there = run(bm25, tmp_path / "here"), run(bm25, tmp_path / "there", cluster.scheduler_address)
    assert comparable_digests(here) == comparable_digests(there)


def test_scenarios_of_killed_workers_run_again_and_count_once(cluster: Any, tmp_path: Path) -> None:
    source = searcher(tmp_path, pause=0.3)
    here = run(source, tmp_path / "here")
    is_over = threading.Event()
    killed: list[int] = []

    def kill() -> None:
        while not is_over.wait(1.0) and len(killed) < 2:
            for pid in worker_pids(cluster)[:1]:
                os.kill(pid, signal.SIGKILL)
                killed.append(pid)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        there = run(source, tmp_path / "there", cluster.scheduler_address)
    finally:
        is_over.set()
        killer.join()
    assert killed
    assert comparable_digests(here) == comparable_digests(there)
    questions = [row.question_id for row in there.responses()]
    assert len(questions) == len(set(questions))


def test_a_question_that_never_ends_is_a_timeout(cluster: Any, tmp_path: Path) -> None:
    source = searcher(tmp_path, pause=60.0)
    limits = Limits(ask_seconds=0.2)
    there = run(source, tmp_path / "there", cluster.scheduler_address, limits=limits, limit=2, keep_going=True)
    assert {row.outcome for row in there.responses()} == {Outcome.TIMEOUT}


def test_an_interrupted_run_ends_its_systems_and_resumes_on_this_machine(cluster: Any, tmp_path: Path) -> None:
    source = searcher(tmp_path, pause=0.1)
    with pytest.raises(KeyboardInterrupt):
        run(source, tmp_path / "there", cluster.scheduler_address, Stops())
    wait_until(lambda: not any(psutil.Process(pid).children() for pid in worker_pids(cluster)), 10)
    resumed = run(source, tmp_path / "there")
    assert comparable_digests(resumed) == comparable_digests(run(source, tmp_path / "here"))


def test_another_environment_of_a_worker_fails(cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "memeval.execution.preparation.PreparedSystem.environment_digest", lambda *_: "sha256:" + "0" * 64
    )
    with pytest.raises(BadInput, match=r"^worker tcp://127\.0\.0\.1:\d+: the environment of searcher has other packa"):
        run(searcher(tmp_path), tmp_path / "there", cluster.scheduler_address)


def test_other_code_on_a_worker_is_refused(cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from memeval.execution.cluster import parcel

    newer = {**parcel.own_versions(), "code of memeval": "newer"}
    monkeypatch.setattr(parcel, "own_versions", lambda: newer)
    with pytest.raises(BadInput, match=r"worker tcp://.*: code of memeval is .* on the worker and newer here\. "):
        run(searcher(tmp_path), tmp_path / "there", cluster.scheduler_address)


def test_a_scheduler_that_does_not_answer_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("memeval.execution.cluster.executor.CONNECT_SECONDS", 0.5)
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{closed.getsockname()[1]}"
        with pytest.raises(BadInput, match=f"no Dask scheduler answers at '{address}' .*dask scheduler"):
            run(searcher(tmp_path), tmp_path / "there", address)
    assert not (tmp_path / "there").exists()
