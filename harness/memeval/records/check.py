"""The regression check of a run: what dropped, by how much, and whether chance explains it."""

from enum import StrEnum

from pydantic import Field

from memeval.records.base import Record, Stored
from memeval.records.benchmark import Direction
from memeval.records.settings import CheckThresholds


class GateStatus(StrEnum):
    """The result of a check."""

    REGRESSION = "regression"
    """At least one metric is a regression or missing: exit code 1."""
    WARNING = "warning"
    """A metric passed its threshold, but no regression is proven."""
    PASSED = "passed"
    """No metric passed its threshold."""
    NO_BASELINE = "no baseline"


class MetricStatus(StrEnum):
    """The result of one metric."""

    REGRESSION = "regression"
    """It passed a threshold, and the test shows a loss; or it passed a threshold, and no test is possible."""
    MISSING = "missing"
    """The baseline has it, and the run does not. Counts as a regression."""
    WITHIN_NOISE = "within noise"
    """It passed a threshold, but the test does not show a loss."""
    WARNING = "warning"
    """It passed a threshold, but may only warn; ``note`` says why."""
    MINOR_DIP = "minor dip"
    """Worse, but no threshold is passed."""
    STABLE = "stable"
    """Equal, or better by less than its threshold."""
    IMPROVEMENT = "improvement"
    """Better by more than its threshold."""
    NEW = "new"
    """The run has it, and the baseline does not."""
    SKIPPED = "skipped"
    """It cannot be compared; ``note`` says why."""


class Severity(StrEnum):
    """How far a metric passed its thresholds."""

    WARNING = "warning"
    """Worse by more than the relative threshold, or by more than the points."""
    CRITICAL = "critical"
    """Worse by more than twice the relative threshold."""


class MetricGroup(StrEnum):
    """What a metric measures; each group has thresholds of its own."""

    OVERALL = "overall"
    CATEGORY = "category"
    RETRIEVAL = "retrieval"
    COST = "cost"
    """Tokens, dollars and latency: relative thresholds only."""


class Unit(StrEnum):
    """The unit of a metric's values."""

    SHARE = "share"
    """In [0, 1]."""
    TOKENS = "tokens"
    DOLLARS = "dollars"
    SECONDS = "seconds"


class CheckedMetric(Record):
    """One metric of a run beside its baseline."""

    metric: str
    """Its name: ``composite``, a category, a metric of the benchmark, or a cost."""
    group: MetricGroup
    """What it measures."""
    unit: Unit
    direction: Direction
    current_value: float | None = None
    """The run's value; ``None`` if it has none."""
    baseline_value: float | None = None
    """The mean over the baseline runs; ``None`` without one."""
    delta: float | None = None
    """Current minus baseline."""
    delta_fraction: float | None = None
    """``delta / baseline``; ``None`` if the baseline is 0."""
    delta_percent: float | None = None
    """The same in percent."""
    severity: Severity | None = None
    """How far the thresholds are passed; ``None`` if none is passed."""
    items: int = 0
    """Number of compared items, questions or scenarios."""
    clusters: int = 0
    p: float | None = Field(default=None, ge=0, le=1)
    """One-sided p-value that the run is not worse; ``None`` if no test is possible."""
    corrected: float | None = Field(default=None, ge=0, le=1)
    """The same, corrected together with all tests that can fail the check; ``None`` for the others."""
    status: MetricStatus
    note: str | None = None
    """What limits the comparison, as a sentence; ``None`` if nothing does."""


class Baseline(Record):
    """What the run is compared with."""

    kind: str
    """``last-5`` (with the number from the settings), or ``run`` for a named run."""
    runs: tuple[str, ...]
    """The runs, newest first. Values are means over them."""
    thin: bool = False
    """Whether fewer accepted runs exist than the settings ask for."""


class GateComparison(Record):
    """A further comparison of a check, over the composite and the categories."""

    kind: str
    """``release`` (the last release with a run of the system), ``best`` (the best accepted run), or ``drift`` (a line
    fitted to the last accepted runs and this one)."""
    runs: tuple[str, ...]
    """The other run; for ``drift`` all runs, oldest first."""
    release: str | None = None
    """The version of the release."""
    level: float
    """A loss counts if its corrected p-value is below this."""
    metrics: tuple[CheckedMetric, ...]
    """For ``drift``, values are the start and the end of the line, and p-values are one-sided. For the others, they are
    the two-sided p-values of ``memeval compare``."""


class RegressionCheck(Stored):
    """The result of ``memeval check``."""

    run_id: str
    system: str
    version: str
    benchmark: str
    protocol: str
    track_id: str
    """The track of the run and of all baseline runs."""
    status: GateStatus
    baseline: Baseline | None = None
    """What it is compared with; ``None`` without a baseline."""
    metrics: tuple[CheckedMetric, ...] = ()
    """The metrics: composite, categories, retrieval, cost."""
    tests: int = 0
    level: float = 0.05
    """A loss against the baseline counts if its corrected p-value is below this."""
    comparisons: tuple[GateComparison, ...] = ()
    """Comparisons with the last release, with the best accepted run, and over the last runs."""
    thresholds: CheckThresholds
    """The thresholds."""
    notes: tuple[str, ...] = ()
    """What a reader must know about the baseline, as sentences."""

    @property
    def failing(self) -> tuple[str, ...]:
        """The metrics that fail the check, each with its comparison if that is not the baseline."""
        bad = (MetricStatus.REGRESSION, MetricStatus.MISSING)
        found = [metric.metric for metric in self.metrics if metric.status in bad]
        for each in self.comparisons:
            found += [f"{metric.metric} ({each.kind})" for metric in each.metrics if metric.status in bad]
        return tuple(found)


class SmallestDrop(Record):
    """The smallest drop of one score that the check usually finds."""

    metric: str
    """``composite``, or a category."""
    items: int
    clusters: int
    value: float
    """The run's score, in [0, 1]."""
    quiet: float | None
    """The smallest drop found in 80 % of the repeats if an unchanged system always gives the same answers; ``None`` if
    not even the loss of all credits is found."""
    noisy: float | None
    """The same if the scores of some items change from run to run; see ``CheckPower.noise``."""


class CheckPower(Record):
    """The smallest drops that the check usually finds, simulated from the grades of a run."""

    run_id: str
    track_id: str
    tests: int
    noise: float
    """Share of items whose score is drawn again in every run, for ``noisy``."""
    baseline_runs: int
    """Number of simulated baseline runs."""
    drops: tuple[SmallestDrop, ...]
    """The composite, and the categories."""
