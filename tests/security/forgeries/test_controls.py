"""A forger gives a control other answers, to move the baseline: the control, run again, gives its own."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memeval.archive.runs import RunFolder
from memeval.benchmarks.kit.long.history import LongHistory
from memeval.evaluation.verify.checks import controls
from memeval.evaluation.verify.checks.controls import FORMER, check_control
from memeval.evaluation.verify.checks.subject import NoData, Sessions, Subject
from memeval.evaluation.verify.checks.systems import check_system
from memeval.evaluation.verify.findings import Check, CheckStatus
from memeval.execution.steps import ScenarioWork
from memeval.records.errors import BadInput
from memeval.records.response import Response
from memeval.records.scenario import Ingest
from tests.support.forging import RESULTS, Forger, Json, stored_run

NO_MEMORY = "beliefs/no-memory/20261127T014747Z-d7e632b7"


@pytest.fixture(scope="module")
def sessions() -> Sessions:
    return Sessions()


def relabelled(run: str, control: str, results: Path) -> RunFolder:
    """Return a run that says of its system all that the stored run of a control says."""
    forger, other = Forger.of(run, results), Forger.of(control, results)
    forger.head |= {"system": other.system, "isolation": "files reachable", "network": "open", "sandbox": None}
    forger.track["reader"] = other.track["reader"]
    return forger.seal()


def edited(run: str, results: Path, edit: Callable[[Json], None], share: int) -> RunFolder:
    """Return a run with every so manieth answer edited."""
    forger = Forger.of(run, results)
    for row in forger.responses[::share]:
        edit(row)
    return forger.seal()


def check(folder: RunFolder, sessions: Sessions) -> Check:
    found = check_control(Subject.read(folder, sessions), items=15)
    assert found is not None
    return found


@pytest.mark.parametrize("run", ["beliefs/oracle", "beliefs/always-error"])
def test_a_stored_control_gives_its_answers_again(run: str, sessions: Sessions) -> None:
    assert check(stored_run(run), sessions).status is CheckStatus.OK


@pytest.mark.parametrize(
    ("run", "control", "name"),
    [("beliefs/notebook", NO_MEMORY, "no-memory"), ("beliefs/oracle", "beliefs/full-context", "full-context")],
)
def test_a_run_with_the_whole_identity_of_a_control_is_found(
    run: str, control: str, name: str, sessions: Sessions, tmp_path: Path
) -> None:
    folder = relabelled(run, control, tmp_path)
    assert check_system(folder).status is CheckStatus.OK
    finding = check(folder, sessions).findings[0]
    assert finding.where.startswith(f"{folder.file('responses.jsonl')}:")
    assert f"is not that of the control {name}." in finding.problem


def test_a_lower_baseline_is_found(sessions: Sessions, tmp_path: Path) -> None:
    folder = edited("beliefs/recency-window", tmp_path, lambda row: row.update(answer="", outcome="empty"), 5)
    (found,) = check(folder, sessions).findings
    assert "drawn answers differ." in found.problem


def test_other_answers_of_an_older_version_are_not_checked(sessions: Sessions, tmp_path: Path) -> None:
    forger = Forger.of("beliefs/first-stated", tmp_path)
    forger.system["submission_digest"] = f"sha256:{'5' * 64}"
    assert check(forger.seal(), sessions).status is CheckStatus.OK
    for row in forger.responses:
        row["answer"] = "x"
    forger.results = tmp_path / "second"
    assert check(forger.seal(), sessions).not_checked == FORMER


def test_a_run_of_another_system_has_no_such_check(sessions: Sessions) -> None:
    assert check_control(Subject.read(stored_run("beliefs/notebook"), sessions)) is None


def of_the_smallest_tier(slug: str) -> RunFolder:
    """Return a control's run on histories of ten thousand tokens, by the turns that it finds."""
    (found,) = (
        each
        for each in map(RunFolder, (RESULTS / "beliefs" / slug).iterdir())
        if (each.run.track.benchmark, each.run.track.tier) == ("beliefs@2", "10k")
    )
    return found


