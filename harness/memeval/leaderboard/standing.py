"""What a run needs for a rank beside its scores: the source of its system, the run of its answers, a rebuilt track."""

from collections.abc import Iterable

from memeval.archive.runs import RunFolder
from memeval.archive.sources import stored_sources
from memeval.benchmarks import find
from memeval.records.benchmark import BenchmarkInfo
from memeval.records.errors import BadInput
from memeval.records.ledger import LedgerEntry, LedgerEvent
from memeval.systems.known import known


def has_source(folder: RunFolder) -> bool:
    """Return whether the files of a run's system are stored with the runs, or shipped with memeval."""
    digest = folder.run.system.submission_digest
    if known().submissions_with(digest):
        return True
    return folder.results is not None and bool(stored_sources(folder.results, digest))


def has_answers_run(folder: RunFolder) -> bool:
    """Return whether the run that made the answers is stored: the run itself, or the one that a regraded run names."""
    source = folder.run.answers_from
    if source is None:
        return True
    return "/" not in source and (folder.path.absolute().parent / source / "run.json").is_file()


def catalogue_of(benchmark: str) -> BenchmarkInfo | None:
    """Return the catalogue of a benchmark; ``None`` if it is not installed or cannot be used."""
    try:
        return find(benchmark).info
    except BadInput:
        return None


def is_rebuilt(folder: RunFolder, entries: Iterable[LedgerEntry]) -> bool:
    """Return whether a maintainer can have rebuilt the track of a run, and did so where the data is not built in.

    Data that is not built in must be the catalogue's, and a maintainer must have reproduced the run with its bytes of
    today. Whether the data is here has no effect, so two publishers get the same ranks.
    """
    info = catalogue_of(folder.run.track.benchmark)
    if info is None or info.generated:
        return info is not None
    is_catalogues = folder.run.track.data_digest in info.known_digests
    return is_catalogues and any(
        entry.event is LedgerEvent.REPRODUCED and entry.run_digest == folder.digest for entry in entries
    )
