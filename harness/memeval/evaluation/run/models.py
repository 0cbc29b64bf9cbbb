"""Model calls of a run: the caller's limits and budgets, the gateway, and the records of calls."""

import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from queue import SimpleQueue
from types import FrameType

from memeval.archive.runs import RunFolder
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.withhold.decoding import decoded_run
from memeval.execution.journal import utc_now
from memeval.execution.secrets import redact
from memeval.gateway.budget import Budget
from memeval.gateway.endpoints import Endpoint, endpoint_for
from memeval.gateway.gateway import Gateway, GatewayOptions
from memeval.gateway.record import CallRecord
from memeval.options import ModelOptions as ModelOptions
from memeval.records.call import Call, Caller
from memeval.records.journal import LogLine

RECORD = Path(".record") / "calls.jsonl"
"""Path in the results folder of the record of judge and reader calls, shared by all runs."""

CALLS = "calls.jsonl"
"""The journal's file of a run's own calls: its system's calls, and failed calls of its reader and judge."""


def decoded_options(options: ModelOptions, benchmark_session: BenchmarkSession) -> ModelOptions:
    """Return the options with the replayed run decoded.

    Raises ``BadInput`` if the replayed run used other data, and its text is withheld.
    """
    return (
        options if options.replay is None else replace(options, replay=decoded_run(options.replay, benchmark_session))
    )


@dataclass(frozen=True)
class Models:
    gateway: Gateway
    shared: CallRecord
    """Judge and reader calls of all runs in the results folder."""
    budget: Budget
    replay: RunFolder | None = None
    """The run whose record answers every call."""
    _log_lines: SimpleQueue[LogLine] = field(default_factory=SimpleQueue)

    def happened(self, event: str, detail: str, scenario_id: str) -> None:
        """Add a log line about a system's calls, from any thread."""
        self._log_lines.put(LogLine(at=utc_now(), event=event, detail=redact(detail), scenario_id=scenario_id or None))

    def lines(self) -> list[LogLine]:
        """Return the log lines since the last call."""
        return [self._log_lines.get() for _ in range(self._log_lines.qsize())]

    def endpoint(self, caller: Caller) -> Endpoint:
        """Return the endpoint of a caller's models; a replay uses the recorded URL, and needs no key.

        Raises ``BadInput`` if the base URL in the environment is not a URL.
        """
        if self.replay is None:
            return endpoint_for(caller, needs_key=False)
        urls = (call.request.endpoint for call in recorded_calls(self.replay) if call.caller is caller)
        return Endpoint(next(urls, None) or endpoint_for(caller, needs_key=False).url)

    def check_keys(self, callers: Iterable[Caller]) -> None:
        """Check the keys of callers before the first call.

        Raises ``BadInput`` if a caller's endpoint needs a key that is missing.
        """
        for caller in callers:
            if self.replay is None:
                endpoint_for(caller)

    def spent(self) -> tuple[float | None, int, int]:
        """Return US dollars spent, number of calls made, and number of calls answered from the record."""
        return self.gateway.spent_usd, self.gateway.made, self.gateway.cached

    def open_run(self, run_id: str, own: CallRecord) -> None:
        """Assign all later calls to this run, and count what it spent before an interruption.

        ``own``: the record of its system's calls and of failed calls.
        """
        self.budget.resume(chain(own.rows(), self.shared.rows_of(run_id)))
        self.gateway.open_run(run_id, own)


@contextmanager
def models_for(
    results: Path, options: ModelOptions, note: Callable[[str], None] | None = None, *, on_disk: bool = True
) -> Iterator[Models]:
    """Open the gateway of a run, and close it at the end.

    ``note``: receives messages for the user; ``None`` for standard error. ``on_disk``: whether the run may call models,
    so that it needs the shared record. Raises ``BadInput`` if an option is invalid, or the record is not readable or
    writable.
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
                concurrency, options.requests_per_minute, options.tokens_per_minute, refusals=options.max_refusals
            ),
            budget,
            replay=replay,
            note=note or _print_to_stderr,
        )
        yield Models(stack.enter_context(gateway), shared, budget, options.replay)


def recorded_calls(folder: RunFolder) -> list[Call]:
    return [*folder.judgments(), *folder.calls()]


def _print_to_stderr(sentence: str) -> None:
    print(sentence, file=sys.stderr)


@contextmanager
def interruptible() -> Iterator[None]:
    """Raise KeyboardInterrupt on SIGTERM during a run, which ends its processes and stores finished items."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
