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
from memeval.records.ledger import AnswerTrust, LedgerEvent, Sample
from memeval.records.run import HostUse, Isolation, SystemKind
from memeval.records.submission import Configuration, Vendor
from memeval.site.release import staging
from memeval.site.release.publish import publish
from memeval.site.release.targets import FolderTarget
from memeval.systems.known import known
from tests.support.boards import small_build
from tests.support.runs import edit_head, make_run, make_track

RIGHT = {"kept": 40, "changed": 30}
VENDOR = Vendor(name="Acme", never_run=False)
THERE = HostUse(host="api.acme.example", origin="https://api.acme.example")
ELSEWHERE = HostUse(host="api.acme.example", origin="http://127.0.0.1:8000")


def rows(results: Path, *folders: RunFolder) -> dict[str, BoardRow]:
    board = build_board([RunFolder(folder.path) for folder in folders], Ledger(results))
    return {row.run.system.slug: row for row in board.runs}


def replace_vendor(**changes: Any) -> Vendor:
    return VENDOR.model_copy(update=changes)


AGREED = replace_vendor(agreed="2026-11-01")
VERBATIM = Configuration(mode="verbatim", model="no LLM", replaced=("the LLM: left out",))


@pytest.mark.parametrize(
    ("told", "expected"),
    [
        ({"mock": True}, RankStatus.MOCK),
        ({"configuration": VERBATIM}, RankStatus.RANKED),
        ({"vendor": Vendor(name="Acme", agreed="2026-11-01")}, RankStatus.NOT_THE_VENDOR),
        ({"vendor": AGREED, "hosts": (ELSEWHERE,)}, RankStatus.NOT_THE_VENDOR),
        ({"vendor": AGREED, "hosts": (THERE,)}, RankStatus.RANKED),
        ({"track": make_track(released=False)}, RankStatus.UNRELEASED),
    ],
    ids=["mock", "configuration", "never run", "in the vendor's place", "agreed", "other data"],
)
def test_what_a_run_says_of_itself_may_keep_it_from_a_rank(
    tmp_path: Path, told: dict[str, Any], expected: RankStatus
) -> None:
    row = rows(tmp_path, make_run(tmp_path, "acme", RIGHT, **told))["acme"]
    assert row.standing is expected and (row.rank is not None) is (expected is RankStatus.RANKED)


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


