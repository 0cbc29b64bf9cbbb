"""Edited conformance reports and judge audits, with every rate and digest computed again."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memeval import api
from memeval.archive.audits import write_audit
from memeval.archive.conformance import report_files
from memeval.conformance import SUITE
from memeval.evaluation.verify.audit import audit_lines
from memeval.evaluation.verify.checks.reports import check_audit, check_report
from memeval.evaluation.verify.checks.subject import Sessions
from memeval.evaluation.verify.findings import Check, CheckStatus
from memeval.records.audit import Probe
from tests.support.forging import RESULTS

Json = dict[str, Any]


def failed(check: Json) -> bool:
    return bool(check["outcome"] == "failed" and check["remedy"] is not None)


def checks_of(path: Path) -> list[Json]:
    checks: list[Json] = json.loads(path.read_bytes())["checks"]
    return checks


FAILED = next(
    path
    for path in report_files(RESULTS)
    if json.loads(path.read_bytes())["suite"] == SUITE and any(map(failed, checks_of(path)))
)
"""A stored report with a failed check."""


def report_with(edit: Callable[[Json], object], place: Path) -> Check:
    """Return the check of a report that was edited."""
    path = place / "conformance" / FAILED.parent.name / FAILED.name
    path.parent.mkdir(parents=True)
    report = json.loads(FAILED.read_bytes())
    edit(report)
    path.write_text(json.dumps(report), encoding="utf-8")
    return check_report(path)


def pass_it(report: Json) -> None:
    check = next(filter(failed, report["checks"]))
    check["outcome"] = "passed"


def pass_what_depends(report: Json) -> None:
    report["checks"][0]["outcome"] = "failed"


def drop_a_check(report: Json) -> None:
    report["checks"].pop()


def excuse_it(report: Json) -> None:
    report["checks"][0]["mandatory"] = False


def test_the_stored_reports_follow_from_their_suite(tmp_path: Path) -> None:
    assert report_with(lambda report: None, tmp_path).status is CheckStatus.OK


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (pass_it, "is 'passed', but has a remedy."),
        (pass_what_depends, "is 'passed', but the check that it depends on failed."),
        (drop_a_check, "checks: are not the checks of conformance@2."),
        (excuse_it, "planted-fact is mandatory in conformance@2."),
        (lambda report: report["checks"][1].update(outcome="declared"), "but no submission can declare it."),
        (lambda report: report.update(at="2999-01-01T00:00:00+00:00"), "which is not a UTC time of the past."),
        (lambda report: report.update(slug="acme"), "the file name does not match the slug 'acme'"),
    ],
)
def test_a_report_that_contradicts_itself_is_found(edit: Callable[[Json], object], said: str, tmp_path: Path) -> None:
    assert said in str(report_with(edit, tmp_path).findings[0])


def test_a_report_of_a_removed_suite_is_found_with_the_reason(tmp_path: Path) -> None:
    (finding,) = report_with(lambda report: report.update(suite="conformance@1"), tmp_path).findings
    assert "suite: conformance@1 was removed: it lacked six checks" in str(finding)


def test_a_report_of_another_suite_is_not_called_checked(tmp_path: Path) -> None:
    check = report_with(lambda report: report.update(suite="conformance@0"), tmp_path)
    assert check.status is CheckStatus.NOT_CHECKED
    assert check.not_checked == "the suite conformance@0 is not here"


def turn_the_verdict(probe: Probe) -> Probe:
    return probe.model_copy(update={"verdict": not probe.verdict})


def write_other_answers(probe: Probe) -> Probe:
    return probe.model_copy(update={"answer": "I do not know."}) if probe.kind == "vague" else probe


@pytest.mark.parametrize("edit", [turn_the_verdict, write_other_answers])
def test_an_edited_audit_of_the_rules_is_found(edit: Callable[[Probe], Probe], tmp_path: Path) -> None:
    (stored,) = api.audit("rules", "qa-smoke@1", options=api.AuditOptions(results=tmp_path / "made", items=2))
    sessions = Sessions()
    assert check_audit(stored, sessions).status is CheckStatus.OK
    probes = list(map(edit, stored.probes()))
    update = dict(zip(("overall", "categories", "kinds"), audit_lines(probes), strict=True))
    audit = write_audit(tmp_path, stored.audit.model_copy(update=update), probes)
    found = check_audit(audit, sessions)
    assert "differs from the recomputed answer and verdict." in str(found.findings[0])
    assert "probes.jsonl.gz:" in found.findings[0].where
