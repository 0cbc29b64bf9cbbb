"""A release: a frozen, versioned leaderboard."""

from typing import ClassVar

from pydantic import Field

from memeval.records.base import Digest, Record, Share, Slug, Stored
from memeval.records.ledger import AnswerTrust, GradeTrust, SignatureText


class ReleaseRow(Record):
    """One row of a frozen leaderboard."""

    benchmark: str
    track_id: str
    system: Slug
    run_id: str
    run_digest: Digest
    composite: Share | None
    best_rank: int | None
    """Best rank that the data allow; ``None`` if the row is not ranked."""
    worst_rank: int | None
    """Worst rank that the data allow; ``None`` if the row is not ranked."""
    grades: GradeTrust
    """How far its grades can be trusted."""
    answers: AnswerTrust
    """How far its answers can be trusted."""


class Release(Stored):
    """A frozen leaderboard: runs, ranks, and digests down to the last published file."""

    SCHEMA: ClassVar[int] = 3

    schema_version: int = 3
    version: str = Field(pattern=r"^[0-9A-Za-z][0-9A-Za-z._-]*$")
    """Its version, such as ``2026.12``; unique."""
    date: str
    """UTC date of the release, ISO 8601."""
    memeval: str
    """The version of memeval that made it."""
    memeval_digest: Digest | None = None
    """Digest of the files of that memeval; ``None`` in a release of an older one."""
    rows: tuple[ReleaseRow, ...]
    """The rows, ordered by benchmark, track and position."""
    ranks_method: str
    """Name of the method that made the rows and their ranks."""
    weights: dict[str, dict[str, float]]
    """Weights of the categories, by track."""
    price_lists: tuple[str, ...]
    """The price lists behind the costs of the runs, sorted."""
    runs: dict[str, Digest]
    """Digest of the ``run.json`` of every run on the board, also of those without a row."""
    ledger_digest: Digest | None
    """Digest of the ledger's bytes before the release; ``None`` if it was empty."""
    files: dict[str, Digest]
    """Digest of every published file, by its path inside the published folder. It leaves out the release itself, which
    is published as ``release.json``."""
    data_files: tuple[str, ...]
    """The files that its pages share with other releases, by their paths beside the published folder, sorted. The names
    are digests: ``data/sha256/ab/abcd….json``."""
    root_files: dict[str, Digest] = {}
    """Digest of the pages beside the versions that memeval wrote with this release, by path."""
    state: Digest
    """Digest of the canonical JSON of all other fields but ``signature``."""
    signature: SignatureText | None = None
    """Signature of the canonical JSON of all other fields; ``None`` if the release is not signed."""
