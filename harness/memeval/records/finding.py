"""Published claims, what stored rows say about them, and the verdicts."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints

from memeval.records.base import Record, Share, ShownName, Slug, Stored
from memeval.records.dates import Day
from memeval.records.source import Scale

DecimalText = Annotated[str, StringConstraints(pattern=r"^[0-9]{1,3}(\.[0-9]{1,8})?$")]
"""A number as it was printed: its digits decide how exactly it can be compared."""


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


class CountedValue(StrEnum):
    """The value that is counted from the rows of a regraded file."""

    JUDGE = "judge"
    """Share of rows that one judge calls right."""
    JUDGES = "judges"
    """Mean of these shares over all judges of the file."""
    RECALL = "recall"
    """Mean share of the file's own evidence ids among the retrieved ids, over rows with evidence."""
    SCORE = "score"
    """Mean of a score that the file itself has for each row."""


class Evidence(StrEnum):
    """What stands behind a claim."""

    STATED = "only stated"
    ABSENT = "named file absent"
    COUNTED = "counted from the values in its file"
    GRADED = "counted, and the answers graded again here"


class Recipe(Record):
    """How to count a value again."""

    files: tuple[str, ...] = Field(min_length=1)
    """Regraded files, ``source/file``. Several are counted one by one; the value is the mean of their values."""
    value: CountedValue = CountedValue.JUDGE
    """What is counted from the rows."""
    judge: str = "judge"
    """For ``judge``: the name of its verdicts in the file."""
    score: str = ""
    """For ``score``: its name in the file."""


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
    metric: str
    """What the value measures, in words."""
    claimed: DecimalText
    """The value, with its printed digits."""
    margin: DecimalText | None = None
    """The margin that the claim states (±), in the unit of the value."""
    unit: ClaimUnit = ClaimUnit.PERCENT
    repository: str
    commit: str | None = None
    stated: str
    """Where the value is stated."""
    link: str | None = None
    """The words that link the value to the files; ``None`` if no words do."""
    scale: Scale | None = None
    """How a question is scored; ``None`` if the counted file says it, or if ``metric`` is all that is known."""
    questions: int | None = Field(None, ge=1)
    """Questions behind the value, if there is no file to count them from."""
    of: int | None = Field(None, ge=1)
    """Questions of the benchmark or the part of it that the claim names, if there is no file to count them from."""
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
    note: str | None = None
    """Facts a reader needs to understand the value."""
    notice: Notice = Notice()
    """Contact with the authors."""


class ProductFinding(Record):
    """What a product does that its users may not expect, shown by a short program without memeval."""

    id: Slug
    """Name of the finding, unique in the file."""
    product: ShownName
    """Name of the product."""
    versions: str
    """Packages and versions with which it was shown."""
    statement: str
    """What the product does, in a sentence."""
    documented: str | None = None
    """Where the product documents it: an address, or words; ``None`` if it is not known to."""
    known: str | None = None
    """Address where others reported it; ``None`` if no report is known."""
    program: str = Field(pattern=r"^[a-z0-9-]+\.(py|mjs)$")
    """Name of the program in ``sources/findings/products``."""
    output: str
    """The decisive line of its output."""
    reproduced: Day
    """Day on which the program was last run."""
    notice: Notice = Notice()
    """Contact with the authors of the product."""


class ProductFindingsFile(Record):
    """The file ``sources/findings/products.toml``."""

    finding: tuple[ProductFinding, ...] = ()
    """Findings about products."""


class ClaimsFile(Record):
    """The file ``sources/findings/claims.toml``."""

    claim: tuple[PublishedClaim, ...] = ()
    """Published scores, in the order of the page."""


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


class FileCount(Record):
    """The value of one regraded file, over all its rows."""

    name: str
    """The regraded file, ``source/file``."""
    value: Share
    rows: int
    """Rows in the file, those without an item included."""
    questions: int | None = None
    """Different questions in the file."""
    of: int | None = None
    """Questions of the benchmark or tier."""
    counted: int
    """Rows in the value: those with a readable verdict, with evidence, or with the score."""
    signs: int
    """Signs of a broken run in the file."""


class Recount(Record):
    """A value, counted again."""

    value: Share
    """Mean of the files' values."""
    files: tuple[FileCount, ...]
    """In the order of the recipe."""
    counted_at: Day
    """Day of the newest of the files' imports."""


class PassRate(Record):
    """How many answers of a set one judge passed."""

    passed: int
    """Answers that passed."""
    of: int
    """All answers of the set."""


class RepeatedVerdicts(Record):
    """Three verdicts of one judge on each answer of a file."""

    name: str
    judge: str | None
    """The judge; ``None`` if the file names none."""
    test_set: bool = False
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


class JudgePanel(Record):
    """Several judges on the same answers."""

    name: str
    judges: dict[str, PassRate]
    """By judge; with the name of the verdicts if one judge gave several."""
    pairs: tuple[JudgePair, ...]
    """Every pair of judges."""
    split: int
    """Answers on which the judges do not all agree."""


class VerdictsByOverlap(Record):
    """Verdicts of a judge beside the token F1 of the same answers."""

    name: str
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


class RecountedClaim(Record):
    """A claim with its recount and verdict."""

    claim: PublishedClaim
    """The published score."""
    recount: Recount | None
    """The counted value; ``None`` if there is no file to count."""
    verdict: ClaimVerdict
    """What the count says about the claim."""
    scale: str = ""
    """How a question is scored, in words."""
    questions: int | None = None
    """Questions behind the value; ``None`` if unknown."""
    of: int | None = None
    """Questions of the benchmark or the part of it that the claim names; ``None`` if unknown."""
    other_rows: int = 0
    """Rows in the value that are not of these questions, such as questions with other words."""
    judges: tuple[str, ...] = ()
    """Who gave the verdicts; empty if nobody did, or if it is unknown."""
    rule: str = ""
    """How the value was counted, in words; empty if it was not."""
    evidence: Evidence = Evidence.STATED
    """What stands behind the claim."""
    same_files: tuple[str, ...] = ()
    """Files of other repositories, ``source/file``, that are the same file, byte for byte."""


class FindingsReport(Stored):
    """All findings, as ``findings.json`` on the site and ``memeval sources findings --json``."""

    findings: tuple[RecountedClaim, ...]
    """All claims, those that hold included."""
    trials: JudgeTrials
    """What the verdicts in the files say about judges."""
    corrections: tuple[Correction, ...]
    """Newest first."""
