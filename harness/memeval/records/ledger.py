"""The ledger: one line per decision about a run, and per release. Lines are never changed or removed."""

from enum import StrEnum
from typing import Annotated, ClassVar

from pydantic import Field

from memeval.records.base import Digest, Record, Stored
from memeval.records.choices import LedgerEvent as LedgerEvent
from memeval.records.choices import Runner as Runner
from memeval.records.dates import Moment

SignatureText = Annotated[str, Field(pattern=r"^[A-Za-z0-9+/]+={0,2}$", max_length=8192)]
"""An SSH signature in OpenSSH's own format: the base64 text between its BEGIN and END lines, without line breaks."""


class Sample(Record):
    """Items of a run, drawn from its digest, that a maintainer asked again."""

    asked: int = Field(ge=1)
    """Number of drawn items."""
    agreed: int = Field(ge=0)
    """Number of drawn items with an equal result."""
    differing: tuple[str, ...] = ()
    """Ids of the other drawn items."""


class LedgerEntry(Stored):
    """One line of the ledger."""

    SCHEMA: ClassVar[int] = 2

    schema_version: int = 2
    event: LedgerEvent
    """What happened."""
    run_id: str | None = None
    """The run; ``None`` for ``released`` and ``started``."""
    run_digest: Digest | None = None
    """Digest of its ``run.json`` at that time: a run edited afterwards no longer matches."""
    at: Moment
    by: str
    """Author of the entry."""
    reason: str = Field(min_length=1)
    runner: Runner | None = None
    """For ``accepted``: who made the answers."""
    other_run_id: str | None = None
    """For ``repeated`` and ``superseded``: the other run."""
    sample: Sample | None = None
    """For ``re-asked`` and ``rerun``: the drawn items."""
    release_version: str | None = None
    """For ``released``: the version of the release."""
    release_digest: Digest | None = None
    """For ``released``: digest of its file."""
    previous: Digest | None
    """Digest of the line before; ``None`` on the first. A changed or removed line breaks the chain."""
    joins: tuple[Digest, ...] = ()
    """Digests of the last lines of other clones that were merged before this line."""
    signature: SignatureText | None = None
    """Signature of the canonical JSON of the other fields; ``None`` if the line is not signed."""


class GradeTrust(StrEnum):
    """How far a run's grades can be trusted."""

    CLAIMED = "claimed"
    """Nobody graded its answers again."""
    REPLAYED = "replayed"
    """Graded again from recorded replies of the judge; the replies are the runner's word."""
    RECOMPUTED = "recomputed"
    """Graded again, and everything behind the grades was computed again."""
    RE_ASKED = "re-asked"
    """A maintainer asked the judge again about drawn items."""


class AnswerTrust(StrEnum):
    """How far a run's answers can be trusted."""

    CONTROL = "control"
    """A control: shipped with memeval, made by anyone who runs it."""
    IMPORTED = "imported"
    SELF_RUN = "self-run"
    MAINTAINER_RUN = "maintainer-run"
    REPEATED = "repeated"
