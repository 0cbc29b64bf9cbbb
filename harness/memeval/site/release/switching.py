"""Switches a board to its newest release: the list of versions, ``latest``, then the pages at the root."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from memeval.leaderboard.releases import age, release_path
from memeval.records.errors import BadInput, MemevalError
from memeval.records.release import Release
from memeval.site.release.roots import (
    INDEX,
    LATEST,
    LATEST_PAGE,
    NOT_FOUND,
    NOT_FOUND_PAGE,
    RELEASE_FILE,
    ROOT_PAGE,
    TAKEN,
    VERSIONS_FILE,
    latest_page,
    selector,
)
from memeval.site.release.targets.base import Entry, EntryKind, NewFile, Target

TRIES = 20
"""Number of tries to write the list of versions while other processes write it too."""


def paths_of(release: Release) -> set[str]:
    own = {f"{release.version}/{path}" for path in (*release.files, RELEASE_FILE)}
    return own | set(release.data_files)


def complete_releases(target: Target, results: Path, entries: Mapping[str, Entry]) -> list[Release]:
    """Return the releases that are published with all their files, newest first.

    ``results``: the results folder; a release that it has is not read from the target. Raises ``BadInput`` if a
    published release cannot be read, and the results folder does not have it.
    """
    found = []
    for path in entries:
        version, _, name = path.partition("/")
        if name != RELEASE_FILE or version in TAKEN:
            continue
        release = _release(target, results, version)
        if paths_of(release) <= entries.keys():
            found.append(release)
    return sorted(found, key=age, reverse=True)


def _release(target: Target, results: Path, version: str) -> Release:
    kept = release_path(results, version)
    if kept.is_file():
        return Release.parse(kept.read_bytes(), kept)
    where = f"{target.url}/{version}/{RELEASE_FILE}"
    try:
        release = Release.parse(target.read(f"{version}/{RELEASE_FILE}"), where)
    except MemevalError as error:
        raise BadInput(error.problem, where=where, remedy="Delete this version, or restore the file.") from None
    if release.version != version:
        raise BadInput(f"contains release {release.version}.", where=where, remedy="Delete this version.")
    return release


def is_switched(target: Target, versions: list[str], entries: Mapping[str, Entry]) -> bool:
    """Return whether the files at the root are those of these versions, newest first."""
    latest = entries.get(LATEST)
    if latest is not None:
        leads = latest.kind is EntryKind.LINK and latest.points_at == versions[0]
    else:
        leads = _content(target, LATEST_PAGE, entries) == latest_page(versions[0])
    wanted = {VERSIONS_FILE: selector(versions), NOT_FOUND: NOT_FOUND_PAGE, INDEX: ROOT_PAGE}
    return leads and all(_content(target, path, entries) == content for path, content in wanted.items())


def switch(target: Target, results: Path) -> Iterator[str]:
    """Write the files at the root, the page of the root last; yield one line if something changes.

    Two processes may do this at the same time: the one that comes second sees the release of the first.

    Raises:
        BadInput: the target refuses, or other processes write all the time.
    """
    for _ in range(TRIES):
        entries = target.entries()
        versions = [release.version for release in complete_releases(target, results, entries)]
        if is_switched(target, versions, entries):
            return
        before = _content(target, VERSIONS_FILE, entries)
        content = selector(versions)
        if before != content and not target.swap(NewFile(VERSIONS_FILE, content, immutable=False), before):
            continue
        target.point(versions[0])
        for path, page in ((NOT_FOUND, NOT_FOUND_PAGE), (INDEX, ROOT_PAGE)):
            found = _content(target, path, entries)
            if found != page:
                target.swap(NewFile(path, page, immutable=False), found)
        yield f"{target.url}/{LATEST}: leads to {versions[0]}."
    raise BadInput("other processes publish here all the time.", where=target.url, remedy="Run the same command later.")


def _content(target: Target, path: str, entries: Mapping[str, Entry]) -> bytes | None:
    if path not in entries:
        return None
    try:
        return target.read(path)
    except KeyError:
        return None