def test_controls_that_are_checked_together_read_each_history_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []
    step = LongHistory._step

    def counted(self: LongHistory, place: int) -> Ingest:
        made.append(f"{self.scenario_id} {place}")
        return step(self, place)

    honest = [of_the_smallest_tier("recency-window"), of_the_smallest_tier("bm25")]
    relative = str(honest[1].path.relative_to(RESULTS))
    nothing: Json = {"items": [], "context_digest": None, "context_tokens": None}
    forged = edited(relative, tmp_path, lambda row: row.update(nothing), 2)
    together = Sessions(folders=[*honest, forged])
    assert not isinstance(together.of(forged.run.track), NoData)
    monkeypatch.setattr(LongHistory, "_step", counted)
    assert [check(folder, together).status for folder in honest] == [CheckStatus.OK, CheckStatus.OK]
    assert check(forged, together).status is CheckStatus.FAILED
    assert len(made) == len(set(made)) > 500


@pytest.fixture
def cut_off(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Make two controls fail after their first answer; undo it to let them answer."""
    responses = controls._responses

    def first(work: ScenarioWork, rerun: controls._Rerun) -> Iterator[Response]:
        for row in responses(work, rerun):
            yield row
            if rerun.control.slug in ("bm25", "store-everything"):
                raise BadInput("the control ended.", where="here")

    with monkeypatch.context() as patch:
        patch.setattr(controls, "_responses", first)
        yield patch


def test_a_control_that_fails_beside_another_fails_its_own_check_alone(cut_off: pytest.MonkeyPatch) -> None:
    honest, failing = of_the_smallest_tier("recency-window"), of_the_smallest_tier("bm25")
    together = Sessions(folders=[honest, failing])
    assert check(honest, together).status is CheckStatus.OK
    with pytest.raises(BadInput, match="the control ended"):
        check(failing, together)
    cut_off.undo()
    assert check(failing, together).status is CheckStatus.OK


def test_answers_that_an_error_cut_off_are_asked_for_again(cut_off: pytest.MonkeyPatch) -> None:
    run, sessions = stored_run("lifecycle/store-everything"), Sessions()
    with pytest.raises(BadInput, match="the control ended"):
        check(run, sessions)
    cut_off.undo()
    assert check(run, sessions).status is CheckStatus.OK


def test_a_run_that_cannot_be_read_does_not_stop_the_check_of_another(tmp_path: Path) -> None:
    honest, damaged = of_the_smallest_tier("recency-window"), RunFolder(tmp_path)
    (tmp_path / "run.json").write_text("{")
    assert check(honest, Sessions(folders=[damaged, honest])).status is CheckStatus.OK


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the list of the items that controls are asked, as they are."""
    items: list[str] = []
    responses = controls._responses

    def counted(work: ScenarioWork, rerun: controls._Rerun) -> Iterator[Response]:
        items.extend(work.items)
        return responses(work, rerun)

    monkeypatch.setattr(controls, "_responses", counted)
    return items


@pytest.mark.parametrize("run", ["beliefs/bm25", "lifecycle/last-write-wins"])
def test_what_a_control_answered_is_not_asked_again_and_another_run_with_other_answers_is_still_found(
    run: str, tmp_path: Path, asked: list[str]
) -> None:
    sessions = Sessions()
    honest = stored_run(run)
    assert check(honest, sessions).status is CheckStatus.OK
    assert len(asked) == len(set(asked)) >= 15
    asked.clear()
    assert check(honest, sessions).status is CheckStatus.OK
    assert asked == []
    forged = edited(run, tmp_path, lambda row: row.update(answer="x"), 1)
    assert check(forged, sessions).status is CheckStatus.FAILED


def test_answers_of_a_control_that_questions_change_hold_only_for_the_same_questions(
    tmp_path: Path, asked: list[str]
) -> None:
    forger = Forger.of("lifecycle/store-everything", tmp_path)
    last = {row["scenario_id"]: row["item_id"] for row in forger.responses}.values()
    for rows in (forger.responses, forger.grades):
        rows[:] = [row for row in rows if row["item_id"] not in last]
    sessions = Sessions()
    check(stored_run("lifecycle/store-everything"), sessions)
    asked.clear()
    check(forger.seal(), sessions)
    assert len(asked) >= 15
    assert set(asked).isdisjoint(last)
