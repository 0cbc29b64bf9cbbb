"""Answers that readers label, to find out what graders are worth."""

from __future__ import annotations

from enum import StrEnum

from memeval.records.base import Digest, Record, Share, Slug, Stored
from memeval.records.finding import Day


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
    """The regraded file, ``source/file``."""
    category: str
    """The category of the questions."""
    judge: bool
    """Verdict of the judge in the file; of most judges if there are several."""
    rules: bool
    """Verdict of the rules."""
    rows: int
    """Rows of the stratum."""
    drawn: int
    """Rows drawn."""


class SampleRow(Stored):
    """A drawn row, in ``results/labels/<name>/rows.jsonl.gz``."""

    label_id: Slug
    """Its id, which says nothing about the row."""
    file: str
    """The regraded file, ``source/file``."""
    item_id: str
    """The item."""
    trial: int = 0
    """Number of the repetition, from 0."""
    category: str
    """Its category."""
    cluster: str
    """Its cluster, such as the conversation."""
    answer_digest: Digest
    """Digest of the answer that is read."""
    words: int
    """Words of the answer."""
    judge: bool
    """Verdict of the judge in the file; of most judges if there are several."""
    rules: bool
    """Verdict of the rules."""
    probability: Share
    """Probability of being drawn: drawn rows by rows of its stratum."""


class LabelSample(Stored):
    """``results/labels/<name>/sample.json``: a random sample of answers for readers."""

    name: Slug
    """Its name."""
    benchmark: str
    """Id of the benchmark."""
    data_digest: Digest
    """Digest of the benchmark's data."""
    judge: str
    """The rule set behind the verdicts of the rules."""
    seed: int
    """Seed of the draw."""
    files: dict[str, Digest]
    """Digest of the rows of each regraded file, by ``source/file``."""
    strata: tuple[Stratum, ...]
    """Where rows were drawn: by file, category and the two verdicts."""
    rows_digest: Digest
    """Digest of the drawn rows, uncompressed."""
    guide_digest: Digest
    """Digest of the readers' guide, ``guide.md`` in the same folder."""
    drawn_at: Day
    """The day of the draw."""
