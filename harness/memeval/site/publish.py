"""Publishing: verify, freeze, build next to earlier versions, and switch ``latest`` as the last step."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from memeval.archive.ledger import Ledger
from memeval.archive.runs import sealed_runs
from memeval.evaluation.provenance import memeval_version
from memeval.evaluation.verification import verify_results
from memeval.leaderboard.board import RankStatus, build_board, is_plumbing
from memeval.leaderboard.releases import frozen, keep, releases
from memeval.records.errors import BadInput, CheckFailed
from memeval.site.building import build, make_folder, refuse_place
from memeval.storage import unwritable, write_whole

LATEST = "latest"

TAKEN = frozenset({LATEST, "index.html", "versions.json"})
"""Names that no version may have."""

ROOT_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>memeval</title>
<meta http-equiv="refresh" content="0; url=latest/">
<p><a href="latest/">The latest board</a></p>
</html>
"""
"""The page at the root of the published versions."""


def publish(results: Path, to: Path, *, version: str | None = None, dry_run: bool = False) -> Iterator[str]:
    """Publish the board of a results folder, and yield one line per action.

    The same call completes an interrupted publication. Publishing the same state again writes nothing.

    Args:
        results: folder of stored runs.
        to: folder of the published versions; created if it is missing.
        version: version of the release; ``None`` for today's date, or the earlier release of the same board.
        dry_run: verify, yield the planned actions, and write nothing.

    Raises:
        CheckFailed: a stored run fails verification, or scores no higher than the no-memory control without a review.
            Nothing is published.
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
    target = to / release.version
    done = not is_new and target.is_dir() and _versions(to)[:1] == [release.version] and _latest(to) == release.version
    if done:
        yield f"{target}: already published, and nothing has changed."
        return
    if dry_run:
        yield f"{target}: would be {'frozen and built' if is_new else 'built'}, and latest would point at it."
        return
    _make_ready(to, results, target)
    if is_new:
        keep(release, results)
        yield f"{results / 'releases' / release.version}.json: frozen, {len(release.rows)} rows."
    if not _is_built(target):
        build(results, target, version=release.version)
        yield f"{target}: built."
    known = [each.version for each in reversed(releases(results)) if _is_built(to / each.version)]
    write_whole(to / "versions.json", _selector(known).encode())
    write_whole(to / "index.html", ROOT_PAGE.encode())
    _point(to, known[0])
    yield f"{to / LATEST}: points at {known[0]}."


def _make_ready(to: Path, results: Path, target: Path) -> None:
    """Create the folder of the versions, and check it before a release is frozen.

    Raises:
        BadInput: the folder cannot be created, is inside the results folder, or contains something else.
    """
    refuse_place(results, target)
    latest = to / LATEST
    if latest.exists() and not latest.is_symlink():
        raise BadInput(f"'{LATEST}' exists and is not a symlink.", where=latest, remedy="Name another folder.")
    make_folder(to)


def _is_built(target: Path) -> bool:
    return target.is_dir() and any(target.iterdir())


def _selector(versions: list[str]) -> str:
    """Return ``versions.json`` in the format of Material's version selector, the latest first."""
    return (
        json.dumps(
            [
                {"version": version, "title": version, "aliases": [LATEST] if place == 0 else []}
                for place, version in enumerate(versions)
            ],
            indent=1,
        )
        + "\n"
    )


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
