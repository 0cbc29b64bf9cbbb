"""What keeps a submission from being ranked: a label, a vendor who was not asked, a score below remembering nothing."""

from pathlib import Path
from typing import Any

import pytest

from memeval.archive.ledger import Ledger
from memeval.archive.runs import RunFolder
from memeval.archive.trust import trust_of
from memeval.leaderboard.board import BoardRow, RankStatus, build_board
from memeval.records.base import digest_of
from memeval.records.errors import CheckFailed
from memeval.records.imported import Imported
from memeval.records.ledger import AnswerTrust, LedgerEvent
from memeval.records.run import HostUse, Isolation, SystemKind
from memeval.records.submission import Configuration, Vendor
from memeval.site.release import staging
from memeval.site.release.publish import publish
from memeval.site.release.targets import FolderTarget
from tests.support.boards import small_build
from tests.support.runs import edit_head, make_run, make_track

RIGHT = {"kept": 40, "changed": 30}
VENDOR = Vendor(name="Acme", never_run=False)
THERE = HostUse(host="api.acme.example", origin="https://api.acme.example")
ELSEWHERE = HostUse(host="api.acme.example", origin="http://127.0.0.1:8000")


def rows(results: Path, *folders: RunFolder) -> dict[str, BoardRow]:
    board = build_board([RunFolder(folder.path) for folder in folders], Ledger(results))
    return {row.run.system.slug: row for row in board.runs}


def standing(results: Path, **told: Any) -> RankStatus:
    return rows(results, make_run(results, "acme", RIGHT, **told))["acme"].standing


def test_a_mock_is_shown_and_not_ranked(tmp_path: Path) -> None:
    row = rows(tmp_path, make_run(tmp_path, "acme", RIGHT, mock=True))["acme"]
    assert row.standing is RankStatus.MOCK
    assert row.rank is None


def test_a_configuration_is_ranked_like_any_other_row(tmp_path: Path) -> None:
    stated = Configuration(mode="verbatim", model="no LLM", replaced=("the LLM: left out",))
    row = rows(tmp_path, make_run(tmp_path, "acme", RIGHT, configuration=stated))["acme"]
    assert row.standing is RankStatus.RANKED
    assert row.rank is not None


def test_what_was_never_run_against_the_vendor_is_not_ranked(tmp_path: Path) -> None:
    assert standing(tmp_path, vendor=Vendor(name="Acme", agreed="2026-11-01")) is RankStatus.NOT_THE_VENDOR


def test_a_run_against_something_in_the_vendors_place_is_not_ranked(tmp_path: Path) -> None:
    agreed = replace_vendor(agreed="2026-11-01")
    assert standing(tmp_path, vendor=agreed, hosts=(ELSEWHERE,)) is RankStatus.NOT_THE_VENDOR


def replace_vendor(**changes: Any) -> Vendor:
    return VENDOR.model_copy(update=changes)


def test_a_vendor_who_agreed_is_ranked(tmp_path: Path) -> None:
    assert standing(tmp_path, vendor=replace_vendor(agreed="2026-11-01"), hosts=(THERE,)) is RankStatus.RANKED


@pytest.mark.parametrize(("notified", "wanted"), [(13, RankStatus.AWAITING_VENDOR), (14, RankStatus.RANKED)])
def test_a_vendor_without_an_answer_is_ranked_when_accepted_fourteen_days_after_notice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, notified: int, wanted: RankStatus
) -> None:
    folder = make_run(tmp_path, "acme", RIGHT, vendor=replace_vendor(notified="2026-11-01"))
    assert rows(tmp_path, folder)["acme"].standing is RankStatus.AWAITING_VENDOR
    entry = Ledger(tmp_path).append(LedgerEvent.ACCEPTED, folder, by="me", reason="looked at")
    line = entry.model_copy(update={"at": f"2026-11-{1 + notified:02}T10:00:00+00:00"})
    Ledger(tmp_path).path.write_text(line.to_json() + "\n")
    assert rows(tmp_path, folder)["acme"].standing is wanted


