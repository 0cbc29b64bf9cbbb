"""Error rates of judges: audits against calibration answers."""

from enum import StrEnum

from pydantic import Field

from memeval.records.base import Digest, Record, Share, Stored
from memeval.records.run import FileDigest, Harness
from memeval.records.scores import Interval
from memeval.records.track import Redistribution


class ProbeKind(StrEnum):
    """The kind of a calibration answer."""

    RIGHT = "right"
    """The correct answer in other words."""
    OFF = "off-target"
    """On topic and wrong."""
    STALE = "stale"
    """A statement that was true at another time, or that another person made."""
    VAGUE = "vague"
    """A statement that is true of anything."""
    HEDGED = "hedged"
    """An answer that expresses doubt. It is correct only where the key asks for doubt."""
    REFUSED = "refused"
    MIXED = "right-plus-wrong"
    """The correct answer together with a wrong one."""
    INJECTED_ORDER = "injected-order"
    INJECTED_FENCE = "injected-fence"
    """A false end of the fenced answer, followed by text that imitates the prompt."""
    INJECTED_VERDICT = "injected-verdict"

    @property
    def is_injection(self) -> bool:
        """Whether the answer attacks the judge."""
        return self.value.startswith("injected")


class Probe(Stored):
    """One calibration answer, with the expected verdict and the verdict of the judge."""

    item_id: str
    """The item whose key it was made from."""
    category: str
    cluster: str
    kind: ProbeKind
    answer: str
    """The answer, or its digest if the benchmark's text may not be published."""
    expected: bool
    """Whether the answer is correct: the expected verdict."""
    verdict: bool | None
    """The verdict of the judge; ``None`` if its reply is missing, or neither yes nor no."""
    judgment_key: Digest | None = None
    """Key of the judgment; ``None`` if no model was asked."""


class Rate(Record):
    """A share, with its counts."""

    count: int = Field(ge=0)
    """Number of cases."""
    of: int = Field(ge=0)
    """Number of cases that were possible: the denominator."""
    share: Share | None
    """``count / of``; ``None`` if ``of`` is 0."""
    interval: Interval | None
    """Wilson 95 % interval."""


class Agreement(Record):
    """Agreement of two raters on yes and no, over the items that both rated."""

    items: int = Field(ge=0)
    """Number of items that both rated."""
    equal: Rate
    """Items on which both gave the same verdict."""
    kappa: float | None
    """Cohen's kappa; ``None`` if it is undefined, because a rater gave only one verdict."""
    kappa_low: float | None
    """Lower end of its 95 % interval."""
    kappa_high: float | None
    """Upper end of its 95 % interval."""


class AuditLine(Record):
    """A judge's errors on one part of the calibration answers."""

    false_accepts: Rate
    """Wrong answers that the judge accepted, out of all wrong answers."""
    false_rejects: Rate
    """Correct answers that the judge rejected, out of all correct answers."""
    unparsed: Rate
    """Answers without a verdict, out of all answers. The other two rates include them in the denominator only."""
    agreement: Agreement
    """Agreement of its verdicts with the expected ones."""


class Audit(Stored):
    """``audit.json``: the error rates of one judge on the calibration answers of one benchmark."""

    audit_id: str
    """UTC start to the second, a dash, eight digits of a hash of benchmark, data, judge and probes."""
    benchmark: str
    data_digest: Digest
    """Digest of the data from which the probes were generated."""
    parameters: dict[str, str | int] = {}
    """Parameters of a generated benchmark."""
    redistribution: Redistribution = Redistribution.FULL
    """Whether the benchmark's text may be published. If not, the rows hold digests of the answers, and requests hold
    only the model. Both can be computed from the data."""
    judge: str
    """The judge with its version, as in a track."""
    judge_endpoint: str | None = None
    judge_label: str | None = None
    """Label of a judge whose endpoint is not its maker's."""
    prompts: dict[str, Digest] = {}
    probes: str
    """Name and version of the calibration set: ``calibration@1``."""
    overall: AuditLine
    """All probes."""
    categories: dict[str, AuditLine]
    kinds: dict[ProbeKind, AuditLine]
    """By kind of answer."""
    started: str
    harness: Harness
    """The version of memeval that ran it."""
    files: dict[str, FileDigest]
    """The audit's rows, ``probes.jsonl`` and, for a model judge, ``judgments.jsonl``: names without ``.gz``."""
