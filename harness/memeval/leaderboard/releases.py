"""Releases: frozen boards, each with a unique version."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

from memeval.archive.ledger import Ledger
from memeval.leaderboard.board import Board
from memeval.records.base import digest_of
from memeval.records.errors import BadInput
from memeval.records.release import Release, ReleaseRow
from memeval.storage import unwritable, write_whole

_VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z._-]{0,63}")


def releases(results: Path) -> list[Release]:
    """Return the releases of a results folder, oldest first.

    Raises:
        BadInput: a release cannot be read, or its file has the name of another version.
    """
    found = []
    for path in sorted((results / "releases").glob("*.json")):
        release = Release.parse(path.read_bytes(), path)
        if release.version != path.stem:
            raise BadInput(f"the file contains release {release.version}.", where=path, remedy="Rename the file.")
        found.append(release)
    return sorted(found, key=lambda release: (release.date, _by_number(release.version)))


def frozen(board: Board, results: Path, version: str | None, memeval: str) -> tuple[Release, bool]:
    """Return the release of a board.

    An unchanged board keeps its earlier release. Nothing is written.

    Args:
        board: the board.
        results: the results folder, for its releases and ledger.
        version: the version of the release; ``None`` for today's date.
        memeval: version of memeval.

    Returns:
        The release, and whether it is new.

    Raises:
        BadInput: another board has that version, the version is not valid, or the ledger lacks lines that an earlier
            release depends on.
    """
    if version is not None and not _VERSION.fullmatch(version):
        raise BadInput(
            f"{version!r} is not a valid version.",
            remedy="Use at most 64 letters, digits, dots, dashes and underscores. Start with a letter or digit.",
        )
    rows = _rows(board)
    ledger_digest = Ledger(results).digest()
    state = digest_of(
        {
            "rows": [row.data() for row in rows],
            "runs": sorted([row.run.run_id, row.folder.digest] for row in board.runs),
            "ledger": ledger_digest,
            "memeval": memeval,
        }
    )
    known = {release.version: release for release in releases(results)}
    hold(results)
    same = [release for release in known.values() if release.state == state and version in (None, release.version)]
    if same:
        return same[-1], False
    if version in known:
        raise BadInput(
            f"release {version} is frozen, and the board has changed since.",
            where=results / "releases" / f"{version}.json",
            remedy="Publish the change under another version with --release.",
        )
    today = datetime.now(UTC).date()
    release = Release.from_data(
        {
            "schema_version": Release.SCHEMA,
            "version": _next_version(f"{today:%Y.%m.%d}", set(known)) if version is None else version,
            "date": today.isoformat(),
            "memeval": memeval,
            "rows": [row.data() for row in rows],
            "ledger_digest": ledger_digest,
            "state": state,
        },
        "--release",
    )
    return release, True


def keep(release: Release, results: Path) -> None:
    """Store a release permanently.

    Raises:
        BadInput: the folder cannot be written, or contains another release with this version.
    """
    path = results / "releases" / f"{release.version}.json"
    data = (release.to_json() + "\n").encode()
    if path.exists() and path.read_bytes() != data:
        raise BadInput(
            f"release {release.version} is frozen, and this board differs from it.",
            where=path,
            remedy="Publish the change under another version with --release.",
        )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(path.parent, error) from None
    write_whole(path, data)


def hold(results: Path) -> None:
    """Check that the ledger still has every line that a release depends on.

    The chain of digests alone does not detect that the last lines are missing.

    Raises:
        BadInput: lines were changed or removed after a release, or a file cannot be read.
    """
    ledger = Ledger(results)
    states = ledger.states()
    for release in releases(results):
        if release.ledger_digest is not None and release.ledger_digest not in states:
            raise BadInput(
                f"lines that release {release.version} depends on were changed or removed.",
                where=ledger.path,
                remedy="Restore the ledger from version control.",
            )


def _by_number(version: str) -> str:
    """Return a sort key that puts ``2026.11.2`` before ``2026.11.10``."""
    return re.sub(r"\d+", lambda digits: digits[0].zfill(20), version)


def _next_version(today: str, taken: set[str]) -> str:
    version, count = today, 1
    while version in taken:
        count += 1
        version = f"{today}.{count}"
    return version


def _rows(board: Board) -> list[ReleaseRow]:
    return [
        ReleaseRow(
            benchmark=table.track.benchmark,
            track_id=table.track.id,
            system=row.run.system.slug,
            run_id=row.run.run_id,
            run_digest=row.folder.digest,
            composite=row.run.scores.composite.value,
            best_rank=row.rank.best if row.rank else None,
            worst_rank=row.rank.worst if row.rank else None,
            grades=row.trust.grades,
            answers=row.trust.answers,
        )
        for table in board.tables
        for row in table.rows
    ]
