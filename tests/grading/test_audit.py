"""The arithmetic of audits, by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.grading.audit import agreement, audit_line, audit_lines, rate
from memeval.records.audit import Probe, ProbeKind
from memeval.statistics.intervals import wilson


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
    lines = audit_lines(PROBES)
    assert lines.overall == audit_line(PROBES)
    assert list(lines.categories) == ["a", "b"]
    assert lines.categories["a"] == audit_line(PROBES[:10])
    assert (lines.categories["a"].false_accepts.of, lines.categories["a"].false_accepts.share) == (0, None)
    assert lines.categories["a"].agreement.kappa is None
    assert {kind: line.false_accepts.count for kind, line in lines.kinds.items()} == {
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
    lines = audit_lines(probes)
    whole = lines.overall
    assert whole.false_accepts.of + whole.false_rejects.of == whole.unparsed.of == len(probes)
    equal = whole.agreement.equal
    wrong = whole.false_accepts.count + whole.false_rejects.count
    assert equal.count + wrong + whole.unparsed.count == len(probes)
    for parts in (lines.categories.values(), lines.kinds.values()):
        assert sum(line.false_accepts.count for line in parts) == whole.false_accepts.count
        assert sum(line.unparsed.of for line in parts) == len(probes)


@given(st.lists(st.tuples(st.booleans(), st.booleans())))
def test_agreement_does_not_depend_on_who_comes_first(verdicts: list[tuple[bool, bool]]) -> None:
    one, other = agreement(verdicts), agreement([(second, first) for first, second in verdicts])
    assert one.equal == other.equal
    assert (one.kappa is None) == (other.kappa is None)
    if one.kappa is not None:
        assert other.kappa == pytest.approx(one.kappa)
