"""Forgeries of the plan and of the rows: ``verify`` rebuilds them from the benchmark, and names the file and the line.

The forger copies a stored run of this repository, edits it, and computes every digest, count, score and id again.
"""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from memeval.analysis.failures import failures_of
from memeval.archive.runs import RunFolder
from memeval.benchmarks import find
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.verify.checks import contexts as verified_contexts
from memeval.evaluation.verify.checks import rows as verified_rows
from memeval.evaluation.verify.checks.subject import Sessions, Subject
from memeval.evaluation.verify.findings import CheckStatus
from memeval.evaluation.verify.verification import CHECKS, MOST, checks_of_run
from memeval.execution.contexts import digest_of_text
from memeval.grading.scoring import score
from memeval.records.failure import Failure
from memeval.records.grade import Grade
from memeval.records.scores import Scores
from memeval.records.track import CategoryPlan, Track
from tests.support.forging import Forger

RETRIEVES, ANSWERS = "beliefs/bm25", "astrocyte-basic/bm25s"
"""A run with the extractive reader, and a small run of a system that answers itself."""

Forgery = Callable[[Forger], object]

CONTEXT = {"schema_version": 1, "digest": f"sha256:{'0' * 64}", "scenario_id": "nowhere", "parts": []}
"""A stored context that no response names."""


@pytest.fixture(scope="module")
def sessions() -> Sessions:
    """The open benchmarks of all tests of this file."""
    return Sessions()


def found(check: str, run: RunFolder, sessions: Sessions) -> str:
    """Return the problems that a check finds, with file and line, but without the folder."""
    made = dict(CHECKS)[check](Subject.read(run, sessions))
    assert made is not None
    return "\n".join(f"{Path(finding.where).name}: {finding.problem}" for finding in made.findings)


def forged(forgery: Forgery, run: str, place: Path) -> RunFolder:
    forger = Forger.of(run, place)
    forgery(forger)
    return forger.seal()


def test_a_copy_of_a_run_that_nobody_edited_has_no_problem(tmp_path: Path, sessions: Sessions) -> None:
    checks = checks_of_run(forged(lambda forger: None, ANSWERS, tmp_path), sessions)
    assert {check.status for check in checks} == {CheckStatus.OK}


def shrink_the_plan(forger: Forger) -> None:
    is_right = {grade["item_id"] for grade in forger.grades if grade["verdict"] or (grade["credit"] or 0) > 0.5}
    forger.keep(lambda grade: grade["item_id"] in is_right)


def test_a_shrunk_plan_is_found(tmp_path: Path, sessions: Sessions) -> None:
    run = forged(shrink_the_plan, RETRIEVES, tmp_path)
    assert run.run.coverage.full
    track = found("track", run, sessions)
    assert "run.json: track.categories.noise-resistance.items: is " in track
    assert ", but beliefs@2 has 40." in track


def swap_weights(forger: Forger) -> None:
    one, *_, other = forger.track["categories"]
    one["weight"], other["weight"] = other["weight"], one["weight"]


def other_grader(forger: Forger) -> None:
    for row in (forger.track["categories"][0], *forger.grades):
        row["grader"] = "recall@9"


def other_limit(forger: Forger) -> None:
    forger.track["limits"]["search_items"] = 50


def other_tokenizer(forger: Forger) -> None:
    forger.track["tokenizer"] = "o200k_base (bpe-openai 0.1.9)"


