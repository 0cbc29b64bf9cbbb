"""Published claims, their recounts from published files, and the verdicts."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import StringConstraints

from memeval.records.base import Digest, Record, Share, Slug, Stored

DecimalText = Annotated[str, StringConstraints(pattern=r"^[0-9]{1,3}(\.[0-9]{1,8})?$")]
"""A number as it was printed: its digits decide how exactly it can be compared."""

Day = Annotated[str, StringConstraints(pattern=r"^20[0-9]{2}-[01][0-9]-[0-3][0-9]$")]
"""A day in UTC, such as ``2026-11-23``."""


class ClaimVerdict(StrEnum):
    """What a recount says about a claim."""

    HOLDS = "holds"
    """A published file gives the claimed value."""
    DIFFERS = "differs"
    """The file that the claim names gives another value. Repository, commit and file are all known."""
    FILE_ABSENT = "named file absent"
    """The claim names a file that its repository does not contain."""
    NOT_ATTRIBUTABLE = "not attributable to this claim"
    """No published file is linked to the claim."""


class ClaimUnit(StrEnum):
    """Unit of a claimed value."""

    PERCENT = "percent"
    SHARE = "share"


class Measure(StrEnum):
    """How a value is counted from the rows of a file."""

    MEAN = "mean"
    """Mean of the fields ``values``, each in [0, 1]; true is 1 and false is 0. A row counts once."""
    RECALL = "recall"
    """Mean share of the ids in ``evidence`` that ``retrieved`` contains, over rows with evidence."""


class PublishedFile(Record):
    """A file in a repository."""

    path: str
    """Path in the repository."""
    digest: Digest
    """Digest of its bytes, uncompressed."""


class RowFact(Record):
    """Rows of the first file that a reader should know of."""

    what: str
    """What the rows have in common, as a phrase."""
    rows: str | None = None
    """Path of the rows to look at; ``None`` for all rows of the recipe."""
    match: dict[str, str]
    """Regular expression of each field, by its path. A row counts if all of them are found."""


class Recipe(Record):
    """How to count a value again."""

    files: tuple[PublishedFile, ...]
    """Several files are counted one by one; the value is the mean of their values."""
    rows: str
    """Path of the rows in a file: keys separated by dots, ``*`` for all. Empty if the file itself is the list."""
    measure: Measure = Measure.MEAN
    """How the value is counted from the rows."""
    values: tuple[str, ...] = ()
    """For ``mean``: paths of the fields in a row; several are averaged."""
    retrieved: str = ""
    """For ``recall``: path of the retrieved ids in a row."""
    evidence: str = ""
    """For ``recall``: path of the evidence ids in a row."""
    overlap: str = ""
    """Path of the token F1 in a row, as the file gives it; empty if the file has none."""
    facts: tuple[RowFact, ...] = ()
    """Rows to count apart."""


class Notice(Record):
    """Contact with the authors of a claim."""

    sent: Day | None = None
    """Day on which the authors received the finding; ``None`` if they have not received it."""
    reply: str | None = None
    """Their reply, word for word."""
    changes: str | None = None
    """What was changed afterwards, here or there."""


class PublishedClaim(Record):
    """A published score, and the files behind it."""

    id: Slug
    """Name of the claim, unique in the file."""
    system: str
    """Name of the system, as the claim gives it."""
    benchmark: str
    """Name of the benchmark."""
    metric: str
    """What the value measures, in words."""
    claimed: DecimalText
    """The value, with its printed digits."""
    margin: DecimalText | None = None
    """The margin that the claim states (±), in the unit of the value."""
    unit: ClaimUnit = ClaimUnit.PERCENT
    """Unit of the value."""
    repository: str
    """Repository of the files on GitHub, ``owner/name``."""
    commit: str | None = None
    """Commit of the files."""
    stated: str
    """Where the value is stated."""
    link: str | None = None
    """The words that link the value to the files; ``None`` if no words do."""
    absent: str | None = None
    """Path of a file that the claim names and the repository does not contain."""
    answer_model: str | None = None
    """The model that wrote the answers; ``None`` if unknown."""
    judge: str | None = None
    """The judge behind the value; ``None`` if unknown or not needed."""
    licence: str
    """Licence of the repository."""
    recount: Recipe | None = None
    """How to count the value again; ``None`` if there is no file to count."""
    test_set: bool = False
    """Whether the answers were written to test a judge."""
    note: str | None = None
    """Facts a reader needs to understand the value."""
    notice: Notice = Notice()
    """Contact with the authors."""


class PanelRecipe(Record):
    """Files in which several judges grade the same answers."""

    name: str
    """Name of the answers."""
    repository: str
    """Repository of the files on GitHub, ``owner/name``."""
    commit: str
    """Commit of the files."""
    rows: str
    """Path of the rows in a file; see :class:`Recipe`."""
    row_id: str
    """Path of the question's id in a row. All files have the same ids in the same order."""
    verdict: str
    """Path of the verdict in a row."""
    judges: dict[str, PublishedFile]
    """The file of each judge."""