def test_a_doubtful_score_blocks_publication_until_a_review(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


@pytest.mark.parametrize("limits", [{"top_k": 10, "ask_seconds": 60.0}, {}])
def test_answers_made_elsewhere_are_not_ranked_whatever_their_file_says(tmp_path: Path, limits: dict[str, Any]) -> None:
    origin = Imported(format="locomo", file="a.json", digest=digest_of("a file"), reader="native", limits=limits)
    folder = edit_head(make_run(tmp_path, "acme", RIGHT, kind=SystemKind.IMPORTED), imported=origin.data())
    assert rows(tmp_path, folder)["acme"].standing is RankStatus.IMPORTED


@pytest.fixture
def nothing_made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Judge the runs of a test by their benchmarks and sources alone."""
    monkeypatch.setattr("tests.support.standing._counted", [])


@pytest.mark.usefixtures("nothing_made_up")
def test_a_run_whose_source_is_neither_shipped_nor_stored_is_not_ranked(tmp_path: Path) -> None:
    track = make_track(benchmark="beliefs@2")
    folder = make_run(tmp_path, "unknown", RIGHT, track=track, shipped=False)
    assert rows(tmp_path, folder)["unknown"].standing is RankStatus.NO_SOURCE
    digits = folder.run.system.submission_digest.removeprefix("sha256:")[:16]
    (tmp_path / "sources" / "unknown" / f"{digits}-01234567").mkdir(parents=True)
    assert rows(tmp_path, folder)["unknown"].standing is RankStatus.RANKED


LOCOMO = "sha256:79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4"


@pytest.mark.usefixtures("nothing_made_up")
@pytest.mark.parametrize(
    ("benchmark", "data", "reproduced", "expected"),
    [
        ("beliefs@2", "anything", False, RankStatus.RANKED),
        ("longmemeval@2", "anything", True, RankStatus.NOT_REBUILT),
        ("locomo@1", "anything", True, RankStatus.NOT_REBUILT),
        ("locomo@1", LOCOMO, False, RankStatus.NOT_REBUILT),
        ("locomo@1", LOCOMO, True, RankStatus.RANKED),
    ],
)
def test_only_a_run_on_a_rebuilt_track_is_ranked_whatever_data_is_here(
    tmp_path: Path, benchmark: str, data: str, reproduced: bool, expected: RankStatus
) -> None:
    digest = data if data.startswith("sha256:") else digest_of(data)
    shipped = known().submissions[0].digest
    folder = make_run(tmp_path, "acme", RIGHT, track=make_track(benchmark=benchmark, data_digest=digest), shipped=False)
    folder = edit_head(folder, system=folder.run.system.model_copy(update={"submission_digest": shipped}).data())
    if reproduced:
        Ledger(tmp_path).append(LedgerEvent.REPRODUCED, folder, by="me", reason="100 grades equal")
    assert rows(tmp_path, folder)["acme"].standing is expected


@pytest.mark.usefixtures("nothing_made_up")
def test_the_line_of_a_reproduced_run_is_void_for_other_bytes(tmp_path: Path) -> None:
    folder = make_run(
        tmp_path, "acme", RIGHT, track=make_track(benchmark="locomo@1", data_digest=LOCOMO), shipped=False
    )
    shipped = known().submissions[0].digest
    folder = edit_head(folder, system=folder.run.system.model_copy(update={"submission_digest": shipped}).data())
    Ledger(tmp_path).append(LedgerEvent.REPRODUCED, folder, by="me", reason="100 grades equal")
    edited = edit_head(folder, prices="another")
    assert rows(tmp_path, edited)["acme"].standing is RankStatus.NOT_REBUILT


def test_a_run_whose_answers_are_those_of_an_absent_run_is_not_ranked(tmp_path: Path) -> None:
    source = make_run(tmp_path, "acme", RIGHT)
    later = make_run(tmp_path, "acme", RIGHT, started="2026-11-05T10:00:00.000+00:00", version="2.0")
    for answers, expected in (
        (source.run.run_id, RankStatus.RANKED),
        ("20261101T100000Z-00000000", RankStatus.NO_ANSWERS_RUN),
        ("../acme", RankStatus.NO_ANSWERS_RUN),
    ):
        edited = edit_head(later, answers_from=answers)
        assert rows(tmp_path, edited)["acme"].standing is expected


EARLY, LATE = "2026-11-01T10:00:00.000+00:00", "2026-11-05T10:00:00.000+00:00"


def shown(results: Path, *folders: RunFolder) -> BoardRow:
    ((row,),) = (
        table.rows for table in build_board([RunFolder(each.path) for each in folders], Ledger(results)).tables
    )
    return row


def accepted(results: Path, folder: RunFolder) -> RunFolder:
    Ledger(results).append(LedgerEvent.ACCEPTED, folder, by="me", reason="verified")
    return folder


def test_a_newer_run_that_nobody_accepted_stands_beside_the_accepted_one(tmp_path: Path) -> None:
    old = accepted(tmp_path, make_run(tmp_path, "acme", RIGHT, started=EARLY))
    worse = make_run(tmp_path, "acme", {"kept": 1}, started=LATE)
    row = shown(tmp_path, old, worse)
    assert row.folder.path == old.path and row.rank is not None
    newer = next(row for row in build_board([old, worse], Ledger(tmp_path)).runs if row.folder.path == worse.path)
    assert newer.standing is RankStatus.NOT_ACCEPTED and newer.rank is None
    accepted(tmp_path, worse)
    assert shown(tmp_path, old, worse).folder.path == worse.path


def test_without_an_accepted_run_the_newest_is_shown(tmp_path: Path) -> None:
    old, new = (make_run(tmp_path, "acme", RIGHT, started=at) for at in (EARLY, LATE))
    row = shown(tmp_path, old, new)
    assert row.folder.path == new.path and row.standing is RankStatus.RANKED


def test_an_accepted_run_that_is_barred_or_invalidated_does_not_displace_another_accepted_one(tmp_path: Path) -> None:
    old, new = (accepted(tmp_path, make_run(tmp_path, "acme", RIGHT, started=at)) for at in (EARLY, LATE))
    ledger = Ledger(tmp_path)
    ledger.append(
        LedgerEvent.RE_ASKED,
        new,
        by="me",
        reason="asked",
        sample=Sample(asked=20, agreed=10, differing=tuple(f"kept-{number:03}" for number in range(10))),
    )
    row = shown(tmp_path, old, new)
    assert row.folder.path == old.path and row.standing is RankStatus.RANKED
    ledger.append(LedgerEvent.INVALIDATED, new, by="me", reason="forged")
    assert shown(tmp_path, old, new).folder.path == old.path
