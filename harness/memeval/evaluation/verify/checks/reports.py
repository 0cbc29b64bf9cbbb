"""Checks stored conformance reports and judge audits: what follows from their own rows, and from the code here."""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from memeval.archive.audits import AuditFolder
from memeval.archive.conformance import CHECK_AGAIN, read_report
from memeval.benchmarks.session import BenchmarkSession
from memeval.conformance.suite import CHECKS, SUITE
from memeval.evaluation.judge.judges import ChosenJudge
from memeval.evaluation.verify.audit import REMEDY, audit_identity, verify_audit
from memeval.evaluation.verify.checks.clocks import SKEW, utc_time
from memeval.evaluation.verify.checks.subject import NoData, Sessions
from memeval.evaluation.verify.findings import Check, Finding
from memeval.judging.base import Ruling
from memeval.judging.calibration import trials
from memeval.judging.phrasing import NAME as CALIBRATION
from memeval.judging.rules import RulesJudge
from memeval.records.conformance import CheckOutcome, Conformance, ConformanceCheck
from memeval.records.errors import MemevalError
from memeval.records.grade import GradeState
from memeval.records.track import Redistribution
from memeval.removed import why_removed

CONFORMANCE, AUDITS = "conformance", "audits"


def check_report(path: Path) -> Check:
    """Check a conformance report against the suite of checks.

    The outcome of each check is the word of whoever made the report. A report whose outcomes contradict each other,
    or the suite, is found.
    """
    try:
        report = read_report(path)
    except MemevalError as error:
        return Check(CONFORMANCE, (Finding(error.where or str(path), error.problem, error.remedy or CHECK_AGAIN),))
    if (why := why_removed(report.suite)) is not None:
        return Check(CONFORMANCE, (Finding(f"{path}: suite", why, CHECK_AGAIN),))
    if report.suite != SUITE:
        return Check(CONFORMANCE, (), f"the suite {report.suite} is not here")
    return Check(CONFORMANCE, tuple(_contradictions(report, str(path))))


def _contradictions(report: Conformance, path: str) -> Iterator[Finding]:
    names = [check.name for check in report.checks]
    checks = [check for check in CHECKS if not check.is_extra or check.name in names]
    if names != [check.name for check in checks]:
        yield Finding(f"{path}: checks", f"are not the checks of {report.suite}.", CHECK_AGAIN)
        return
    at = utc_time(report.at)
    if at is None or at > datetime.now(UTC) + SKEW:
        yield Finding(f"{path}: at", f"is {report.at!r}, which is not a UTC time of the past.", CHECK_AGAIN)
    failed: set[str] = set()
    for number, (stated, check) in enumerate(zip(report.checks, checks, strict=True)):
        where = f"{path}: checks[{number}]"
        if stated.mandatory is not check.mandatory:
            yield Finding(
                where, f"{check.name} is {'' if check.mandatory else 'not '}mandatory in {report.suite}.", CHECK_AGAIN
            )
        if (problem := _contradiction(stated, check.after in failed, check.can_be_declared)) is not None:
            yield Finding(where, f"{check.name} {problem}", CHECK_AGAIN)
        if stated.outcome is CheckOutcome.FAILED or check.after in failed:
            failed.add(check.name)


def _contradiction(check: ConformanceCheck, is_blocked: bool, can_be_declared: bool) -> str | None:
    """Return what the outcome of a check contradicts; ``None`` if nothing."""
    outcome = check.outcome
    if is_blocked and outcome is not CheckOutcome.NOT_APPLICABLE:
        return f"is '{outcome}', but the check that it depends on failed."
    if outcome is CheckOutcome.DECLARED and not can_be_declared:
        return f"is '{outcome}', but no submission can declare it."
    if outcome is not CheckOutcome.FAILED and check.remedy is not None:
        return f"is '{outcome}', but has a remedy."
    if check.seconds < 0:
        return "has a negative duration."
    return None


def check_audit(folder: AuditFolder, sessions: Sessions) -> Check:
    """Check an audit, and build its calibration answers again from the benchmark.

    The verdicts of the rule set are computed again. Those of a model are the recorded replies of its endpoint.
    """
    findings = verify_audit(folder)
    if findings:
        return Check(AUDITS, tuple(findings))
    audit = folder.audit
    session = sessions.open(audit.benchmark, audit.parameters)
    if isinstance(session, NoData):
        return Check(AUDITS, (), session.reason)
    if session.dataset.digest != audit.data_digest:
        return Check(AUDITS, (), f"the data {audit.data_digest[:19]} of {audit.benchmark} is not here")
    if audit.probes != CALIBRATION or (audit.judge_endpoint is None and audit.judge != RulesJudge.name):
        return Check(AUDITS, (), why_removed(audit.judge) or f"{audit.probes} or the judge {audit.judge} is not here")
    return Check(AUDITS, tuple(_rebuilt(folder, session)))


def _rebuilt(folder: AuditFolder, session: BenchmarkSession) -> Iterator[Finding]:
    audit, head = folder.audit, str(folder.path / folder.HEAD)
    stored = list(folder.probes())
    items = Counter(category for category, _item in {(probe.category, probe.item_id) for probe in stored})
    answers = trials(session.keys, session.scenarios, max(items.values(), default=1))
    where = str(folder.file("probes.jsonl"))
    rules = RulesJudge() if audit.judge_endpoint is None else None
    if len(answers) != len(stored):
        yield Finding(where, f"has {len(stored)} answers, but {session.benchmark.info.id} has {len(answers)}.", REMEDY)
        return
    is_withheld = audit.redistribution is Redistribution.IDS
    for number, (probe, answer) in enumerate(zip(stored, answers, strict=True), start=1):
        ruling = Ruling(GradeState.GRADED, probe.verdict, judgment_key=probe.judgment_key)
        now = answer.probe(ruling if rules is None else rules.rule(answer.case))
        if probe != (now.model_copy(update={"answer": probe.answer}) if is_withheld else now):
            problem = f"{probe.item_id} differs from the recomputed answer and verdict."
            yield Finding(f"{where}:{number}", problem, REMEDY)
    stamp, _, identity = audit.audit_id.rpartition("-")
    if audit.judge_endpoint is None and identity != audit_identity(ChosenJudge(), session, answers):
        yield Finding(f"{head}: audit_id", "does not follow from the judge, the data and the answers.", REMEDY)
    if (started := utc_time(audit.started)) is None or stamp != f"{started:%Y%m%dT%H%M%SZ}":
        yield Finding(f"{head}: audit_id", f"begins with {stamp}, but the audit started {audit.started}.", REMEDY)