class ClaimsFile(Record):
    """The file ``sources/findings/claims.toml``."""

    claim: tuple[PublishedClaim, ...] = ()
    """Published scores, in the order of the page."""
    panel: tuple[PanelRecipe, ...] = ()
    """Answers that several judges graded."""


class Correction(Record):
    """An error that was published here, and what was done about it."""

    date: Day
    """Day of the correction."""
    subject: str
    """What was wrong: a grader, a page, an import."""
    was: str
    """The error, as one or two sentences."""
    now: str
    """The correction, as one or two sentences."""
    commit: str | None = None
    """Commit of the correction in this repository."""


class CorrectionsFile(Record):
    """The file ``sources/findings/corrections.toml``."""

    correction: tuple[Correction, ...] = ()
    """All corrections."""


class FactCount(Record):
    """How many rows match a fact."""

    what: str
    """What the rows have in common."""
    rows: int
    """Matching rows."""
    of: int
    """Rows looked at."""


class FileCount(Record):
    """The value of one file."""

    digest: Digest
    """Digest of the counted bytes."""
    rows: int
    """Rows in the file."""
    counted: int
    """Rows in the value; rows without evidence do not count for recall."""
    points: float
    """Sum of the credits of the counted rows."""


class Recount(Record):
    """A value, counted again."""

    value: Share
    """Mean over the files of points by counted rows."""
    files: tuple[FileCount, ...]
    """In the order of the recipe."""
    facts: tuple[FactCount, ...] = ()
    """In the order of the recipe."""


class PassRate(Record):
    """How many answers of a set one judge passed."""

    passed: int
    """Answers that passed."""
    of: int
    """All answers of the set."""


class RepeatedVerdicts(Record):
    """Three verdicts of one judge on each answer of a file."""

    name: str
    """Name of the answers."""
    judge: str | None
    """The judge; ``None`` if the file names none."""
    test_set: bool = False
    """Whether the answers were written to test a judge."""
    each: tuple[PassRate, ...]
    """By verdict."""
    majority: PassRate
    """Answers that most verdicts passed."""
    split: int
    """Answers without a unanimous verdict."""


class JudgePair(Record):
    """Two judges on the same answers."""

    first: str
    """One judge."""
    second: str
    """The other judge."""
    equal: int
    """Answers with equal verdicts."""
    of: int
    """Answers that both judges graded."""
    kappa: float | None
    """Cohen's κ; ``None`` if undefined."""


class JudgePanel(Record):
    """Several judges on the same answers."""

    name: str
    """Name of the answers."""
    judges: dict[str, PassRate]
    """By judge."""
    pairs: tuple[JudgePair, ...]
    """Every pair of judges."""
    split: int
    """Answers on which the judges do not all agree."""


class VerdictsByOverlap(Record):
    """Verdicts of a judge beside the token F1 of the same answers."""

    name: str
    """Name of the answers."""
    passed: PassRate
    """How many answers the judge passed."""
    f1_passed: Share | None
    """Mean token F1 of the answers that passed."""
    f1_failed: Share | None
    """Mean token F1 of the answers that failed."""
    passed_without_overlap: int
    """Passed answers with a token F1 of 0."""
    failed_with_match: int
    """Failed answers with a token F1 of 1."""


class JudgeTrials(Record):
    """What published verdicts say about judges."""

    repeated: tuple[RepeatedVerdicts, ...] = ()
    """Files with three verdicts on each answer."""
    panels: tuple[JudgePanel, ...] = ()
    """Answers that several judges graded."""
    overlap: tuple[VerdictsByOverlap, ...] = ()
    """Files that have the token F1 of each answer."""


class Recounts(Stored):
    """The file ``sources/findings/recounts.json``."""

    date: Day
    """Day of the count."""
    version: str
    """Version of memeval that counted."""
    recounts: dict[str, Recount]
    """By claim."""
    trials: JudgeTrials = JudgeTrials()
    """What the verdicts in the files say about judges."""


class Finding(Record):
    """A claim with its recount and verdict."""

    claim: PublishedClaim
    """The published score."""
    recount: Recount | None
    """The counted value; ``None`` if there is no file to count."""
    verdict: ClaimVerdict
    """What the count says about the claim."""


class FindingsReport(Stored):
    """All findings, as ``findings.json`` on the site and ``memeval sources findings --json``."""

    date: Day
    """Day of the count."""
    version: str
    """Version of memeval that counted."""
    findings: tuple[Finding, ...]
    """All claims, those that hold included."""
    trials: JudgeTrials
    """What the verdicts in the files say about judges."""
    corrections: tuple[Correction, ...]
    """Newest first."""
