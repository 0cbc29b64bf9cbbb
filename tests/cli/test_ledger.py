"""``memeval ledger``: what it refuses; what ``re-ask`` and ``rerun`` print and record, and when they fail."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from memeval import api
from memeval.archive.ledger import Ledger
from memeval.archive.runs import RunFolder
from memeval.evaluation.run.models import ModelOptions
from memeval.evaluation.run.running import RunOptions
from memeval.execution.setup import SystemSetup
from memeval.leaderboard.board import BoardRow, RankStatus, build_board
from memeval.options import RegradeOptions
from memeval.records.errors import ExitCode
from memeval.records.ledger import GradeTrust, LedgerEvent
from memeval.site.table.flags import sample_note
from memeval.systems.sandbox import SandboxMode
from tests.evaluation.asking import PickyServer, fair, judged_run
from tests.support.adapters import plain_adapter
from tests.support.calling import Call, Said
from tests.support.forging import Forger
from tests.support.model_server import ModelServer
from tests.support.standing import made_up

SIZE: dict[str, str | int] = {"size": 1}
RESULTS = Path("results")
FROM_ANOTHER = "has model calls or answers from another run"


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
    accept = ("ledger", "accept", "--reason", "x", "--by", "me")
    assert call(*accept, run.run.run_id).fails("the judge has the label 'plumbing'")
    said = call("publish", "--to", "public")
    assert said.code != ExitCode.DONE and "plumbing" in said.err
    assert not Path("public").exists()
    assert entries() == []
    back = api.regrade(run, "rules")
    assert call(*accept, back.run.run_id).code == ExitCode.DONE


def test_two_runs_of_the_same_inputs_are_repetitions(call: Call) -> None:
    one, two = ran(), ran(fresh=True)
    assert repeat(call, one, one)[0] == ExitCode.BAD_INPUT
    assert repeat(call, one, two)[::2] == (ExitCode.DONE, "")
    assert entries() == [f"repeated {one.run.run_id}"]


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize(
    ("again", "problem"),
    [
        (lambda _: ran(fresh=True, setup=SystemSetup(sandbox=SandboxMode.NONE)), "ran without a sandbox."),
        (lambda one: api.regrade(one, "rules", options=RegradeOptions(fresh=True)), FROM_ANOTHER),
        (lambda one: ran(models=ModelOptions(replay=one)), FROM_ANOTHER),
    ],
    ids=["it could reach files", "its answers were judged again", "it is a replay"],
)
def test_a_run_of_the_same_inputs_that_proves_nothing_repeats_nothing(
    call: Call, again: Callable[[RunFolder], RunFolder], problem: str, turned: bool
) -> None:
    one = ran()
    two = again(one)
    assert two.run.fingerprint == one.run.fingerprint
    assert repeat(call, *((two, one) if turned else (one, two))).fails(f"{two.run.run_id} {problem}")
    assert entries() == []


def test_a_second_attempt_at_what_failed_repeats_nothing(call: Call, tmp_path: Path) -> None:
    mark = tmp_path / "mended"
    first_fails = f"if not os.path.exists({str(mark)!r}): open({str(mark)!r}, 'w'); raise OSError('down')"
    path = plain_adapter(tmp_path, on_query=first_fails)
    one = ran(path, concurrency=1)  # several at once could all fail before the first one leaves its mark
    assert one.run.scores.overall.errors == 1
    again = ran(path, retry_errors=True)
    assert again.run.fingerprint == one.run.fingerprint
    assert repeat(call, one, again).fails("share responses")
    assert entries() == []


def test_other_inputs_are_no_repetition(call: Call) -> None:
    assert repeat(call, ran(), ran("no-memory")).fails("have different inputs")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[PickyServer, RunFolder]]:
    with judged_run(tmp_path_factory.mktemp("sampling")) as made:
        yield made


@pytest.fixture
def server(made: tuple[PickyServer, RunFolder]) -> PickyServer:
    made[0].answer = fair
    return made[0]


@pytest.fixture
def run(made: tuple[PickyServer, RunFolder], tmp_path: Path) -> RunFolder:
    """The judged run, in a results folder of the test's own."""
    return Forger.of(made[1], tmp_path / "results").seal()


def row_of(run: RunFolder) -> BoardRow:
    (row,) = build_board([RunFolder(run.path)], Ledger(Path("results"))).runs
    return row


def test_a_judge_that_agrees_is_recorded_and_shown(call: Call, run: RunFolder, server: PickyServer) -> None:
    out = call("ledger", "re-ask", run.run.run_id, "--n", "20", "--by", "Ada").done
    assert out == f"re-asked {run.run.run_id}: 20 of 20 verdicts equal (100 %, 95 % interval 84–100 %)\n"
    (entry,) = Ledger(Path("results")).entries()
    assert (entry.event, entry.by) == (LedgerEvent.RE_ASKED, "Ada")
    assert f"by openai:gpt-4o-2024-08-06@1 at {server.url}, memeval " in entry.reason
    row = row_of(run)
    assert row.trust.grades is GradeTrust.RE_ASKED
    assert sample_note(row, LedgerEvent.RE_ASKED) == "verdicts asked again: 20 of 20 equal (84–100 %)"
    assert sample_note(row, LedgerEvent.RERUN) is None


def test_a_judge_that_disagrees_is_recorded_and_fails(call: Call, run: RunFolder, server: PickyServer) -> None:
    server.answer = lambda _body: "no"
    said = call("ledger", "re-ask", run.run.run_id, "--by", "Ada")
    assert said.fails("only 4 of 32 verdicts equal", "memeval ledger review RUN", code=ExitCode.CHECK_FAILED)
    assert "4 of 32 verdicts equal" in said.out
    made_up(run.run)
    row = row_of(run)
    assert (row.standing, row.trust.grades) == (RankStatus.UNREVIEWED, GradeTrust.CLAIMED)
    call("ledger", "review", run.run.run_id, "--reason", "the model was replaced", "--by", "Ada")
    assert row_of(run).standing is RankStatus.RANKED


def test_a_budget_leaves_no_line(call: Call, run: RunFolder, server: PickyServer) -> None:
    said = call("ledger", "re-ask", run.run.run_id, "--budget", "judge.tokens=900")
    assert said.fails("Run the same command again.", code=ExitCode.BUDGET)
    assert Ledger(Path("results")).entries() == []


def test_a_system_that_answers_again_is_kept(call: Call, run: RunFolder, server: PickyServer, tmp_path: Path) -> None:
    words = ("ledger", "rerun", run.run.run_id, "--n", "20", "--by", "Ada")
    assert call(*words).fails("Name its folder or file: --system PATH.")
    system = plain_adapter(tmp_path, on_query="if 'Oslo' in self.told[0]: return 'Nowhere.'")
    *_checks, last = call(*words, "--system", str(system)).done.splitlines()
    assert last == f"rerun {run.run.run_id}: 20 of 20 answers equal (100 %, 95 % interval 84–100 %)"
    row = row_of(run)
    assert sample_note(row, LedgerEvent.RERUN) == "answers run again: 20 of 20 equal (84–100 %)"
    assert row.trust.grades is GradeTrust.CLAIMED
