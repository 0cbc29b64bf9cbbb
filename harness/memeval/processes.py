"""Work in several processes: results in the order of the tasks, few tasks at once, and nothing left running."""

import gc
import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from multiprocessing.context import BaseContext
from typing import TypeVar

from memeval.records.errors import CheckFailed

Task = TypeVar("Task")
Result = TypeVar("Result")

AHEAD = 2
"""Tasks for each process that are given out at once: one in work, and one that waits. It bounds the memory."""


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def without_garbage_collection(ends_here: bool = False) -> Iterator[None]:
    """Collect no garbage meanwhile, but the new objects that are left at the end.

    For a task that makes many objects which it needs until its end, and few cycles: looking for garbage among them
    would find none. ``ends_here``: whether the process ends with the task: then nobody looks for garbage at all.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
            if ends_here:
                gc.freeze()
            else:
                gc.collect(1)


def in_order(work: Callable[[Task], Result], tasks: Sequence[Task], jobs: int) -> Iterator[Result]:
    """Yield the result of each task, in the order of the tasks.

    An error of a task is raised in its place. When the caller stops reading, is interrupted or is killed, all processes
    end. ``work``: a function of a module, so that other processes find it by name. ``jobs``: number of processes; 1
    works in this process. Raises ``CheckFailed`` if a process was killed, or ran out of memory.
    """
    jobs = min(jobs, len(tasks))
    if jobs <= 1:
        yield from map(work, tasks)
        return
    before = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(jobs, _context(work), _begin, (gc.get_threshold(), dict(os.environ)))
    given: deque[Future[Result]] = deque()
    finished = False
    try:
        for task in tasks:
            given.append(pool.submit(work, task))
            if len(given) >= AHEAD * jobs:
                yield given.popleft().result()
        while given:
            yield given.popleft().result()
        finished = True
    except BrokenProcessPool:
        raise CheckFailed(
            "a worker process ended before its work was done. It was killed, or this machine ran out of memory.",
            remedy="Run the command again with --jobs 1.",
        ) from None
    finally:
        if not finished:
            for process in set(multiprocessing.active_children()) - before:
                process.terminate()
        pool.shutdown(cancel_futures=True)


def _context(work: Callable[[Task], Result]) -> BaseContext:
    """Return how processes are started: clean, since a fork of this one would share its locks and sockets.

    On Linux they are forked from a clean process that has imported what the work needs, once for all of them.
    """
    if sys.platform != "linux":
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    function = work.func if isinstance(work, partial) else work
    context.set_forkserver_preload([function.__module__])
    return context


def _begin(thresholds: tuple[int, int, int], environment: dict[str, str]) -> None:
    """Prepare a new process: it collects garbage as its parent does, leaves Ctrl-C to it, and ends with it.

    Its environment is that of its parent now, not when the first process was started.
    """
    os.environ.clear()
    os.environ.update(environment)
    gc.set_threshold(*thresholds)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this process when its parent has ended, also if that was killed."""
    if (parent := multiprocessing.parent_process()) is not None:
        parent.join()
        os._exit(1)
