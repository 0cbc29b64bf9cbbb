"""What memeval does with the archive on its own: pushing finished runs, and fetching rows that a command needs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from memeval.archive.remote.fetching import fetch_rows, missing_rows
from memeval.archive.remote.index import refresh_index
from memeval.archive.remote.opening import CONFIGURE, DISABLE, archive_place, board_of, is_disabled, open_archive
from memeval.archive.remote.pushing import Pushed, PushState, push_runs
from memeval.archive.remote.queue import dequeue, enqueue, queued_runs
from memeval.archive.runs import RunFolder
from memeval.objects import ObjectStore, open_store
from memeval.records.errors import BadInput, MemevalError
from memeval.settings import read_settings


def pushes_after_run(results: Path, asked: bool | None) -> bool:
    """Return whether finished runs are pushed.

    Args:
        asked: what the user says; ``None`` for the setting of the board.

    Raises:
        BadInput: they are, and no archive is configured; or ``memeval.toml`` is not valid.
    """
    if is_disabled():
        return False
    wanted = read_settings(board_of(results)).archive.after_run if asked is None else asked
    if wanted and archive_place(results) is None:
        raise BadInput("no archive is configured.", where=board_of(results), remedy=CONFIGURE.replace("--to or ", ""))
    return wanted


def push_and_index(folders: Sequence[RunFolder], store: ObjectStore, results: Path) -> Iterator[Pushed]:
    """Push runs, remove them from the queue, and write the index again; yield the outcomes.

    Raises:
        BadStore: the archive does not answer.
    """
    done = []
    for outcome in push_runs(folders, store):
        if outcome.state is not PushState.REFUSED:
            done.append(outcome)
        yield outcome
    dequeue(results, [outcome.folder for outcome in done])
    if any(outcome.state is PushState.PUSHED for outcome in done):
        refresh_index(store)


def push_after_run(folders: Sequence[RunFolder], results: Path) -> list[str]:
    """Push finished runs, then the queued ones. Nothing that goes wrong here is an error of the runs.

    Returns:
        A warning for each run that is not archived, and why. If the archive may answer later, the run is queued.
    """
    try:
        waiting = [folder for folder in queued_runs(results) if folder.path.absolute() not in _paths(folders)]
        outcomes = list(push_and_index([*folders, *waiting], open_archive(results), results))
    except Exception as error:  # whatever it is, the run is finished and stays
        said = str(error) or type(error).__name__
        for folder in folders:
            try:
                enqueue(results, folder, said)
            except MemevalError as full:
                return [f"not archived: {said} Not queued either: {full}"]
        return [f"not archived, queued for the next push: {said}"]
    return [f"not archived: {outcome.error}" for outcome in outcomes if outcome.error is not None]


def _paths(folders: Iterable[RunFolder]) -> set[Path]:
    return {folder.path.absolute() for folder in folders}


def fetch_missing(folders: Iterable[RunFolder]) -> list[str]:
    """Fetch the rows that runs lack, each from the archive of its board, into the cache.

    Returns:
        A warning for each board or file whose rows are still missing.
    """
    boards: dict[Path, list[RunFolder]] = defaultdict(list)
    for folder in folders:
        boards[folder.path.absolute().parents[2]].append(folder)
    return [warning for results, members in boards.items() for warning in _fetch_board(results, members)]


def _fetch_board(results: Path, folders: Sequence[RunFolder]) -> Iterator[str]:
    missing = missing_rows(folders)
    if not missing:
        return
    count = f"{len(missing)} row {'file is' if len(missing) == 1 else 'files are'} not here"
    if is_disabled():
        yield f"{results}: {count}, and {DISABLE} is set. Unset it to fetch them from the archive."
        return
    try:
        place = archive_place(results)
        if place is None:
            yield f"{results}: {count}, and no archive is configured. {CONFIGURE.replace('--to or ', '')}"
            return
        for fetched in fetch_rows(missing, open_store(place)):
            if fetched.error is not None:
                yield str(fetched.error)
    except MemevalError as error:
        yield f"{count}. {error}"
