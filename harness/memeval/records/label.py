"""Answers that readers label, to find out what graders are worth."""

from enum import StrEnum

from memeval.records.base import Digest, Record, Share, Slug, Stored
from memeval.records.dates import Day


class AnswerLabel(StrEnum):
    """What a reader says about an answer, compared with the expected answer."""

    RIGHT = "right"
    """It states what the expected answer states, in whatever words."""
    IMPRECISE = "imprecise"
    """It states a part of it, or something less specific that does not conflict with it."""
    WRONG = "wrong"
    """It states something else, or does not answer."""


class LabelReason(StrEnum):
    """Why a reader chose a label. A closed list, so that no text of a benchmark is stored."""

    SAME = "same"
    """Right: the same fact."""
    MORE = "more"
    """Right: the same fact, with more that does not conflict."""
    PART = "part"
    """Imprecise: only a part of what is expected, such as two of three names."""
    VAGUE = "vague"
    """Imprecise: less specific than expected, such as a month for a day."""
    NEAR = "near"
    """Imprecise: a number or date that is close, but not the expected one."""
    MIXED = "mixed"
    """Imprecise: the expected fact, beside another that conflicts with it."""
    OTHER = "other"
    """Wrong: another fact."""
    NONE = "none"
    """Wrong: no answer, or it says that this is not known."""


class Stratum(Record):
    """Rows among which some were drawn, all with the same probability."""

    file: str
    category: str
    judge: bool
    """Verdict of the judge in the file; of most judges if there are several."""
    rules: bool
    rows: int
    """Rows of the stratum."""
    drawn: int
    """Rows drawn."""


class SampleRow(Stored):
    """A drawn row, in ``results/labels/<name>/rows.jsonl.gz``."""

    label_id: Slug
    """Its id, which says nothing about the row."""
    file: str
    item_id: str
    trial: int = 0
    category: str
    cluster: str
    answer_digest: Digest
    """Digest of the answer that is read."""
    words: int
    """Words of the answer."""
    judge: bool
    """Verdict of the judge in the file; of most judges if there are several."""
    rules: bool
    probability: Share
    """Probability of being drawn: drawn rows by rows of its stratum."""


class LabelSample(Stored):
    """``results/labels/<name>/sample.json``: a random sample of answers for readers."""

    name: Slug
    benchmark: str
    data_digest: Digest
    judge: str
    """The rule set behind the verdicts of the rules at the draw; it may be a removed one."""
    seed: int
    files: dict[str, Digest]
    """Digest of the rows of each regraded file at the draw, by ``source/file``."""
    strata: tuple[Stratum, ...]
    """Where rows were drawn: by file, category and the two verdicts."""
    rows_digest: Digest
    """Digest of the drawn rows, uncompressed."""
    guide_digest: Digest
    """Digest of the readers' guide, ``guide.md`` in the same folder."""
    drawn_at: Day
    """The day of the draw."""


class ReaderKind(StrEnum):
    """Who reads."""

    HUMAN = "human"
    MODEL = "model"
    """A language model. Pages say "model-read"."""


class ReadLabel(Stored):
    """What one reader says about one answer, in ``results/labels/<name>/<reader>.jsonl.gz``."""

    label_id: Slug
    """The drawn row."""
    label: AnswerLabel
    reason: LabelReason
    """Why."""
    doubt: bool = False
    """Whether the reader doubts the expected answer."""


class Reading(Stored):
    """``results/labels/<name>/<reader>.json``: what one reader read."""

    sample: Slug
    """Name of the sample."""
    reader: Slug
    """Name of the reader in this sample."""
    kind: ReaderKind
    """Who read."""
    model: str | None = None
    """The language model; ``None`` for a human reader."""
    decides: bool = False
    """Whether this reader read only the rows on which the others differ, and decides them."""
    read_at: Day
    """The day of the reading."""
    guide_digest: Digest
    """Digest of the guide that the reader followed."""
    rows: int
    """Number of labels."""
    rows_digest: Digest
    """Digest of the labels, uncompressed."""


class PassedRows(Record):
    """How many answers of a whole file a rule set calls right. Rubrics do not count."""

    tuned: int
    """Right answers about the clusters on which it was tuned."""
    tuned_rows: int
    """Answers about these clusters."""
    reported: int
    """Right answers about the others."""
    reported_rows: int
    """Answers about the others."""


class RulesVerdicts(Stored):
    """``results/labels/<name>/verdicts/<version>.json``: what other rules than those of the draw say."""

    sample: Slug
    """Name of the sample."""
    rows_digest: Digest
    """Digest of the drawn rows, uncompressed."""
    judge: str
    """The rule set, such as ``rules@3``; it may be a removed one."""
    tuned_on: tuple[str, ...]
    """The clusters on which it was tuned, such as conversations. Its errors are reported on the others."""
    accepted: tuple[Slug, ...]
    """Label ids of the drawn answers that it calls right, by id. It calls all others wrong."""
    files: dict[str, PassedRows]
    """Its counts over whole files, by ``source/file``: those of the sample, and others that were named."""


