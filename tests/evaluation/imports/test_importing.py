"""Imported answers become a run that records their origin."""

from pathlib import Path
from typing import Any

import pytest

from memeval.archive.ledger import Ledger
from memeval.archive.runs import RunFolder, sealed_runs
from memeval.archive.trust import trust_of
from memeval.evaluation.imports.importing import open_benchmark_for
from memeval.evaluation.judge.judges import ChosenJudge
from memeval.evaluation.run.regrade import regrade_run
from memeval.evaluation.run.run_folders import unfinished_runs
from memeval.evaluation.run.running import run_system
from memeval.evaluation.verify.verification import verify_run
from memeval.exchange.formats import find_format
from memeval.gateway.stops import BudgetSpent
from memeval.leaderboard.board import RankStatus, build_board
from memeval.records.errors import BadInput
from memeval.records.imported import Claim, ClaimMetric
from memeval.records.ledger import AnswerTrust, LedgerEvent, Runner
from memeval.records.response import Outcome
from memeval.records.run import Isolation, SystemKind
from memeval.systems.source import file_source
from tests.evaluation.asking import PickyServer, benchmark_session, by_rules, holds, judge, regrading
from tests.support.adapters import plain_adapter
from tests.support.elsewhere import ROWS, graded, stored
from tests.support.runs import edit_head
from tests.support.tiny import CITIES

QUESTIONS = [f"tiny-{number:03}:q01" for number in range(4)]


def right(number: int, **more: object) -> dict[str, object]:
    return {"id": QUESTIONS[number], "text": f"In {CITIES[number]}.", **more}


def all_right() -> list[dict[str, object]]:
    return [right(number) for number in range(4)]


def tiny_run(folder: Path, rows: object = None, judge: ChosenJudge | None = None, **told: Any) -> RunFolder:
    """Return a run of answers to the tiny benchmark, by default of all the right ones."""
    return graded(folder, all_right() if rows is None else rows, ROWS, benchmark_session(), judge, **told)


def test_imported_answers_are_graded_and_the_run_records_their_origin(tmp_path: Path, tiny: None) -> None:
    rows = [*all_right()[:3], {"id": QUESTIONS[3], "text": "In Nowhere."}]
    run = tiny_run(tmp_path, rows, source="https://example.org/a", commit="abc", licence="MIT", claimed=0.9)
    head = run.run
    assert [grade.verdict for grade in run.grades()] == [True, True, True, False]
    assert (head.system.kind, head.isolation, head.system.name) == (
        SystemKind.IMPORTED,
        Isolation.ELSEWHERE,
        "Some System",
    )
    assert run.path.relative_to(tmp_path).parts[:3] == ("results", "tiny", "some-system-rows")
    assert head.imported is not None
    assert head.system.submission_digest == head.imported.digest == stored(tmp_path / "again.json", rows).digest
    told = (head.imported.source, head.imported.commit, head.imported.licence, head.imported.file, head.imported.format)
    assert told == ("https://example.org/a", "abc", "MIT", "answers.json", "rows")
    assert head.imported.claims == (Claim(score=0.9, metric=ClaimMetric.COMPOSITE, items=4),)
    assert head.coverage.full
    assert not (run.path / "journal").exists()
    assert holds(run)


def test_a_question_without_an_answer_leaves_the_run_partial(tmp_path: Path, tiny: None) -> None:
    run = tiny_run(tmp_path, all_right()[1:3])
    assert run.run.imported is not None and run.run.imported.missing == (QUESTIONS[0], QUESTIONS[3])
    assert (run.run.coverage.planned, run.run.coverage.done) == (4, 2)
    assert run.run.scores.overall.accuracy == 0.5
    assert run.run.scores.composite.value is None
    assert holds(run)


def test_an_answer_to_an_unknown_question_is_left_out_and_listed(tmp_path: Path, tiny: None) -> None:
    run = tiny_run(tmp_path, [*all_right(), {"id": "what\x1b[1m", "text": "!"}])
    assert run.run.imported is not None and run.run.imported.unknown == ("what\\x1b[1m",)
    assert run.run.coverage.full
    assert holds(run)


