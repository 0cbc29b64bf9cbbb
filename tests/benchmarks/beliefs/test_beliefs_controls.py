"""The controls of gaming: what they earn on public wording, and that they know nothing else."""

import gzip
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest

from memeval.archive.runs import RunFolder
from memeval.benchmarks.beliefs.benchmark import RETRIEVAL, BeliefsBenchmark
from memeval.benchmarks.beliefs.controls.seed_table import TABLE
from memeval.benchmarks.beliefs.seed_table import seed_table
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.run.running import RunOptions, run_system
from memeval.evaluation.verify.findings import Check
from memeval.evaluation.verify.reproduce import reproduce_run
from memeval.evaluation.verify.verification import checks_of_run
from memeval.records.run import SystemKind
from memeval.records.scenario import Scenario, Session, Turn
from memeval.systems.controls import CONTROLS, all_controls, controls_of
from memeval.systems.messages import SystemReply, session_json
from memeval.systems.process import SystemProcess
from memeval.systems.source import control_source, find_system
from tests.systems.helpers import PATIENT

SLUGS = ("template-solver", "seed-table", "padded-contexts", "all-candidates")
SIZE = 3

SAID = (
    ("2025-01-02", "The violin case is under the stairs."),
    ("2025-02-03", "My violin is at the repair shop, and the stairs are painted."),
    ("2025-03-04", "We had soup."),
)
SESSIONS = tuple(
    Session(
        session_id=f"s{number:03d}",
        date=date,
        turns=(Turn(turn_id=f"s{number:03d}:t01", role="user", content=content, speaker="Ann"),),
    )
    for number, (date, content) in enumerate(SAID, 1)
)
QUESTION = "Where is the violin of Ann?"


@contextmanager
def running(slug: str, sessions: Sequence[Session] = SESSIONS) -> Iterator[SystemProcess]:
    """A control that has ingested sessions."""
    with SystemProcess(find_system(slug).launch, PATIENT, print) as process:
        process.reset()
        process.ingest([(session_json(session), session.date) for session in sessions])
        yield process


@cache
def public() -> BenchmarkSession:
    return BenchmarkSession.open(BeliefsBenchmark(), parameters={"size": SIZE})


def found(reply: SystemReply) -> list[tuple[str, tuple[str, ...]]]:
    return [(item.text or "", item.source_ids) for item in reply.items or ()]


def searched(slug: str, scenario: Scenario) -> dict[str, SystemReply]:
    """The replies of a control to the questions of a scenario."""
    with running(slug, list(scenario.each_session())) as process:
        return {ask.question_id: process.search(ask.question, 10, ask.timestamp) for ask in scenario.questions()}


@cache
def run_of(slug: str, protocol: str, reader: str | None, results: Path) -> RunFolder:
    session = BenchmarkSession.open(BeliefsBenchmark(), parameters={"size": SIZE}, protocol=protocol)
    options = RunOptions(results=results, protocol=protocol, reader=reader)
    return run_system(control_source(all_controls()[slug]), session, options)


def composite(slug: str, protocol: str, results: Path, reader: str | None = None) -> float:
    """The composite of a control over a few people, in percent."""
    value = run_of(slug, protocol, reader, results).run.scores.composite.value
    assert value is not None
    return 100 * value


def test_the_benchmark_brings_its_controls_and_no_other_benchmark_has_them() -> None:
    benchmark_id = BeliefsBenchmark.info.id
    assert [slug for slug in controls_of(benchmark_id) if slug not in CONTROLS] == list(SLUGS)
    assert list(controls_of("deepmemeval@1")) == list(CONTROLS)
    for slug in SLUGS:
        control = all_controls()[slug]
        assert control.benchmark == benchmark_id
        assert all(path.is_file() for path in control.files.values())


