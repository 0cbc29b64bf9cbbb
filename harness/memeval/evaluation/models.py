"""The use of models in a run: limits and caps of the caller, the gateway over them, and what is recorded."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from queue import SimpleQueue
from typing import Self

from memeval.archive.runs import RunFolder
from memeval.evaluation.decoding import decoded_run
from memeval.evaluation.plan import BenchmarkSession
from memeval.execution.journal import utc_now
from memeval.execution.secrets import redact
from memeval.gateway.budget import Budget
from memeval.gateway.endpoints import Endpoint, endpoint_for
from memeval.gateway.gateway import Gateway, GatewayOptions
from memeval.gateway.limits import REFUSALS
from memeval.gateway.record import CallRecord
from memeval.records.call import Call, Caller, Phase
from memeval.records.errors import BadInput
from memeval.records.log import LogLine

RECORD = Path(".record") / "calls.jsonl"
"""Where judges' and readers' calls are recorded for all runs, below the results folder."""

CALLS = "calls.jsonl"
"""The journal's file of a run's own calls: its systems', and those of its reader and judge that failed."""


@dataclass(frozen=True)
class ModelOptions:
    """How models are used, whoever asks them. Nothing of it decides an answer, so nothing of it is in the track."""

    judge_concurrency: int = 16
    """Calls to the judge in flight."""
    model_concurrency: int = 16
    """Calls of readers, and of systems, in flight."""
    requests_per_minute: float | None = None
    """The most requests a minute, for each of judge, reader and system."""
    tokens_per_minute: float | None = None
    """The most tokens a minute, for each of them."""
    caps: Mapping[tuple[Phase | None, str], float] = field(default_factory=dict)
    """Budgets, by phase (``None`` for the run) and unit: ``usd``, ``tokens`` or ``minutes``."""
    refusals: int = REFUSALS
    """Stop after so many equal refusals in a row that no retry can help; 0 for never."""
    replay: RunFolder | None = None
    """Answer every call from the record of this run, and send none."""

    def on(self, benchmark_session: BenchmarkSession) -> Self:
        """Return the options with the run that is replayed opened by its data.

        Raises:
            BadInput: it was made on other data, and cannot be read without its own.
        """
        return self if self.replay is None else replace(self, replay=decoded_run(self.replay, benchmark_session))

    def check(self) -> None:
        """Refuse what cannot be.

        Raises:
            BadInput: a number is too small, or not finite.
        """
        whole = (("--judge-concurrency", self.judge_concurrency), ("--model-concurrency", self.model_concurrency))
        for name, number in whole:
            if number < 1:
                raise BadInput(f"{name} is {number}.", remedy="Give a number of at least 1.")
        if self.refusals < 0:
            raise BadInput(f"--max-refusals is {self.refusals}.", remedy="Give a number of at least 0; 0 never stops.")
        for name, rate in (
            ("--requests-per-minute", self.requests_per_minute),
            ("--tokens-per-minute", self.tokens_per_minute),
        ):
            if rate is not None and not (0 < rate < math.inf):
                raise BadInput(f"{name} is {rate:g}.", remedy="Give a number above 0, or leave it out for no limit.")


@dataclass(frozen=True)
class Models:
    """The gateway of a run, and the records behind it."""

    gateway: Gateway
    shared: CallRecord
    """Judges' and readers' calls of all runs under the results folder."""
    budget: Budget
    replay: RunFolder | None = None
    """The run whose record answers every call."""
    _happened: SimpleQueue[LogLine] = field(default_factory=SimpleQueue)

    def happened(self, event: str, detail: str, scenario_id: str) -> None:
        """Take what the log should say of a system's calls, from any thread."""
        self._happened.put(LogLine(at=utc_now(), event=event, detail=redact(detail), scenario_id=scenario_id or None))

    def lines(self) -> list[LogLine]:
        """Return what happened since this was last asked."""
        return [self._happened.get() for _ in range(self._happened.qsize())]

    def endpoint(self, caller: Caller) -> Endpoint:
        """Return where a caller's models are reached; what is replayed has the address on record, and needs no key.

        Raises:
            BadInput: the base URL in the environment is not a URL.
        """
        if self.replay is None:
            return endpoint_for(caller, needs_key=False)
        urls = (call.request.endpoint for call in recorded_calls(self.replay) if call.caller is caller)
        return Endpoint(next(urls, None) or endpoint_for(caller, needs_key=False).url)

    def check_keys(self, callers: Iterable[Caller]) -> None:
        """Refuse to begin what would stop at its first call.

        Raises:
            BadInput: a caller's endpoint needs a key, and there is none.
        """
        for caller in callers:
            if self.replay is None:
                endpoint_for(caller)

    def spent(self) -> tuple[float | None, int, int]:
        """Return the dollars spent so far, the calls made, and those answered from the record; for progress."""
        return self.gateway.spent_usd, self.gateway.made, self.gateway.cached

    def open_run(self, run_id: str, own: CallRecord) -> None:
        """Let calls be this run's from now on, and count what it spent before it was interrupted.

        Args:
            run_id: the run.
            own: the record of its systems' calls, and of failed ones.
        """
        self.budget.resume(chain(own.rows(), self.shared.rows_of(run_id)))
        self.gateway.open_run(run_id, own)


@contextmanager
def models_for(
    results: Path, options: ModelOptions, note: Callable[[str], None] | None = None, *, on_disk: bool = True
) -> Iterator[Models]:
    """Open the gateway of a run; leaving ends it.

    Args:
        results: the results folder, whose record of calls is shared by all its runs.
        options: limits and caps.
        note: is told what a person should know.
        on_disk: whether any model will be asked, so that the shared record is needed.

    Raises:
        BadInput: an option cannot be, or the record cannot be read or written.
    """
    options.check()
    with ExitStack() as stack:
        shared = stack.enter_context(CallRecord(results / RECORD if on_disk and options.replay is None else None))
        budget = Budget(options.caps)
        replay = None if options.replay is None else recorded_calls(options.replay)
        concurrency = {
            Caller.JUDGE: options.judge_concurrency,
            Caller.READER: options.model_concurrency,
            Caller.SYSTEM: options.model_concurrency,
        }
        gateway = Gateway(
            shared,
            GatewayOptions(
                concurrency, options.requests_per_minute, options.tokens_per_minute, refusals=options.refusals
            ),
            budget,
            replay=replay,
            note=note or _say,
        )
        yield Models(stack.enter_context(gateway), shared, budget, options.replay)


def recorded_calls(folder: RunFolder) -> list[Call]:
    """Return every call to a model that a run has on record."""
    return [*folder.judgments(), *folder.calls()]


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr)
