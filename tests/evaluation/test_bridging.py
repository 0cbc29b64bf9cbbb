"""Bridges between judges: agreement against values computed by hand, and runs that cannot be bridged."""

from __future__ import annotations

from pathlib import Path

import pytest

from memeval import api
from memeval.archive.audits import stored_bridges
from memeval.archive.runs import RunFolder
from memeval.evaluation.bridging import bridge_judges
from memeval.evaluation.judges import choose_judge
from memeval.evaluation.rejudging import rejudge_run
from memeval.evaluation.running import run_system
from memeval.records.audit import Rate
from memeval.records.errors import BadInput
from memeval.systems.source import SystemSource, file_source
from tests.evaluation.asking import DATED, LABEL, PickyServer, answer_in, benchmark_session, judge, options, rejudging
from tests.support.adapters import plain_adapter


def system(folder: Path, name: str = "plain", answer: str = "'Nowhere.'") -> SystemSource:
    """Return a system that the rules call wrong at one of its four items, a far one."""
    return file_source(plain_adapter(folder, name, on_query=f"if 'Quito' in self.told[0]: return {answer}"))


@pytest.fixture
def run(tmp_path: Path, server: PickyServer) -> RunFolder:
    """A run by the rules: right, right, wrong, right, in the categories far, near, far, near."""
    return by_rules(tmp_path)


def by_rules(
    folder: Path, source: SystemSource | None = None, fresh: bool = False, limit: int | None = None
) -> RunFolder:
    chosen = options(folder, judge="rules", judge_label=None, fresh=fresh, limit=limit)
    return run_system(source or system(folder), benchmark_session(), chosen)


def counts(rate: Rate) -> tuple[int, int]:
    return rate.count, rate.of


def test_agreement_is_counted_over_all_items_and_by_category(
    tmp_path: Path, run: RunFolder, server: PickyServer
) -> None:
    # The model says: yes, no, no, yes. The rules said: yes, yes, no, yes.
    server.answer = lambda body: "no" if answer_in(body) == "Nowhere." or "Oslo" in answer_in(body) else "yes"
    bridge = bridge_judges([run], judge(), rejudging(tmp_path)).bridge
    assert (bridge.old, bridge.new, bridge.new_endpoint) == ("rules@1", DATED, server.url)
    assert counts(bridge.overall.agreement.equal) == (3, 4)
    assert counts(bridge.overall.old) == (3, 4)
    assert counts(bridge.overall.new) == (2, 4)
    # Observed 3/4; by chance 3/4 · 2/4 + 1/4 · 2/4 = 1/2; kappa = (3/4 − 1/2) / (1 − 1/2) = 1/2.
    assert bridge.overall.agreement.kappa == pytest.approx(0.5)
    far, near = bridge.categories["far"], bridge.categories["near"]
    assert counts(far.agreement.equal) == (2, 2)
    assert far.agreement.kappa == pytest.approx(1.0)
    assert (counts(far.old), counts(far.new)) == ((1, 2), (1, 2))
    assert counts(near.agreement.equal) == (1, 2)
    assert near.agreement.kappa in (None, pytest.approx(0.0))
    assert (counts(near.old), counts(near.new)) == ((2, 2), (1, 2))
    (bridged,) = bridge.runs
    assert bridged.old_composite == pytest.approx(0.7)
    assert bridged.new_composite == pytest.approx(0.5)
    assert bridged.old_composite == run.run.scores.composite.value
    again = api.load_run(bridged.new_run_id, tmp_path / "results")
    assert (bridged.old_run_id, bridged.old_digest, bridged.new_digest) == (run.run.run_id, run.digest, again.digest)
    assert again.run.answers_from == run.run.run_id
    assert again.run.scores.composite.value == bridged.new_composite


def test_items_that_one_judge_gave_no_verdict_on_are_left_out(
    tmp_path: Path, run: RunFolder, server: PickyServer
) -> None:
    server.answer = lambda body: "Perhaps." if "Lima" in answer_in(body) else "yes"
    server.fails_on = lambda body: "Oslo" in answer_in(body)
    bridge = bridge_judges([run], judge(), rejudging(tmp_path)).bridge
    assert counts(bridge.overall.agreement.equal) == (1, 2)
    assert (counts(bridge.overall.old), counts(bridge.overall.new)) == ((1, 2), (2, 2))