@pytest.mark.parametrize(
    ("forgery", "said"),
    [
        (swap_weights, "run.json: track.categories.exact.weight: is "),
        (other_grader, "run.json: track.categories.exact.grader: is recall@9, but astrocyte-basic@1 has recall@1."),
        (other_limit, "run.json: track.limits.search_items: is 50, but astrocyte-basic@1 has 10."),
        (other_tokenizer, "run.json: track.tokenizer: is o200k_base (bpe-openai 0.1.9), but astrocyte-basic@1 has "),
        (
            lambda forger: forger.track.update(data_digest="sha256:" + 64 * "0"),
            "run.json: track.data_digest: is sha256:0",
        ),
        (lambda forger: forger.track.update(released=False), "run.json: track.released: is False, but"),
        (lambda forger: forger.track.update(tier="easy"), "run.json: track.tier: is easy, but astrocyte-basic@1 has: "),
        (lambda forger: forger.track.update(protocol="full"), "run.json: track.categories"),
        (lambda forger: forger.track.update(parameters={"seed": 7}), "run.json: track.parameters: do not fit"),
        (lambda forger: forger.track.update(sample="sha256:" + "1" * 64), "run.json: track.sample: is sha256:1111"),
        (lambda forger: forger.track.update(judge="rules@7"), "run.json: track.judge: is rules@7"),
        (lambda forger: forger.track.update(judge_label="vendor"), "run.json: track.judge_label: is vendor, but"),
        (lambda forger: forger.track.update(reader="extractive@2"), "run.json: track.reader: is extractive@2, but"),
        (lambda forger: forger.track.update(reader="magic@1"), "run.json: track.reader: is magic@1, which is not a"),
        (lambda forger: forger.head.update(seeds={"PYTHONHASHSEED": 1}), "run.json: seeds: are {'PYTHONHASHSEED': 1}"),
        (lambda forger: forger.head.update(redistribution="ids"), "run.json: redistribution: is ids, but"),
    ],
)
def test_a_changed_track_is_found_and_the_part_named(
    forgery: Forgery, said: str, tmp_path: Path, sessions: Sessions
) -> None:
    assert said in found("track", forged(forgery, ANSWERS, tmp_path), sessions)


def test_another_seed_of_a_generated_benchmark_is_found(tmp_path: Path, sessions: Sessions) -> None:
    run = forged(lambda forger: forger.track["parameters"].update(seed=7), "astrocyte-stress/bm25s", tmp_path)
    assert "run.json: track.data_digest: is " in found("track", run, sessions)


def test_a_reader_that_is_denied_is_found(tmp_path: Path, sessions: Sessions) -> None:
    run = forged(lambda forger: forger.track.update(reader="native"), RETRIEVES, tmp_path)
    track = found("track", run, sessions)
    assert "was read by a reader, but the track's reader is native." in track
    assert "run.json: track.reader: is native, but bm25 has no method 'query'. The reader 'native' needs it." in track


def shorten_contexts(forger: Forger) -> None:
    for row in forger.responses:
        row["context_tokens"] = (row["context_tokens"] or 0) // 10


def test_edited_context_tokens_are_counted_again(tmp_path: Path, sessions: Sessions) -> None:
    contexts = found("contexts", forged(shorten_contexts, ANSWERS, tmp_path), sessions)
    assert "responses.jsonl.gz:1: " in contexts
    assert " context tokens, but its context has " in contexts


def drop_contexts(forger: Forger) -> None:
    forger.rows["contexts.jsonl"] = []
    for row in forger.responses:
        row["context_digest"] = row["context_tokens"] = None


def test_dropped_contexts_are_found_where_a_reader_read(tmp_path: Path, sessions: Sessions) -> None:
    contexts = found("contexts", forged(drop_contexts, RETRIEVES, tmp_path), sessions)
    assert "was read by extractive@2, but has no context." in contexts


def write_another_context(forger: Forger) -> None:
    forger.rows["contexts.jsonl"][0]["parts"] = [{"turn_id": None, "dated": False, "text": "short"}]


def test_another_text_under_the_digest_of_a_context_is_found(tmp_path: Path, sessions: Sessions) -> None:
    contexts = found("contexts", forged(write_another_context, ANSWERS, tmp_path), sessions)
    assert "contexts.jsonl.gz:1: does not match the text of its digest." in contexts


def try_again(forger: Forger) -> None:
    forger.responses.insert(1, forger.responses[0] | {"attempt": 2, "answer": "gold"})


def test_a_second_attempt_after_a_good_one_is_found(tmp_path: Path, sessions: Sessions) -> None:
    rows = found("rows", forged(try_again, ANSWERS, tmp_path), sessions)
    assert "responses.jsonl.gz:2: " in rows
    assert " has attempt 2, but attempt 1 is not an error." in rows


def swap_items(forger: Forger) -> None:
    one, other = forger.responses[0], forger.responses[1]
    one["item_id"], other["item_id"] = other["item_id"], one["item_id"]


def flatter(forger: Forger) -> None:
    forger.grades[0]["slices"] = {"difficulty": "hard"}


