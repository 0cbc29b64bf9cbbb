"""Two clones add lines to one ledger: merged by Git or by memeval, nothing is lost, and what is hostile is refused."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from memeval import api
from memeval.archive import ledger as ledger_module
from memeval.archive.ledger import Ledger
from memeval.archive.runs import sealed_runs
from memeval.archive.signatures import SignatureState, Signers
from memeval.records.base import canonical_json, digest_bytes
from memeval.records.errors import BadInput
from memeval.records.ledger import LedgerEvent, Runner
from memeval.site.release import staging
from memeval.site.release.publish import publish
from memeval.site.release.targets import FolderTarget
from tests.support.boards import add_run, small_build
from tests.support.calling import Call
from tests.support.commands import ROOT
from tests.support.signing import make_key, needs_ssh_keygen, signer

LINES = 40


def git(folder: Path, *words: str) -> str:
    names = {f"GIT_{who}_{what}": "tester" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    done = subprocess.run(
        ["git", "-c", "init.defaultBranch=main", *words],
        cwd=folder,
        env={**os.environ, **names},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def commit(board: Path, what: str) -> None:
    git(board, "add", "-A")
    git(board, "commit", "-qm", what)


def add_lines(board: Path, by: str, number: int = LINES, key: Path | None = None) -> None:
    ledger, runs = Ledger(board / "results", key), sealed_runs(board / "results")
    for place in range(number):
        ledger.append(LedgerEvent.REPLIED, runs[place % len(runs)], by=by, reason=f"line {place} of {by}")


def add_to_both(clones: tuple[Path, Path], number: int, key: Path | None = None) -> None:
    for board, name in zip(clones, ("Ada", "Bob"), strict=True):
        add_lines(board, name, number, key)


@pytest.fixture
def clones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, Path]:
    """Two clones of a board whose run was accepted."""
    monkeypatch.setattr(staging, "build", small_build)
    board = tmp_path / "origin"
    add_run(board / "results", "no-memory")
    run = sealed_runs(board / "results")[0]
    Ledger(board / "results").append(
        LedgerEvent.ACCEPTED, run, by="Ada", reason="it verifies", runner=Runner.MAINTAINER
    )
    shutil.copyfile(ROOT / "templates" / "board" / "gitattributes", board / ".gitattributes")
    git(board, "init", "-q")
    commit(board, "start")
    for name in ("ada", "bob"):
        git(tmp_path, "clone", "-q", str(board), name)
    return tmp_path / "ada", tmp_path / "bob"


def reasons(board: Path) -> set[str]:
    return {entry.reason for entry in Ledger(board / "results").entries()}


def test_forty_lines_each_way_are_merged_by_git_verified_and_published(
    clones: tuple[Path, Path], tmp_path: Path
) -> None:
    ada, bob = clones
    for board, name in ((ada, "Ada"), (bob, "Bob")):
        add_lines(board, name)
        commit(board, name)
    git(bob, "branch", "before")
    git(bob, "pull", "-q", "--no-rebase", "--no-edit", str(ada), "main")
    git(ada, "pull", "-q", "--no-rebase", "--no-edit", str(bob), "before")
    ours, theirs = (Ledger(board / "results") for board in clones)
    assert len(ours.entries()) == 1 + 2 * LINES
    assert ours.entries() == theirs.entries()
    assert ours.digest() == theirs.digest(), "whoever merges"
    for board in clones:
        assert api.verify(board / "results") == []
        list(publish(board / "results", FolderTarget(board / "public"), version="1", by="tester"))
        assert api.verify(board / "results") == []
        released = Ledger(board / "results").entries()[-1]
        assert (released.event, len(released.joins)) == (LedgerEvent.RELEASED, 1), "it follows both clones"
    shutil.rmtree(ada / "public")
    commit(ada, "released")
    add_lines(ada, "Ada again", 3)
    commit(ada, "more")
    other = tmp_path / "carol"
    git(tmp_path, "clone", "-q", str(tmp_path / "origin"), "carol")
    add_lines(other, "Carol", 3)
    commit(other, "Carol")
    git(ada, "pull", "-q", "--no-rebase", "--no-edit", str(other), "main")
    assert reasons(ada) >= {"line 2 of Carol", "line 2 of Ada again", "line 39 of Bob"}
    list(publish(ada / "results", FolderTarget(ada / "public"), version="2", by="tester"))
    list(publish(ada / "results", FolderTarget(ada / "public"), version="1", by="tester"))
    assert api.verify(ada / "results") == []


def test_clones_of_a_merged_ledger_both_go_on_and_are_merged_again(clones: tuple[Path, Path]) -> None:
    ada, bob = clones
    for board, name in ((ada, "Ada"), (bob, "Bob")):
        add_lines(board, name, 2)
        commit(board, name)
    git(ada, "pull", "-q", "--no-rebase", "--no-edit", str(bob), "main")
    git(bob, "pull", "-q", "--no-rebase", "--no-edit", str(ada), "main")
    for board, name in ((ada, "Ada again"), (bob, "Bob again")):
        add_lines(board, name, 2)
        commit(board, name)
        assert api.verify(board / "results") == []
    git(ada, "pull", "-q", "--no-rebase", "--no-edit", str(bob), "main")
    git(bob, "pull", "-q", "--no-rebase", "--no-edit", str(ada), "main")
    assert api.verify(ada / "results") == []
    ours, theirs = (Ledger(board / "results") for board in clones)
    assert len(ours.entries()) == 9 and ours.digest() == theirs.digest()
    add_lines(ada, "Ada at last", 1)
    last = ours.entries()[-1]
    assert len({last.previous, *last.joins}) == 2


def test_memeval_merges_what_git_does_not(clones: tuple[Path, Path]) -> None:
    ada, bob = (board / "results" for board in clones)
    add_to_both(clones, 5)
    before = Ledger(ada).path.read_bytes()
    assert (Ledger(ada).merge(Ledger(bob)), Ledger(bob).merge(Ledger(ada))) == (5, 5)
    assert set(before.splitlines()) < set(Ledger(ada).path.read_bytes().splitlines())
    assert Ledger(ada).path.read_bytes() == Ledger(bob).path.read_bytes()
    assert Ledger(ada).merge(Ledger(bob)) == 0
    states = Ledger(ada).states()
    assert digest_bytes(before) in states, "a release that was frozen in the clone still finds its ledger"
    assert Ledger(ada).until(digest_bytes(before)).digest() == digest_bytes(before)
    add_lines(clones[0], "Ada", 1)
    last = Ledger(ada).entries()[-1]
    assert len({last.previous, *last.joins}) == 2


@needs_ssh_keygen
def test_signatures_stay_valid_and_times_count_within_a_clone(clones: tuple[Path, Path], tmp_path: Path) -> None:
    key = make_key(tmp_path, "key")
    (tmp_path / "signers").write_text(signer("ada", key))
    add_to_both(clones, 2, key)
    ledger = Ledger(clones[0] / "results", key)
    ledger.merge(Ledger(clones[1] / "results"))
    add_lines(clones[0], "Ada", 1, key)
    states = [each.state for each in ledger.signatures(Signers(tmp_path / "signers"))]
    assert states == [SignatureState.NOT_SIGNED, *[SignatureState.GOOD] * 5]


@needs_ssh_keygen
def test_a_signature_earlier_than_a_line_before_it_is_never_made(
    clones: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = make_key(tmp_path, "key")
    monkeypatch.setattr(ledger_module, "_now", lambda: "2026-01-01T00:00:00+00:00")
    before = (clones[0] / "results" / "ledger.jsonl").read_bytes()
    with pytest.raises(BadInput, match=r"clock \(2026-01-01T00:00:00\+00:00\) is behind .* Set the clock"):
        add_lines(clones[0], "Ada", 1, key)
    assert (clones[0] / "results" / "ledger.jsonl").read_bytes() == before
    add_lines(clones[0], "Ada", 1)  # without a signature, the order alone counts


def lost(lines: list[bytes]) -> list[bytes]:
    return [*lines[:2], *lines[3:]]


def doubled(lines: list[bytes]) -> list[bytes]:
    return [*lines, lines[2]]


def moved(lines: list[bytes]) -> list[bytes]:
    return [*lines[:2], lines[3], lines[2], *lines[4:]]


def altered(lines: list[bytes]) -> list[bytes]:
    return [*lines[:2], lines[2].replace(b"line 1", b"line 9"), *lines[3:]]


def altered_and_chained_again(lines: list[bytes]) -> list[bytes]:
    """Change the shared first line, and every digest after it."""
    found = [lines[0].replace(b"it verifies", b"it verified")]
    for line in lines[1:]:
        found.append(canonical_json(json.loads(line) | {"previous": digest_bytes(found[-1])}).encode())
    return found


def joins_what_is_no_end(lines: list[bytes]) -> list[bytes]:
    last = json.loads(lines[-1]) | {"joins": [digest_bytes(lines[1])]}
    return [*lines[:-1], canonical_json(last).encode()]


def joins_nothing_known(lines: list[bytes]) -> list[bytes]:
    last = json.loads(lines[-1]) | {"joins": [digest_bytes(b"a line that nobody has")]}
    return [*lines[:-1], canonical_json(last).encode()]


@pytest.mark.parametrize(
    ("edit", "problem"),
    [
        (lost, "a line was changed or removed"),
        (doubled, "it is there already"),
        (moved, "a line was changed or removed"),
        (altered, "a line was changed or removed"),
        (altered_and_chained_again, "no line in common"),
        (joins_what_is_no_end, "joins a line that is not the last of a clone"),
        (joins_nothing_known, "a line was changed or removed"),
    ],
)
def test_a_hostile_ledger_is_not_merged(
    clones: tuple[Path, Path], edit: Callable[[list[bytes]], list[bytes]], problem: str
) -> None:
    ada, bob = (Ledger(board / "results") for board in clones)
    add_to_both(clones, 4)
    before = ada.path.read_bytes()
    bob.path.write_bytes(b"".join(line + b"\n" for line in edit(bob.path.read_bytes().splitlines())))
    with pytest.raises(BadInput, match=problem):
        ada.merge(bob)
    assert ada.path.read_bytes() == before


def test_a_line_of_ours_with_another_content_is_not_merged(clones: tuple[Path, Path]) -> None:
    ada, bob = (Ledger(board / "results") for board in clones)
    add_lines(clones[0], "Ada", 3)
    lines = ada.path.read_bytes().splitlines()
    forged = lines[:2]
    for line in lines[2:]:
        entry = json.loads(line.replace(b"line 1", b"line 9")) | {"previous": digest_bytes(forged[-1])}
        forged.append(canonical_json(entry).encode())
    bob.path.write_bytes(b"".join(line + b"\n" for line in forged))
    with pytest.raises(BadInput, match=r"ledger.jsonl:3: is a line of the ledger here with another content"):
        ada.merge(bob)


def test_lines_cut_off_after_a_release_of_a_merged_ledger_are_noticed(clones: tuple[Path, Path]) -> None:
    add_to_both(clones, 3)
    results = clones[0] / "results"
    Ledger(results).merge(Ledger(clones[1] / "results"))
    list(publish(results, FolderTarget(clones[0] / "public"), version="1", by="tester"))
    lines = Ledger(results).path.read_bytes().splitlines(keepends=True)
    Ledger(results).path.write_bytes(b"".join(lines[:-2]))
    assert "lines that release 1 depends on were changed or removed" in "".join(map(str, api.verify(results)))


def test_a_release_of_a_merged_ledger_holds_before_its_own_line_is_written(clones: tuple[Path, Path]) -> None:
    add_to_both(clones, 3)
    ledger = Ledger(clones[0] / "results")
    ledger.merge(Ledger(clones[1] / "results"))
    merged = ledger.digest()
    assert merged in ledger.states()
    assert ledger.until(merged).entries() == ledger.entries()


def test_the_command_merges_a_file_or_a_folder_and_says_how_many_lines(
    clones: tuple[Path, Path], tmp_path: Path, call: Call
) -> None:
    add_to_both(clones, 3)
    results = str(clones[0] / "results")
    shutil.copyfile(clones[1] / "results" / "ledger.jsonl", tmp_path / "theirs.jsonl")
    for other, added in ((tmp_path / "theirs.jsonl", "3 new lines"), (clones[1] / "results", "0 new lines")):
        assert call("ledger", "merge", str(other), "--results", results).out.endswith(f"ledger.jsonl: {added}.\n")
    said = call("ledger", "merge", str(tmp_path / "nothing.jsonl"), "--results", results)
    assert said.code == 2 and "there is no ledger here" in said.err
