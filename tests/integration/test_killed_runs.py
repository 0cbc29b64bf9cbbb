"""A run that is killed, interrupted, doubled or out of disk, and resumed, ends with the rows of an undisturbed run."""

import random
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

from memeval.archive.runs import sealed_runs
from memeval.evaluation.verify.verification import verify_run
from tests.support.adapters import plain_adapter
from tests.support.commands import memeval, start
from tests.support.equal_runs import comparable_digests
from tests.support.waiting import is_running, wait_until

ITEMS = 23
"""How many questions there are about two people."""

KILLED_AT = {0: 4, 1: 8, 8: 1, 16: 4, ITEMS: 8}
"""How many rows are stored when a run is killed: before the first, in the midst of them, and while it is sealed. Each
with the concurrency of the run that is killed."""


def words(adapter: Path, results: Path, people: int = 2) -> tuple[str, ...]:
    small = ("--benchmark", "beliefs@2", "--parameter", f"size={people}")
    return ("run", str(adapter), *small, "--results", str(results))


def stored_rows(results: Path) -> int:
    """Return how many whole rows are in the journals under a results folder."""
    return sum(path.read_bytes().count(b"\n") for path in results.glob("*/*/*/journal/responses.jsonl"))


def reached(results: Path, rows: int) -> bool:
    """Return whether a run is on disk with so many rows."""
    return any(results.glob("*/*/*/journal")) and stored_rows(results) >= rows


def test_a_run_killed_again_and_again_ends_with_the_rows_of_a_calm_one(tmp_path: Path) -> None:
    # Few items that take long: most of a short life is still spent on them.
    answer = "return {'answer': self.told[0], 'context': 'Nothing else is known.'}"
    adapter = plain_adapter(tmp_path, on_query=f"time.sleep(0.1); {answer}")
    memeval(*words(adapter, tmp_path / "calm"), where=tmp_path)
    (calm,) = sealed_runs(tmp_path / "calm")
    chance, results = random.Random(20), tmp_path / "results"
    for stored, concurrency in KILLED_AT.items():
        process = start(*words(adapter, results), "--concurrency", str(concurrency), where=tmp_path)
        wait_until(partial(reached, results, stored))
        assert stored == ITEMS or process.poll() is None, "the kill came too late to disturb anything"
        time.sleep(chance.uniform(0, 0.05))
        process.kill()
    assert memeval(*words(adapter, results), where=tmp_path).code == 0
    (run,) = sealed_runs(results)
    assert comparable_digests(run) == comparable_digests(calm)
    assert run.run.files["contexts.jsonl"].rows > 1
    assert verify_run(run) == []
    assert run.run.scores == calm.run.scores


def test_ctrl_c_ends_at_once_with_a_sentence_and_the_same_call_resumes(tmp_path: Path) -> None:
    adapter = plain_adapter(tmp_path, on_query="time.sleep(0.05)")
    results = tmp_path / "results"
    process = start(*words(adapter, results), where=tmp_path)
    wait_until(lambda: stored_rows(results) >= 3)
    process.interrupt()
    process.wait(20)
    said = process.said()
    assert said.code == 130 and "interrupted. Progress saved." in said.err
    before = stored_rows(results)
    assert 3 <= before < ITEMS
    done = memeval(*words(adapter, results), where=tmp_path)
    assert done.code == 0
    assert "items are already on disk" in done.err
    (run,) = sealed_runs(results)
    assert verify_run(run) == []


def test_no_process_of_a_system_outlives_a_killed_run(tmp_path: Path) -> None:
    mark = tmp_path / "pids"
    adapter = plain_adapter(
        tmp_path, on_query=f"open({str(mark)!r}, 'a').write(str(os.getpid()) + chr(10)); time.sleep(0.05)"
    )
    process = start(*words(adapter, tmp_path / "results"), where=tmp_path)
    wait_until(lambda: mark.exists() and mark.read_text().count("\n") > 3)
    process.kill()
    pids = {int(line) for line in mark.read_text().splitlines()}
    assert pids
    wait_until(lambda: not any(map(is_running, pids)), 10)


def test_two_at_once_on_one_run_leave_one_refused_and_one_whole(tmp_path: Path) -> None:
    gate, results = tmp_path / "gate", tmp_path / "results"
    adapter = plain_adapter(
        tmp_path,
        on_query=f"time.sleep(0.2); [time.sleep(0.01) for _ in range(2000) if os.path.exists({str(gate)!r})]",
    )
    first = start(*words(adapter, results), where=tmp_path)
    wait_until(lambda: stored_rows(results) >= 1)
    gate.touch()
    second = memeval(*words(adapter, results), where=tmp_path)
    assert second.code == 2
    assert "another memeval process is running this run" in second.err
    gate.unlink()
    assert first.wait() == 0
    (run,) = sealed_runs(results)
    assert verify_run(run) == []


def test_a_full_disk_stops_with_a_sentence_and_what_is_stored_resumes(tmp_path: Path) -> None:
    """A limit on the size of files stands for a full disk: the same system call fails in the same place.

    Only the rows are larger than the limit.
    """
    adapter = plain_adapter(tmp_path, on_query="return 'so on ' * 500")
    results = tmp_path / "results"
    limited = [
        *("bash", "-c", 'ulimit -f 100; exec "$@"', "limited", sys.executable, "-m", "memeval"),
        *words(adapter, results, people=5),
    ]
    stopped = subprocess.run(limited, capture_output=True, text=True, timeout=120, check=False)
    assert stopped.returncode == 2, stopped.stderr
    assert "cannot be written" in stopped.stderr and "run the same command to resume" in stopped.stderr
    assert stored_rows(results) > 0
    assert memeval(*words(adapter, results, people=5), where=tmp_path).code == 0
    (run,) = sealed_runs(results)
    assert verify_run(run) == []
    assert run.run.coverage.full
