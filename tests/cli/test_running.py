"""``memeval run`` over everything: what is run, what is left out with which reason, and the exit code of it all."""

import json
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest

from memeval.archive.runs import RunFolder, sealed_runs
from memeval.benchmarks.base import Benchmark
from memeval.cli.reporting import LONGEST_ERROR, MostFrequentError, most_frequent_error, remedy_for, shortened
from memeval.execution.readers import NATIVE
from memeval.records.benchmark import ProtocolInfo
from memeval.records.errors import ExitCode
from memeval.records.grade import Grade, GradeState
from tests.support.adapters import plain_adapter
from tests.support.calling import Call, Said
from tests.support.registered import register
from tests.support.tiny import Faulty, Missing, Named, TinyBenchmark, Torn

RETAINING = ProtocolInfo(
    name="recall", title="Recall", summary="Retrieval.", headline="ndcg", reader=NATIVE, needs=("retain", "recall")
)


@pytest.fixture
def call(call: Call, monkeypatch: pytest.MonkeyPatch) -> Call:
    """Call ``memeval`` where there are given benchmarks only."""

    def run(here: list[Benchmark], *words: str) -> Said:
        for place, benchmark in enumerate(here):
            benchmark.info = benchmark.info.model_copy(update={"position": place})
        register(monkeypatch, {each.info.id: partial(copy, each) for each in here}, only=True)
        return call(*words)

    return run


def test_without_a_benchmark_all_supported_ones_run_and_the_others_are_listed(call: Call, tmp_path: Path) -> None:
    here: list[Benchmark] = [
        Named("one@1"),
        Missing("two@1"),
        Named("three@1", by_name_only=True),
        Named("four@1", brought=True),
        Named("five@1", protocols=(RETAINING,)),
        Named("six@1"),
    ]
    code, out, err = call(here, "run", "no-memory")
    runs = {run.run.track.benchmark: run for run in sealed_runs(tmp_path / "results")}
    assert (code, sorted(runs)) == (ExitCode.DONE, ["one@1", "six@1"])
    assert out.splitlines() == [str(runs[name].path.relative_to(tmp_path)) for name in ("one@1", "six@1")]
    results, skipped = (part.splitlines() for part in err.split("\n\n")[-2:])
    assert [line.split()[0] for line in results] == ["results:", "one@1", "six@1"]
    assert results[1].endswith("2/2 items, 0 errors")
    assert [line.split(maxsplit=1) for line in skipped[1:]] == [
        ["two@1", "no data (memeval data list two)"],
        ["three@1", "takes long (--benchmark three@1)"],
        ["four@1", "needs your own file (--benchmark four@1 --data FILE)"],
        ["five@1", "no-memory has no 'retain' or 'recall', which the protocol 'recall' needs."],
    ]
    assert skipped[0] == "skipped:"
    assert not (tmp_path / "results" / "five").exists()


def test_a_protocol_that_the_system_could_take_is_named(call: Call) -> None:
    usual = Named("x@1").info.protocols
    said = call([Named("one@1", protocols=(RETAINING, *usual))], "run", "no-memory", "--benchmark", "one@1")
    assert said.fails("no-memory supports one@1 with --protocol judge.")


def test_a_skipped_benchmark_is_shown_with_the_protocol_that_would_run(call: Call) -> None:
    usual = Named("x@1").info.protocols
    _, _, err = call([Named("one@1", protocols=(RETAINING, *usual)), Named("two@1")], "run", "no-memory")
    assert "which the protocol 'recall' needs (--benchmark one@1 --protocol judge)\n" in err


def test_a_system_that_can_take_nothing_ends_with_2(call: Call, tmp_path: Path) -> None:
    said = call([Named("one@1", protocols=(RETAINING,)), Missing("two@1")], "run", "no-memory")
    assert said.fails("one@1                      no-memory has no 'retain' or 'recall'") and said.out == ""
    assert not sealed_runs(tmp_path / "results")


@pytest.mark.parametrize(
    ("broken", "code", "sentence"),
    [
        (Torn("bad@1"), ExitCode.BAD_INPUT, "bad@1                      the data is torn. Fetch it again."),
        (Faulty("bad@1"), ExitCode.CHECK_FAILED, "bad@1                      unexpected KeyError: 'a slip'."),
    ],
)
def test_one_broken_benchmark_stops_no_other(
    call: Call, tmp_path: Path, broken: Benchmark, code: ExitCode, sentence: str
) -> None:
    found, out, err = call([Named("one@1"), broken, Named("two@1")], "run", "no-memory")
    assert (found, len(out.splitlines())) == (code, 2)
    assert sentence in err and "1 problem (bad@1), listed above." in err


def test_the_worst_exit_code_wins(call: Call, tmp_path: Path) -> None:
    broken = plain_adapter(tmp_path, on_query="raise ValueError")
    code, out, err = call([Named("one@1"), Torn("bad@1")], "run", str(broken))
    assert (code, len(out.splitlines())) == (ExitCode.BAD_INPUT, 1) and "2 problems" in err