def test_blank_answers_are_no_judges_to_rule_on(tmp_path: Path, server: PickyServer) -> None:
    blank = by_rules(tmp_path, system(tmp_path, answer="' '"))
    bridge = bridge_judges([blank], judge(), rejudging(tmp_path)).bridge
    assert counts(bridge.overall.agreement.equal) == (3, 3)
    assert bridge.overall.agreement.kappa is None


def test_runs_are_bridged_together_and_their_answers_counted_once(
    tmp_path: Path, run: RunFolder, server: PickyServer
) -> None:
    other = by_rules(tmp_path, system(tmp_path, "other", answer="'Atlantis.'"))
    copy = rejudge_run(run, choose_judge("rules"), rejudging(tmp_path, fresh=True))
    bridge = bridge_judges([run, copy, other], judge(), rejudging(tmp_path)).bridge
    assert [each.system for each in bridge.runs] == ["plain", "other"]
    assert bridge.overall.agreement.items == 8
    assert bridge.categories["far"].agreement.items == 4


def test_the_same_bridge_is_stored_once_and_nobody_asked_again(
    tmp_path: Path, run: RunFolder, server: PickyServer
) -> None:
    first = bridge_judges([run], judge(), rejudging(tmp_path))
    asked = server.requests
    assert bridge_judges([run], judge(), rejudging(tmp_path)).path == first.path
    assert server.requests == asked
    other = bridge_judges([run], choose_judge("openai:gpt-4o", "someone else"), rejudging(tmp_path))
    assert other.path != first.path
    assert [folder.path for folder in stored_bridges(tmp_path / "results")] == sorted([first.path, other.path])


def test_a_bridge_needs_runs_with_the_same_judge_and_prompts(
    tmp_path: Path, run: RunFolder, server: PickyServer
) -> None:
    with pytest.raises(BadInput, match="there is no run to regrade"):
        bridge_judges([], judge(), rejudging(tmp_path))
    by_model = rejudge_run(run, judge(), rejudging(tmp_path))
    labelled = rejudge_run(run, choose_judge("openai:gpt-4o", "someone else"), rejudging(tmp_path))
    (tmp_path / "reminder.txt").write_text("Yes or no?", encoding="utf-8")
    prompted = rejudge_run(run, choose_judge("openai:gpt-4o", LABEL, tmp_path), rejudging(tmp_path))
    for pair in ([run, by_model], [by_model, labelled], [by_model, prompted]):
        with pytest.raises(BadInput, match="the runs differ in judge, benchmark or data"):
            bridge_judges(pair, choose_judge("openai:gpt-4o-mini", LABEL), rejudging(tmp_path))
    assert stored_bridges(tmp_path / "results") == []


@pytest.mark.parametrize("by_model", [False, True])
def test_no_judge_takes_over_from_itself(tmp_path: Path, run: RunFolder, by_model: bool, server: PickyServer) -> None:
    new = judge() if by_model else choose_judge("rules")
    old = rejudge_run(run, new, rejudging(tmp_path))
    with pytest.raises(BadInput, match=r"\S+ already graded the runs"):
        bridge_judges([old], new, rejudging(tmp_path))
    assert stored_bridges(tmp_path / "results") == []


def test_all_full_runs_of_a_judge_are_bridged_by_its_configuration(
    tmp_path: Path, run: RunFolder, server: PickyServer
) -> None:
    for label in (LABEL, "someone else"):
        rejudge_run(run, choose_judge("openai:gpt-4o", label), rejudging(tmp_path))
    partial = by_rules(tmp_path, system(tmp_path, "partial"), limit=2)
    found = api.bridge("openai:gpt-4o", "rules", options=rejudging(tmp_path))
    assert len({folder.bridge.bridge_id for folder in found}) == 2
    assert {folder.bridge.old for folder in found} == {DATED}
    with pytest.raises(BadInput, match="no full run was graded by openai:gpt-4o-mini"):
        api.bridge("openai:gpt-4o-mini", "rules", options=rejudging(tmp_path))
    with pytest.raises(BadInput, match="no full run was graded by rules"):
        api.bridge("rules", "openai:gpt-4o", [partial], label=LABEL, options=rejudging(tmp_path))
