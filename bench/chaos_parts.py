"""What :mod:`bench.chaos` runs and disturbs: a system that fails, the judge's server, runs, and a Dask cluster."""

from __future__ import annotations

import datetime
import multiprocessing
import os
import random
import resource
import signal
import socket
import subprocess
import sys
import traceback
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import psutil
import pytest

from memeval.archive.runs import RunFolder
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.run import models
from memeval.evaluation.run.running import RunOptions, run_system
from memeval.execution import journal
from memeval.execution.setup import SystemSetup
from memeval.gateway.limits import GatewayOptions
from memeval.records.errors import MemevalError
from memeval.records.track import Limits
from memeval.systems.sandbox import SandboxMode
from memeval.systems.source import file_source
from tests.support.registered import register
from tests.support.tiny import TinyBenchmark

ADAPTER = """
import hashlib, os, time

class Disturbed:
    questions_at_once = {at_once}

    def reset(self):
        self.told = []

    def ingest_session(self, session, timestamp):
        self.told += [turn["content"] for turn in session["turns"]]

    def query(self, question, timestamp="now"):
        text = self.told[0] + question
        drawn = hashlib.sha256(text.encode()).digest()
        time.sleep(0.005 + drawn[1] / 10_000)
        fault = drawn[0] / 25.6
        if fault < 1:
            raise RuntimeError("no answer")
        if fault < 2:
            os._exit(3)
        if fault < 3:
            time.sleep(60)
        if fault < 4:
            return 5
        return text
"""

SERVER_FAULTS = ("429", "500", "dropped", "torn", "html", "cut")
SHARE = 0.1
"""The share of requests that fail in each way."""

SCENARIOS, QUESTIONS = 4, 6
LIMITS = Limits(ask_seconds=0.6)
LONGEST_RUN = 120.0
"""Seconds after which a run counts as hanging."""

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["tests.support.preloaded"])


@dataclass(frozen=True)
class Setting:
    """Where a run is made, and by what."""

    folder: Path
    at_once: int
    """How many questions the system answers at the same time."""
    judge_port: int
    scheduler: str | None = None
    """The address of the Dask scheduler; ``None`` for this machine."""

    @property
    def results(self) -> Path:
        """The results folder."""
        return self.folder / "results"

    def on(self, cluster: Cluster | None) -> Setting:
        """Return the setting with the present address of a cluster."""
        return replace(self, scheduler=None if cluster is None else cluster.address)

    def log(self) -> str:
        """Return the end of what the runs said on standard error, on one line."""
        path = self.folder / "log.txt"
        return " ".join(path.read_text(encoding="utf-8", errors="replace")[-400:].split()) if path.exists() else ""


class _Clock(datetime.datetime):
    """A clock that steps."""

    step = datetime.timedelta()

    @classmethod
    def now(cls, tz: datetime.tzinfo | None = None) -> datetime.datetime:  # type: ignore[override]
        """See :class:`datetime.datetime`."""
        return datetime.datetime.now(tz) + cls.step


def _hasty(*given: Any, **named: Any) -> GatewayOptions:
    """Return options with more tries and less time between them: the server is away for as long as its start takes."""
    return replace(GatewayOptions(*given, **named), tries=14, first_wait_seconds=0.02, longest_wait_seconds=0.5)


def run_here(setting: Setting, concurrency: int) -> RunFolder:
    """Run the benchmark in this process, or resume its run."""
    os.environ["MEMEVAL_JUDGE_BASE_URL"] = f"http://127.0.0.1:{setting.judge_port}/v1"
    os.environ["MEMEVAL_JUDGE_API_KEY"] = "placeholder"
    path = setting.folder / f"{setting.at_once}-at-once" / "disturbed.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(ADAPTER.format(at_once=setting.at_once), encoding="utf-8")
    options = RunOptions(
        setting.results,
        judge="openai:judge-1",
        judge_label="a local server",
        limits=LIMITS,
        setup=SystemSetup(sandbox=SandboxMode.NONE),
        concurrency=concurrency,
        scheduler=setting.scheduler,
        keep_going=True,
    )
    with pytest.MonkeyPatch.context() as patch:
        register(patch, {"tiny@1": lambda: TinyBenchmark(SCENARIOS, QUESTIONS)})
        patch.setattr(models, "GatewayOptions", _hasty)
        return run_system(file_source(path), BenchmarkSession.open(TinyBenchmark(SCENARIOS, QUESTIONS)), options)


