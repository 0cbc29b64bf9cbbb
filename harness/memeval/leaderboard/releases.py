"""Releases: frozen boards, each with a unique version."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memeval.archive.ledger import Details, Ledger
from memeval.archive.rows import indented, write_files
from memeval.archive.signatures import RELEASE_NAMESPACE, sign, signed_bytes
from memeval.leaderboard.board import Board
from memeval.leaderboard.board_settings import BOARD_FILE, board_file, page_settings
from memeval.records.base import Digest, digest_bytes, digest_of
from memeval.records.errors import BadInput
from memeval.records.ledger import LedgerEvent
from memeval.records.release import Release, ReleaseRow
from memeval.records.settings import BoardSettings
from memeval.settings import read_settings
from memeval.storage import package_digest

_VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z._-]{0,63}")

LARGEST = 64_000_000

RANKS_METHOD = "ranks@2"
"""Name of the method of :mod:`memeval.leaderboard.board`. A better method gets the next name."""


@dataclass(frozen=True)
class ReleaseFile:
    path: Path
    content: bytes
    release: Release

    @classmethod
    def read(cls, path: Path) -> ReleaseFile:
        """Read the file of a release.

        Raises BadInput: the file is a symlink, cannot be read, or is not a valid release.
        """
        try:
            if path.is_symlink():
                raise BadInput("is a symlink.", where=path, remedy="Replace it with the file itself.")
            if path.stat().st_size > LARGEST:
                raise BadInput(f"has more than {LARGEST // 10**6} MB.", where=path, remedy="It is not a release.")
            content = path.read_bytes()
        except OSError as error:
            raise BadInput(
                f"the release cannot be read ({error.strerror}).",
                where=path,
                remedy="Restore the file from version control.",
            ) from None
        return cls(path, content, Release.parse(content, path))

    @property
    def data(self) -> dict[str, Any]:
        data: dict[str, Any] = json.loads(self.content)
        return data

    @property
    def digest(self) -> Digest:
        return digest_bytes(self.content)

    def wrong_state(self) -> str | None:
        if (state := state_of(self.data)) == self.release.state:
            return None
        return f"is {self.release.state}, but the file gives {state}: the release was edited."


def release_path(results: Path, version: str) -> Path:
    return results / "releases" / f"{version}.json"


def release_files(results: Path) -> list[ReleaseFile]:
    found = []
    for path in sorted((results / "releases").glob("*.json")):
        file = ReleaseFile.read(path)
        if file.release.version != path.stem:
            raise BadInput(f"the file contains release {file.release.version}.", where=path, remedy="Rename the file.")
        if (problem := file.wrong_state()) is not None:
            raise BadInput(problem, where=f"{path}: state", remedy="Restore the file from version control.")
        found.append(file)
    return sorted(found, key=lambda file: age(file.release))


def releases(results: Path) -> list[Release]:
    return [file.release for file in release_files(results)]


def age(release: Release) -> tuple[str, str]:
    return release.date, by_number(release.version)


def require_version(version: str) -> None:
    if not _VERSION.fullmatch(version):
        raise BadInput(
            f"{version!r} is not a valid version.",
            remedy="Use at most 64 letters, digits, dots, dashes and underscores. Start with a letter or digit.",
        )


def frozen(
    board: Board, results: Path, version: str | None, memeval: str, *, anew: bool = False
) -> tuple[Release, bool]:
    """Return the release of a board.

    A board with equal runs and settings keeps its earlier release, unless a new one is wanted. A version that is frozen
    stands for its own board, also if the board has changed since: see :func:`is_of_board`. Nothing is written.
    ``results``: the results folder, for its releases and ledger. ``version``: the version of the release; ``None`` for
    today's date. ``anew``: whether such a board gets a new release too. Returns the release, and whether it is new. A
    new release has no published files and no signature yet; see :func:`completed`. Raises ``BadInput`` if the version
    is not valid, the ledger lacks lines that an earlier release depends on, or ``memeval.toml`` is not valid.
    """
    if version is not None:
        require_version(version)
    known = {release.version: release for release in releases(results)}
    hold(results)
    if version in known:
        return known[version], False
    parts = _parts(board, memeval)
    same = [] if anew or version else [each for each in known.values() if _is_of(each, parts, results)]
    if same:
        return same[-1], False
    today = datetime.now(UTC).date()
    data = parts | {
        "ledger_digest": Ledger(results).digest(),
        "schema_version": Release.SCHEMA,
        "memeval_digest": package_digest(),
        "version": _next_version(f"{today:%Y.%m.%d}", set(known)) if version is None else version,
        "date": today.isoformat(),
        "files": {},
        "data_files": [],
        "root_files": {},
        "signature": None,
    }
    return Release.from_data(data | {"state": state_of(data)}, "--release"), True


def completed(
    release: Release,
    files: Mapping[str, Digest],
    key: Path | None,
    data_files: Iterable[str] = (),
    root_files: Mapping[str, Digest] | None = None,
) -> Release:
    """Return a new release with its published files, its state, and a signature if there is a key.

    ``files`` and ``root_files`` have digests by path; the pages load the shared ``data_files``. Raises BadInput: the
    key cannot sign.
    """
    data = release.data() | {
        "files": dict(files),
        "data_files": sorted(data_files),
        "root_files": dict(root_files or {}),
    }
    data["state"] = state_of(data)
    if key is not None:
        data["signature"] = sign(signed_bytes(data), key, RELEASE_NAMESPACE)
    return Release.from_data(data, "--release")


def state_of(data: Mapping[str, Any]) -> Digest:
    return digest_of({name: value for name, value in data.items() if name not in ("state", "signature")})


def derived(board: Board) -> dict[str, Any]:
    tracks = {row.run.track_id: row.run.track for row in board.runs}
    return {
        "rows": [row.data() for row in _rows(board)],
        "runs": {row.run.run_id: row.folder.digest for row in board.runs},
        "weights": {
            track_id: {category.name: category.weight for category in track.categories}
            for track_id, track in tracks.items()
        },
        "price_lists": sorted({row.run.prices for row in board.runs if row.run.prices is not None}),
    }


def _settings_digest(release: Release) -> Digest:
    """Return the digest of a release's ``board.json``; one without it has the default settings."""
    return release.files.get(BOARD_FILE) or digest_bytes(board_file(BoardSettings()))