@pytest.mark.parametrize(
    ("forgery", "said"),
    [
        (lambda forger: forger.responses[0].update(scenario_id="nowhere"), "responses.jsonl.gz:1: "),
        (lambda forger: forger.responses[0].update(question_id="asked-by-nobody"), "is not a question of astrocyte-"),
        (swap_items, ", but its item is "),
        (flatter, "has the slices {'difficulty': 'hard'}, but its key has "),
        (lambda forger: forger.grades[0].update(cluster="mine"), "has the cluster mine, but its key has "),
        (lambda forger: forger.grades[0].update(grader="judged@1"), "was graded by judged@1, but the track has "),
        (lambda forger: forger.responses.reverse(), "is not in plan order."),
        (lambda forger: forger.rows.pop("failures.jsonl"), "run.json: files: does not list failures.jsonl."),
        (lambda forger: forger.rows["failures.jsonl"].pop(), "the failure analysis differs from the recomputed one."),
        (lambda forger: forger.rows["failures.jsonl"][0].update(rank=77), "failures.jsonl.gz:1: "),
    ],
)
def test_rows_that_are_not_those_of_the_plan_are_found(
    forgery: Forgery, said: str, tmp_path: Path, sessions: Sessions
) -> None:
    assert said in found("rows", forged(forgery, ANSWERS, tmp_path), sessions)


