"""Histories of released versions: ``results/history/SLUG.json``, and the runs in ``results/history/SLUG/VERSION/``.

The folder of a version is a results folder of its own: runs, sources and conformance reports are where they always are.
So no board, index or release of the results folder above finds these runs.
"""

from collections.abc import Iterator
from pathlib import Path

from memeval.archive.rows import indented, write_files
from memeval.archive.runs import HISTORY, RunFolder, history_runs
from memeval.records.errors import BadInput, MemevalError
from memeval.records.history import MeasuredVersion, VersionHistory, VersionRun
from memeval.storage import listed, readable


def history_path(results: Path, slug: str) -> Path:
    return results / HISTORY / f"{slug}.json"


def version_folder(results: Path, slug: str, version: str) -> Path:
    """Return the results folder of a version."""
    return results / HISTORY / slug / version


def history_files(results: Path) -> list[Path]:
    return listed(results / HISTORY, "*.json")


def stored_histories(results: Path) -> list[VersionHistory]:
    """Return the histories of a results folder, by slug. Raises ``BadInput`` if one cannot be read."""
    return [read_history(path) for path in history_files(results)]


def history_of_system(results: Path, slug: str) -> VersionHistory | None:
    """Return the history of a submission; ``None`` without one. Raises ``BadInput`` if it cannot be read."""
    path = history_path(results, slug)
    return read_history(path) if path.is_file() else None


def read_history(path: Path) -> VersionHistory:
    with readable(path):
        history = VersionHistory.parse(path.read_bytes(), path)
    if history.slug != path.stem:
        raise BadInput(f"is the history of '{history.slug}'.", where=path, remedy=f"Name it {history.slug}.json.")
    return history


def write_history(results: Path, history: VersionHistory) -> Path:
    """Write a history atomically. Raises ``BadInput`` if the file cannot be written."""
    path = history_path(results, history.slug)
    write_files({path: indented(history.data())})
    return path


def measured_runs(
    results: Path, history: VersionHistory
) -> Iterator[tuple[MeasuredVersion, VersionRun, RunFolder | None]]:
    """Yield each benchmark of each version of a history, oldest first, with its run; ``None`` for a gap."""
    folders = {folder.path.name: folder for folder in history_runs(results, history.slug)}
    for version in history.versions:
        for each in version.runs:
            yield version, each, folders.get(each.run_id or "")


def history_faults(results: Path) -> Iterator[BadInput]:
    """Yield the errors of the histories of a results folder: a run that is missing, changed or not listed."""
    listed_ids: set[str] = set()
    for path in history_files(results):
        try:
            history = read_history(path)
        except MemevalError as error:
            yield BadInput(error.problem, where=error.where or path, remedy=error.remedy)
            continue
        for version, each, folder in measured_runs(results, history):
            if each.run_id is None:
                continue
            listed_ids.add(each.run_id)
            if folder is None:
                yield BadInput(
                    f"names run {each.run_id} of {history.package} {version.version}, which is missing.",
                    where=path,
                    remedy="Restore the run.",
                )
                continue
            stated = folder.run.product_version
            if stated is None or (stated.version, stated.lock) != (version.version, version.lock):
                yield BadInput(
                    f"names run {each.run_id} as one of {history.package} {version.version}, and its run.json differs.",
                    where=path,
                    remedy="Restore the run and the history.",
                )
    for folder in history_runs(results):
        if folder.path.name not in listed_ids:
            yield BadInput(
                f"no history in {results / HISTORY} names this run.",
                where=folder.path,
                remedy="Run memeval history again, or remove the folder.",
            )
