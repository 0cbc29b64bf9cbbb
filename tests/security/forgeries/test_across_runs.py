"""Forgeries that only other runs show: answers under another name, repetitions that are copies, scores too good."""

import json
import random
import shutil
import zlib
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from memeval.archive.ledger import Ledger
from memeval.archive.runs import RunFolder
from memeval.cli.main import main
from memeval.evaluation.verify.stored_results import checks_of_results
from memeval.leaderboard.board import Board, BoardRow, RankStatus, build_board
from memeval.leaderboard.marks import MarkName
from memeval.records.errors import ExitCode
from memeval.records.ledger import AnswerTrust, LedgerEvent
from memeval.records.run import SystemKind, View
from memeval.site.table.flags import BY_SUBMITTER, RowFlag, observer
from tests.support.forging import Forger, Json, stored_run
from tests.support.runs import make_run, make_track
from tests.support.standing import made_up

CHROMA = "astrocyte-basic/chroma"
"""A small run of a vector store: 20 searches."""


@pytest.fixture
def original(tmp_path: Path) -> RunFolder:
    """A copy of the stored run, in the results folder of the test."""
    stored = stored_run(CHROMA)
    return RunFolder(Path(shutil.copytree(stored.path, tmp_path / CHROMA / stored.path.name)))


def board_of(results: Path, *folders: RunFolder) -> Board:
    return build_board([RunFolder(folder.path) for folder in folders], Ledger(results))


def row_of(board: Board, folder: RunFolder) -> BoardRow:
    (row,) = [row for row in board.runs if row.folder.path == folder.path]
    return row


def marks_of(row: BoardRow) -> list[MarkName]:
    return [mark.name for mark in row.marks]


def renamed(original: RunFolder, results: Path, change: Callable[[Json], object] = lambda _row: None) -> RunFolder:
    """Forge a run of 'acme' from another system's run, as if started a minute later, and change its responses."""
    forger = Forger.of(original, results)
    started = datetime.fromisoformat(forger.head["timing"]["started"]) + timedelta(minutes=1)
    forger.head["timing"]["started"] = started.isoformat(timespec="milliseconds")
    forger.system.update(slug="acme", name="Acme", submission_digest="sha256:" + 64 * "a")
    for row in forger.responses:
        change(row)
    forged = forger.seal()
    made_up(forged.run)
    return forged


def later(row: Json, seconds: float = 3600.0) -> None:
    """Give a response another clock, with the same durations."""
    started = datetime.fromisoformat(row["timings"]["started"]) + timedelta(seconds=seconds)
    row["timings"]["started"] = started.isoformat(timespec="milliseconds")


def scale(row: Json, factor: Callable[[], float] | float) -> None:
    for name, value in row["timings"].items():
        if name.endswith("_seconds") and isinstance(value, float):
            row["timings"][name] = value * (factor if isinstance(factor, float) else factor())


def new_durations(row: Json) -> None:
    """Give a response durations that nothing gave away before."""
    dice = random.Random(row["question_id"])
    scale(row, lambda: dice.uniform(0.8, 1.2))


# -- another system's answers ------------------------------------------------------------------------------------


def test_answers_of_one_system_under_another_name_have_no_rank(tmp_path: Path, original: RunFolder) -> None:
    forged = renamed(original, tmp_path, new_durations)
    board = board_of(tmp_path, original, forged)
    row = row_of(board, forged)
    assert (row.standing, row.rank) == (RankStatus.UNREVIEWED, None)
    (mark,) = row.marks
    assert mark.name is MarkName.COPIED_RESPONSES
    assert mark.sentence.startswith(f"20 of 20 responses equal those of chroma (run {original.run.run_id})")
    assert row_of(board, original).marks == ()
    assert row_of(board, original).standing is RankStatus.RANKED


def test_nobody_loses_a_rank_by_being_copied_with_an_earlier_clock(tmp_path: Path, original: RunFolder) -> None:
    forger = Forger.of(original, tmp_path)
    forger.system.update(slug="acme", name="Acme")
    forger.head["timing"]["started"] = "2026-01-01T00:00:00.000+00:00"
    forged = forger.seal()
    Ledger(tmp_path).append(LedgerEvent.ACCEPTED, original, by="Ada", reason="first")
    board = board_of(tmp_path, forged, original)
    assert marks_of(row_of(board, original)) == []
    assert marks_of(row_of(board, forged)) == [MarkName.COPIED_RESPONSES]


def no_sources(row: Json) -> None:
    for item in row["items"]:
        item["source_ids"] = []


