"""Work in several processes: equal results in order, and nothing that is left running."""

import gc
import os
import signal
import subprocess
import sys
import time
import weakref
from itertools import islice
from pathlib import Path

import pytest

from memeval.processes import in_order, without_garbage_collection
from memeval.records.errors import BadInput, CheckFailed
from tests.support.waiting import is_running, wait_until

ENDLESS = """
import os, signal, sys, time
from pathlib import Path
from memeval.processes import in_order

def work(number):
    Path(sys.argv[1], str(os.getpid())).touch()
    time.sleep(600)

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    list(in_order(work, [1, 2, 3, 4], 2))
"""


def square_slowly(number: int) -> tuple[int, int]:
    time.sleep(0.3 if number == 0 else 0)
    return number * number, os.getpid()


def refuse_three(number: int) -> int:
    if number == 3:
        raise BadInput("3 is no number.", where="here:3", remedy="Name another.")
    return number


def end_at_two(number: int) -> int:
    if number == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


class Cycle:
    """An object that only the garbage collector can delete."""

    def __init__(self) -> None:
        self.itself = self


def test_garbage_of_a_task_is_collected_at_its_end() -> None:
    with without_garbage_collection():
        assert not gc.isenabled()
        left = weakref.ref(Cycle())
        assert left() is not None
    assert gc.isenabled() and left() is None


def test_a_task_that_ends_its_process_leaves_its_garbage() -> None:
    with without_garbage_collection(ends_here=True):
        left = weakref.ref(Cycle())
    assert gc.isenabled()
    gc.collect()
    found = left()
    assert found is not None
    del found.itself


def test_a_collector_that_was_off_stays_off() -> None:
    gc.disable()
    try:
        with without_garbage_collection():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_results_come_in_the_order_of_their_tasks_from_other_processes() -> None:
    found = list(in_order(square_slowly, range(8), 2))
    assert [each for each, _ in found] == [number * number for number in range(8)]
    workers = {pid for _, pid in found}
    assert len(workers) == 2 and os.getpid() not in workers


def test_one_job_and_one_task_work_in_this_process() -> None:
    assert {pid for _, pid in in_order(square_slowly, range(3), 1)} == {os.getpid()}
    assert {pid for _, pid in in_order(square_slowly, [1], 8)} == {os.getpid()}


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_error_is_raised_in_its_place_with_all_its_parts(jobs: int) -> None:
    results = in_order(refuse_three, range(6), jobs)
    assert list(islice(results, 3)) == [0, 1, 2]
    with pytest.raises(BadInput) as raised:
        next(results)
    error = raised.value
    assert (error.problem, error.where, error.remedy) == ("3 is no number.", "here:3", "Name another.")
    assert str(error) == "here:3: 3 is no number. Name another."


def test_a_killed_process_gives_a_sentence() -> None:
    with pytest.raises(CheckFailed, match=r"ended before its work was done\..*--jobs 1"):
        list(in_order(end_at_two, range(6), 2))


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_no_process_stays_when_the_caller_is_interrupted_or_killed(how: signal.Signals, tmp_path: Path) -> None:
    script, started = tmp_path / "endless.py", tmp_path / "started"
    script.write_text(ENDLESS)
    started.mkdir()
    with subprocess.Popen([sys.executable, str(script), str(started)], stderr=subprocess.DEVNULL) as caller:
        try:
            wait_until(lambda: len(list(started.iterdir())) == 2)
            caller.send_signal(how)
            caller.wait(30)
            workers = [int(each.name) for each in started.iterdir()]
            wait_until(lambda: not any(map(is_running, workers)))
        finally:
            caller.kill()
