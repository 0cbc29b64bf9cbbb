"""The trials of faults of the disk, and their grader."""

from collections.abc import Iterator, Mapping

from memeval.benchmarks.kit.streams import stream
from memeval.benchmarks.operations.grading import Judged, TrialGrader
from memeval.records.trials_of_disks import DiskFault, DiskTrouble, FaultObservation, FaultOutcome

DISK_FAULTS = "disk-faults"

COUNTS = {
    DiskTrouble.FLIPPED: {"full": 200, "thousand": 20, "quick": 4},
    DiskTrouble.FULL: {"full": 10, "thousand": 4, "quick": 2},
    DiskTrouble.READ_ONLY: {"full": 10, "thousand": 4, "quick": 2},
}
"""How many trials each tier has of each fault."""

STORED, PROBED, WRITES = 200, 40, 100
"""So many texts do not fit into the rest of a page of a file, which a full disk still has."""

TITLES = {
    DiskTrouble.FLIPPED: "One byte of one file is flipped after a clean stop, then the system is started",
    DiskTrouble.FULL: f"The disk is full when {WRITES} texts are written; later there is space again",
    DiskTrouble.READ_ONLY: f"The disk is read-only when {WRITES} texts are written; later it can be written to again",
}


def disk_faults(seed: int, tier: str) -> Iterator[tuple[str, Mapping[str, str], DiskFault]]:
    """Yield the trials of a tier, each with its category and its slices."""
    for trouble, counts in COUNTS.items():
        for number in range(1, counts[tier] + 1):
            draw = stream("operations@1", seed, trouble, number)
            trial = DiskFault(
                question_id=f"{trouble}-{number:03}",
                question=f"{TITLES[trouble]}; {STORED} texts are stored before.",
                seed=draw.randrange(10**9),
                stored=STORED,
                trouble=trouble,
                writes=0 if trouble is DiskTrouble.FLIPPED else WRITES,
                place=round(draw.random(), 6),
                probed=PROBED,
            )
            yield trouble.value, {}, trial


REASONS = {
    FaultOutcome.UNAFFECTED: "Every text is there, and no call failed.",
    FaultOutcome.ERROR: "A call failed with an error, so the fault was noticed.",
    FaultOutcome.SILENT: "Texts are missing or altered, and no call said so.",
}


def judged_fault(seen: FaultObservation) -> Judged:
    """Pass a trial if the system failed with an error, or if every text is there."""
    place = f" The byte was in a file {seen.file}." if seen.file is not None else ""
    metrics: dict[str, float | None] = {
        "said": float(seen.outcome is FaultOutcome.ERROR),
        "unaffected": float(seen.outcome is FaultOutcome.UNAFFECTED),
        "silent": float(seen.outcome is FaultOutcome.SILENT),
        "altered": float(seen.altered > 0),
        "recovered": None if seen.recovered is None else float(seen.recovered),
    }
    return seen.outcome is not FaultOutcome.SILENT, f"{REASONS[seen.outcome]}{place}", metrics


FAULTS = TrialGrader("disk-faults@1", FaultObservation, judged_fault)
