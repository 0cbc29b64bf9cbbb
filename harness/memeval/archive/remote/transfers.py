"""A bounded pool of threads for requests to a store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

THREADS = 8
"""Requests in flight."""


def in_threads(work: Callable[[T], R], tasks: Iterable[T]) -> Iterator[R]:
    """Yield the results of tasks in their order. The first error ends the tasks that have not begun."""
    pool = ThreadPoolExecutor(THREADS)
    try:
        yield from pool.map(work, tasks)
    finally:
        pool.shutdown(cancel_futures=True)
