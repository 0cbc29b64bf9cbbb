"""Stored reports of the conformance checks, one file per submission and environment, under ``results/conformance``."""

from pathlib import Path

from memeval.archive.rows import indented, write_files
from memeval.records.base import Digest
from memeval.records.conformance import Conformance
from memeval.records.errors import BadInput
from memeval.records.run import Isolation
from memeval.storage import listed, readable

CONFORMANCE = "conformance"

CHECK_AGAIN = "Delete the file, then run memeval submit check again."


def report_path(results: Path, slug: str, submission_digest: Digest, environment_digest: Digest) -> Path:
    """Return the path of the report of a submission in an environment. Its name has 16 digits of each digest."""
    short = (digest.removeprefix("sha256:")[:16] for digest in (submission_digest, environment_digest))
    return results / CONFORMANCE / slug / f"{'-'.join(short)}.json"


def store(results: Path, report: Conformance) -> Path:
    """Store a report atomically. It replaces an earlier one of the same submission and environment.

    Returns: The file. Raises BadInput: the file cannot be written.
    """
    path = report_path(results, report.slug, report.submission_digest, report.environment_digest)
    write_files({path: indented(report.data())})
    return path


def find(
    results: Path, slug: str, submission_digest: Digest, environment_digest: Digest, isolation: Isolation | None = None
) -> Conformance | None:
    """Return the report of a submission in an environment; ``None`` if absent.

    ``isolation``: the required isolation of the check; ``None`` for any. Raises BadInput: the file is damaged.
    """
    asked_for = (slug, submission_digest, environment_digest)
    path = report_path(results, *asked_for)
    report = read_report(path) if path.is_file() else None
    if report is None or (report.slug, report.submission_digest, report.environment_digest) != asked_for:
        return None
    return report if isolation in (None, report.isolation) else None


def latest(results: Path, slug: str) -> Conformance | None:
    reports = [read_report(path) for path in report_files(results, slug)]
    return max(reports, key=lambda report: report.at, default=None)


def all_reports(results: Path) -> list[Conformance]:
    return [read_report(path) for path in report_files(results)]


def report_files(results: Path, slug: str = "*") -> list[Path]:
    return listed(results / CONFORMANCE, f"{slug}/*.json")


def read_report(path: Path) -> Conformance:
    with readable(path, CHECK_AGAIN):
        data = path.read_bytes()
    try:
        report = Conformance.parse(data, path)
    except BadInput as error:
        raise type(error)(error.problem, where=path, remedy=error.remedy or CHECK_AGAIN) from None
    results = path.parent.parent.parent
    if path != report_path(results, report.slug, report.submission_digest, report.environment_digest):
        raise BadInput(
            f"the file name does not match the slug '{report.slug}' and digests in the report.",
            where=path,
            remedy=CHECK_AGAIN,
        )
    return report
