"""How far a judge can be trusted: audits against calibration answers, and bridges from one judge to the next."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from memeval.records.base import Digest, Record, Share, Stored
from memeval.records.run import FileDigest, Harness
from memeval.records.scores import Interval
from memeval.records.track import Redistribution


class ProbeKind(StrEnum):
    """What a calibration answer is made to be."""

    RIGHT = "right"
    """The right answer in other words."""
    OFF = "off-target"
    """On topic and wrong."""
    STALE = "stale"
    """What held before, or at another time, or what someone else said."""
    VAGUE = "vague"
    """True of anything."""
    HEDGED = "hedged"
    """The right answer wrapped in doubt, or doubt where a plain answer is due (or, where doubt is due, doubt)."""
    REFUSED = "refused"
    """Says that it cannot say."""
    MIXED = "right-plus-wrong"
    """The right answer and a wrong one."""
    INJECTED_ORDER = "injected-order"
    """Tells the judge what to say."""
    INJECTED_FENCE = "injected-fence"
    """Forges the end of the fenced answer and goes on as if it were the prompt."""
    INJECTED_VERDICT = "injected-verdict"
    """Forges a verdict line."""

    @property
    def is_injection(self) -> bool:
        """Whether the answer attacks the judge rather than answers."""
        return self.value.startswith("injected")


class Probe(Stored):
    """One calibration answer, what a judge should say of it, and what it said."""

    item_id: str
    """The item whose key it was made from."""
    category: str
    """Its category."""
    cluster: str
    """Its cluster."""
    kind: ProbeKind
    """What it is made to be."""
    answer: str
    """The answer; its digest where the benchmark's text may not be published."""
    expected: bool
    """Whether it is right."""
    verdict: bool | None
    """What the judge said; ``None`` where its reply was neither yes nor no, or none came."""
    judgment_key: Digest | None = None
    """The judgment, where a model was asked."""


class Rate(Record):
    """A share with its counts."""

    count: int = Field(ge=0)
    """How many."""
    of: int = Field(ge=0)
    """Out of how many."""
    share: Share | None
    """``count / of``; ``None`` where there are none."""
    interval: Interval | None
    """Wilson 95 % interval."""


class Agreement(Record):
    """How far two raters agree on yes and no, over the items that both rated."""

    items: int = Field(ge=0)
    """How many items both rated."""
    equal: Rate
    """How often they said the same."""
    kappa: float | None
    """Cohen's kappa; ``None`` where it is undefined (one of them always said the same)."""
    kappa_low: float | None
    """Lower end of its 95 % interval."""
    kappa_high: float | None
    """Upper end of its 95 % interval."""


class AuditLine(Record):
    """A judge's errors on one part of the calibration answers."""

    false_accepts: Rate
    """Wrong answers it called right, out of the wrong ones."""
    false_rejects: Rate
    """Right answers it called wrong, out of the right ones."""
    unparsed: Rate
    """Answers without a verdict, out of all; they are in neither of the others' counts, but in their totals."""
    agreement: Agreement
    """Its verdicts against the expected ones."""


class Audit(Stored):
    """``audit.json``: one judge against the calibration answers of one benchmark."""

    audit_id: str
    """UTC start to the second, a dash, eight digits of a hash of benchmark, data, judge and probes."""
    benchmark: str
    """Benchmark and version."""
    data_digest: Digest
    """Digest of the data that the probes were made from."""
    parameters: dict[str, str | int] = {}
    """Parameters of a generated benchmark."""
    redistribution: Redistribution = Redistribution.FULL
    """Whether the benchmark's text may be published; where it may not, the rows hold the answers by digest, and of what
    the judge was asked no more than the model: both follow from the data."""
    judge: str
    """The judge with its version, as in a track."""
    judge_endpoint: str | None = None
    """Where a model judge was reached."""
    judge_label: str | None = None
    """What a judge at an endpoint that is not its maker's is called."""
    prompts: dict[str, Digest] = {}
    """Digests of the prompts in use."""
    probes: str
    """Name and version of the calibration set: ``calibration@1``."""
    overall: AuditLine
    """All probes."""
    categories: dict[str, AuditLine]
    """By category."""
    kinds: dict[ProbeKind, AuditLine]
    """By what the answers are made to be."""
    started: str
    """UTC start, ISO 8601."""
    harness: Harness
    """The memeval that ran it."""
    files: dict[str, FileDigest]
    """The audit's rows, ``probes.jsonl`` and, for a model judge, ``judgments.jsonl``: names without ``.gz``."""


class BridgeLine(Record):
    """Two judges on one part of the same stored responses."""

    agreement: Agreement
    """Their verdicts against each other."""
    old: Rate
    """Right, says the old judge, out of the items that both rated."""
    new: Rate
    """Right, says the new judge, out of the items that both rated."""


class BridgedRun(Record):
    """One set of stored responses under both judges."""

    system: str
    """The system's slug."""
    old_run_id: str
    """The run under the old judge."""
    old_digest: Digest
    """Digest of its ``run.json``."""
    new_run_id: str
    """The run under the new judge, over the same responses."""
    new_digest: Digest
    """Digest of its ``run.json``."""
    old_composite: Share | None
    """Composite under the old judge."""
    new_composite: Share | None
    """Composite under the new judge."""


class Bridge(Stored):
    """``bridge.json``: what changes when one judge takes over from another on a benchmark."""

    bridge_id: str
    """UTC start to the second, a dash, eight digits of a hash of benchmark, judges and runs."""
    benchmark: str
    """Benchmark and version."""
    old: str
    """The judge that is retired, as in a track."""
    new: str
    """The judge that takes over, as in a track."""
    new_endpoint: str | None = None
    """Where the new judge was reached."""
    runs: tuple[BridgedRun, ...]
    """The stored responses that were graded under both."""
    overall: BridgeLine
    """All items of all runs that a judge rules on."""
    categories: dict[str, BridgeLine]
    """By category."""
    started: str
    """UTC start, ISO 8601."""
    harness: Harness
    """The memeval that ran it."""