def own_sources(row: Json) -> None:
    for place, item in enumerate(row["items"]):
        item.update(source_ids=[f"m{place}"], score=1.0 - place / 10)


def reversed_items(row: Json) -> None:
    row["items"].reverse()


@pytest.mark.parametrize("change", [no_sources, own_sources, reversed_items])
def test_a_copy_with_other_ids_or_another_order_is_marked(
    tmp_path: Path, original: RunFolder, change: Callable[[Json], None]
) -> None:
    def edit(row: Json) -> None:
        new_durations(row)
        change(row)

    forged = renamed(original, tmp_path, edit)
    row = row_of(board_of(tmp_path, original, forged), forged)
    assert set(marks_of(row)) & {MarkName.COPIED_RESPONSES, MarkName.ALIKE}


def test_one_run_in_two_folders_is_found(tmp_path: Path, original: RunFolder) -> None:
    Ledger(tmp_path).append(LedgerEvent.ACCEPTED, original, by="Ada", reason="first")
    copy = Path(shutil.copytree(original.path, tmp_path / "astrocyte-basic" / "acme" / original.path.name))
    found = " ".join(str(finding) for check in checks_of_results(tmp_path) for finding in check.findings)
    home = f"{CHROMA}/{original.run.run_id}"
    assert f"{copy}: the run belongs in {home}, not in astrocyte-basic/acme/{original.run.run_id}." in found
    assert f"has the same id {original.run.run_id}. Remove one of them" in found


def test_clocks_that_were_all_set_back_are_the_runners_word(tmp_path: Path, original: RunFolder) -> None:
    forger = Forger.of(original, tmp_path / "forged")
    for row in forger.responses:
        later(row, -200 * 86_400.0)
    timing = forger.head["timing"]
    for name in ("started", "ended"):
        set_back = datetime.fromisoformat(timing[name]) - timedelta(days=200)
        timing[name] = set_back.isoformat(timespec="milliseconds")
    forger.head["run_id"] = f"{set_back:%Y%m%dT%H%M%SZ}-"
    forged = forger.seal()
    shown = row_of(board_of(tmp_path, forged), forged)
    assert observer(shown) == BY_SUBMITTER and shown.trust.answers is AnswerTrust.SELF_RUN


def rescored(row: Json, change: float) -> None:
    for item in row["items"]:
        item["score"] = (item["score"] or 0.0) + change


def improved_in_part(row: Json) -> None:
    new_durations(row)
    if zlib.crc32(row["question_id"].encode()) % 3 == 0:
        row["items"] = row["items"][:1]


COPY = MarkName.COPIED_RESPONSES, RankStatus.UNREVIEWED


@pytest.mark.parametrize(
    ("disguise", "found"),
    [
        pytest.param((improved_in_part,), COPY, id="better answers in a part"),
        pytest.param((lambda row: row["items"].reverse(),), COPY, id="other answers with the durations of another run"),
        pytest.param((lambda row: scale(row, 1.7), lambda row: rescored(row, 1e-9)), COPY, id="last digits of scores"),
        pytest.param((lambda row: scale(row, 1.7), lambda row: rescored(row, 0.01)), COPY, id="scores, scaled clocks"),
        # Two honest systems with one embedding model look like this.
        pytest.param((new_durations, lambda row: rescored(row, 0.001)), (MarkName.ALIKE, RankStatus.RANKED), id="both"),
    ],
)
def test_a_copy_has_no_rank_unless_its_scores_and_its_clocks_were_made_up(
    tmp_path: Path,
    original: RunFolder,
    disguise: tuple[Callable[[Json], None], ...],
    found: tuple[MarkName, RankStatus],
) -> None:
    forged = renamed(original, tmp_path, lambda row: [change(row) for change in disguise])
    row = row_of(board_of(tmp_path, original, forged), forged)
    assert (marks_of(row), row.standing) == ([found[0]], found[1])


@pytest.mark.parametrize(("name", "protocol"), [("beliefs/bm25", "judge"), ("lifecycle/bm25", "search")])
def test_a_control_under_another_name_is_a_copy_of_the_control(tmp_path: Path, name: str, protocol: str) -> None:
    control = stored_run(name, protocol)
    assert control.run.track.protocol == protocol
    forger = Forger.of(control, tmp_path)
    forger.system.update(slug="acme", name="Acme", kind="submission")
    forger.head["timing"]["started"] = "2020-01-01T00:00:00.000+00:00"
    forged = forger.seal()
    row = row_of(board_of(tmp_path, forged, control), forged)
    assert (marks_of(row), row.standing) == ([MarkName.COPIED_RESPONSES], RankStatus.NO_SOURCE)
    assert "equal those of bm25" in row.marks[0].sentence