class SampleShare(Record):
    """A share estimated from the sample, with its 95 % interval."""

    value: Share
    """The estimate."""
    low: Share
    high: Share
    rows: int
    """Rows behind it."""


class LabelCount(Record):
    """Rows with one label, not weighted."""

    label: AnswerLabel
    accepted: int
    """Rows that the grader calls right."""
    rejected: int
    """Rows that the grader calls wrong."""


class GraderErrors(Record):
    """How often a grader is wrong, in a part of the sample. Rows are weighted by the inverse of their probability."""

    grader: str
    """``rules@3``, or ``judge`` for the judges in the files."""
    part: str
    """The part: ``all``, or a category, an answer style or a file."""
    table: tuple[LabelCount, ...]
    """Rows by label, in the order right, imprecise, wrong."""
    false_accepts: SampleShare | None
    """Share of the answers with the label imprecise or wrong that the grader calls right."""
    false_rejects: SampleShare | None
    """Share of the answers with the label right that the grader calls wrong."""
    wrong_accepted: SampleShare | None
    """Share of the answers with the label wrong that the grader calls right."""
    imprecise_accepted: SampleShare | None
    """Share of the answers with the label imprecise that the grader calls right."""
    useful_rejected: SampleShare | None
    """Share of the answers with the label right or imprecise that the grader calls wrong."""


class SystemWorth(Record):
    """One regraded file: what readers, the judge and the rules say about it."""

    file: str
    """The regraded file, ``source/file``."""
    label: str
    """System, version, source and answer model."""
    right: SampleShare
    """Share of right answers by the labels; imprecise answers do not count."""
    at_least_imprecise: SampleShare
    """Share of answers that are right or imprecise."""
    judge: Share
    """Share that the judge in the file calls right, over all rows."""
    rules: Share
    """Share that the rules of today call right, over all rows."""
    corrected_judge: SampleShare | None
    """Share of right answers, from the judge's share and its errors; ``None`` if that is impossible."""
    corrected_rules: SampleShare | None
    """The same from the rules' share; of rules that were tuned, by their errors on the other clusters."""


class RulesComparison(Record):
    """The errors of rule sets, on the clusters for tuning and on the others."""

    tuned_on: tuple[str, ...]
    """The clusters on which the later rule sets were tuned."""
    verdicts: tuple[RulesVerdicts, ...]
    """The verdicts of the later rule sets, the oldest first."""
    tuned: tuple[GraderErrors, ...]
    """Errors on the clusters for tuning, of the rules of the draw and of the later ones: in all rows, by category and
    by file."""
    reported: tuple[GraderErrors, ...]
    """Errors on the others. Only they say how well the later rule sets work."""
    equal_rejects: dict[str, float | None]
    """By rule set: p-value of equal false rejects on all files, on the clusters that were not used for tuning."""
    equal_accepts: dict[str, float | None]
    """The same of false accepts."""


class RankAgreement(Record):
    """How far two orders of the systems agree."""

    first: str
    """One order: ``labels``, ``judge`` or ``rules``."""
    second: str
    """The other order."""
    tau: float | None
    """Kendall's τ-b; ``None`` if an order has no two different values."""


class ReaderPair(Record):
    """How far two readers agree on the rows that both read."""

    first: str
    """One reader."""
    second: str
    """The other reader."""
    rows: int
    """Rows that both read."""
    equal: int
    """Rows with equal labels."""
    kappa: float | None
    """Cohen's κ over the three labels; ``None`` if undefined."""
    low: float | None = None
    high: float | None = None


class LabelReport(Stored):
    """What the labels of a sample say about the graders."""

    sample: LabelSample
    """The sample."""
    readings: tuple[Reading, ...]
    """The readers."""
    pairs: tuple[ReaderPair, ...]
    """Agreement of readers that read independently."""
    labelled: int
    """Rows with a final label: equal labels of two readers, or the label of the reader who decides."""
    open: int
    """Rows on which readers differ and nobody decided, or that fewer than two read."""
    doubted: int
    """Rows whose expected answer a reader doubts."""
    errors: tuple[GraderErrors, ...]
    """Errors of the rules and of the judges, in all rows, by category, by answer style and by file."""
    systems: tuple[SystemWorth, ...]
    """The files, the best by the labels first."""
    equal_rejects: dict[str, float | None]
    """By grader: p-value of equal false rejects on all files. Below 0.05 the grader does not rank these systems."""
    equal_accepts: dict[str, float | None]
    """By grader: p-value of equal false accepts on all files. If neither is below 0.05, shares are corrected by the
    errors on all files together, else by those on each file."""
    orders: tuple[RankAgreement, ...]
    """Agreement of the orders by labels, judge and rules."""
    versions: tuple[RulesComparison, ...] = ()
    """Later rule sets, compared with that of the draw; one comparison for each choice of clusters for tuning."""
