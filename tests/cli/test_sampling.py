"""``memeval ledger re-ask`` and ``rerun``: what they print and record, and when they fail."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from memeval.archive.ledger import Ledger
from memeval.archive.runs import RunFolder
from memeval.leaderboard.board import BoardRow, RankStatus, build_board
from memeval.records.errors import ExitCode
from memeval.records.ledger import GradeTrust, LedgerEvent
from memeval.site.table.flags import sample_note
from tests.evaluation.asking import PickyServer, fair, judged_run
from tests.support.adapters import plain_adapter
from tests.support.calling import Call
from tests.support.forging import Forger
from tests.support.runs import make_run
from tests.support.standing import made_up


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
    code, out, _err = call("ledger", "re-ask", run.run.run_id, "--n", "20", "--by", "Ada")
    assert (code, out) == (
        ExitCode.DONE,
        f"re-asked {run.run.run_id}: 20 of 20 verdicts equal (100 %, 95 % interval 84–100 %)\n",
    )
    (entry,) = Ledger(Path("results")).entries()
    assert (entry.event, entry.by) == (LedgerEvent.RE_ASKED, "Ada")
    assert f"by openai:gpt-4o-2024-08-06@1 at {server.url}, memeval " in entry.reason
    row = row_of(run)
    assert row.trust.grades is GradeTrust.RE_ASKED
    assert sample_note(row, LedgerEvent.RE_ASKED) == "verdicts asked again: 20 of 20 equal (84–100 %)"


def test_a_judge_that_disagrees_is_recorded_and_fails(call: Call, run: RunFolder, server: PickyServer) -> None:
    server.answer = lambda _body: "no"
    code, out, err = call("ledger", "re-ask", run.run.run_id, "--by", "Ada")
    assert code == ExitCode.CHECK_FAILED and "4 of 32 verdicts equal" in out
    assert "only 4 of 32 verdicts equal" in err and "memeval ledger review RUN" in err
    made_up(run.run)
    row = row_of(run)
    assert (row.standing, row.trust.grades) == (RankStatus.UNREVIEWED, GradeTrust.CLAIMED)
    call("ledger", "review", run.run.run_id, "--reason", "the model was replaced", "--by", "Ada")
    assert row_of(run).standing is RankStatus.RANKED


def test_a_budget_leaves_no_line(call: Call, run: RunFolder, server: PickyServer) -> None:
    code, _out, err = call("ledger", "re-ask", run.run.run_id, "--budget", "judge.tokens=900")
    assert code == ExitCode.BUDGET and "Run the same command again." in err
    assert Ledger(Path("results")).entries() == []


def test_a_system_that_answers_again_is_kept(call: Call, run: RunFolder, server: PickyServer, tmp_path: Path) -> None:
    words = ("ledger", "rerun", run.run.run_id, "--n", "20", "--by", "Ada")
    code, _out, err = call(*words)
    assert code == ExitCode.BAD_INPUT and "Name its folder or file: --system PATH." in err
    system = plain_adapter(tmp_path, on_query="if 'Oslo' in self.told[0]: return 'Nowhere.'")
    code, out, _err = call(*words, "--system", str(system))
    assert (code, out.splitlines()[-1]) == (
        ExitCode.DONE,
        f"rerun {run.run.run_id}: 20 of 20 answers equal (100 %, 95 % interval 84–100 %)",
    )
    row = row_of(run)
    assert sample_note(row, LedgerEvent.RERUN) == "answers run again: 20 of 20 equal (84–100 %)"
    assert row.trust.grades is GradeTrust.CLAIMED


def test_no_sample_has_no_note(tmp_path: Path) -> None:
    folder = make_run(tmp_path / "results", "acme")
    (row,) = build_board([folder], Ledger(tmp_path / "results")).runs
    assert sample_note(row, LedgerEvent.RERUN) is None
