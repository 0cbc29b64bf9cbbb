"""The commands of the archive as users meet them: what is printed, what is on disk, and the exit code."""

import gzip
import json
import re
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memeval import api
from memeval.archive.ledger import Ledger
from memeval.archive.remote import automatic
from memeval.archive.remote.automatic import QUEUE, enqueue, queued_runs
from memeval.archive.remote.index import listed_heads
from memeval.archive.remote.layout import INDEX, row_key
from memeval.archive.remote.pruning import PrunePlan, plan_pruning, prune
from memeval.archive.remote.pushing import PushState
from memeval.archive.rows import cache_path
from memeval.archive.runs import RunFolder, sealed_runs
from memeval.leaderboard.board import RankStatus
from memeval.leaderboard.releases import frozen
from memeval.objects import ObjectStore
from memeval.records.errors import CheckFailed, ExitCode
from memeval.records.ledger import LedgerEvent
from memeval.site.model.content import read_site
from memeval.site.model.files import Asset, file_bytes
from memeval.site.pages.publisher import publishers
from tests.support.archives import contents, push, small_run
from tests.support.calling import Call
from tests.support.forging import RESULTS


@pytest.fixture
def board(tmp_path: Path) -> Path:
    """Configure the archive of the board in the test's folder, and return its results folder."""
    (tmp_path / "memeval.toml").write_text('[archive]\nto = "archive"\n')
    return tmp_path / "results"


def test_push_list_pull_and_verify_say_what_they_did(call: Call, board: Path, tmp_path: Path) -> None:
    run = small_run(board)
    name = f"made-up/tiny/{run.path.name}"
    code, out, err = call("archive", "push", "--all")
    assert (code, err) == (0, "")
    assert re.fullmatch(rf"pushed {name}  (\d kB)\n1 run pushed \(\1\), 0 already there\.\n", out)
    assert call("archive", "push", run.path.name)[1] == "0 runs pushed (0 kB), 1 already there.\n"
    _code, out, _err = call("archive", "list")
    assert out.splitlines()[1].split() == [run.path.name, "made-up@1", "tiny", "2026-11-01", "0.0", "complete", "yes"]
    (entry,) = json.loads(call("archive", "list", "--json")[1])
    assert (entry["complete"], entry["in_results"], entry["digest"]) == (True, True, run.digest)
    kept = contents(run.path)
    shutil.rmtree(board)
    assert re.match(rf"pulled {name}  \d kB\n1 run pulled", call("archive", "pull", "--system", "tiny")[1])
    assert contents(run.path) == kept
    code, out, _err = call("archive", "verify")
    assert code == 0
    assert re.fullmatch(rf"{re.escape(str(tmp_path / 'archive'))}: 1 run, 4 row files, \d kB\.\n", out)


def test_a_damaged_object_is_named_and_the_exit_code_is_1(call: Call, board: Path, tmp_path: Path) -> None:
    run = small_run(board)
    call("archive", "push", "--all")
    key = row_key(run.run.files["grades.jsonl"].digest)
    (tmp_path / "archive" / key).write_bytes(gzip.compress(b"{}\n"))
    code, _out, err = call("archive", "verify")
    assert code == ExitCode.CHECK_FAILED
    assert f"memeval: {tmp_path / 'archive' / key}: the rows are damaged" in err
    assert "memeval: 1 problem, listed above." in err
    shutil.rmtree(board)
    code, out, err = call("archive", "pull", "--all")
    assert (code, out) == (ExitCode.CHECK_FAILED, "0 runs pulled (0 kB), 0 already here.\n")
    assert key in err


def test_a_wrong_call_says_what_to_name(call: Call, board: Path) -> None:
    assert call("archive", "push") == (2, "", "memeval: no runs are named. Name runs, or give --all or --queued.\n")
    assert "Name runs, a filter such as --system, or --all." in call("archive", "pull")[2]
    (board.parent / "archive").mkdir()
    assert (
        "the archive has no such run 20261101T100000-00000000" in call("archive", "pull", "20261101T100000-00000000")[2]
    )
    assert "'../x' is not a version." in call("archive", "pull", "--release", "../x")[2]
    shutil.rmtree(board.parent / "archive")
    assert (
        "archive: there is no archive here. Correct its name, or push runs into it first."
        in call("archive", "verify")[2]
    )
    (board.parent / "memeval.toml").unlink()
    code, _out, err = call("archive", "list")
    assert code == 2
    assert "no archive is configured. Name it with --to or MEMEVAL_ARCHIVE, or as 'to' in section [archive]" in err


