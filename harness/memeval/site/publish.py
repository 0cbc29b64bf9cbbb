"""Publishing: verify, freeze, build next to earlier versions, and switch ``latest`` as the last step."""

from __future__ import annotations

import getpass
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

from memeval.archive.ledger import Ledger
from memeval.archive.runs import sealed_runs
from memeval.evaluation.provenance import memeval_version
from memeval.evaluation.verification import verify_results
from memeval.leaderboard.board import RankStatus, build_board, is_plumbing
from memeval.leaderboard.release_checks import file_checks
from memeval.leaderboard.releases import (
    before,
    completed,
    file_bytes,
    frozen,
    keep,
    release_files,
    release_path,
    releases,
)
from memeval.records.errors import BadInput, CheckFailed
from memeval.records.release import Release
from memeval.site.building import build, make_folder, refuse_place
from memeval.site.checking import (
    LATEST,
    RELEASE_FILE,
    ROOT_PAGE,
    VERSIONS_FILE,
    differences,
    manifest,
    selector,
)
from memeval.storage import unwritable, write_whole

TAKEN = frozenset({LATEST, "index.html", VERSIONS_FILE})
"""Names that no version may have."""


def publish(
    results: Path,
    to: Path,
    *,
    version: str | None = None,
    dry_run: bool = False,
    key: Path | None = None,
    by: str | None = None,
) -> Iterator[str]:
    """Publish the board of a results folder, and yield one line per action.

    The same call completes an interrupted publication. Publishing the same state again writes nothing.

    Args:
        results: folder of stored runs.
        to: folder of the published versions; created if it is missing.
        version: version of the release; ``None`` for today's date, or the earlier release of the same board.
        dry_run: verify, yield the planned actions, and write nothing.
        key: file of an SSH key that signs the release and its line in the ledger; ``None`` to sign nothing.
        by: author of the line in the ledger; ``None`` for the login name.

    Raises:
        CheckFailed: a stored run fails verification, or scores no higher than the no-memory control without a review;
            or the published files of a frozen release differ from it. Nothing is published.
        BadInput: there is no run, another board has the version, or a folder cannot be written.
    """
    if version in TAKEN:
        raise BadInput(f"the name '{version}' is reserved.", remedy="Choose another version with --release.")
    folders = sealed_runs(results)
    if not folders:
        raise BadInput("no finished run to publish.", where=results, remedy="Run a system first: memeval run SYSTEM.")
    for folder in folders:
        if is_plumbing(folder.run.track):
            raise BadInput(
                "the judge has the label 'plumbing': it tests the software, and its verdicts mean nothing.",
                where=folder.path,
                remedy="Move the run out of the results folder, and publish again.",
            )
    findings = verify_results(results)
    if findings:
        raise CheckFailed(f"{findings[0]} ({len(findings)} problems in all. Nothing was published.)")
    yield f"verified: {len(folders)}."
    board = build_board(folders, Ledger(results))
    counted = [row for row in board.runs if row.standing not in (RankStatus.INVALIDATED, RankStatus.SUPERSEDED)]
    if unaccepted := sum(not row.accepted for row in counted):
        yield (
            f"warning: {unaccepted} of {len(counted)} runs are not accepted, and are published with that mark. "
            "Accept a run: memeval ledger accept RUN --reason TEXT"
        )
    for row in board.runs:
        if row.doubtful:
            raise CheckFailed(
                f"{row.folder.path} scores no more than the no-memory control: something is probably broken.",
                remedy="Check the run, and record what you found: memeval ledger review RUN --reason TEXT.",
            )
    release, is_new = frozen(board, results, version, memeval_version())
    _refuse_bad_releases(results, release.version)
    target = to / release.version
    if not is_new and _is_published(to, release):
        yield f"{target}: already published, and nothing has changed."
        return
    if dry_run:
        yield f"{target}: would be {'frozen and built' if is_new else 'built'}, and latest would point at it."
        return
    _make_ready(to, results, target)
    if is_new:
        build(results, target, version=release.version, releases=[*releases(results), release])
        release = completed(release, manifest(target), key)
        yield f"{target}: built, {len(release.files or ())} files."
    elif not _is_built(target):
        _rebuild(results, target, release)
        yield f"{target}: built, {len(release.files or ())} files."
    elif (found := next(differences(target, release.files or {}), None)) is not None:
        raise CheckFailed(str(found))
    keep(release, results, key, by or getpass.getuser())
    if is_new:
        signed = "signed" if release.signature else "not signed"
        yield f"{release_path(results, release.version)}: frozen, {len(release.rows)} rows, {signed}."
    write_whole(target / RELEASE_FILE, file_bytes(release.data()))
    known = [each.version for each in reversed(releases(results)) if _is_built(to / each.version)]
    write_whole(to / VERSIONS_FILE, selector(known))
    write_whole(to / "index.html", ROOT_PAGE.encode())
    _point(to, known[0])
    yield f"{to / LATEST}: points at {known[0]}."


