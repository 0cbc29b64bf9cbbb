"""``make results``: makes the runs of a file, resumes, verifies, records, and counts minutes."""

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import pytest

from memeval import api
from memeval.archive.ledger import Ledger
from memeval.archive.runs import sealed_runs
from memeval.benchmarks.base import Benchmark
from memeval.cli import results
from memeval.execution.journal import Journal
from memeval.execution.steps import FinishedItems
from memeval.records.errors import ExitCode
from memeval.records.ledger import LedgerEvent, Runner
from tests.support.adapters import plain_adapter
from tests.support.calling import Call
from tests.support.registered import register
from tests.support.tiny import Missing, TinyBenchmark

SET = """
schema_version = 1

[[groups]]
benchmark = "tiny@1"
protocols = ["judge"]
systems = ["always-hedge", "no-memory"]
"""

DISK_FULL = "raise RuntimeError('the disk is full')"


@pytest.fixture
def call(call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Call:
    """Call ``make results`` in an empty folder with a tiny benchmark."""
    factories: dict[str, Callable[[], Benchmark]] = {
        "tiny@1": lambda: TinyBenchmark(30),
        "absent@1": partial(Missing, "absent@1"),
    }
    register(monkeypatch, factories, only=True)
    (tmp_path / "results.toml").write_text(SET)
    return partial(call, program=results.main)


def with_matrix(systems: str) -> None:
    """Name a matrix ``small`` of systems on the tiny benchmark in the set of runs."""
    Path("small.toml").write_text(f'systems = [{systems}]\ngroups = [{{ benchmark = "tiny@1" }}]')
    Path("results.toml").write_text('matrices = ["small.toml"]\n' + SET)


def row(said: str, track: str) -> list[str]:
    """Return the words of a track's line after its name."""
    (line,) = [line for line in said.splitlines() if line.strip().startswith(track)]
    return line.strip().removeprefix(track).split()


def test_the_runs_of_the_file_are_made_verified_and_recorded_with_their_minutes(call: Call) -> None:
    code, said, _ = call("--by", "a test")
    assert code == ExitCode.DONE
    # No memory runs with each of its two readers.
    assert row(said, "tiny@1, judge, full")[:4] == ["3", "0", "0", "0"]
    assert "benchmark" in said and "Done in 0." in said
    entries = Ledger(Path("results")).entries()
    assert [(entry.event, entry.by) for entry in entries] == 3 * [(LedgerEvent.REPRODUCED, "a test")]
    assert {entry.run_id for entry in entries} == {folder.run.run_id for folder in sealed_runs(Path("results"))}
    assert api.verify("results") == []


def test_a_second_call_makes_nothing_again_and_records_nothing_twice(call: Call) -> None:
    call("--by", "a test")
    before = Path("results/ledger.jsonl").read_bytes()
    code, said, error = call("--by", "a test")
    assert code == ExitCode.DONE and "reused" in error
    assert row(said, "tiny@1, judge, full")[:4] == ["0", "3", "0", "0"]
    assert Path("results/ledger.jsonl").read_bytes() == before
    assert len(sealed_runs(Path("results"))) == 3


def test_an_interrupted_set_continues_where_it_stopped(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    write = Journal.write

    def interrupt(self: Journal, finished: Iterable[FinishedItems]) -> None:
        write(self, finished)
        if sealed_runs(Path("results")):  # in the middle of the second run
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Journal, "write", interrupt)
        code, _, error = call()
    assert code == ExitCode.INTERRUPTED and "Run the same command to resume" in error
    assert len(sealed_runs(Path("results"))) == 1
    code, said, error = call()
    assert code == ExitCode.DONE and "Resumed: " in error
    assert row(said, "tiny@1, judge, full")[:4] == ["2", "1", "0", "0"]


def test_accepted_runs_are_a_maintainers_and_accepted_once(call: Call) -> None:
    for _ in range(2):
        assert call("--accept", "part of the stored set", "--by", "a test").code == ExitCode.DONE
    accepted = [each for each in Ledger(Path("results")).entries() if each.event is LedgerEvent.ACCEPTED]
    assert len(accepted) == 3
    assert {(each.runner, each.reason) for each in accepted} == {(Runner.MAINTAINER, "part of the stored set")}


def test_a_part_of_the_set_is_named_by_benchmark_and_system(call: Call) -> None:
    said = call("--list", "--only", "tiny", "--system", "always-hedge")
    assert said.done == "always-hedge on tiny@1, judge, full, reader native\n"
    assert not Path("results").exists()
    unknown = (
        ("--only", "huge", "tiny@1"),
        ("--system", "acme", "no-memory"),
        ("--tier", "quick", "full"),
        ("--protocol", "f1", "judge"),
    )
    for option, name, known in unknown:
        refused = call(option, name)
        assert refused.fails(f"'{name}' is not in the set of runs. It has: ", known) and refused.out == ""


def test_a_benchmark_without_data_is_named_once_and_skipped(call: Call) -> None:
    Path("results.toml").write_text(SET + SET.replace("tiny@1", "absent@1").replace("schema_version = 1", ""))
    code, said, error = call()
    assert code == ExitCode.DONE
    assert error.count("absent@1 skipped: its data is not on this machine. Its seed comes on 1 December.") == 1
    assert "absent@1" not in said and "tiny@1, judge, full" in said


def test_a_system_that_cannot_answer_is_not_applicable_and_a_failing_one_does_not_stop_the_others(call: Call) -> None:
    plain_adapter(Path(), "broken", on_ingest=DISK_FULL)
    systems = 'systems = ["bm25", "broken.py", "always-hedge"]\nreaders = ["native"]'
    Path("results.toml").write_text(SET.replace('systems = ["always-hedge", "no-memory"]', systems))
    code, said, error = call()
    assert code == ExitCode.CHECK_FAILED and "1 run failed" in error
    assert row(said, "tiny@1, judge, full")[:4] == ["1", "0", "1", "1"]
    assert "the disk is full" in said
    assert [folder.run.system.slug for folder in sealed_runs(Path("results"))] == ["always-hedge"]


def test_matrices_run_after_the_groups_reuse_their_runs_and_are_stored(call: Call) -> None:
    with_matrix('"always-hedge", "echo-question"')
    code, said, error = call("--accept", "part of the stored set")
    assert code == ExitCode.DONE and "matrix small: 2 runs, in results/matrices/small-" in said and "reused" in error
    slugs = {folder.run.system.slug for folder in sealed_runs(Path("results"))}
    assert slugs == {"always-hedge", "no-memory", "echo-question"}
    assert api.verify("results") == []
    accepted = [each for each in Ledger(Path("results")).entries() if each.event is LedgerEvent.ACCEPTED]
    assert len(accepted) == 4


def test_one_matrix_runs_alone_and_an_unknown_or_missing_one_is_refused(call: Call) -> None:
    with_matrix('"always-hedge"')
    assert call("--matrix", "large").fails("'large' is not in the set of runs. Its matrices: small.")
    assert call("--matrix", "small", "--list").done == "matrix small\n"
    Path("small.toml").unlink()
    assert call().fails("results.toml:1: the matrix file small.toml does not exist")
    assert not Path("results").exists()


def test_a_failed_cell_of_a_matrix_is_an_error_and_the_other_cells_are_recorded(call: Call) -> None:
    plain_adapter(Path(), "broken", on_ingest=DISK_FULL)
    with_matrix('"always-hedge", { id = "b", system = "broken.py" }')
    said = call("--matrix", "small")
    assert said.fails("1 cell of the matrix failed", "the disk is full", code=ExitCode.CHECK_FAILED)
    assert len(Ledger(Path("results")).entries()) == 1
