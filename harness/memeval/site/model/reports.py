"""What a board says about published answers and about labels, kept from build to build.

It is computed from the rows of regraded files and from labels, which takes 3 s and changes seldom.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from memeval.archive.run_cache import kept_by_name
from memeval.claims.findings import findings_folder, read_findings
from memeval.claims.ranking import stored_ranks
from memeval.claims.store import IMPORTED
from memeval.labels.store import LABELS, stored_reports
from memeval.records.base import Digest, digest_of
from memeval.records.finding import FindingsReport
from memeval.records.label import LabelReport
from memeval.records.regraded import RegradedFile
from memeval.site.model.file_digests import digest_file
from memeval.site.model.files import encode
from memeval.statistics.ranks import RankRange

KIND = "reports"


@dataclass(frozen=True)
class Reports:
    findings: FindingsReport | None
    """Published scores, counted again; ``None`` if the board has none."""
    ranks: Mapping[str, RankRange]
    """The rank ranges of regraded files that are ranked, by ``source/file``."""
    labels: tuple[LabelReport, ...]
    """What readers' labels say about graders, by sample."""


def read_reports(results: Path, regraded: Sequence[RegradedFile], keeps: bool) -> Reports:
    """Return the reports of a board.

    Args:
        keeps: whether what an earlier build kept may be used.

    Raises:
        BadInput: a finding, a label or a row of a regraded file cannot be read.
    """

    def made() -> bytes:
        return _to_bytes(
            Reports(read_findings(results), stored_ranks(results, regraded), tuple(stored_reports(results)))
        )

    if not keeps:
        return _from_bytes(made())
    inputs = digest_of([_files(folder) for folder in (results / IMPORTED, results / LABELS, findings_folder(results))])
    return _from_bytes(kept_by_name(inputs, KIND, inputs, made))


def _files(folder: Path) -> list[tuple[str, Digest]]:
    return sorted(
        (path.relative_to(folder).as_posix(), digest_file(path)) for path in folder.rglob("*") if path.is_file()
    )


def _to_bytes(reports: Reports) -> bytes:
    # Not canonical JSON: pages show the entries of a record in their order.
    return encode(
        {
            "findings": None if reports.findings is None else reports.findings.model_dump_json(),
            "ranks": [[name, rank.best, rank.worst] for name, rank in reports.ranks.items()],
            "labels": [report.model_dump_json() for report in reports.labels],
        }
    )


def _from_bytes(content: bytes) -> Reports:
    data = json.loads(content)
    where = "kept reports"
    return Reports(
        findings=None if data["findings"] is None else FindingsReport.parse(data["findings"], where),
        ranks={name: RankRange(best, worst) for name, best, worst in data["ranks"]},
        labels=tuple(LabelReport.parse(report, where) for report in data["labels"]),
    )
