"""A run killed at random moments and resumed each time ends with the rows of an undisturbed run."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from memeval.archive.runs import RunFolder, sealed_runs
from memeval.evaluation.verification import verify_run
from tests.support.adapters import plain_adapter

KILLS = 20
ITEMS = 60


def command(adapter: Path, results: Path, items: int = ITEMS) -> list[str]:
    """Return the call that runs an adapter on a small ``beliefs@1``."""
    return [
        *(sys.executable, "-m", "memeval", "run", str(adapter), "--benchmark", "beliefs@1"),
        *("--parameter", f"size={items}", "--results", str(results)),
    ]


def rows(run: RunFolder) -> tuple[list[dict[str, object]], list[str]]:
    """Return what two equal runs have in common: responses without clocks, and grades to the byte."""
    return [row.comparable() for row in run.responses()], [grade.to_json() for grade in run.grades()]


def stored_rows(results: Path) -> int:
    """Return how many whole rows are in the journals under a results folder."""
    return sum(path.read_bytes().count(b"\n") for path in results.glob("*/*/*/journal/responses.jsonl"))


@pytest.mark.slow
def test_a_run_killed_twenty_times_ends_with_the_rows_of_an_undisturbed_one(tmp_path: Path) -> None:
    # Few items that take long: most of a short life is still spent on them.
    adapter = plain_adapter(tmp_path, on_query="time.sleep(0.05)")
    began = time.monotonic()
    subprocess.run(command(adapter, tmp_path / "calm", 24), check=True, capture_output=True, timeout=120)
    life = time.monotonic() - began
    (calm,) = sealed_runs(tmp_path / "calm")
    chance = random.Random(20)
    kills, resumed_onto_rows, rounds = 0, 0, 0
    while kills < KILLS:
        rounds += 1
        results = tmp_path / f"round-{rounds}"
        while True:
            resumed_onto_rows += stored_rows(results) > 0
            with (tmp_path / "said.txt").open("wb") as said:
                process = subprocess.Popen(command(adapter, results, 24), stdout=said, stderr=said)
            try:
                code = process.wait(timeout=120 if kills >= KILLS else chance.uniform(0, life))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                kills += 1
                continue
            assert code == 0, (tmp_path / "said.txt").read_text()
            break
        (run,) = sealed_runs(results)
        assert rows(run) == rows(calm)
        assert verify_run(run) == []
        assert run.run.scores == calm.run.scores
    assert resumed_onto_rows >= KILLS // 4, "the kills came too early to disturb anything"


def test_ctrl_c_ends_at_once_with_a_sentence_and_the_same_call_resumes(tmp_path: Path) -> None:
    adapter = plain_adapter(tmp_path, on_query="time.sleep(0.05)")
    results = tmp_path / "results"
    process = subprocess.Popen(
        command(adapter, results),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # A shell's background jobs ignore Ctrl-C, and so would what they start.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    deadline = time.monotonic() + 60
    while stored_rows(results) < 3 and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "interrupted" in said
    assert "Traceback" not in said
    before = stored_rows(results)
    assert before >= 3
    done = subprocess.run(command(adapter, results), capture_output=True, text=True, timeout=120, check=True)
    assert "items are on disk already" in done.stderr
    (run,) = sealed_runs(results)
    assert verify_run(run) == []


def test_no_process_of_a_system_outlives_a_killed_run(tmp_path: Path) -> None:
    mark = tmp_path / "pids"
    adapter = plain_adapter(
        tmp_path, on_query=f"open({str(mark)!r}, 'a').write(str(os.getpid()) + chr(10)); time.sleep(0.05)"
    )
    process = subprocess.Popen(
        command(adapter, tmp_path / "results"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 60
    while not (mark.exists() and mark.read_text().count("\n") > 3) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.kill()
    process.wait()
    pids = {int(line) for line in mark.read_text().splitlines()}
    assert pids
    deadline = time.monotonic() + 10
    while (left := {pid for pid in pids if _runs(pid)}) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not left


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (ProcessLookupError, FileNotFoundError):
        return False


def test_two_at_once_on_one_run_leave_one_refused_and_one_whole(tmp_path: Path) -> None:
    gate, results = tmp_path / "gate", tmp_path / "results"
    gate.touch()
    adapter = plain_adapter(
        tmp_path,
        on_query="self.asked = getattr(self, 'asked', 0) + 1; "
        f"[time.sleep(0.01) for _ in range(5000) if self.asked > 1 and os.path.exists({str(gate)!r})]",
    )
    first = subprocess.Popen(command(adapter, results), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while stored_rows(results) < 1 and time.monotonic() < deadline:
        time.sleep(0.02)
    second = subprocess.run(command(adapter, results), capture_output=True, text=True, timeout=60, check=False)
    assert second.returncode == 2
    assert "another memeval is running this very run" in second.stderr
    gate.unlink()
    assert first.wait(timeout=120) == 0
    (run,) = sealed_runs(results)
    assert verify_run(run) == []


def test_a_full_disk_stops_with_a_sentence_and_what_is_stored_resumes(tmp_path: Path) -> None:
    """A limit on the size of files stands for a full disk: the same system call fails in the same place."""
    adapter = plain_adapter(tmp_path, on_query="pass")
    results = tmp_path / "results"
    limited = [
        *("bash", "-c", 'ulimit -f 40; exec "$@"', "limited"),
        *command(adapter, results),
    ]
    stopped = subprocess.run(limited, capture_output=True, text=True, timeout=120, check=False)
    assert stopped.returncode == 2, stopped.stderr
    assert "cannot be written" in stopped.stderr
    assert "the same command resumes" in stopped.stderr
    assert stored_rows(results) > 0
    subprocess.run(command(adapter, results), check=True, capture_output=True, timeout=120)
    (run,) = sealed_runs(results)
    assert verify_run(run) == []
    assert run.run.coverage.full
