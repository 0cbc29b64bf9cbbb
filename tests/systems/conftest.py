from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memeval.records.track import Limits
from memeval.systems.child import Launch
from memeval.systems.process import SystemProcess
from tests.systems.helpers import PATIENT, Start, adapter, write


@pytest.fixture
def log() -> list[str]:
    """What the system prints."""
    return []


@pytest.fixture
def system(tmp_path: Path, log: list[str]) -> Iterator[Start]:
    """Start a system: from the body of its ``query``, or from whole source with ``source=``; ended after the test."""
    started: list[SystemProcess] = []

    def start(
        query: str = "return 'ok'",
        *,
        more: str = "",
        source: str | None = None,
        limits: Limits = PATIENT,
        waited: Callable[[], float] = lambda: 0.0,
        **named: Any,
    ) -> Any:
        file = write(tmp_path, adapter(query, more) if source is None else source)
        process = SystemProcess(Launch(file, **named), limits, log.append, waited=waited)
        started.append(process)
        process.start()
        process.reset()
        return process

    yield start
    for process in started:
        process.close()
