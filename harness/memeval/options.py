"""The options of runs, grading, audits and checks, written once.

The command line makes an option of each field: its name, type and default are those of the field, and its help is the
text below the field; see :mod:`memeval.cli.shared`. :func:`flag` says what differs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from memeval.execution.setup import SystemSetup
from memeval.flags import PYTHON_ONLY, flag
from memeval.records.errors import BadInput

if TYPE_CHECKING:
    from memeval.archive.runs import RunFolder
    from memeval.records.call import Phase
    from memeval.records.track import Limits

RESULTS = Path("results")
"""The default results folder."""

_RESULTS = flag(environment="MEMEVAL_RESULTS")


def require_at_least(option: str, number: int, least: int = 1) -> None:
    """Raise ``BadInput`` if the number of an option is too small."""
    if number < least:
        raise BadInput(f"{option} is {number}.", remedy=f"Give a number of at least {least}.")


def _limits(ask_seconds: float | None = None) -> Limits:
    from memeval.records.track import Limits

    if ask_seconds is None:
        return Limits()
    if not 0 < ask_seconds < math.inf:
        raise BadInput(f"invalid --ask-seconds {ask_seconds:g}.", remedy="Give a number of seconds above 0.")
    return Limits(ask_seconds=ask_seconds)


@dataclass(frozen=True)
class ModelOptions:
    """Limits and budgets of model calls. They are not part of the track.

    A budget in dollars or tokens limits the output of a system's request that states no limit.
    """

    judge_concurrency: int = 16
    """Concurrent calls to a judge model."""
    model_concurrency: int = 16
    """Concurrent model calls, for the reader and for the system."""
    requests_per_minute: float | None = None
    """Maximum model calls per minute, for judge, reader and system together."""
    tokens_per_minute: float | None = None
    """Maximum model tokens per minute, for judge, reader and system together."""
    max_cost_usd: float | None = field(default=None, metadata=flag(metavar="X"))
    """Maximum dollars of a run for model calls. Same as --budget usd=X."""
    budget: tuple[str, ...] = field(default=(), metadata=flag(metavar="UNIT=N"))
    """Limit on usd, tokens or minutes, repeatable. For one phase, put its name first: judge.usd=0.5. Phases: take_in
    (ingest), settle (indexing), search, ask (answer), read (reader), judge. At the limit a run stops with exit code 3.
    Run again with a higher limit to resume."""
    max_refusals: int = 5
    """Stop after N equal refusals in a row from a model's endpoint; 0 never stops. The run can be resumed."""
    replay: RunFolder | None = field(default=None, metadata=PYTHON_ONLY)
    """Answer every call from the record of this run, and send no calls."""

    @property
    def caps(self) -> Mapping[tuple[Phase | None, str], float]:
        """The budgets, by phase (``None`` for the run) and unit: ``usd``, ``tokens`` or ``minutes``.

        Raises ``BadInput`` if a budget is not of the form ``[PHASE.]UNIT=N``, or occurs twice.
        """
        from memeval.gateway.budget import parse_caps

        return parse_caps([*self.budget, *([] if self.max_cost_usd is None else [f"usd={self.max_cost_usd}"])])

    def check(self) -> None:
        """Check the numbers. Raises ``BadInput`` if a number is too small, or not finite; or a budget is invalid."""
        require_at_least("--judge-concurrency", self.judge_concurrency)
        require_at_least("--model-concurrency", self.model_concurrency)
        if self.max_refusals < 0:
            problem = f"--max-refusals is {self.max_refusals}."
            raise BadInput(problem, remedy="Give a number of at least 0; 0 never stops.")
        for name, rate in (
            ("--requests-per-minute", self.requests_per_minute),
            ("--tokens-per-minute", self.tokens_per_minute),
        ):
            if rate is not None and not (0 < rate < math.inf):
                raise BadInput(
                    f"{name} is {rate:g}.", remedy="Give a number above 0, or remove the option for no limit."
                )
        if self.budget or self.max_cost_usd is not None:
            _ = self.caps


