"""A release is a board under a version that is never used for another one."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from memeval.archive.ledger import Ledger
from memeval.archive.runs import RunFolder, sealed_runs
from memeval.leaderboard import releases as module
from memeval.leaderboard.board import build_board
from memeval.leaderboard.releases import completed, frozen, is_of_board, keep, releases
from memeval.records.base import digest_bytes
from memeval.records.errors import BadInput, NewerSchema
from memeval.records.ledger import LedgerEvent
from memeval.records.release import Release
from memeval.records.run import SystemKind
from tests.support.runs import edit_head, make_run

TODAY = "2026.11.21"


@pytest.fixture(autouse=True)
def _one_day(monkeypatch: pytest.MonkeyPatch) -> None:
    class Clock(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Clock:
            return cls(2026, 11, 21, 23, 59, tzinfo=tz)

    monkeypatch.setattr(module, "datetime", Clock)


@pytest.fixture
def acme(tmp_path: Path) -> RunFolder:
    return make_run(tmp_path, "acme", {"kept": 40})


def freeze(results: Path, version: str | None = None, memeval: str = "0.1.0") -> tuple[Release, bool]:
    return frozen(build_board(sealed_runs(results), Ledger(results)), results, version, memeval)


def freeze_and_keep(results: Path, version: str | None = None) -> Release:
    release, is_new = freeze(results, version)
    assert is_new
    keep(release, results)
    return release


def test_a_release_says_which_runs_stood_where_with_which_digests(tmp_path: Path, acme: RunFolder) -> None:
    control = make_run(tmp_path, "no-memory", {"kept": 5}, kind=SystemKind.CONTROL)
    Ledger(tmp_path).append(LedgerEvent.REPRODUCED, acme, by="Ada", reason="equal")
    ledger = (tmp_path / "ledger.jsonl").read_bytes()
    release = freeze_and_keep(tmp_path)
    assert (release.version, release.date, release.memeval) == (TODAY, "2026-11-21", "0.1.0")
    assert release.ledger_digest == digest_bytes(ledger)
    assert release.runs == {acme.run.run_id: acme.digest, control.run.run_id: control.digest}
    assert release.ranks_method == "ranks@2"
    assert release.weights == {acme.run.track_id: {"kept": 0.5, "changed": 0.5}}
    first, second = release.rows
    assert (first.system, first.run_id, first.run_digest) == ("acme", acme.run.run_id, acme.digest)
    assert (first.composite, first.best_rank, first.worst_rank) == (0.4, 1, 1)
    assert (first.grades, first.answers) == ("recomputed", "self-run")
    assert (second.system, second.best_rank, second.worst_rank) == ("no-memory", None, None)
    assert (second.run_digest, second.answers) == (control.digest, "control")
    assert releases(tmp_path) == [release]


def test_freezing_writes_nothing(tmp_path: Path, acme: RunFolder) -> None:
    freeze(tmp_path)
    assert not (tmp_path / "releases").exists()


def test_the_same_board_keeps_its_release(tmp_path: Path, acme: RunFolder) -> None:
    release = freeze_and_keep(tmp_path)
    held = (tmp_path / "releases" / f"{TODAY}.json").read_bytes()
    assert freeze(tmp_path) == freeze(tmp_path, TODAY) == (release, False)
    keep(release, tmp_path)
    assert (tmp_path / "releases" / f"{TODAY}.json").read_bytes() == held


def another_run(results: Path, acme: RunFolder) -> object:
    return make_run(results, "zeta")


def a_line_in_the_ledger(results: Path, acme: RunFolder) -> object:
    return Ledger(results).append(LedgerEvent.ACCEPTED, acme, by="Ada", reason="because")


CHANGES: dict[str, Callable[[Path, RunFolder], object]] = {
    "another run": another_run,
    "a line in the ledger": a_line_in_the_ledger,
    "an edited head": lambda _results, acme: edit_head(acme, seeds={"edited": 1}),
    "an earlier run": lambda results, _: make_run(results, "acme", {"kept": 1}, started="2026-10-01T10:00:00+00:00"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_another_board_is_another_release(tmp_path: Path, acme: RunFolder, change: Any) -> None:
    first = freeze_and_keep(tmp_path)
    change(tmp_path, acme)
    second, is_new = freeze(tmp_path)
    assert is_new
    assert second.state != first.state
    assert second.version == f"{TODAY}.2"


def test_another_memeval_makes_another_release(tmp_path: Path, acme: RunFolder) -> None:
    first = freeze_and_keep(tmp_path)
    second, is_new = freeze(tmp_path, memeval="0.2.0")
    assert is_new and second.state != first.state


def test_a_version_is_never_used_for_another_board(tmp_path: Path, acme: RunFolder) -> None:
    release = freeze_and_keep(tmp_path, "2026.11")
    another_run(tmp_path, acme)
    assert freeze(tmp_path, "2026.11") == (release, False), "it can be finished, and stands for its own board"
    board = build_board(sealed_runs(tmp_path), Ledger(tmp_path))
    assert not is_of_board(release, board, tmp_path, release.memeval)
    other = release.model_copy(update={"memeval": "0.2.0"})
    with pytest.raises(BadInput, match=r"release 2026\.11 is frozen, and this board differs from it\."):
        keep(other, tmp_path)
    assert releases(tmp_path) == [release]


def test_one_board_may_bear_two_names_and_both_stay_good(tmp_path: Path, acme: RunFolder) -> None:
    one = freeze_and_keep(tmp_path, "2026.11")
    two = freeze_and_keep(tmp_path, "2026.12")
    assert (one.rows, one.runs) == (two.rows, two.runs)
    assert freeze(tmp_path, "2026.11") == (one, False)
    assert freeze(tmp_path, "2026.12") == (two, False)
    assert freeze(tmp_path) == (two, False)


def test_releases_of_one_day_are_numbered_and_stand_in_that_order(tmp_path: Path, acme: RunFolder) -> None:
    made = [freeze_and_keep(tmp_path).version]
    for number in range(2, 12):
        make_run(tmp_path, f"system-{number}")
        made.append(freeze_and_keep(tmp_path).version)
    assert made == [TODAY, *(f"{TODAY}.{number}" for number in range(2, 12))]
    assert [release.version for release in releases(tmp_path)] == made


def test_releases_stand_by_date_before_version(tmp_path: Path, acme: RunFolder) -> None:
    release = freeze(tmp_path)[0]
    for version, date in (("1.0", "2026-12-01"), ("2.0", "2026-11-30")):
        renamed = release.model_copy(update={"version": version, "date": date})
        keep(completed(renamed, {}, None), tmp_path)
    assert [each.version for each in releases(tmp_path)] == ["2.0", "1.0"]


def test_an_edited_release_is_refused(tmp_path: Path, acme: RunFolder) -> None:
    freeze_and_keep(tmp_path)
    path = tmp_path / "releases" / f"{TODAY}.json"
    path.write_text(path.read_text().replace('"composite": 0.4', '"composite": 0.99'))
    with pytest.raises(BadInput, match=r"json: state: is sha256:\w+, but the file gives sha256:\w+: the release was"):
        releases(tmp_path)


def test_a_release_is_named_in_the_ledger_once(tmp_path: Path, acme: RunFolder) -> None:
    release = freeze_and_keep(tmp_path)
    keep(release, tmp_path)
    (line,) = Ledger(tmp_path).entries()
    assert (line.event, line.release_version, line.run_id) == (LedgerEvent.RELEASED, TODAY, None)
    assert line.release_digest == digest_bytes((tmp_path / "releases" / f"{TODAY}.json").read_bytes())


def test_there_are_no_releases_before_the_first(tmp_path: Path) -> None:
    assert releases(tmp_path) == []


@pytest.mark.parametrize("version", ["../../etc", "a/b", "", ".hidden", "-rf", "a b", "2026.11\n", "é"])
def test_a_version_that_is_no_file_name_is_refused(tmp_path: Path, acme: RunFolder, version: str) -> None:
    with pytest.raises(BadInput, match="'version' does not have the required form"):
        Release.from_data(freeze(tmp_path)[0].data() | {"version": version}, "--release")


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda text: text[:50], "not valid JSON"),
        (lambda text: "", "not valid JSON"),
        (lambda text: "[]", "expected a JSON object, found list."),
        (lambda text: text.replace('"rows"', '"rosw"'), "unknown key 'rosw'. Did you mean 'rows'?"),
        (lambda text: text.replace('"composite": 0.4', '"composite": 1.4'), "'rows.0.composite': Input should be less"),
    ],
)
def test_a_damaged_release_is_refused_by_name(tmp_path: Path, acme: RunFolder, damage: Any, sentence: str) -> None:
    freeze_and_keep(tmp_path)
    path = tmp_path / "releases" / f"{TODAY}.json"
    text = path.read_text()
    path.write_text(damage(text))
    assert path.read_text() != text
    for reading in (releases, freeze):
        with pytest.raises(BadInput) as refused:
            reading(tmp_path)
        assert str(refused.value).startswith(f"{path}: ")
        assert sentence in str(refused.value)


def test_a_newer_release_asks_for_a_newer_memeval(tmp_path: Path, acme: RunFolder) -> None:
    release = freeze_and_keep(tmp_path)
    path = tmp_path / "releases" / f"{TODAY}.json"
    path.write_text(json.dumps(release.data() | {"schema_version": Release.SCHEMA + 1}))
    with pytest.raises(NewerSchema, match=f"Release has schema version {Release.SCHEMA + 1}"):
        releases(tmp_path)


def test_a_release_under_another_name_than_its_own_is_refused(tmp_path: Path, acme: RunFolder) -> None:
    freeze_and_keep(tmp_path)
    (tmp_path / "releases" / f"{TODAY}.json").rename(tmp_path / "releases" / "2026.12.json")
    with pytest.raises(BadInput, match=r"2026\.12\.json: the file contains release 2026\.11\.21\. Rename the file"):
        releases(tmp_path)


@pytest.mark.parametrize("kept", [0, 1])
def test_a_ledger_whose_end_was_cut_off_after_a_release_is_found(tmp_path: Path, acme: RunFolder, kept: int) -> None:
    ledger = Ledger(tmp_path)
    ledger.append(LedgerEvent.ACCEPTED, acme, by="Ada", reason="because")
    ledger.append(LedgerEvent.INVALIDATED, acme, by="Ada", reason="it read the answers")
    freeze_and_keep(tmp_path)
    lines = ledger.path.read_bytes().splitlines(keepends=True)
    ledger.path.write_bytes(b"".join(lines[:kept]))
    assert len(ledger.entries()) == kept, "the chain itself does not tell"
    with pytest.raises(BadInput, match=r"ledger\.jsonl: lines that release 2026\.11\.21 depends on were"):
        freeze(tmp_path)


def test_a_ledger_that_grew_since_a_release_holds(tmp_path: Path, acme: RunFolder) -> None:
    freeze_and_keep(tmp_path)
    for number in (2, 3):
        a_line_in_the_ledger(tmp_path, acme)
        assert freeze_and_keep(tmp_path).version == f"{TODAY}.{number}"


def test_a_place_that_cannot_be_written_is_refused_with_a_sentence(tmp_path: Path, acme: RunFolder) -> None:
    release = freeze(tmp_path)[0]
    (tmp_path / "releases").write_text("in the way")
    with pytest.raises(BadInput, match="releases: cannot be written"):
        keep(release, tmp_path)
