"""Releases: a board frozen under a version that is never used twice."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from memeval.execution.journal import write_whole
from memeval.leaderboard.board import Board
from memeval.records.base import digest_bytes, digest_of
from memeval.records.errors import BadInput
from memeval.records.release import Release, ReleaseRow


def releases(results: Path) -> list[Release]:
    """Return the releases of a results folder, oldest first.

    Raises:
        BadInput: one of them cannot be read.
    """
    found = [Release.parse(path.read_bytes(), path) for path in sorted((results / "releases").glob("*.json"))]
    return sorted(found, key=lambda release: (release.date, release.version))


def frozen(board: Board, results: Path, version: str | None, memeval: str) -> tuple[Release, bool]:
    """Return the release that stands for a board.

    A board that was frozen before keeps its release. Nothing is written.

    Args:
        board: the board.
        results: the results folder, for its releases and ledger.
        version: the version to freeze it under; ``None`` for today's date.
        memeval: version of memeval.

    Returns:
        The release, and whether it is new.

    Raises:
        BadInput: the version stands for another board already, or is no version.
    """
    rows = _rows(board)
    ledger = results / "ledger.jsonl"
    ledger_digest = digest_bytes(ledger.read_bytes()) if ledger.exists() else None
    state = digest_of(
        {
            "rows": [row.data() for row in rows],
            "runs": sorted([row.run.run_id, row.folder.digest] for row in board.runs),
            "ledger": ledger_digest,
            "memeval": memeval,
        }
    )
    known = {release.version: release for release in releases(results)}
    same = [release for release in known.values() if release.state == state]
    if same and version in (None, same[-1].version):
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
            "version": version or _next_version(f"{today:%Y.%m.%d}", set(known)),
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
    """Store a release, for good.

    Raises:
        BadInput: the folder cannot be written.
    """
    folder = results / "releases"
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / f"{release.version}.json", (release.to_json() + "\n").encode())


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
