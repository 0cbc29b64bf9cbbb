"""Workers and clusters that lack something, end, or hang: one sentence each, and nothing finished is lost."""

import json
import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from memeval.execution.cluster import executor
from memeval.execution.cluster.parcel import own_versions
from memeval.execution.journal import Journal
from memeval.execution.setup import SystemSetup
from memeval.records.errors import BadInput
from memeval.systems.sandbox import SandboxMode
from memeval.systems.source import file_source, folder_source
from tests.evaluation.run.cluster.test_cluster import UNSANDBOXED, run, searcher
from tests.support.adapters import plain_adapter
from tests.support.equal_runs import comparable_digests
from tests.support.tiny import Stops

HEAVY = """if os.getppid() != {pid} and {city!r} in self.told[0]:
            with open({asks!r}, "w") as file: file.write(str(os.getppid()))
            time.sleep(60)"""
"""Names its worker in a file, to be ended like a process that is out of memory."""

MANIFEST = """
schema_version = 1
slug = "plain"
name = "Plain"
version = "1.0"
entry = "adapter.py:Plain"
authors = ["Nobody"]
licence = "Apache-2.0"
summary = "Needs Node."
"""


def cluster_of(workers: int, **more: Any) -> Any:
    from distributed import LocalCluster

    return LocalCluster(n_workers=workers, threads_per_worker=1, host="127.0.0.1", dashboard_address=None, **more)


@pytest.fixture(scope="module")
def bare() -> Iterator[Any]:
    """A cluster whose worker finds neither bubblewrap nor Node."""
    with cluster_of(1, env={"PATH": "/nowhere"}) as cluster:
        yield cluster


def test_a_worker_without_bubblewrap_is_named(bare: Any, tmp_path: Path) -> None:
    sandboxed = SystemSetup(sandbox=SandboxMode.BWRAP)
    with pytest.raises(BadInput, match=r"^worker tcp://127\.0\.0\.1:\d+: No sandbox: bubblewrap \(bwrap\) is not inst"):
        run(searcher(tmp_path), tmp_path / "there", bare.scheduler_address, setup=sandboxed)


def test_a_worker_without_node_is_named(bare: Any, tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    lock = {"name": "plain", "lockfileVersion": 3, "requires": True, "packages": {"": {"name": "plain"}}}
    plain_adapter(folder, "adapter")
    files = {
        "submission.toml": MANIFEST,
        "package.json": json.dumps({"name": "plain"}),
        "package-lock.json": json.dumps(lock),
    }
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    source = folder_source(folder)
    with pytest.raises(BadInput, match=r"^worker tcp://127\.0\.0\.1:\d+: .*node is not installed.*Install Node"):
        run(source, tmp_path / "there", bare.scheduler_address, setup=UNSANDBOXED)


def test_a_scenario_that_ends_every_worker_is_named(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executor, "MOST_LOSSES", 1)
    monkeypatch.setattr(cluster.scheduler, "allowed_failures", 0)
    asks, is_over = tmp_path / "asks", threading.Event()
    heavy = plain_adapter(tmp_path, "heavy", on_query=HEAVY.format(pid=os.getpid(), city="Hanoi", asks=str(asks)))
    ended: list[int] = []

    def out_of_memory() -> None:
        while not is_over.wait(0.05):
            if asks.exists() and (pid := asks.read_text()):
                asks.unlink()
                ended.append(int(pid))
                os.kill(ended[-1], signal.SIGKILL)

    killer = threading.Thread(target=out_of_memory)
    killer.start()
    source = file_source(heavy)
    how: dict[str, Any] = {"setup": UNSANDBOXED, "concurrency": 1}
    said = r"every worker that ran tiny-004 ended\. It may have run out of memory\..*--memory-limit.*Progress is saved"
    try:
        with pytest.raises(BadInput, match=said):
            run(source, tmp_path / "there", cluster.scheduler_address, **how)
    finally:
        is_over.set()
        killer.join()
    assert len(ended) == 2
    (journal,) = tmp_path.glob("there/*/*/*/journal/responses.jsonl")
    assert journal.read_bytes().count(b"\n") == 4
    resumed = run(source, tmp_path / "there", **how)
    assert comparable_digests(resumed) == comparable_digests(run(source, tmp_path / "here", **how))


def test_a_cluster_without_workers_is_not_waited_for_forever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executor, "NO_WORKER_SECONDS", 0.5)
    with (
        cluster_of(0) as cluster,
        pytest.raises(BadInput, match=r"the cluster has had no worker for 0\.5 s\. Start workers: dask worker ADDRESS"),
    ):
        run(searcher(tmp_path), tmp_path / "there", cluster.scheduler_address)


def test_another_dask_is_refused_before_the_run_starts(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    newer = {**own_versions(), "distributed": "2099.1.0"}
    monkeypatch.setattr(executor, "own_versions", lambda: newer)
    with pytest.raises(BadInput, match=r"^the scheduler: distributed is .* on the worker and 2099\.1\.0 here\."):
        run(searcher(tmp_path), tmp_path / "there", cluster.scheduler_address)
    assert not (tmp_path / "there").exists()


def test_a_second_client_on_the_same_run_is_refused(cluster: Any, tmp_path: Path) -> None:
    source = searcher(tmp_path, pause=0.1)
    with pytest.raises(KeyboardInterrupt):
        run(source, tmp_path / "there", cluster.scheduler_address, Stops())
    (folder,) = tmp_path.glob("there/*/*/*")
    with Journal(folder), pytest.raises(BadInput, match="another memeval process is running this run"):
        run(source, tmp_path / "there", cluster.scheduler_address)


class Turning:
    """A future whose result is lost after it was found done, as when its worker ends at that moment."""

    def __init__(self, status: str) -> None:
        self.status = status

    def done(self) -> bool:
        return True


def receive_once(status: str) -> dict[int, Any]:
    """Let an executor receive while the only scenario's future turns to a status, and return what it waits for."""
    waiting = {0: executor._Given(Turning(status), "s1", "", {"i1": ("q1",)}, 1)}
    made = executor.DaskExecutor.__new__(executor.DaskExecutor)
    made.__dict__ |= {"_given": waiting, "_queue": SimpleNamespace(get=lambda batch: ())}
    made._receive()
    return waiting


def test_a_result_that_ends_with_its_worker_is_waited_for_again() -> None:
    # Dask computes it again by itself. A race: no kill hits the moment between the two looks at a future.
    assert list(receive_once("lost")) == [0]
    with pytest.raises(BadInput, match="dropped the tasks of this run"):
        receive_once("cancelled")