def test_an_unknown_id_that_is_a_sentence_is_listed_by_its_digest(tmp_path: Path, tiny: None) -> None:
    stray = [{"id": name, "text": "x"} for name in ("I have moved to Lima", "I_have_moved_to_Lima", "other:?7")]
    imported = tiny_run(tmp_path, [*all_right(), *stray]).run.imported
    assert imported is not None
    assert [name[:7] for name in imported.unknown] == ["sha256:", "sha256:", "other:?"]


def test_a_file_without_answers_to_the_benchmark_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"none of the 1 answers belongs to a question of tiny@1"):
        tiny_run(tmp_path, [{"id": "x", "text": "y"}])
    assert not (tmp_path / "results").exists()


def test_imported_failures_are_errors_and_blank_answers_are_empty(tmp_path: Path, tiny: None) -> None:
    rows = [right(0, error="HTTP 500 from the store"), {"id": QUESTIONS[1], "text": " \n"}, right(2), right(3)]
    run = tiny_run(tmp_path, rows)
    first, second, *_ = run.responses()
    assert (first.outcome, first.answer, first.error) == (Outcome.ADAPTER_ERROR, "", "HTTP 500 from the store")
    assert second.outcome is Outcome.EMPTY
    assert run.run.scores.states == {"graded": 2, "adapter_error": 1, "empty": 1} or run.run.scores.overall.errors == 1
    assert holds(run)


def test_sources_become_ordinals_and_unknown_ones_stay_unknown(tmp_path: Path, tiny: None) -> None:
    rows = [right(0, sources=["source-s002", "s001", "gone", "source-s001"]), right(1, sources=[]), right(2), right(3)]
    first, second, third, _ = tiny_run(tmp_path, rows).responses()
    named = [item.source_ids for item in first.items or ()]
    assert named == [("s002",), ("unknown:s001",), ("unknown:gone",), ("s001",)]
    assert (second.items, third.items) == ((), None)


def test_reported_time_tokens_and_cost_are_stored_as_self_reported(tmp_path: Path, tiny: None) -> None:
    rows = [right(number, seconds=0.5 + number, tokens=100, usd=0.25) for number in range(4)]
    run = tiny_run(tmp_path, rows)
    (usage,) = run.run.usage.values()
    assert (usage.source.value, usage.prompt_tokens, usage.usd) == ("self-reported", 400, 1.0)
    assert run.run.cost.usd is None
    assert "own account" in str(run.run.cost.reason)
    (timing,) = run.run.timing.phases.values()
    assert (timing.calls, timing.total) == (4, 8.0)
    assert next(run.responses()).timings.started == "2026-01-02T03:04:05Z"
    assert holds(run)


def test_the_same_file_is_graded_once_unless_another_run_is_asked_for(tmp_path: Path, tiny: None) -> None:
    first = tiny_run(tmp_path)
    assert tiny_run(tmp_path).path == first.path
    fresh = tiny_run(tmp_path, fresh=True)
    assert fresh.path != first.path
    other = tiny_run(tmp_path, all_right()[:3])
    assert other.run.fingerprint != first.run.fingerprint
    assert len(sealed_runs(tmp_path / "results")) == 3


def test_imported_answers_are_never_ranked_whatever_the_ledger_says(tmp_path: Path) -> None:
    run = tiny_run(tmp_path)
    ledger = Ledger(tmp_path / "results")
    ledger.append(LedgerEvent.ACCEPTED, run, by="m", reason="looked at", runner=Runner.MAINTAINER)
    assert trust_of(run, ledger.entries()).answers is AnswerTrust.IMPORTED
    (row,) = build_board([run], ledger).runs
    assert (row.standing, row.rank) == (RankStatus.IMPORTED, None)


@pytest.mark.parametrize("slug", ["Upper", "two--dashes", "-x", "", "x" * 65, "bm25", "full-context"])
def test_a_name_that_is_no_slug_or_a_control_s_is_refused(tmp_path: Path, slug: str) -> None:
    with pytest.raises(BadInput, match=r"slug|is a control"):
        tiny_run(tmp_path, slug=slug)