def test_a_review_ends_the_mark_until_the_run_is_edited(tmp_path: Path, original: RunFolder) -> None:
    forged = renamed(original, tmp_path)
    Ledger(tmp_path).append(LedgerEvent.REVIEWED, forged, by="Ada", reason="the same product under its new name")
    row = row_of(board_of(tmp_path, original, forged), forged)
    assert (row.marks, row.standing) == ((), RankStatus.RANKED)
    (forged.path / "run.json").write_bytes(forged.head_bytes + b"\n")
    row = row_of(board_of(tmp_path, original, forged), forged)
    assert (marks_of(row), row.standing) == ([MarkName.COPIED_RESPONSES], RankStatus.UNREVIEWED)


def test_honest_runs_of_the_repository_have_no_mark_that_bars_them() -> None:
    names = {"beliefs": ("chroma", "minilm", "bm25s", "bm25"), "deepmemeval": ("memorycd-long-context", "full-context")}
    folders = [
        stored_run(f"{benchmark}/{name}", tier="full") for benchmark, systems in names.items() for name in systems
    ]
    tracks = {(run.track.benchmark, run.track.data_digest, run.track.reader) for run in (each.run for each in folders)}
    assert len(tracks) == len(names), "only runs on one track are compared"
    board = board_of(folders[0].path, *folders)
    found = {row.run.system.slug: marks_of(row) for row in board.runs}
    assert found.pop("chroma") + found.pop("minilm") == [MarkName.ALIKE], "they share the embedding model"
    assert not any(found.values())


# -- repetitions -------------------------------------------------------------------------------------------------


def repetition(original: RunFolder, results: Path, factor: float, change: Callable[[Json], None] = later) -> RunFolder:
    """Forge a second run of the same system an hour later, with durations times a factor."""
    forger = Forger.of(original, results)
    for row in forger.responses:
        change(row)
        scale(row, factor)
    head = forger.head
    head["timing"]["started"] = "2026-11-22T23:00:00.000+00:00"
    head["run_id"] = "20261122T230000Z-" + head["fingerprint"][:8]
    return forger.seal()


@pytest.mark.parametrize("factor", [1.0, 1.000001, 1.07, 0.01])
def test_a_repetition_with_shifted_or_scaled_clocks_is_a_copied_run(
    tmp_path: Path, original: RunFolder, factor: float
) -> None:
    copy = repetition(original, tmp_path, factor)
    Ledger(tmp_path).append(LedgerEvent.REPEATED, original, by="Ada", reason="again", other=copy)
    board = board_of(tmp_path, original, copy)
    row = row_of(board, copy)
    assert (marks_of(row), row.standing) == ([MarkName.COPIED_RUN], RankStatus.UNREVIEWED)
    assert f"Its durations are those of run {original.run.run_id}" in row.marks[0].sentence
    assert row_of(board, original).marks == ()
    assert row_of(board, original).trust.answers is not AnswerTrust.REPEATED