@pytest.mark.parametrize(
    "forgery",
    [
        lambda forger: forger.rows["failures.jsonl"][0].update(rank=77),
        lambda forger: forger.grades[0].update(credit=0.5),
        lambda forger: forger.responses[0].update(answer="I do not know."),
        lambda forger: [row.update(items=[]) for row in forger.responses],
        lambda forger: forger.track["limits"].update(reader_tokens=1),
        lambda forger: forger.rows["contexts.jsonl"].append(CONTEXT),
    ],
)
def test_rows_are_analysed_once_and_any_other_row_is_analysed_again(
    forgery: Forgery, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    analysed: list[int] = []

    def counted(*rows: Any) -> list[Failure]:
        analysed.append(1)
        return failures_of(*rows)

    monkeypatch.setattr(verified_rows, "failures_of", counted)
    monkeypatch.setattr(Track, "id", property(lambda _track: "0" * 12))  # two tracks with one id can be found
    sessions = Sessions()
    for name in ("one", "other"):
        assert found("rows", forged(lambda forger: None, ANSWERS, tmp_path / name), sessions) == ""
    assert len(analysed) == 1
    found("rows", forged(forgery, ANSWERS, tmp_path / "forged"), sessions)
    assert len(analysed) == 2


def test_equal_contexts_are_counted_once_and_any_other_file_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hashed: list[str] = []

    def counted(text: str) -> str:
        hashed.append(text)
        return digest_of_text(text)

    monkeypatch.setattr(verified_contexts, "digest_of_text", counted)
    sessions = Sessions()
    assert found("contexts", forged(lambda forger: None, ANSWERS, tmp_path / "one"), sessions) == ""
    once = len(hashed)
    assert found("contexts", forged(lambda forger: None, ANSWERS, tmp_path / "other"), sessions) == ""
    assert len(hashed) == once > 0
    shortened = found("contexts", forged(shorten_contexts, ANSWERS, tmp_path / "shortened"), sessions)
    assert " context tokens, but its context has " in shortened
    for name in ("forged", "again"):
        contexts = found("contexts", forged(write_another_context, ANSWERS, tmp_path / name), sessions)
        assert "contexts.jsonl.gz:1: does not match the text of its digest." in contexts


def test_equal_contexts_of_other_data_are_read_again(tmp_path: Path, sessions: Sessions) -> None:
    other = BenchmarkSession.open(find("beliefs@2"), None, {"seed": 77}, tier="quick")

    def other_data(forger: Forger) -> None:
        forger.track.update(parameters={"seed": 77}, data_digest=other.dataset.digest)

    assert found("contexts", forged(lambda forger: None, RETRIEVES, tmp_path / "honest"), sessions) == ""
    contexts = found("contexts", forged(other_data, RETRIEVES, tmp_path / "forged"), sessions)
    assert "does not match the text of its digest." in contexts


def pass_one(forger: Forger) -> None:
    wrong = next(grade for grade in forger.grades if grade["verdict"] is False or grade["credit"] == 0)
    wrong.update(verdict=None if wrong["verdict"] is None else True, credit=None if wrong["credit"] is None else 1.0)


def test_equal_grades_of_a_plan_are_scored_once_and_any_others_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scored: list[int] = []

    def counted(plan: Sequence[CategoryPlan], grades: Sequence[Grade]) -> Scores:
        scored.append(1)
        return score(plan, grades)

    monkeypatch.setattr(verified_rows, "score", counted)
    sessions = Sessions()
    for number, forgery in enumerate((lambda forger: None, lambda forger: None, pass_one, swap_weights)):
        assert found("scores", forged(forgery, RETRIEVES, tmp_path / str(number)), sessions) == ""
    assert len(scored) == 3


@pytest.mark.parametrize(
    ("forgery", "said"),
    [
        (lambda forger: forger.head.update(run_id="20200101T000000Z-0"), "run.json: run_id: begins with 2020"),
        (lambda forger: forger.head["timing"].update(ended="2020-01-01T00:00:00+00:00"), "before the start"),
        (lambda forger: forger.head["timing"].update(ended="2999-01-01T00:00:00+00:00"), "is in the future."),
        (lambda forger: forger.head["timing"].update(started="long ago"), "is 'long ago', which is not a UTC time."),
        (
            lambda forger: forger.responses[3]["timings"].update(started="2026-11-22T01:00:00+00:00"),
            "was asked '2026-11-22T01:00:00+00:00', outside the run.",
        ),
        (
            lambda forger: forger.rows["log.jsonl"].append(
                {"schema_version": 1, "at": "2031-01-01T00:00:00+00:00", "event": "resumed", "detail": None}
            ),
            "log.jsonl.gz:1: is of '2031-01-01T00:00:00+00:00', outside the run.",
        ),
    ],
)
def test_clocks_that_contradict_each_other_are_found(
    forgery: Forgery, said: str, tmp_path: Path, sessions: Sessions
) -> None:
    assert said in found("clocks", forged(forgery, ANSWERS, tmp_path), sessions)


def test_of_many_problems_of_a_check_the_first_are_named_and_the_others_counted(
    tmp_path: Path, sessions: Sessions
) -> None:
    run = forged(
        lambda forger: [row.update(cluster="mine") for row in forger.grades], "astrocyte-stress/bm25s", tmp_path
    )
    rows = next(check for check in checks_of_run(run, sessions) if check.name == "rows")
    assert len(rows.findings) == MOST + 1
    assert rows.findings[-1].problem == "and 480 more problems of the rows."


def test_answers_from_a_run_that_is_not_here_are_not_called_checked(tmp_path: Path, sessions: Sessions) -> None:
    run = forged(lambda forger: forger.head.update(answers_from="20260101T000000Z-01234567"), ANSWERS, tmp_path)
    clocks = checks_of_run(run, sessions)[-1]
    assert clocks.status is CheckStatus.NOT_CHECKED
    assert clocks.not_checked == "run 20260101T000000Z-01234567, which made the answers, is not here"


def test_answers_that_were_carried_over_from_a_run_that_is_not_here_are_counted(
    tmp_path: Path, sessions: Sessions
) -> None:
    def carry(forger: Forger) -> None:
        line = {"schema_version": 1, "at": forger.head["timing"]["started"], "event": "carried over"}
        forger.rows["log.jsonl"].insert(0, line | {"detail": "the rows of 20260101T000000Z-01234567"})
        for row in forger.responses[:3]:
            row["timings"]["started"] = "2026-01-01T01:00:00+00:00"

    clocks = checks_of_run(forged(carry, ANSWERS, tmp_path), sessions)[-1]
    assert clocks.status is CheckStatus.NOT_CHECKED
    said = r"3 of its \d+ answers are from run 20260101T000000Z-01234567, whose failed questions it asked again; .*"
    assert re.fullmatch(said, str(clocks.not_checked))


def test_answers_of_a_run_of_another_system_are_found(tmp_path: Path, sessions: Sessions) -> None:
    source = Forger.of("astrocyte-basic/chroma", tmp_path).seal().run.run_id
    run = forged(lambda forger: forger.head.update(answers_from=source), ANSWERS, tmp_path)
    clocks = found("clocks", run, sessions)
    assert f"is not a row of run {source}, which made the answers." in clocks
    assert f"run {source}, which made the answers, is of chroma." in clocks


def test_data_that_is_not_here_is_not_called_checked(tmp_path: Path, sessions: Sessions) -> None:
    run = forged(lambda forger: forger.track.update(benchmark="locomo@1", tier="full"), ANSWERS, tmp_path)
    forger = Forger.of(ANSWERS, tmp_path / "other")
    forger.track.update(benchmark="locomo@1", protocol="judge", tier="full")
    statuses = {check.name: check for check in checks_of_run(forger.seal(), sessions)}
    assert {statuses[name].not_checked for name in ("track", "rows", "contexts")} == {
        "the data of locomo@1 is not here"
    }
    assert "run.json: track.protocol: is recall, but locomo@1 has: " in found("track", run, sessions)