def test_a_system_s_name_from_outside_makes_a_safe_slug(tmp_path: Path) -> None:
    run = tiny_run(tmp_path, system="../../Ünsafe <b>" + "x" * 90)
    assert run.run.system.slug == ("nsafe-b-" + "x" * 90)[:59] + "-rows"
    assert tiny_run(tmp_path, system="???").run.system.slug == "unnamed-rows"


def test_an_imported_run_without_its_origin_fails_verification(tmp_path: Path) -> None:
    run = tiny_run(tmp_path)
    assert any("imported" in found.where for found in verify_run(edit_head(run, imported=None)))
    run = tiny_run(tmp_path, fresh=True)
    assert any("imported" in found.where for found in verify_run(edit_head(run, isolation="files reachable")))


def test_a_model_judges_imported_answers_and_is_asked_once(tmp_path: Path, server: PickyServer) -> None:
    run = tiny_run(tmp_path, all_right(), judge())
    assert [grade.verdict for grade in run.grades()] == [True] * 4
    assert server.requests == 4
    tiny_run(tmp_path, all_right(), judge(), fresh=True)
    assert server.requests == 4
    assert holds(run)


def test_a_stopped_import_resumes_and_does_not_block_runs(tmp_path: Path, server: PickyServer) -> None:
    with pytest.raises(BudgetSpent):
        tiny_run(tmp_path, all_right(), judge(), slug="plain", system="plain", caps=["judge.tokens=1700"])
    place = tmp_path / "results" / "tiny" / "plain"
    (stopped,) = unfinished_runs(place)
    assert not sealed_runs(tmp_path / "results")
    source = file_source(plain_adapter(tmp_path))
    run_system(source, benchmark_session(), by_rules(tmp_path))
    run = tiny_run(tmp_path, all_right(), judge(), slug="plain", system="plain")
    assert run.path == stopped
    assert holds(run)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("记忆", "ゆめ"),
        ("Mem One", "mem-one"),
        ("one two three four five six seven eight nine", "one two three four five six seven eight: nine"),
    ],
)
def test_a_slug_of_another_name_is_refused_and_asks_for_a_slug(tmp_path: Path, first: str, second: str) -> None:
    tiny_run(tmp_path, system=first)
    with pytest.raises(BadInput, match="belongs to the system") as refused:
        tiny_run(tmp_path, system=second)
    assert "--slug" in str(refused.value)
    assert second not in str(refused.value) or len(second) < 20, "a long name may be benchmark text"
    tiny_run(tmp_path, system=second, slug="another")
    tiny_run(tmp_path, system=first)
    assert len(sealed_runs(tmp_path / "results")) == 2


def test_a_name_with_letters_that_look_like_others_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"looks like 'Mem One', but has other .*: --system 'Mem One'\."):
        tiny_run(tmp_path, system="M\u0435m One")
    assert not sealed_runs(tmp_path / "results")
    tiny_run(tmp_path, system="\u041f\u0430\u043c\u044f\u0442\u044c", slug="memory")


def test_a_slug_that_another_name_has_on_another_benchmark_is_refused(tmp_path: Path) -> None:
    slug = tiny_run(tmp_path, system="Mem One").run.system.slug
    (tmp_path / "results" / "tiny").rename(tmp_path / "results" / "other")
    with pytest.raises(BadInput, match=f"'{slug}' belongs to the system 'Mem One'"):
        tiny_run(tmp_path, system="mem one")


def test_imported_answers_can_be_judged_again_and_stay_imported(tmp_path: Path, server: PickyServer) -> None:
    run = tiny_run(tmp_path)
    again = regrade_run(run, judge(), regrading(tmp_path))
    assert again.run.imported == run.run.imported
    assert trust_of(again, ()).answers is AnswerTrust.IMPORTED
    assert holds(again)


def test_a_format_supports_only_its_benchmarks(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="'locomo' does not support deepmemeval@1"):
        open_benchmark_for(find_format("locomo"), tmp_path, "deepmemeval@1")
    with pytest.raises(BadInput, match="unknown benchmark 'lokomo'"):
        open_benchmark_for(find_format("locomo"), tmp_path, "lokomo")
