"""What the ledger does not take: runs that measured nothing, and repetitions that repeat nothing by themselves."""

from dataclasses import replace
from pathlib import Path

import pytest

from memeval import api
from memeval.archive.ledger import Ledger
from memeval.archive.runs import RunFolder
from memeval.evaluation.run.models import ModelOptions
from memeval.evaluation.run.running import RunOptions
from memeval.execution.preparation import SystemSetup
from memeval.options import RegradeOptions
from memeval.records.errors import ExitCode
from memeval.systems.sandbox import SandboxMode
from tests.support.adapters import plain_adapter
from tests.support.calling import Call, Said
from tests.support.model_server import ModelServer

SIZE: dict[str, str | int] = {"size": 1}
RESULTS = Path("results")


def ran(system: str | Path = "always-hedge", **more: object) -> RunFolder:
    options = replace(RunOptions(setup=SystemSetup(sandbox=SandboxMode.BWRAP)), **more)  # type: ignore[arg-type]
    (folder,) = api.run(system, "beliefs@2", parameters=SIZE, options=options)
    return folder


def repeat(call: Call, one: RunFolder, other: RunFolder) -> Said:
    return call("ledger", "repeat", one.run.run_id, other.run.run_id, "--reason", "again", "--by", "me")


def entries() -> list[str]:
    return [f"{entry.event} {entry.run_id}" for entry in Ledger(RESULTS).entries()]


@pytest.mark.parametrize("label", ["plumbing", "Plumbing "])
def test_a_plumbing_run_is_neither_accepted_nor_published(
    call: Call, monkeypatch: pytest.MonkeyPatch, label: str
) -> None:
    with ModelServer() as server:
        monkeypatch.setenv("MEMEVAL_JUDGE_BASE_URL", server.url)
        run = ran(judge="openai:gpt-4o", judge_label=label)
    code, _, said = call("ledger", "accept", run.run.run_id, "--reason", "x", "--by", "me")
    assert code == ExitCode.BAD_INPUT and "the judge has the label 'plumbing'" in said
    code, _, said = call("publish", "--to", "public")
    assert code != ExitCode.DONE and "plumbing" in said
    assert not Path("public").exists()
    assert entries() == []
    back = api.regrade(run, "rules")
    assert call("ledger", "accept", back.run.run_id, "--reason", "x", "--by", "me")[0] == ExitCode.DONE


def test_two_runs_of_the_same_inputs_are_repetitions(call: Call) -> None:
    one, two = ran(), ran(fresh=True)
    assert repeat(call, one, one)[0] == ExitCode.BAD_INPUT
    assert repeat(call, one, two)[::2] == (ExitCode.DONE, "")
    assert entries() == [f"repeated {one.run.run_id}"]


@pytest.mark.parametrize("turned", [False, True])
def test_a_run_that_could_reach_files_repeats_nothing(call: Call, turned: bool) -> None:
    one, two = ran(), ran(fresh=True, setup=SystemSetup(sandbox=SandboxMode.NONE))
    code, _, said = repeat(call, *((two, one) if turned else (one, two)))
    assert code == ExitCode.BAD_INPUT and f"{two.run.run_id} ran without a sandbox." in said
    assert entries() == []


@pytest.mark.parametrize("turned", [False, True])
def test_the_same_answers_judged_again_repeat_nothing(call: Call, turned: bool) -> None:
    one = ran()
    again = api.regrade(one, "rules", options=RegradeOptions(fresh=True))
    assert again.run.fingerprint == one.run.fingerprint
    code, _, said = repeat(call, *((again, one) if turned else (one, again)))
    assert code == ExitCode.BAD_INPUT
    assert f"{again.run.run_id} has model calls or answers from another run" in said
    assert entries() == []


def test_a_replay_repeats_nothing(call: Call) -> None:
    one = ran()
    again = ran(models=ModelOptions(replay=one))
    assert again.run.replayed
    code, _, said = repeat(call, one, again)
    assert code == ExitCode.BAD_INPUT
    assert f"{again.run.run_id} has model calls or answers from another run" in said
    assert entries() == []


def test_a_second_attempt_at_what_failed_repeats_nothing(call: Call, tmp_path: Path) -> None:
    mark = tmp_path / "mended"
    first_fails = f"if not os.path.exists({str(mark)!r}): open({str(mark)!r}, 'w'); raise OSError('down')"
    path = plain_adapter(tmp_path, on_query=first_fails)
    one = ran(path, concurrency=1)  # several at once could all fail before the first one leaves its mark
    assert one.run.scores.overall.errors == 1
    again = ran(path, retry_errors=True)
    assert again.run.fingerprint == one.run.fingerprint
    code, _, said = repeat(call, one, again)
    assert code == ExitCode.BAD_INPUT and "share responses" in said
    assert entries() == []


def test_other_inputs_are_no_repetition(call: Call) -> None:
    code, _, said = repeat(call, ran(), ran("no-memory"))
    assert code == ExitCode.BAD_INPUT and "have different inputs" in said
