"""Timing whole processes in turn, so that a drift of the machine's speed falls on both sides of a ratio."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path


@dataclass(frozen=True)
class Cost:
    """What one run of a command took."""

    seconds: float
    """Wall seconds of the whole process."""
    cpu_seconds: float
    """Processor seconds of the process and of the processes that it waited for."""
    peak_mb: float
    """Largest resident size of the process itself, in megabytes."""


@dataclass(frozen=True)
class Ratio:
    """A command beside its reference, both measured in the same call."""

    name: str
    """What is measured."""
    ours_seconds: float
    """Median of ours."""
    reference_seconds: float
    """Median of the reference."""
    ratio: float
    """Median of the ratios, pair by pair."""
    target: float
    """What the ratio should stay under."""
    peak_mb: float
    """Largest resident size of ours."""
    peak_target_mb: float | None
    """What that should stay under; ``None`` where nothing was promised."""
    reference: str
    """What the reference is."""
    pairs: int
    """How many pairs were measured."""
    limit_seconds: float | None = None
    """What no implementation can be faster than, where that is known."""
    ratios: tuple[float, ...] = ()
    """The ratio of each pair, in order; ``bench.gate`` compares them."""
    cpu_ratio: float | None = None
    """Median of the ratios of processor seconds, which other work on the machine hardly changes."""

    @property
    def holds(self) -> bool:
        """Whether both targets are met."""
        return self.ratio <= self.target and (self.peak_target_mb is None or self.peak_mb <= self.peak_target_mb)

    def data(self) -> dict[str, object]:
        """Return the measurement as plain data."""
        return asdict(self) | {"holds": self.holds}


def cost_of(command: Sequence[str], where: Path, more: Mapping[str, str] | None = None) -> Cost:
    """Run a command to its end, and return what it took.

    Args:
        command: the command.
        where: the folder it runs in.
        more: environment variables beside those of this process.

    Raises:
        RuntimeError: it failed; what it said is in the message.
    """
    log = where / "said.txt"
    # As users run it: with bytecode from the run before, whatever the caller's shell says.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment |= more or {}
    with log.open("wb") as out:
        began = time.perf_counter()
        process = subprocess.Popen(command, cwd=where, env=environment, stdout=out, stderr=out)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"{command[:4]} failed with {process.returncode}: {log.read_text()[-500:]}")
    return Cost(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000)


def in_turn(ours: Callable[[], Cost], reference: Callable[[], Cost], pairs: int) -> tuple[list[Cost], list[Cost]]:
    """Return the costs of two commands run in turn, after one pair that is not counted."""
    ours(), reference()
    counted = [(ours(), reference()) for _ in range(pairs)]
    return [pair[0] for pair in counted], [pair[1] for pair in counted]


def ratio(
    name: str,
    costs: tuple[list[Cost], list[Cost]],
    *,
    target: float,
    peak_target_mb: float | None,
    reference: str,
    limit_seconds: float | None = None,
) -> Ratio:
    """Return the summary of costs measured in turn."""
    ours, theirs = costs
    return Ratio(
        name=name,
        ours_seconds=statistics.median(cost.seconds for cost in ours),
        reference_seconds=statistics.median(cost.seconds for cost in theirs),
        ratio=statistics.median(a.seconds / b.seconds for a, b in zip(ours, theirs, strict=True)),
        target=target,
        peak_mb=max(cost.peak_mb for cost in ours),
        peak_target_mb=peak_target_mb,
        reference=reference,
        pairs=len(ours),
        limit_seconds=limit_seconds,
        ratios=tuple(round(a.seconds / b.seconds, 4) for a, b in zip(ours, theirs, strict=True)),
        cpu_ratio=statistics.median(a.cpu_seconds / b.cpu_seconds for a, b in zip(ours, theirs, strict=True)),
    )


PYTHON = sys.executable
