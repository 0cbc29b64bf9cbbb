"""Audits of judges: error rates by hand, storage, reuse, and detection of edits."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.archive.audits import AuditFolder, stored_audits
from memeval.benchmarks import find
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.judge.judges import choose_judge
from memeval.evaluation.run.models import RECORD
from memeval.evaluation.verify import audit as auditing_module
from memeval.evaluation.verify.audit import agreement, audit_judge, audit_line, audit_lines, rate, verify_audit
from memeval.gateway.record import CallRecord
from memeval.gateway.stops import BudgetSpent
from memeval.judging.calibration import trials
from memeval.options import AuditOptions
from memeval.records.audit import Probe, ProbeKind
from memeval.records.errors import BadInput
from memeval.statistics.intervals import wilson
from tests.evaluation.asking import (
    DATED,
    LABEL,
    Json,
    PickyServer,
    answer_in,
    benchmark_session,
    files_under,
    judge,
    regrading,
)
from tests.evaluation.verify.by_hand import edit_head, edit_rows


def beliefs() -> BenchmarkSession:
    return BenchmarkSession.open(find("beliefs@2"), parameters={"size": 2})


def auditing(folder: Path, *caps: str, items: int = 2, judge_concurrency: int = 16) -> AuditOptions:
    models = regrading(folder, *caps, judge_concurrency=judge_concurrency).models
    return AuditOptions(results=folder / "results", items=items, models=models)


def knows(sat: BenchmarkSession, items: int = 2) -> Callable[[Json], str]:
    """Return a judge that gives the expected verdict for every calibration answer."""
    expected = {
        (trial.case.question, trial.case.answer.strip()): trial.expected
        for trial in trials(sat.keys, sat.scenarios, items)
    }

    def answer(body: Json) -> str:
        prompt = body["messages"][0]["content"]
        given = answer_in(body).strip()
        (right,) = {right for (question, text), right in expected.items() if text == given and question in prompt}
        return "yes" if right else "no"

    return answer


def findings(folder: AuditFolder) -> str:
    return "\n".join(map(str, verify_audit(AuditFolder(folder.path))))


def test_a_judge_that_always_says_yes_accepts_all_that_is_wrong(tmp_path: Path, server: PickyServer) -> None:
    server.answer = lambda _body: "yes"
    folder = audit_judge(judge(), beliefs(), auditing(tmp_path))
    line = folder.audit.overall
    assert line.false_accepts.share == 1.0
    assert (line.false_rejects.share, line.unparsed.share) == (0.0, 0.0)
    assert all(each.false_accepts.share in (1.0, None) for each in folder.audit.kinds.values())
    assert (folder.audit.judge, folder.audit.judge_endpoint, folder.audit.judge_label) == (DATED, server.url, LABEL)
    assert findings(folder) == ""


def test_a_judge_that_knows_everything_makes_no_error(tmp_path: Path, server: PickyServer) -> None:
    sat = beliefs()
    server.answer = knows(sat)
    folder = audit_judge(judge(), sat, auditing(tmp_path))
    line = folder.audit.overall
    assert (line.false_accepts.count, line.false_rejects.count, line.unparsed.count) == (0, 0, 0)
    assert line.false_accepts.of > 20
    assert line.agreement.kappa == pytest.approx(1.0)
    assert all(probe.verdict is probe.expected for probe in folder.probes())
    assert findings(folder) == ""


def test_unparsable_judge_replies_count_as_neither_accept_nor_reject(tmp_path: Path, server: PickyServer) -> None:
    server.answer = lambda _body: "Perhaps."
    folder = audit_judge(judge(), benchmark_session(), auditing(tmp_path))
    line = folder.audit.overall
    assert (line.false_accepts.count, line.false_rejects.count, line.unparsed.share) == (0, 0, 1.0)
    assert findings(folder) == ""


def test_an_audit_is_measured_once_for_the_same_answers_and_judge(tmp_path: Path, server: PickyServer) -> None:
    first = audit_judge(judge(), benchmark_session(), auditing(tmp_path))
    asked = server.requests
    assert audit_judge(judge(), benchmark_session(), auditing(tmp_path)).path == first.path
    more = audit_judge(judge(), benchmark_session(), auditing(tmp_path, items=1))
    assert more.path != first.path
    assert server.requests == asked, "judgments on record were asked for again"
    other = audit_judge(choose_judge("openai:gpt-4o", "someone else"), benchmark_session(), auditing(tmp_path))
    assert other.path not in (first.path, more.path)
    assert len(stored_audits(tmp_path / "results")) == 3
    assert {findings(folder) for folder in stored_audits(tmp_path / "results")} == {""}


def test_an_audit_with_failures_is_made_again(
    tmp_path: Path, server: PickyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.fails_on = lambda body: "Lima" in answer_in(body)
    first = audit_judge(judge(), benchmark_session(), auditing(tmp_path))
    failed = [call for call in first.judgments() if call.error is not None]
    assert failed
    assert first.audit.overall.unparsed.count == len(failed)
    assert findings(first) == ""
    server.fails_on = lambda _body: False
    asked = server.requests
    monkeypatch.setattr(
        auditing_module, "datetime", SimpleNamespace(now=lambda _zone: datetime(2030, 1, 1, tzinfo=UTC))
    )
    again = audit_judge(judge(), benchmark_session(), auditing(tmp_path))
    assert again.path != first.path
    assert server.requests == asked + len(failed)
    assert again.audit.overall.unparsed.count == 0
    assert audit_judge(judge(), benchmark_session(), auditing(tmp_path)).path == again.path
    assert findings(again) == ""


def test_an_audit_that_was_stopped_spends_no_more_than_its_cap_and_pays_for_nothing_twice(
    tmp_path: Path, server: PickyServer
) -> None:
    for _again in range(3):
        with pytest.raises(BudgetSpent):
            audit_judge(judge(), benchmark_session(), auditing(tmp_path, "tokens=2500", judge_concurrency=1))
    record = CallRecord(tmp_path / "results" / RECORD)
    assert sum((call.prompt_tokens or 0) + (call.completion_tokens or 0) for call in record.rows()) <= 2500
    assert stored_audits(tmp_path / "results") == []
    assert server.requests > 0
    folder = audit_judge(judge(), benchmark_session(), auditing(tmp_path))
    assert sum(server.answered.values()) == len(list(folder.judgments())) == server.requests
    assert {call.run_id for call in folder.judgments()} == {f"audit-{folder.audit.audit_id.rpartition('-')[2]}"}


@pytest.mark.usefixtures("no_models")
def test_the_rules_are_audited_without_server_key_or_record(tmp_path: Path) -> None:
    folder = audit_judge(choose_judge("rules"), beliefs(), auditing(tmp_path, items=4))
    assert folder.audit.overall.false_accepts.of > 0
    assert list(folder.audit.files) == ["probes.jsonl"]
    assert not (tmp_path / "results" / RECORD.parent).exists()
    assert folder.audit.kinds.keys() <= set(ProbeKind)
    assert findings(folder) == ""


@pytest.mark.usefixtures("no_models", "tiny")
def test_what_cannot_be_audited_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="--items is 0"):
        audit_judge(choose_judge("rules"), benchmark_session(), auditing(tmp_path, items=0))
    with pytest.raises(BadInput, match="there is no key for the judge's model"):
        audit_judge(choose_judge("openai:gpt-4o"), benchmark_session(), auditing(tmp_path))
    assert [*files_under(tmp_path)] in ([], [f"results/{RECORD}"])


def swap_replies(rows: list[Json]) -> None:
    for row in rows:
        row["reply"] = row["reply"].replace('"yes"', '"maybe"').replace('"no"', '"yes"').replace('"maybe"', '"no"')


@pytest.mark.parametrize(
    ("name", "edit", "sentence"),
    [
        ("probes.jsonl", lambda rows: rows[1].update(verdict=not rows[1]["verdict"]), "probes.jsonl.gz:2: tiny-"),
        ("probes.jsonl", lambda rows: rows[1].update(expected=not rows[1]["expected"]), "has error rates that do"),
        ("probes.jsonl", lambda rows: rows[0].update(judgment_key=None), "probes.jsonl.gz:1: tiny-000-q01 has no"),
        ("probes.jsonl", lambda rows: rows.pop(), "audit.json: has error rates that do"),
        ("judgments.jsonl", swap_replies, "probes.jsonl.gz:1: tiny-000-q01: the verdict"),
        ("judgments.jsonl", lambda rows: rows[2].update(key="sha256:" + "0" * 64), "jsonl.gz:3: has a key that"),
        ("judgments.jsonl", lambda rows: rows[0]["request"]["body"].update(seed=1), "jsonl.gz:1: has a key that"),
        ("judgments.jsonl", lambda rows: rows.pop(0), "names a judgment that is missing from judgments.jsonl.gz"),
    ],
)  # fmt: skip
def test_an_edited_row_is_found_even_where_its_digest_is_forged(
    tmp_path: Path, server: PickyServer, name: str, edit: Callable[[list[Json]], object], sentence: str
) -> None:
    folder = audit_judge(judge(), benchmark_session(), auditing(tmp_path))
    edit_rows(folder.path / folder.HEAD, name, edit)
    assert f"{name}.gz: does not match its digest in audit.json" in findings(folder)
    edit_rows(folder.path / folder.HEAD, name, lambda rows: rows, forge=True)
    assert "digest" not in findings(folder) and sentence in findings(folder)


@pytest.mark.parametrize(
    ("edit", "sentence"),
    [
        (lambda head: head["overall"]["false_accepts"].update(count=0, share=0.0), "has error rates that do"),
        (lambda head: head["categories"].pop("far"), "has error rates that do"),
        (lambda head: head["kinds"].popitem(), "has error rates that do"),
        (
            lambda head: head["files"].pop("judgments.jsonl"),
            "files: lists probes.jsonl, but an audit of this judge has",
        ),
        (lambda head: head["files"].update({"../../x": head["files"]["probes.jsonl"]}), "files: lists ../../x, "),
        (lambda head: head.update(judge="openai:better@1"), "the audit belongs in tiny/openai-better-1/"),
        (lambda head: head.update(audit_id="20260101T000000Z-00000000"), "the audit belongs in "),
        (lambda head: head.update(benchmark="beliefs@2"), "the audit belongs in beliefs/"),
        (lambda head: head.update(judge_endpoint=None), "files: lists judgments.jsonl, probes.jsonl, but an"),
        (lambda head: head.pop("probes"), "audit.json"),
    ],
)
def test_an_edited_head_is_found(
    tmp_path: Path, server: PickyServer, edit: Callable[[Json], object], sentence: str
) -> None:
    server.answer = lambda _body: "yes"
    folder = audit_judge(judge(), benchmark_session(), auditing(tmp_path))
    edit_head(folder.path / folder.HEAD, edit)
    assert sentence in findings(folder)


def test_a_file_that_is_gone_or_damaged_is_a_finding(tmp_path: Path, server: PickyServer) -> None:
    folder = audit_judge(judge(), benchmark_session(), auditing(tmp_path))
    folder.file("probes.jsonl").write_bytes(b"rubbish")
    assert "probes.jsonl.gz" in findings(folder)
    folder.file("probes.jsonl").unlink()
    assert "probes.jsonl.gz" in findings(folder)
    (folder.path / folder.HEAD).unlink()
    assert "there is no audit.json here" in findings(folder)


def probe(expected: bool, verdict: bool | None, category: str = "a", kind: ProbeKind = ProbeKind.RIGHT) -> Probe:
    return Probe(item_id="i", category=category, cluster="c", kind=kind, answer="…", expected=expected, verdict=verdict)


PROBES = [
    *[probe(True, True)] * 6,
    *[probe(True, False)] * 2,
    *[probe(True, None)] * 2,
    *[probe(False, False, "b", ProbeKind.OFF)] * 7,
    *[probe(False, True, "b", ProbeKind.INJECTED_ORDER)] * 1,
    *[probe(False, None, "b", ProbeKind.OFF)] * 2,
]


def test_errors_are_counted_out_of_all_answers_of_their_side() -> None:
    line = audit_line(PROBES)
    assert (line.false_accepts.count, line.false_accepts.of, line.false_accepts.share) == (1, 10, 0.1)
    assert (line.false_rejects.count, line.false_rejects.of, line.false_rejects.share) == (2, 10, 0.2)
    assert (line.unparsed.count, line.unparsed.of, line.unparsed.share) == (4, 20, 0.2)
    interval = line.false_accepts.interval
    assert interval is not None and (interval.low, interval.high) == wilson(1, 10)


def test_agreement_is_over_the_answers_with_a_verdict() -> None:
    found = audit_line(PROBES).agreement
    # 16 verdicts: 6 + 7 equal; by chance (8·7 + 8·9) / 16² = 0.5; kappa (13/16 - 0.5) / 0.5.
    assert (found.items, found.equal.count, found.equal.of) == (16, 13, 16)
    assert found.kappa == pytest.approx(0.625)
    assert found.kappa_low is not None and found.kappa_high is not None
    assert found.kappa_low < 0.625 < found.kappa_high


def test_categories_and_kinds_are_audited_separately_without_kappa_for_one_class() -> None:
    overall, categories, kinds = audit_lines(PROBES)
    assert overall == audit_line(PROBES)
    assert list(categories) == ["a", "b"]
    assert categories["a"] == audit_line(PROBES[:10])
    assert (categories["a"].false_accepts.of, categories["a"].false_accepts.share) == (0, None)
    assert categories["a"].agreement.kappa is None
    assert {kind: line.false_accepts.count for kind, line in kinds.items()} == {
        ProbeKind.RIGHT: 0,
        ProbeKind.OFF: 0,
        ProbeKind.INJECTED_ORDER: 1,
    }


def test_zero_items_have_no_share_and_no_interval() -> None:
    assert (rate(0, 0).share, rate(0, 0).interval) == (None, None)
    line = audit_line([])
    assert (line.unparsed.share, line.agreement.items, line.agreement.kappa) == (None, 0, None)


@given(st.lists(st.builds(probe, st.booleans(), st.sampled_from([True, False, None]), st.sampled_from("ab"))))
def test_every_answer_is_in_one_total_and_every_part_adds_up(probes: list[Probe]) -> None:
    whole, categories, kinds = audit_lines(probes)
    assert whole.false_accepts.of + whole.false_rejects.of == whole.unparsed.of == len(probes)
    equal = whole.agreement.equal
    wrong = whole.false_accepts.count + whole.false_rejects.count
    assert equal.count + wrong + whole.unparsed.count == len(probes)
    for parts in (categories.values(), kinds.values()):
        assert sum(line.false_accepts.count for line in parts) == whole.false_accepts.count
        assert sum(line.unparsed.of for line in parts) == len(probes)


@given(st.lists(st.tuples(st.booleans(), st.booleans())))
def test_agreement_does_not_depend_on_who_comes_first(verdicts: list[tuple[bool, bool]]) -> None:
    one, other = agreement(verdicts), agreement([(second, first) for first, second in verdicts])
    assert one.equal == other.equal
    assert (one.kappa is None) == (other.kappa is None)
    if one.kappa is not None:
        assert other.kappa == pytest.approx(one.kappa)
