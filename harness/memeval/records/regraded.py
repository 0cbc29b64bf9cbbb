"""Answers made elsewhere, graded again: one row per answer, and a summary of the file."""

from memeval.records.base import Digest, Record, Share, Slug, Stored
from memeval.records.dates import Day
from memeval.records.scores import Interval
from memeval.records.source import Scale


class RegradedRow(Stored):
    """One answer of a file, with its verdicts there and its grade here."""

    item_id: str
    category: str
    cluster: str
    trial: int = 0
    place: int
    """Number of the row, from 1; repetitions in several files are numbered throughout."""
    answer: str | None = None
    """The answer; ``None`` if a licence keeps it out, or if the file has none."""
    answer_digest: Digest | None = None
    """Digest of the answer; ``None`` if the file has none."""
    verdicts: dict[str, bool | None] = {}
    """Verdicts in the file, by judge; ``None`` if a verdict is unreadable."""
    scores: dict[str, float] = {}
    """Other scores in the file, by name."""
    verdict: bool | None = None
    """Verdict of the rules here; ``None`` without an answer, and where the reference is a rubric."""
    metrics: dict[str, float] = {}
    """Metrics computed here, by name."""
    retrieved: tuple[str, ...] | None = None
    """Ids of retrieved sessions or turns, as in the file."""
    recall: Share | None = None
    """Share of the file's own evidence ids among the retrieved ids; ``None`` without either."""
    prompt_tokens: int | None = None
    """Tokens sent to models, according to the file."""
    completion_tokens: int | None = None
    """Tokens received from models, according to the file."""
    context_tokens: float | None = None
    """Tokens of context, according to the file."""
    seconds: float | None = None
    """Seconds for the answer, according to the file."""
    cost_usd: float | None = None
    """Dollars for the answer, according to the file."""


class PartialSum(Record):
    """A sum over some rows."""

    total: float
    """The sum."""
    rows: int


class RowCounts(Record):
    """What happened to the rows of a file."""

    rows: int
    """Rows in the file."""
    matched: int
    """Rows with a planned item."""
    unmatched: dict[str, tuple[int, ...]] = {}
    """Numbers of the rows without an item, by reason."""
    unmatched_verdicts: dict[str, PartialSum] = {}
    """Right verdicts of these rows, by judge."""
    unmatched_recall: PartialSum = PartialSum(total=0.0, rows=0)
    """Recall of these rows by the file's own evidence."""
    unmatched_scores: dict[str, PartialSum] = {}
    """Other scores of these rows, by name."""
    unreadable_verdicts: int = 0
    """Verdicts in an unknown spelling."""
    gold_differs: tuple[int, ...] = ()
    """Numbers of matched rows whose reference answer differs from the benchmark's."""
    text_differs: tuple[int, ...] = ()
    """Numbers of rows matched by id whose question differs from the benchmark's."""
    missing: tuple[str, ...] = ()
    """Planned items without a row."""


class VerdictShare(Record):
    """A share counted from the rows."""

    right: int
    """Number of right rows."""
    rows: int
    share: Share
    """``right / rows``."""
    interval: Interval
    """95 % interval by cluster; Wilson's if every item is its own cluster."""


class TwoWay(Record):
    """Agreement of a judge with the rules, in rows."""

    both_right: int
    """Both say right."""
    judge_only: int
    """The judge says right, the rules say wrong."""
    rules_only: int
    """The rules say right, the judge says wrong."""
    both_wrong: int
    """Both say wrong."""


class Sign(Record):
    """A sign of a broken run."""

    kind: str
    """What was looked for."""
    count: int
    """Rows that show it."""
    rows: int
    """Rows looked at."""
    flagged: bool
    """Whether it is more than the limit for this sign."""
    detail: str = ""
    """Where, as ids and numbers only."""


class CategoryFigures(Record):
    """The figures of one category."""

    name: str
    rows: int
    judges: dict[str, Share] = {}
    """Share of right rows, by judge."""
    rules: Share | None = None
    """Share that the rules call right."""
    metrics: dict[str, float] = {}
    """Means over the rows."""


