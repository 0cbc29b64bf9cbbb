"""What a board says about published answers and about labels, kept from build to build.

It is computed from the rows of regraded files and from labels, which takes 3 s and changes seldom.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from memeval.archive.run_cache import kept_by_name
from memeval.claims.embargo import Embargo, embargo
from memeval.claims.findings import findings_folder, read_findings
from memeval.claims.ranking import stored_ranks
from memeval.claims.store import IMPORTED, file_name
from memeval.labels.store import LABELS, stored_reports
from memeval.records.base import Digest, digest_of
from memeval.records.finding import FindingsReport
from memeval.records.label import GraderErrors, LabelReport, RulesComparison
from memeval.records.regraded import RegradedFile
from memeval.site.model.file_digests import digest_file
from memeval.statistics.ranks import RankRange

KIND = "reports"


@dataclass(frozen=True)
class Reports:
    findings: FindingsReport | None
    """Published scores, counted again; ``None`` if the board has none."""
    ranks: Mapping[str, RankRange]
    """The rank ranges of regraded files that are ranked, by ``source/file``."""
    labels: tuple[LabelReport, ...]
    waits: Embargo
    """The findings that wait for a notice: a local site marks them, a published one leaves them out."""


KEPT = TypeAdapter(Reports)
"""Reads and writes reports as JSON."""


def read_reports(results: Path, regraded: Sequence[RegradedFile], keeps: bool, published: str | None = None) -> Reports:
    """Return the reports of a board.

    ``keeps``: whether what an earlier build kept may be used. ``published``: the day of the release that is published;
    ``None`` for a site of this machine. Raises ``BadInput`` if a finding, a label or a row of a regraded file cannot be
    read.
    """

    def made() -> bytes:
        findings = read_findings(results)
        waits = embargo(findings.findings if findings else (), regraded, published)
        labels = tuple(stored_reports(results))
        if published is None:
            return KEPT.dump_json(Reports(findings, stored_ranks(results, regraded), labels, waits))
        shown = [file for file in regraded if file_name(file) not in waits.files]
        labels = tuple(_without(report, waits.files) for report in labels)
        return KEPT.dump_json(Reports(read_findings(results, waits), stored_ranks(results, shown), labels, waits))

    if not keeps:
        return KEPT.validate_json(made())
    folders = results / IMPORTED, results / LABELS, findings_folder(results)
    inputs = digest_of([published, *map(_files, folders)])
    return KEPT.validate_json(kept_by_name(inputs, KIND, inputs, made))


def _without(report: LabelReport, files: Collection[str]) -> LabelReport:

    def others(errors: Iterable[GraderErrors]) -> tuple[GraderErrors, ...]:
        return tuple(each for each in errors if each.part not in files)

    def comparison(each: RulesComparison) -> RulesComparison:
        verdicts = tuple(
            one.model_copy(update={"files": {name: rows for name, rows in one.files.items() if name not in files}})
            for one in each.verdicts
        )
        changed = {"verdicts": verdicts, "tuned": others(each.tuned), "reported": others(each.reported)}
        return each.model_copy(update=changed)

    return report.model_copy(
        update={
            "errors": others(report.errors),
            "systems": tuple(each for each in report.systems if each.file not in files),
            "versions": tuple(map(comparison, report.versions)),
        }
    )


def _files(folder: Path) -> list[tuple[str, Digest]]:
    return sorted(
        (path.relative_to(folder).as_posix(), digest_file(path)) for path in folder.rglob("*") if path.is_file()
    )