def _child(setting: Setting, concurrency: int, disk_bytes: int | None, clock_step: int) -> None:
    """Run, in a process of its own; exit with the code of the command line."""
    os.setpgid(0, 0)
    os.dup2(os.open(setting.folder / "log.txt", os.O_CREAT | os.O_APPEND | os.O_WRONLY), 2)
    if disk_bytes is not None:  # the same system call fails in the same place as on a full disk
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (disk_bytes, resource.RLIM_INFINITY))
    _Clock.step = datetime.timedelta(seconds=clock_step)
    journal.datetime = _Clock  # type: ignore[attr-defined]
    code = 1
    try:
        run_here(setting, concurrency)
        code = 0
    except MemevalError as error:
        with suppress(OSError):
            print(error, file=sys.stderr, flush=True)
        code = int(error.exit_code)
    except BaseException:
        with suppress(OSError):
            traceback.print_exc()
    os._exit(code)


class Disturbed:
    """A run in a process of its own.

    Args:
        setting: where it is made, and by what.
        concurrency: as in :class:`RunOptions`.
        disk_bytes: the longest file that it can write; ``None`` for any length.
        clock_step: seconds by which its clock is wrong.
    """

    def __init__(
        self, setting: Setting, concurrency: int, *, disk_bytes: int | None = None, clock_step: int = 0
    ) -> None:
        setting.folder.mkdir(exist_ok=True)
        self._process = FORKS.Process(target=_child, args=(setting, concurrency, disk_bytes, clock_step))
        self._process.start()

    def kill(self) -> None:
        """Kill it; its systems end by themselves."""
        self._process.kill()

    def kill_system(self, chance: random.Random) -> bool:
        """Kill the process of one of its systems; return whether there was one."""
        assert self._process.pid is not None
        with suppress(psutil.NoSuchProcess):
            systems = psutil.Process(self._process.pid).children(recursive=True)
            if systems:
                chance.choice(systems).kill()
                return True
        return False

    def wait(self) -> int:
        """Wait for its end; return its exit code, negative for a signal.

        Raises:
            TimeoutError: it hangs.
        """
        self._process.join(LONGEST_RUN)
        if self._process.exitcode is None:
            self._process.kill()
            raise TimeoutError(f"a run has not ended after {LONGEST_RUN:g} s")
        return self._process.exitcode


@dataclass
class Judge:
    """The judge's server, in a process of its own."""

    fails: bool
    port: int = 0
    process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Start it, on its port if it had one."""
        command = [sys.executable, "-m", "tests.support.model_server", "--port", str(self.port)]
        for fault in SERVER_FAULTS if self.fails else ():
            command += ["--fault", f"{fault}={SHARE}"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline().strip().rpartition(":")[2].split("/")[0])

    def kill(self) -> None:
        """Kill it."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            if self.process.stdout is not None:
                self.process.stdout.close()


class Cluster:
    """A Dask scheduler and two workers, as processes that can be killed and started again."""

    def __init__(self) -> None:
        self.address = ""
        self._scheduler: subprocess.Popen[bytes] | None = None
        self._workers: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_error: object) -> None:
        for process in (*self._workers, self._scheduler):
            if process is not None:
                process.kill()
                process.wait()

    def start(self) -> None:
        """Start what does not run."""
        if self._scheduler is None or self._scheduler.poll() is not None:
            for worker in self._workers:  # they belong to the scheduler that is gone
                worker.kill()
                worker.wait()
            port = _free_port()
            self.address = f"tcp://127.0.0.1:{port}"
            self._scheduler = _dask("scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard")
        self._workers = [worker for worker in self._workers if worker.poll() is None]
        while len(self._workers) < 2:
            options = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1")
            self._workers.append(_dask("worker", self.address, *options))

    def kill_worker(self, chance: random.Random) -> None:
        """Kill a worker, one that runs a system if there is one, and start another."""
        busy = [worker for worker in self._workers if _children(worker.pid)]
        worker = chance.choice(busy or self._workers)
        worker.kill()
        worker.wait()
        self.start()

    def kill_scheduler(self) -> None:
        """Kill the scheduler."""
        assert self._scheduler is not None
        self._scheduler.kill()
        self._scheduler.wait()


def _children(pid: int) -> list[psutil.Process]:
    """Return the processes that a process has started."""
    with suppress(psutil.NoSuchProcess):
        return psutil.Process(pid).children()
    return []


def _dask(*words: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "dask", *words]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