def test_the_ledger_takes_no_copy_as_a_repetition(
    tmp_path: Path, original: RunFolder, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = repetition(original, tmp_path, 1.07)
    words = ["ledger", "repeat", str(original.path), str(copy.path), "--reason", "again", "--results", str(tmp_path)]
    monkeypatch.setattr("sys.argv", ["memeval", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == ExitCode.BAD_INPUT
    assert "share durations, so one was made from the other." in capsys.readouterr().err
    assert Ledger(tmp_path).entries() == []


def test_a_repetition_with_durations_of_its_own_is_the_runners_word(tmp_path: Path, original: RunFolder) -> None:
    def change(row: Json) -> None:
        later(row)
        new_durations(row)

    copy = repetition(original, tmp_path, 1.0, change)
    Ledger(tmp_path).append(LedgerEvent.REPEATED, original, by="Ada", reason="again", other=copy)
    board = board_of(tmp_path, original, copy)
    assert row_of(board, copy).marks == ()
    assert row_of(board, original).trust.answers is AnswerTrust.REPEATED


# -- scores too good ---------------------------------------------------------------------------------------------


def scored(results: Path, slug: str, right: int, **more: object) -> RunFolder:
    return make_run(results, slug, {"kept": right, "changed": right}, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(("right", "mark"), [(29, []), (30, [MarkName.EQUAL_TO_ORACLE]), (31, [MarkName.ABOVE_ORACLE])])
def test_a_run_not_below_the_oracle_control_is_marked_and_ranked(
    tmp_path: Path, right: int, mark: list[MarkName]
) -> None:
    oracle = scored(tmp_path, "oracle", 30, kind=SystemKind.CONTROL, view=View.EVIDENCE)
    row = row_of(board_of(tmp_path, oracle, run := scored(tmp_path, "acme", right)), run)
    assert marks_of(row) == mark
    assert row.standing is RankStatus.RANKED


def test_template_rules_and_a_lookup_table_are_marked(tmp_path: Path) -> None:
    rules = make_run(tmp_path, "rules", {"kept": 50, "changed": 45})
    table = scored(tmp_path, "table", 50)
    close = make_run(tmp_path, "close", {"kept": 48, "changed": 47})
    good = make_run(tmp_path, "good", {"kept": 48, "changed": 45})
    board = board_of(tmp_path, rules, table, close, good)
    found = {row.run.system.slug: marks_of(row) for row in board.runs}
    few = [MarkName.HARDLY_ANY_ERRORS]
    assert found == {"rules": few, "table": few, "close": few, "good": []}
    assert "At least 99 % are correct in: kept." in row_of(board, rules).marks[0].sentence
    assert (
        "No control that could show whether this is easy has a complete run" in row_of(board, close).marks[0].sentence
    )
    assert "The score is 95.0 %." in row_of(board, close).marks[0].sentence


def test_what_a_control_answers_without_errors_marks_nobody(tmp_path: Path) -> None:
    run = scored(tmp_path, "acme", 50)
    control = scored(tmp_path, "full-context", 50, kind=SystemKind.CONTROL)
    assert row_of(board_of(tmp_path, run, control), run).marks == ()


@pytest.mark.parametrize(
    ("control", "done", "said"),
    [("bm25", None, False), ("bm25", 40, True), ("knows-the-answers", None, True), (None, None, True)],
)
def test_a_run_without_errors_says_whether_a_control_shows_that_it_is_easy(
    tmp_path: Path, control: str | None, done: int | None, said: bool
) -> None:
    runs = [run := scored(tmp_path, "acme", 50)]
    if control:
        runs.append(scored(tmp_path, control, 30, kind=SystemKind.CONTROL, done=done))
    (mark,) = row_of(board_of(tmp_path, *runs), run).marks
    assert mark.name is MarkName.HARDLY_ANY_ERRORS
    assert ("No control that could show whether this is easy" in mark.sentence) is said
    assert mark.sentence.endswith("The rules or the answers of the benchmark may be built in.")


@pytest.mark.parametrize(("slug", "view"), [("expected-turns", View.TURNS), ("oracle", View.EVIDENCE)])
def test_what_only_a_control_with_the_answer_key_gets_right_is_not_easy(tmp_path: Path, slug: str, view: View) -> None:
    run = scored(tmp_path, "acme", 50)
    control = scored(tmp_path, slug, 50, kind=SystemKind.CONTROL, view=view)
    assert MarkName.HARDLY_ANY_ERRORS in marks_of(row_of(board_of(tmp_path, run, control), run))


def test_a_run_that_carries_over_the_rows_of_another_is_no_repetition_of_it(
    tmp_path: Path, original: RunFolder
) -> None:
    forger = Forger.of(original, tmp_path)
    again = json.loads(json.dumps(forger.responses[0])) | {"attempt": 2}
    forger.responses[0] |= {"outcome": "timeout", "answer": "", "items": None, "error": "no reply"}
    forger.responses.insert(1, again)
    forger.head["timing"]["started"] = "2026-11-22T23:00:00.000+00:00"
    forger.head["run_id"] = "20261122T230000Z-" + forger.head["fingerprint"][:8]
    copy = forger.seal()
    Ledger(tmp_path).append(LedgerEvent.REPEATED, original, by="Ada", reason="again", other=copy)
    row = row_of(board_of(tmp_path, original, copy), original)
    assert row.trust.answers is not AnswerTrust.REPEATED


def test_few_items_without_an_error_mark_nobody(tmp_path: Path) -> None:
    run = make_run(tmp_path, "acme", {"kept": 19, "changed": 15}, track=make_track(19))
    assert row_of(board_of(tmp_path, run), run).marks == ()


def test_a_mark_on_a_row_is_a_warning_on_its_page() -> None:
    assert RowFlag(MarkName.COPIED_RUN.value, "").name == "copied run"
