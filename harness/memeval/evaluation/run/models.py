"""Model calls of a run: the caller's limits and budgets, the gateway, and the records of calls."""

import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from queue import SimpleQueue
from types import FrameType

from memeval.archive.runs import RunFolder
from memeval.execution.journal import utc_now
from memeval.execution.progress import Progress
from memeval.execution.secrets import redact
from memeval.gateway.budget import Budget
from memeval.gateway.endpoints import Endpoint, endpoint_for
from memeval.gateway.gateway import Gateway, GatewayOptions
from memeval.gateway.record import CallRecord
from memeval.local import is_local
from memeval.local.catalogue import address_of, find_model, setup_of
from memeval.local.server import LocalServer
from memeval.options import ModelOptions as ModelOptions
from memeval.records.call import Call, Caller
from memeval.records.journal import LogLine

RECORD = Path(".record") / "calls.jsonl"
"""Path in the results folder of the record of judge and reader calls, shared by all runs."""

CALLS = "calls.jsonl"
"""The journal's file of a run's own calls: its system's calls, and failed calls of its reader and judge."""


@dataclass(frozen=True)
class Models:
    gateway: Gateway
    shared: CallRecord
    """Judge and reader calls of all runs in the results folder."""
    budget: Budget
    replay: RunFolder | None = None
    """The run whose record answers every call."""
    local: "LocalModels" = field(default_factory=lambda: LocalModels(ExitStack()))
    """The servers of models on this machine."""
    _log_lines: SimpleQueue[LogLine] = field(default_factory=SimpleQueue)

    def happened(self, event: str, detail: str, scenario_id: str) -> None:
        """Add a log line about a system's calls, from any thread."""
        self._log_lines.put(LogLine(at=utc_now(), event=event, detail=redact(detail), scenario_id=scenario_id or None))

    def lines(self) -> list[LogLine]:
        """Return the log lines since the last call."""
        return [self._log_lines.get() for _ in range(self._log_lines.qsize())]

    def endpoint(self, caller: Caller, model: str = "") -> Endpoint:
        """Return the endpoint of a caller's models; a replay uses the recorded URL, and needs no key and no weights.

        ``model``: the name of the model, or of the reader or judge; ``local:NAME`` is served on this machine, by a
        process that starts with the first call. Raises ``BadInput`` if the base URL in the environment is not a URL, or
        the model on this machine is unknown.
        """
        if self.replay is None:
            return self.local.endpoint(model) if is_local(model) else endpoint_for(caller, needs_key=False)
        urls = {call.request.endpoint: None for call in recorded_calls(self.replay) if call.caller is caller}
        name = model.partition("@")[0]
        fitting = (url for url in urls if (url.rpartition("/")[0] == name if is_local(name) else not is_local(url)))
        url = next(fitting, None)
        if url is None:
            url = name if is_local(name) else endpoint_for(caller, needs_key=False).url
        setups = {prompt.name: prompt.text for prompt in self.replay.prompts()}
        return Endpoint(url, setup=setups.get(f"{caller}/model") if is_local(url) else None)

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

    def advance(self, progress: Progress) -> None:
        """Show that one more answer has its call."""
        progress.spend(*self.spent())
        progress.advance(1, 0)

    def open_run(self, run_id: str, own: CallRecord) -> None:
        """Assign all later calls to this run, and count what it spent before an interruption.

        ``own``: the record of its system's calls and of failed calls.
        """
        self.budget.resume(chain(own.rows(), self.shared.rows_of(run_id)))
        self.gateway.open_run(run_id, own)


class LocalModels:
    """The servers of models on this machine, one for each model, shared by reader, judge and system.

    ``stack``: ends the servers when it closes.
    """

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._servers: dict[str, LocalServer] = {}

    def endpoint(self, name: str) -> Endpoint:
        """Return the endpoint of a model, with or without ``local:`` and a version; nothing is started yet."""
        model = find_model(name.partition("@")[0])
        setup = setup_of(model.name)
        if model.name not in self._servers:
            self._servers[model.name] = self._stack.enter_context(LocalServer(model))
        return Endpoint(address_of(model.name, setup), server=self._servers[model.name], setup=setup)


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
            note=note or partial(print, file=sys.stderr),
        )
        local = LocalModels(stack)
        yield Models(stack.enter_context(gateway), shared, budget, options.replay, local)


def recorded_calls(folder: RunFolder) -> list[Call]:
    return [*folder.judgments(), *folder.calls()]


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
