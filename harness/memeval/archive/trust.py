"""The trust in a run, derived from its files and the ledger, and never typed in."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memeval.archive.runs import RunFolder
from memeval.records.base import Digest
from memeval.records.ledger import AnswerTrust, GradeTrust, LedgerEntry, LedgerEvent, Runner, Sample
from memeval.records.run import Isolation, Run, SystemKind
from memeval.statistics.intervals import wilson

AGREEMENT = 0.95
"""The share of equal results that a second request must allow. A model at temperature 0 rarely replies otherwise."""


@dataclass(frozen=True)
class Trust:
    grades: GradeTrust
    answers: AnswerTrust


@dataclass(frozen=True)
class TrustFacts:
    run_id: str
    digest: Digest
    kind: SystemKind
    isolation: Isolation
    uses_model: bool


def trust_of(folder: RunFolder, entries: Iterable[LedgerEntry]) -> Trust:
    run = folder.run
    return derive_trust(TrustFacts(run.run_id, folder.digest, run.system.kind, run.isolation, uses_model(run)), entries)


def derive_trust(facts: TrustFacts, entries: Iterable[LedgerEntry]) -> Trust:
    """Derive the trust in a run from the facts about it and the ledger.

    An entry is valid only while ``run.json`` has the same bytes as at the time of the entry. A system that can reach
    files may copy earlier answers, so without a sandbox no run is ``repeated``.
    """
    mine = [entry for entry in entries if entry.run_id == facts.run_id and entry.run_digest == facts.digest]
    events = {entry.event for entry in mine}
    if facts.kind is SystemKind.CONTROL:
        answers = AnswerTrust.CONTROL
    elif facts.kind is SystemKind.IMPORTED:
        answers = AnswerTrust.IMPORTED
    elif LedgerEvent.REPEATED in events and facts.isolation is Isolation.SANDBOXED:
        answers = AnswerTrust.REPEATED
    elif any(entry.event is LedgerEvent.ACCEPTED and entry.runner is Runner.MAINTAINER for entry in mine):
        answers = AnswerTrust.MAINTAINER_RUN
    else:
        answers = AnswerTrust.SELF_RUN
    return Trust(grades=_grades(facts, mine), answers=answers)


def _grades(facts: TrustFacts, mine: Sequence[LedgerEntry]) -> GradeTrust:
    asked = last_samples(mine).get(LedgerEvent.RE_ASKED)
    if facts.uses_model and asked is not None and holds(asked):
        return GradeTrust.RE_ASKED
    if all(entry.event is not LedgerEvent.REPRODUCED for entry in mine):
        return GradeTrust.CLAIMED
    return GradeTrust.REPLAYED if facts.uses_model else GradeTrust.RECOMPUTED


def uses_model(run: Run) -> bool:
    """Return whether replies of a model judge or a model reader are behind the grades.

    A run whose track names a model judge, but whose graders ask none, has no judgments.
    """
    return "judgments.jsonl" in run.files or run.track.reader_endpoint is not None


def last_samples(entries: Iterable[LedgerEntry]) -> dict[LedgerEvent, Sample]:
    return {entry.event: entry.sample for entry in entries if entry.sample is not None}


def holds(sample: Sample) -> bool:
    """Return whether a drawn sample allows that 95 % of all results are equal: the upper end of its interval does."""
    return wilson(sample.agreed, sample.asked)[1] >= AGREEMENT