class RegradedFigures(Record):
    """Everything that follows from the rows."""

    judges: dict[str, VerdictShare] = {}
    """Verdicts in the file, over all matched rows, by judge."""
    judges_of_all: dict[str, Share] = {}
    """The same share over all rows of the file, unmatched ones included."""
    mean_of_judges: Share | None = None
    """Mean share over the judges; ``None`` with fewer than two."""
    majority: VerdictShare | None = None
    """Verdicts of most judges; ``None`` with fewer than three."""
    rules: VerdictShare | None = None
    """Verdicts of the rules, over the rows that rules can judge."""
    agreement: dict[str, TwoWay] = {}
    """Each judge against the rules, in rows."""
    majority_agreement: TwoWay | None = None
    """The majority against the rules."""
    split_votes: int | None = None
    """Rows on which the judges of the file disagree; ``None`` with fewer than two."""
    metrics: dict[str, float] = {}
    """Means of the metrics computed here, over the rows that have them."""
    scores: dict[str, float] = {}
    """Means of the other scores in the file."""
    scores_of_all: dict[str, float] = {}
    """The same means over all rows of the file, if any unmatched row has the score."""
    recall: Share | None = None
    """Mean of the recall by the file's own evidence."""
    recall_rows: int = 0
    """Rows with such evidence."""
    recall_of_all: Share | None = None
    """The same mean over all rows of the file, unmatched ones included."""
    categories: tuple[CategoryFigures, ...] = ()
    """The figures of each category, by name."""
    seconds: float | None = None
    """Mean seconds per answer."""
    prompt_tokens: float | None = None
    """Mean tokens sent per answer."""
    cost_usd: float | None = None
    """Sum of dollars."""


class RegradedFile(Stored):
    """``results/imported/<source>/<file>.json``: a file of answers, graded again."""

    source: Slug
    file: Slug
    """Name of the entry in the source."""
    title: str
    """Name of the source."""
    system: str
    """The system, as the authors name it."""
    version: str | None = None
    """Its version; ``None`` if not stated."""
    repository: str
    commit: str | None = None
    parts: dict[str, Digest]
    """Digests of the files, by path."""
    mapping: Digest
    """Digest of the source's entry: names, parts and mappings."""
    licence: str | None = None
    benchmark: str
    benchmark_licence: str | None = None
    """Licence of the benchmark, SPDX; ``None`` without its key."""
    data_digest: Digest | None = None
    """Digest of the benchmark's data; ``None`` without its key."""
    planned: int | None = None
    """Questions of the benchmark or tier, if memeval does not have its key: the values in the file were counted, and
    nothing was graded."""
    scale: Scale | None = None
    """How the file scores a question; ``None`` if that follows from the protocol."""
    votes: dict[str, str] = {}
    """The rule for lists of votes, by the name of the verdict or score."""
    protocol: str | None = None
    """The protocol of the grades; ``None`` without grades."""
    tier: str | None = None
    """The tier: which questions are planned; ``None`` if the benchmark has only one."""
    graders: dict[str, str]
    """Grader by category; empty without grades."""
    judge: str | None = None
    """The rule set; ``None`` without grades."""
    answer_model: str | None = None
    judges: dict[str, str] = {}
    group: Slug | None = None
    """Files of one group can be ranked among themselves."""
    note: str | None = None
    """What readers of the figures should know."""
    counts: RowCounts
    """What happened to the rows."""
    figures: RegradedFigures
    """Everything that follows from the rows."""
    signs: tuple[Sign, ...] = ()
    """Signs of a broken run. They need the text of the answers."""
    with_text: bool
    """Whether the rows contain the answers."""
    rows_digest: Digest
    regraded_at: Day
    """The day of the import."""

    VOLATILE = frozenset({"regraded_at"})

    @property
    def is_graded(self) -> bool:
        """Whether memeval has the key, so that rules graded the answers."""
        return self.planned is None

    def judge_name(self, name: str) -> str:
        """Return who gave the verdicts of a name: a model, the scale itself, or that the file does not say it."""
        if name in self.judges:
            return self.judges[name]
        return "judge not stated" if name == "judge" else name

    @property
    def label(self) -> str:
        """System, version, and in parentheses whose file it is and the answer model."""
        whose = [self.title] if self.title.lower() not in self.system.lower() else []
        more = ", ".join(whose + ([self.answer_model] if self.answer_model else []))
        return self.system + (f" {self.version}" if self.version else "") + (f" ({more})" if more else "")