def test_a_tier_or_protocol_that_a_benchmark_lacks_leaves_it_out(call: Call) -> None:
    for option in ("--tier", "--protocol"):
        said = call([Named("one@1")], "run", "no-memory", option, "quick")
        assert said.fails(f"one@1                      no {option[2:]} 'quick'") and said.out == ""


def test_a_run_below_the_floor_ends_with_1(call: Call, tmp_path: Path) -> None:
    words = ("run", str(plain_adapter(tmp_path)), "--benchmark", "one@1", "--floor")
    assert call([Named("one@1")], *words, "0.9")[0] == ExitCode.DONE
    said = call([Named("one@1")], "run", "no-memory", "--benchmark", "one@1", "--floor", "0.9")
    assert said.fails("FAIL: 0 < floor 0.9\n", code=ExitCode.CHECK_FAILED)
    assert call([Named("one@1")], *words, "90").fails("invalid --floor 90. Give a share from 0 to 1, such as 0.9.")


def test_machines_are_told_what_came_of_each_benchmark(call: Call) -> None:
    here: list[Benchmark] = [Named("one@1"), Missing("two@1"), Named("three@1", protocols=(RETAINING,))]
    told = {each["benchmark"]: each for each in json.loads(call(here, "run", "bm25", "--json").done)}
    assert {name: each["state"] for name, each in told.items()} == {
        "two@1": "left out",
        "one@1": "done",
        "three@1": "not applicable",
    }
    (run,) = told["one@1"]["runs"]
    assert (run["system"], run["errors"], run["coverage"]["done"]) == ("bm25", 0, 2)
    assert told["two@1"]["reason"] == "Its data is not on this machine. Its seed comes on 1 December."


def test_a_limited_run_of_one_and_the_same_error_names_it_and_ends_with_1(call: Call, tmp_path: Path) -> None:
    failing = plain_adapter(tmp_path, on_query="raise KeyError('index')")
    words = ("run", str(failing), "--benchmark", "one@1", "--limit", "1")
    code, out, err = call([Named("one@1")], *words)
    assert (code, len(out.splitlines())) == (ExitCode.CHECK_FAILED, 1)
    assert "all items failed with the same error. First error: query raised KeyError: 'index'" in err
    assert call([Named("one@1")], *words, "--keep-going")[0] == ExitCode.DONE
    assert call([Named("one@1")], "run", "always-error", *words[2:])[0] == ExitCode.DONE


def test_a_run_that_stops_early_ends_with_1_and_names_the_first_error(call: Call, tmp_path: Path) -> None:
    failing = plain_adapter(tmp_path, on_query="raise KeyError('index')")
    words = ("run", str(failing), "--benchmark", "tiny@1")
    said = call([TinyBenchmark(40)], *words)
    stopped = "plain on tiny@1: stopped: the first 25 items all failed with the same error. First error: query"
    assert said.fails(stopped, code=ExitCode.CHECK_FAILED) and said.out == ""
    assert call([TinyBenchmark(40)], *words, "--keep-going").code == ExitCode.CHECK_FAILED


@dataclass
class GradedRun:
    """The grades of a run without responses, as a run folder gives them."""

    states: tuple[GradeState, ...]

    def grades(self) -> Iterator[Grade]:
        given: dict[str, Any] = {"category": "c", "cluster": "k", "slices": {}, "grader": "g@1", "verdict": None}
        for number, state in enumerate(self.states):
            yield Grade(item_id=f"i{number}", state=state, reason=f"{state} {number}.", **given)

    def responses(self) -> tuple[()]:
        return ()


def test_the_remedy_belongs_to_the_error_that_is_named() -> None:
    states = (GradeState.EMPTY, GradeState.ADAPTER_ERROR, GradeState.UNPARSED, GradeState.UNPARSED)
    folder = cast("RunFolder", GradedRun(states))
    assert most_frequent_error(folder) == MostFrequentError(GradeState.UNPARSED, "unparsed 2", times=2)
    assert remedy_for(folder) == "Choose a judge that can read the answers: --judge openai:MODEL."
    assert remedy_for(cast("RunFolder", GradedRun((GradeState.EMPTY,)))) == ""


PROBLEM = f"query raised ValueError: {'x' * 120} (adapter.py:7 in query)"


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        ("query raised KeyError: 'index'.", "query raised KeyError: 'index'"),
        (f"{PROBLEM}. Read the manual.", f"{PROBLEM}. Read the manual"),
        (f"{PROBLEM}. Run with --sandbox none, or make a submission folder.", f"{PROBLEM}. …"),
        ("y" * 300, f"{'y' * (LONGEST_ERROR - 2)} …"),
        (f"No. {'z' * 300}", f"No. {'z' * (LONGEST_ERROR - 6)} …"),
    ],
)
def test_a_long_error_is_cut_before_its_remedy_or_marked(error: str, shown: str) -> None:
    assert shortened(error) == shown
    assert len(shown) <= LONGEST_ERROR
