"""Stored reports of the conformance suite: a file a submission and environment, under ``results/conformance``."""

from __future__ import annotations

import json
from pathlib import Path

from memeval.records.base import Digest
from memeval.records.conformance import Conformance
from memeval.records.errors import BadInput
from memeval.records.run import Isolation
from memeval.storage import listed, unwritable, write_whole

CONFORMANCE = "conformance"
"""Folder below the results folder."""

AGAIN = "Delete the file, and check the submission again."


def report_path(results: Path, slug: str, submission_digest: Digest, environment_digest: Digest) -> Path:
    """Return where the report of a submission in an environment lies: named by 16 digits of each digest."""
    short = (digest.removeprefix("sha256:")[:16] for digest in (submission_digest, environment_digest))
    return results / CONFORMANCE / slug / f"{'-'.join(short)}.json"


def store(results: Path, report: Conformance) -> Path:
    """Store a report, whole or not at all, in place of an earlier one of the same submission and environment.

    Args:
        results: the results folder.
        report: the report.

    Returns:
        The file.

    Raises:
        BadInput: the place cannot be written.
    """
    path = report_path(results, report.slug, report.submission_digest, report.environment_digest)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(path.parent, error) from None
    # As text that a reviewer can read and compare line by line.
    text = json.dumps(report.data(), sort_keys=True, ensure_ascii=False, indent=1, allow_nan=False)
    write_whole(path, f"{text}\n".encode())
    return path


def find(
    results: Path,
    slug: str,
    submission_digest: Digest,
    environment_digest: Digest,
    isolation: Isolation | None = None,
) -> Conformance | None:
    """Return the report of a submission in an environment; ``None`` where there is none.

    Args:
        results: the results folder.
        slug: the system.
        submission_digest: digest of its files.
        environment_digest: digest of what it runs with.
        isolation: what it must have been able to reach, no more and no less; ``None`` takes any.

    Raises:
        BadInput: the file is damaged.
    """
    path = report_path(results, slug, submission_digest, environment_digest)
    if not path.is_file():
        return None
    report = _read(path)
    asked_for = (slug, submission_digest, environment_digest)
    if (report.slug, report.submission_digest, report.environment_digest) != asked_for:
        return None
    return report if isolation in (None, report.isolation) else None


def latest(results: Path, slug: str) -> Conformance | None:
    """Return the report of a system that was made last; ``None`` where there is none.

    Raises:
        BadInput: a file is damaged.
    """
    reports = [_read(path) for path in _files(results, slug)]
    return max(reports, key=lambda report: report.at, default=None)


def all_reports(results: Path) -> list[Conformance]:
    """Return every stored report under a results folder, by path.

    Raises:
        BadInput: a file is damaged.
    """
    return [_read(path) for path in _files(results, "*")]


def _files(results: Path, slug: str) -> list[Path]:
    return listed(results / CONFORMANCE, f"{slug}/*.json")


def _read(path: Path) -> Conformance:
    """Read a report.

    Raises:
        BadInput: it cannot be read, is no report, or lies where another belongs.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise BadInput(f"the file cannot be read ({error.strerror}).", where=path, remedy=AGAIN) from None
    try:
        report = Conformance.parse(data, path)
    except BadInput as error:
        raise type(error)(error.problem, where=path, remedy=error.remedy or AGAIN) from None
    results = path.parent.parent.parent
    if path != report_path(results, report.slug, report.submission_digest, report.environment_digest):
        raise BadInput(
            f"the report is of {report.slug}, with other digests than the file's name says.", where=path, remedy=AGAIN
        )
    return report