def test_a_run_whose_rows_are_only_in_the_archive_is_verified_reproduced_and_shown_as_before(
    call: Call, board: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    stored = RESULTS / "astrocyte-basic" / "bm25s" / "20261122T120133Z-4f234051"
    run = board / Path(*stored.parts[-3:])
    shutil.copytree(stored, run)
    before = call("verify")[:2], call("reproduce", str(run)), _pages(board)
    code, out, _err = call("archive", "push", "--all", "--thin", "--over", "0")
    assert code == 0 and "rows only in the archive: astrocyte-basic/bm25s/20261122T120133Z-4f234051" in out
    assert [path.name for path in run.iterdir()] == ["run.json"]
    shutil.rmtree(tmp_path / "cache")
    assert (call("verify")[:2], call("reproduce", str(run)), _pages(board)) == before
    shutil.rmtree(tmp_path / "cache")
    monkeypatch.setenv("MEMEVAL_ARCHIVE_DISABLE", "1")
    code, out, err = call("verify")
    assert code == ExitCode.CHECK_FAILED
    assert "5 row files are not here, and MEMEVAL_ARCHIVE_DISABLE is set. Unset it to fetch them" in err
    monkeypatch.delenv("MEMEVAL_ARCHIVE_DISABLE")
    (tmp_path / "memeval.toml").unlink()
    assert "5 row files are not here, and no archive is configured. Name it with MEMEVAL_ARCHIVE" in call("verify")[2]


def _pages(results: Path) -> dict[str, object]:
    """Return what the pages of runs and items show, without the rest of the site."""
    site = read_site(results)
    shown = [each for each in publishers() if each.name in ("runs", "items")]
    files = [file for publisher in shown for file in publisher.publish(site)]
    return {
        (file.path if isinstance(file, Asset) else file.url): file_bytes(file) if isinstance(file, Asset) else file
        for file in files
    } | {f"{len(files)} files": None}


def test_rows_elsewhere_keep_a_run_from_its_rank_until_they_are_fetched(
    store: ObjectStore, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    stored = RESULTS / "beliefs" / "bm25s"
    run = tmp_path / "results" / "beliefs" / "bm25s" / sorted(stored.iterdir())[-1].name
    shutil.copytree(stored / run.name, run)
    push(store, RunFolder(run))
    for path in run.glob("*.gz"):
        path.unlink()

    def standing() -> RankStatus:
        (row,) = api.board(tmp_path / "results").runs
        return row.standing

    assert standing() is RankStatus.ROWS_ELSEWHERE
    monkeypatch.setenv("MEMEVAL_ARCHIVE", store.url)
    assert automatic.fetch_missing([RunFolder(run)]) == []
    assert standing() is RankStatus.RANKED


def test_a_run_without_a_results_folder_above_it_has_no_archive() -> None:
    assert automatic.fetch_missing([RunFolder(Path("/data/run"))]) == []


def test_damaged_rows_in_the_cache_are_fetched_again(
    store: ObjectStore, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    run = small_run(tmp_path / "results")
    push(store, run)
    monkeypatch.setenv("MEMEVAL_ARCHIVE", store.url)
    kept = run.file("grades.jsonl").read_bytes()
    run.file("grades.jsonl").unlink()
    automatic.fetch_missing([run])
    cached = cache_path(run.run.files["grades.jsonl"].digest)
    assert run.file("grades.jsonl") == cached
    cached.write_bytes(gzip.compress(b"{}\n"))
    assert run.file("grades.jsonl") != cached
    assert api.load_run(run.path).file("grades.jsonl") == cached
    assert cached.read_bytes() == kept


def test_rows_are_deleted_here_only_after_the_archive_gave_them_back(call: Call, board: Path, tmp_path: Path) -> None:
    run = small_run(board)
    call("archive", "push", "--all")
    key = row_key(run.run.files["grades.jsonl"].digest)
    (tmp_path / "archive" / key).write_bytes(gzip.compress(b"{}\n"))
    before = contents(run.path)
    code, _out, err = call("archive", "push", "--all", "--thin", "--over", "0")
    assert code == ExitCode.CHECK_FAILED and "the rows are damaged" in err
    assert contents(run.path) == before


def test_a_finished_run_is_pushed_and_a_failed_push_is_queued_and_tried_again(
    call: Call, board: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    small = ("run", "no-memory", "--benchmark", "beliefs@2", "--parameter", "size=1")
    (tmp_path / "file").touch()
    monkeypatch.setenv("MEMEVAL_ARCHIVE", str(tmp_path / "file" / "archive"))
    code, out, err = call(*small, "--push")
    assert code == 0 and out.startswith("results/beliefs/no-memory/")
    assert "memeval: not archived, queued for the next push: " in err
    (queued,) = queued_runs(board)
    assert queued.path == sealed_runs(board)[0].path
    monkeypatch.delenv("MEMEVAL_ARCHIVE")
    assert "1 run pushed" in call("archive", "push", "--queued")[1]
    assert queued_runs(board) == [] and not (board / QUEUE).exists()
    (board.parent / "memeval.toml").write_text('[archive]\nto = "other"\nafter_run = true\n')
    assert call(*small)[0] == 0
    assert (tmp_path / "other" / INDEX).exists()


def test_a_push_after_a_run_needs_an_archive_before_the_run_starts(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("run", "no-memory", "--benchmark", "beliefs@2", "--parameter", "size=1", "--push")
    assert call(*words).fails("no archive is configured. Name it with MEMEVAL_ARCHIVE")
    assert not (tmp_path / "results").exists()
    monkeypatch.setenv("MEMEVAL_ARCHIVE_DISABLE", "1")
    assert not automatic.pushes_after_run(tmp_path / "results", True)


def test_doctor_names_a_configured_archive_only(call: Call, board: Path, tmp_path: Path) -> None:
    assert f"Archive: {tmp_path / 'archive'}, refuses overwriting\n" in call("doctor")[1]
    (tmp_path / "memeval.toml").unlink()
    assert "Archive:" not in call("doctor")[1]


def test_the_queue_outlives_a_writer_that_was_killed_and_leads_nowhere_else(board: Path) -> None:
    one, two = small_run(board, "one"), small_run(board, "two")
    enqueue(board, one, "the bucket does not exist.")
    with (board / QUEUE).open("a") as stream:
        stream.write('{"schema_version":1,"run":"../../etc/passwd","at":"x","problem":"x"}\n{"schema_ver')
    enqueue(board, two, "the bucket does not exist.")
    enqueue(board, two, "the bucket does not exist.")
    assert [folder.path for folder in queued_runs(board)] == [one.path, two.path]


def test_prune_deletes_ended_runs_and_old_orphans_but_nothing_that_a_release_or_a_kept_run_needs(
    store: ObjectStore, tmp_path: Path
) -> None:
    results = tmp_path / "results"
    ended, released, kept, thin = (small_run(results, slug) for slug in ("ended", "released", "kept", "thin"))
    push(store, ended, released, kept, thin)
    store.create(row_key("sha256:" + "0" * 64), b"orphan")
    for run in (released, ended, thin):
        Ledger(results).append(LedgerEvent.INVALIDATED, run, by="test", reason="made for a test")
    other = tmp_path / "other"
    shutil.copytree(released.path, other / Path(*released.path.parts[-3:]))
    release, _ = frozen(api.board(other), other, "2026.1", "0.1.0")
    store.create("releases/2026.1.json", release.to_json().encode())
    thin.file("grades.jsonl").unlink()
    assert plan_pruning(store, results, 1).runs == []
    plan = plan_pruning(store, results, 1, datetime.now(UTC) + timedelta(days=2))
    assert [(key.slug, reason) for key, reason in plan.runs] == [("ended", "invalidated")]
    assert sorted((key.slug, reason) for key, reason in plan.kept) == [
        ("released", "release 2026.1 rests on it"),
        ("thin", f"{results} has no rows of it"),
    ]
    # Grades and logs are shared with kept runs.
    assert {row.key for row in plan.rows} == {
        row_key("sha256:" + "0" * 64),
        *(row_key(ended.run.files[name].digest) for name in ("responses.jsonl", "contexts.jsonl")),
    }
    prune(store, plan)
    assert sorted(head.slug for head in listed_heads(store)) == ["kept", "released", "thin"]
    outcomes = push(store, released, kept)
    assert [each.state for each in outcomes] == [PushState.PRESENT] * 2


def test_prune_refuses_an_archive_in_which_no_run_is_listed(store: ObjectStore, tmp_path: Path) -> None:
    push(store, small_run(tmp_path / "results"))
    store.delete(listed_heads(store)[0].key)
    with pytest.raises(CheckFailed, match=r"lists rows but no run\. Run memeval archive verify"):
        plan_pruning(store, tmp_path / "results", 1)


def test_prune_keeps_the_rows_of_runs_on_another_disk(store: ObjectStore, tmp_path: Path) -> None:
    push(store, *(small_run(tmp_path / "results", slug) for slug in ("one", "two")))
    linked = tmp_path / "archive" / "runs" / "made-up" / "one"
    linked.rename(tmp_path / "other disk")
    linked.symlink_to(tmp_path / "other disk")
    assert plan_pruning(store, tmp_path / "results", 1, datetime.now(UTC) + timedelta(days=60)) == PrunePlan()


def test_prune_without_yes_deletes_nothing(call: Call, board: Path, tmp_path: Path) -> None:
    small_run(board)
    call("archive", "push", "--all")
    before = contents(tmp_path / "archive")
    assert call("archive", "prune")[1] == "would delete 0 runs and 0 row files (0 kB). Add --yes to delete.\n"
    assert contents(tmp_path / "archive") == before
    call("archive", "prune", "--yes")
    assert contents(tmp_path / "archive") == before


def test_pull_of_a_release_names_the_runs_that_the_archive_lacks(call: Call, board: Path) -> None:
    one, two = small_run(board, "one"), small_run(board, "two")
    release, _ = frozen(api.board(board), board, "2026.1", "0.1.0")
    (board / "releases").mkdir()
    (board / "releases" / "2026.1.json").write_text(release.to_json())
    call("archive", "push", one.path.name, "--all")
    (head,) = (board.parent / "archive" / "runs" / "made-up" / "two").rglob("*.json")
    head.unlink()
    shutil.rmtree(board)
    code, out, err = call("archive", "pull", "--release", "2026.1")
    assert code == ExitCode.CHECK_FAILED and "pulled made-up/one/" in out
    assert f"run {two.path.name} of release 2026.1 is missing." in err