def test_a_vendor_who_was_not_told_waits_however_long_ago_the_run_was_accepted(tmp_path: Path) -> None:
    folder = make_run(tmp_path, "acme", RIGHT, vendor=VENDOR)
    Ledger(tmp_path).append(LedgerEvent.ACCEPTED, folder, by="me", reason="looked at")
    assert rows(tmp_path, folder)["acme"].standing is RankStatus.AWAITING_VENDOR


def test_a_vendors_reply_stands_beside_the_row(tmp_path: Path) -> None:
    folder = make_run(tmp_path, "acme", RIGHT)
    Ledger(tmp_path).append(LedgerEvent.REPLIED, folder, by="Acme", reason="1.3 keeps dates.")
    (reply,) = rows(tmp_path, folder)["acme"].replies
    assert reply.reason == "1.3 keeps dates."


@pytest.mark.parametrize(("right", "doubtful"), [(3, True), (4, True), (5, False)])
def test_a_score_no_higher_than_that_of_keeping_nothing_is_doubtful(tmp_path: Path, right: int, doubtful: bool) -> None:
    folder = make_run(tmp_path, "acme", {"kept": right})
    nothing = make_run(tmp_path, "no-memory", {"kept": 4}, kind=SystemKind.CONTROL)
    assert rows(tmp_path, folder, nothing)["acme"].doubtful is doubtful


def test_another_system_called_no_memory_makes_nothing_doubtful(tmp_path: Path) -> None:
    folder = make_run(tmp_path, "acme", {"kept": 3})
    assert not rows(tmp_path, folder, make_run(tmp_path, "no-memory", {"kept": 4}))["acme"].doubtful


def test_a_doubtful_score_blocks_publication_until_someone_has_looked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = tmp_path / "results"
    folder = make_run(results, "acme", {"kept": 3})
    make_run(results, "no-memory", {"kept": 4}, kind=SystemKind.CONTROL)
    monkeypatch.setattr("memeval.site.release.publish.checks_of_results", lambda *_: [])  # these rows are made up
    monkeypatch.setattr(staging, "build", small_build)
    with pytest.raises(CheckFailed, match="no more than the no-memory control") as refused:
        list(publish(results, FolderTarget(tmp_path / "public"), dry_run=True))
    assert str(folder.path) in str(refused.value)
    Ledger(results).append(LedgerEvent.REVIEWED, folder, by="me", reason="every write was refused")
    said = publish(results, FolderTarget(tmp_path / "public"), dry_run=True)
    assert any("would be frozen" in line for line in said)


@pytest.mark.parametrize(
    ("isolation", "trust"),
    [(Isolation.SANDBOXED, AnswerTrust.REPEATED), (Isolation.FILES_REACHABLE, AnswerTrust.SELF_RUN)],
)
def test_only_a_sandboxed_run_becomes_repeated(tmp_path: Path, isolation: Isolation, trust: AnswerTrust) -> None:
    folder = make_run(tmp_path, "acme", RIGHT, isolation=isolation)
    entry = Ledger(tmp_path).append(LedgerEvent.REPEATED, folder, by="me", reason="again", other=folder)
    assert trust_of(folder, [entry]).answers is trust


@pytest.mark.parametrize(
    ("reader", "limits", "expected"),
    [
        ("native", {"top_k": 10, "ask_seconds": 60.0}, RankStatus.RANKED),
        ("native", {"top_k": 5}, RankStatus.IMPORTED),
        ("native", {"budget": "none"}, RankStatus.IMPORTED),
        ("native", {}, RankStatus.IMPORTED),
        ("gpt-4o", {"top_k": 10}, RankStatus.IMPORTED),
        (None, {"top_k": 10}, RankStatus.IMPORTED),
    ],
)
def test_answers_made_elsewhere_are_ranked_where_reader_and_limits_are_told_and_equal(
    tmp_path: Path, reader: str | None, limits: dict[str, Any], expected: RankStatus
) -> None:
    origin = Imported(format="locomo", file="a.json", digest=digest_of("a file"), reader=reader, limits=limits)
    folder = edit_head(make_run(tmp_path, "acme", RIGHT, kind=SystemKind.IMPORTED), imported=origin.data())
    assert rows(tmp_path, folder)["acme"].standing is expected


def test_a_run_on_other_data_than_the_released_is_not_ranked(tmp_path: Path) -> None:
    assert standing(tmp_path, track=make_track(released=False)) is RankStatus.UNRELEASED