def _refuse_bad_releases(results: Path, completed: str) -> None:
    """Check the releases that the site shows.

    Raises:
        CheckFailed: a release failed. The release ``completed`` may lack its line in the ledger: its publication was
            interrupted.
    """
    for file in release_files(results):
        for check in file_checks(file, results):
            if check.findings and (check.name, file.release.version) != ("ledger", completed):
                raise CheckFailed(f"{check.findings[0]} Nothing was published.")


def _rebuild(results: Path, target: Path, release: Release) -> None:
    """Build the site of a frozen release again, from the ledger and the releases of that time.

    Raises:
        CheckFailed: the files are not those of the release.
    """
    ledger = Ledger(results).until(release.ledger_digest)
    earlier = before(release, results)
    build(results, target, version=release.version, releases=[*earlier, release], ledger=ledger)
    found = next(differences(target, release.files or {}), None)
    if found is not None:
        shutil.rmtree(target)
        raise CheckFailed(
            f"{found.where} {found.problem} memeval, a stored file, or the data on this machine has changed since.",
            remedy=f"Check out the commit that froze release {release.version}, or publish under another version.",
        )


def _is_published(to: Path, release: Release) -> bool:
    """Return whether a release is completely published, as the newest one, with unchanged files.

    Raises:
        CheckFailed: a published file differs from the release.
    """
    target = to / release.version
    try:
        is_whole = (target / RELEASE_FILE).read_bytes() == file_bytes(release.data())
    except OSError:
        return False
    if not is_whole or _versions(to)[:1] != [release.version] or _latest(to) != release.version:
        return False
    found = next(differences(target, release.files or {}), None)
    if found is not None:
        raise CheckFailed(f"{found.where}: {found.problem}", remedy=f"Delete {target}, and publish again.")
    return True


def _make_ready(to: Path, results: Path, target: Path) -> None:
    """Create the folder of the versions, and check it before a release is frozen.

    Raises:
        BadInput: the folder cannot be created, is inside the results folder, or contains something else.
    """
    refuse_place(results, target)
    if (target / RELEASE_FILE).exists() and not release_path(results, target.name).exists():
        raise BadInput(
            f"this is a published release {target.name}, and {release_path(results, target.name)} is missing.",
            where=target,
            remedy="Restore the release from version control, or publish under another version.",
        )
    latest = to / LATEST
    if latest.exists() and not latest.is_symlink():
        raise BadInput(f"'{LATEST}' exists and is not a symlink.", where=latest, remedy="Name another folder.")
    make_folder(to)


def _is_built(target: Path) -> bool:
    return target.is_dir() and any(target.iterdir())


def _versions(to: Path) -> list[str]:
    """Return the published versions in ``to``, latest first."""
    try:
        return [str(entry["version"]) for entry in json.loads((to / "versions.json").read_bytes())]
    except (OSError, ValueError, TypeError, KeyError):
        return []


def _latest(to: Path) -> str | None:
    try:
        return str((to / LATEST).readlink())
    except OSError:
        return None


def _point(to: Path, version: str) -> None:
    """Switch ``latest`` to a version atomically: create a relative link under another name, then rename it."""
    aside = to / f".{LATEST}.part"
    aside.unlink(missing_ok=True)
    try:
        aside.symlink_to(version, target_is_directory=True)
        aside.replace(to / LATEST)
    except OSError as error:
        raise unwritable(to / LATEST, error) from None