@dataclass(frozen=True)
class RunOptions:
    results: Path = field(default=RESULTS, metadata=_RESULTS)
    """Folder of stored runs."""
    protocol: str | None = None
    """Protocol: how questions are asked and graded."""
    tier: str | None = None
    """Subset or size of the data. 'memeval data list NAME' shows them."""
    errata: Path | None = None
    """File of known data errors for corrected scores. Default: memeval's own list."""
    judge: str | None = None
    """Who grades: rules, local:NAME or openai:MODEL. Default: rules; for a replay, the judge of that run."""
    judge_label: str | None = field(default=None, metadata=flag(metavar="NAME"))
    """Who serves the judge model, if not its maker. Needed for a rank; part of the track."""
    prompts: Path | None = field(default=None, metadata=flag(metavar="DIR|NAME"))
    """Other judge prompts: a folder, or the name of a set that a benchmark has, such as 'lenient'."""
    reader: str | None = None
    """Who writes the answer: native (the system), extractive (offline), local:NAME (a model on this machine) or
    openai:MODEL. Default: native, or extractive for a system that only retrieves."""
    models: ModelOptions = field(default_factory=ModelOptions)
    """Limits and budgets of model calls."""
    setup: SystemSetup = field(default_factory=SystemSetup)
    """Sandbox, hosts, Python and environment cache."""
    skip_conformance: bool = False
    """Run a system even if it failed or skipped the adapter check or the isolation probe."""
    limits: Limits = field(default_factory=_limits, metadata=flag("--ask-seconds", kind="float | None", read=_limits))
    """Time limit for one question. Another limit makes another track."""
    limit: int | None = None
    """Run only the first N items, taken from the categories in turn. The run is then partial."""
    concurrency: int = 4
    """Questions in flight at the same time."""
    scheduler: str | None = field(default=None, metadata=flag(metavar="ADDRESS"))
    """Address of the Dask scheduler, such as tcp://10.0.0.1:8786. Needs --executor dask."""
    fresh: bool = False
    """Start a new run, even if a finished one is stored."""
    retry_errors: bool = False
    """Try failed items again. Both attempts stay on record."""
    keep_going: bool = False
    """Run all items, even if the first 25 fail with the same error."""
    times_beside: bool = False
    """Also measure times as ratios to the control bm25, which runs beside the system on one conversation."""

    def check(self) -> None:
        """Check the numbers. Raises ``BadInput`` if a number is too small, or not finite."""
        if self.limit is not None:
            require_at_least("--limit", self.limit)
        require_at_least("--concurrency", self.concurrency)


@dataclass(frozen=True)
class RegradeOptions:
    results: Path = field(default=RESULTS, metadata=_RESULTS)
    """Folder of stored runs."""
    models: ModelOptions = field(default_factory=ModelOptions)
    """Limits and budgets of the judge's calls."""
    fresh: bool = False
    """Start a new run. Recorded judgments are still reused."""


@dataclass(frozen=True)
class AuditOptions:
    results: Path = field(default=RESULTS, metadata=_RESULTS)
    """Folder of stored runs."""
    items: int = 20
    """Items per category to make answers for."""
    models: ModelOptions = field(default_factory=ModelOptions)
    """Limits and budgets of the judge's calls."""


@dataclass(frozen=True)
class CheckOptions:
    run: bool = field(default=True, metadata=flag("--run/--no-run"))
    """Also install and run it."""
    results: Path | None = None
    """Store the conformance report in this results folder. Default: not stored."""
    setup: SystemSetup = field(default_factory=SystemSetup)
    """Sandbox, hosts, Python and environment cache."""


def one_line(option: str, value: str | None) -> str | None:
    """Return an option's text: one printable line of at most 500 characters."""
    if value is not None and not (value.strip() and value.isprintable() and len(value) <= 500):
        raise BadInput(
            f"invalid {option}: it is empty, over 500 characters, or not printable.", remedy="Write one line of text."
        )
    return value


def _share(text: str | None) -> float | None:
    """Return a share in [0, 1], from a share or a percentage."""
    if text is None:
        return None
    number, sign, rest = text.partition("%")
    try:
        share = float(number) / (100 if sign else 1)
    except ValueError:
        share = math.nan
    if rest or not 0 <= share <= 1:
        raise BadInput(f"invalid --claimed '{text}'.", remedy="Write a share (0.295) or a percentage (29.5%).")
    return share


@dataclass(frozen=True)
class Origin:
    """What the caller states about imported answers, in addition to the file."""

    slug: str | None = None
    """The system's name in paths. Default: from its name and the format."""
    source: str | None = field(default=None, metadata=flag(metavar="URL", read=partial(one_line, "--source")))
    """Where the answers were published."""
    commit: str | None = field(default=None, metadata=flag(metavar="SHA", read=partial(one_line, "--commit")))
    """Commit of the published answers."""
    licence: str | None = field(default=None, metadata=flag(metavar="SPDX", read=partial(one_line, "--licence")))
    """Licence of the answers."""
    claimed: float | None = field(default=None, metadata=flag(metavar="X", kind="str | None", read=_share))
    """Score that the authors claim: 0.295, or 29.5%. Default: from the file."""


@dataclass(frozen=True)
class ImportOptions:
    """How imported answers are graded and stored."""

    origin: Origin = field(default_factory=Origin)
    """Origin of the answers."""
    models: ModelOptions = field(default_factory=ModelOptions)
    """Limits and budgets of the judge's calls."""
    results: Path = field(default=RESULTS, metadata=_RESULTS)
    """Folder of stored runs."""
    fresh: bool = False
    """Start a new run. Recorded judgments are still reused."""
