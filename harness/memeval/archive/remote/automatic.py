"""The archive of a board: where it is, what is pushed to it after a run, and rows that a command needs."""

import os
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from memeval.archive.remote.index import refresh_index
from memeval.archive.remote.layout import is_run
from memeval.archive.remote.pulling import fetch_rows, missing_rows
from memeval.archive.remote.pushing import Pushed, PushState, push_runs
from memeval.archive.runs import RunFolder
from memeval.objects import ObjectStore, Place, open_store, parse_place
from memeval.records.errors import BadInput, MemevalError
from memeval.records.journal import QueuedPush
from memeval.settings import SETTINGS, read_settings
from memeval.storage import append_lines, locked, readable, writable, write_whole

ARCHIVE, DISABLE = "MEMEVAL_ARCHIVE", "MEMEVAL_ARCHIVE_DISABLE"

CONFIGURE = f"Name it with --to or {ARCHIVE}, or as 'to' in section [archive] of {SETTINGS}."


def board_of(results: Path) -> Path:
    return results.absolute().parent


def is_disabled() -> bool:
    return os.environ.get(DISABLE, "") not in ("", "0")


def archive_place(results: Path, to: str | None = None) -> Place | None:
    settings = read_settings(board_of(results)).archive
    by_caller = to or os.environ.get(ARCHIVE)
    if (named := by_caller or settings.to) is None:
        return None
    place = parse_place(named, endpoint=settings.endpoint, region=settings.region)
    if not by_caller and place.folder is not None:
        place = replace(place, folder=board_of(results) / place.folder)
    return place


def open_archive(results: Path, to: str | None = None, *, to_read: bool = False) -> ObjectStore:
    place = archive_place(results, to)
    if place is None:
        raise BadInput("no archive is configured.", where=board_of(results), remedy=CONFIGURE)
    if to_read and place.folder is not None and not place.folder.is_dir():
        raise BadInput(
            "there is no archive here.", where=place.folder, remedy="Correct its name, or push runs into it first."
        )
    return open_store(place)


def pushes_after_run(results: Path, asked: bool | None) -> bool:
    """Return whether finished runs are pushed.

    ``asked``: what the user says; ``None`` for the setting of the board. Raises BadInput: they are, and no archive is
    configured; or ``memeval.toml`` is not valid.
    """
    if is_disabled():
        return False
    wanted = read_settings(board_of(results)).archive.after_run if asked is None else asked
    if wanted and archive_place(results) is None:
        raise BadInput("no archive is configured.", where=board_of(results), remedy=CONFIGURE.replace("--to or ", ""))
    return wanted


def push_and_index(folders: Sequence[RunFolder], store: ObjectStore, results: Path) -> Iterator[Pushed]:
    """Push runs, remove them from the queue, and write the index again; yield the outcomes.

    Raises BadStore: the archive does not answer.
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

    Returns: A warning for each run that is not archived, and why. If the archive may answer later, the run is queued.
    """
    try:
        paths = {folder.path.absolute() for folder in folders}
        waiting = [folder for folder in queued_runs(results) if folder.path.absolute() not in paths]
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


def fetch_missing(folders: Iterable[RunFolder]) -> list[str]:
    """Fetch the rows that runs lack, each from the archive of its board, into the cache.

    Returns: A warning for each board or file whose rows are still missing.
    """
    boards: dict[Path, list[RunFolder]] = defaultdict(list)
    for folder in folders:
        if folder.results is not None:
            boards[folder.results].append(folder)
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


QUEUE = Path(".record") / "archive-queue.jsonl"
"""Its path in the results folder; version control ignores it."""


def enqueue(results: Path, folder: RunFolder, problem: str) -> None:
    """Append a run, flushed to disk before returning.

    ``problem``: why the push failed. Raises BadInput: the queue cannot be written.
    """
    path = results / QUEUE
    line = QueuedPush(run=folder.name, at=datetime.now(UTC).isoformat(timespec="seconds"), problem=problem)
    with writable(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with locked(path.parent), path.open("a+b", buffering=0) as stream:
            stream.seek(max(stream.tell() - 1, 0))
            joint = b"" if stream.read(1) in (b"", b"\n") else b"\n"  # a former writer was killed
            append_lines(stream, joint + (line.to_json() + "\n").encode())


def queued_runs(results: Path) -> list[RunFolder]:
    """Return the queued runs that exist. Damaged lines, and lines that name no run of this folder, are left out.

    Raises BadInput: the queue cannot be read.
    """
    folders = (results / each.run for each in _lines(results / QUEUE))
    return [RunFolder(path) for path in dict.fromkeys(folders) if (path / "run.json").is_file()]


def dequeue(results: Path, folders: Collection[RunFolder]) -> None:
    """Remove runs from the queue. Raises BadInput: the queue cannot be written."""
    path, done = results / QUEUE, {folder.name for folder in folders}
    if not done or not path.exists():
        return
    with locked(path.parent):
        left = [each for each in _lines(path) if each.run not in done]
        if left:
            write_whole(path, "".join(each.to_json() + "\n" for each in left).encode())
        else:
            path.unlink(missing_ok=True)


def _lines(path: Path) -> list[QueuedPush]:
    data = b""
    with readable(path, "Check its permissions."), suppress(FileNotFoundError):
        data = path.read_bytes()
    found = []
    for number, line in enumerate(data.split(b"\n"), start=1):
        with suppress(BadInput):
            found.append(QueuedPush.parse(line, f"{path}:{number}"))
    return [each for each in found if is_run(each.run)]