def is_of_board(release: Release, board: Board, results: Path, memeval: str) -> bool:
    """Return whether a frozen release still has the runs, the ranks, the settings and the ledger of the board."""
    return _is_of(release, _parts(board, memeval), results)


def _parts(board: Board, memeval: str) -> dict[str, Any]:
    return {**derived(board), "memeval": memeval, "ranks_method": RANKS_METHOD}


def _is_of(release: Release, parts: Mapping[str, Any], results: Path) -> bool:
    shown = digest_bytes(board_file(page_settings(read_settings(results.absolute().parent))))
    data, ledger = release.data(), Ledger(results)
    if _settings_digest(release) != shown or any(data[name] != value for name, value in parts.items()):
        return False
    before = {entry.to_json() for entry in ledger.until(release.ledger_digest).entries()}
    return all(each.event is LedgerEvent.RELEASED or each.to_json() in before for each in ledger.entries())


def keep(release: Release, results: Path, key: Path | None = None, by: str = "memeval") -> None:
    """Store a release permanently, and name it in the ledger. The same call completes an interrupted one.

    Raises BadInput: the folder or the ledger cannot be written, or another release has this version.
    """
    path = release_path(results, release.version)
    content = indented(release.data())
    if path.exists() and ReleaseFile.read(path).release != release:
        raise BadInput(
            f"release {release.version} is frozen, and this board differs from it.",
            where=path,
            remedy="Publish the change under another version with --release.",
        )
    if not path.exists():
        write_files({path: content})
    ledger = Ledger(results, key)
    reason = f"{len(release.rows)} rows, {len(release.runs)} runs, {len(release.files)} files"
    named = Details(release_version=release.version, release_digest=digest_bytes(content))
    if ledger.earlier(LedgerEvent.RELEASED, None, by=by, reason=reason, **named) is None:
        ledger.append(LedgerEvent.RELEASED, None, by=by, reason=reason, **named)


def before(release: Release, results: Path) -> list[Release]:
    named = {entry.release_version for entry in Ledger(results).until(release.ledger_digest).entries()}
    return [each for each in releases(results) if each.version != release.version and each.version in named]


def hold(results: Path) -> None:
    """Check that the ledger still has every line that a release depends on.

    The chain of digests alone does not detect that the last lines are missing. Raises BadInput: lines were changed or
    removed after a release, or a file cannot be read.
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


def by_number(version: str) -> str:
    """Return a sort key of versions that puts ``2026.12.2`` before ``2026.12.10``."""
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
            composite=row.score,
            best_rank=row.rank.best if row.rank else None,
            worst_rank=row.rank.worst if row.rank else None,
            grades=row.trust.grades,
            answers=row.trust.answers,
        )
        for table in board.tables
        for row in table.rows
    ]