@pytest.mark.parametrize("slug", SLUGS)
def test_a_control_has_the_methods_that_its_readers_need_and_starts_over_on_reset(slug: str) -> None:
    with running(slug) as process:
        assert process.adapter.can("search")
        assert process.adapter.can("query") == ("native" in all_controls()[slug].readers)
        assert process.search(QUESTION, 5).items
        process.reset()
        assert not process.search(QUESTION, 5).items


def test_the_template_solver_solves_public_wording(tmp_path: Path) -> None:
    assert composite("template-solver", RETRIEVAL, tmp_path) > 98 > 60 > composite("bm25", RETRIEVAL, tmp_path)


@pytest.mark.parametrize(("reader", "above"), [("extractive@2", 97), ("native", 98)])
def test_the_template_solver_answers_through_the_offline_reader_and_without_it(
    tmp_path: Path, reader: str, above: float
) -> None:
    assert composite("template-solver", "judge", tmp_path, reader) > above


@pytest.mark.parametrize("slug", SLUGS)
def test_the_run_of_a_control_verifies_and_reproduces(slug: str, tmp_path: Path) -> None:
    folder = RunFolder(run_of(slug, RETRIEVAL, None, tmp_path).path)
    assert folder.run.system.kind is SystemKind.CONTROL
    assert reproduce_run(folder).equal
    checks = {each.name: each for each in checks_of_run(folder)}
    assert checks["control"] == Check("control") and checks["system"] == Check("system")
    assert not any(each.findings for each in checks.values())


@pytest.mark.parametrize("slug", ["template-solver", "seed-table"])
def test_what_a_control_does_not_know_is_left_to_bm25(slug: str) -> None:
    with running(slug) as process, running("bm25") as bm25:
        ours, theirs = process.search(QUESTION, 2), bm25.search(QUESTION, 2)
        assert found(ours) == found(theirs) != []
        assert ours.context == theirs.context


def test_the_seed_table_holds_the_public_data() -> None:
    """If this fails: run python -m memeval.benchmarks.beliefs.seed_table, and list the new digest as known."""
    assert json.loads(gzip.decompress(TABLE.read_bytes())) == seed_table()


def test_the_seed_table_knows_the_public_data_and_no_other() -> None:
    dataset = BeliefsBenchmark().opened(None, None, RETRIEVAL, "full")
    name = next(dataset.scenario_ids())
    replies, keys = searched("seed-table", dataset.scenario(name)), {key.item_id: key for key in dataset.answer_keys()}
    assert any(keys[item_id].key.relevant_turns for item_id in replies)
    for item_id, reply in replies.items():
        turns = keys[item_id].key.relevant_turns
        assert [ids for _, ids in found(reply)] == [(turn,) for turn in turns]
    scenario = public().scenarios[next(public().dataset.scenario_ids())]
    other = BeliefsBenchmark().opened(None, {"seed": 7, "size": 1}, RETRIEVAL, "full")
    scenario = other.scenario(next(other.scenario_ids()))
    unknown, bm25 = searched("seed-table", scenario), searched("bm25", scenario)
    assert [found(reply) for reply in unknown.values()] == [found(reply) for reply in bm25.values()]


def test_a_padded_context_is_one_text_with_the_best_turns() -> None:
    scenario = public().scenarios[next(public().dataset.scenario_ids())]
    padded, best = searched("padded-contexts", scenario), searched("bm25", scenario)
    for question_id, reply in padded.items():
        ((text, ids),) = found(reply)
        assert len(text) <= 1600
        assert text.split("\n")[0] == found(best[question_id])[0][0]
        assert len(ids) == len(text.split("\n")) > 3
    with running("padded-contexts") as process:
        assert process.search("Unheard?", 5).items == ()


def test_all_candidates_returns_every_turn_that_shares_a_word_and_names_them_all() -> None:
    with running("all-candidates") as process:
        reply = process.search("the violin and the stairs", 1)
        assert {ids for _, ids in found(reply)} == {("s001:t01",), ("s002:t01",)}
        answer = process.ask("the violin and the stairs").answer
        assert all(content in answer for _, content in SAID[:2]) and SAID[2][1] not in answer
