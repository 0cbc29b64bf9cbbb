"""Stored conformance reports: one a submission and environment, found by digests, damaged ones refused."""

from pathlib import Path
from typing import Any

import pytest

from memeval.archive.conformance import all_reports, find, latest, store
from memeval.archive.runs import sealed_runs
from memeval.records.base import digest_bytes
from memeval.records.conformance import CheckOutcome, Conformance, ConformanceCheck
from memeval.records.errors import BadInput
from memeval.records.run import Isolation
from tests.site.factory import make_conformance

FILES, PLACE = digest_bytes(b"files"), digest_bytes(b"place")


def report(**changed: Any) -> Conformance:
    check = ConformanceCheck(
        name="planted-fact",
        title="What was taken in is found.",
        mandatory=True,
        outcome=CheckOutcome.FAILED,
        detail="It gave “\u202b<script>”.",
        remedy="Keep it.",
        seconds=0.5,
    )
    told = {"submission_digest": FILES, "environment_digest": PLACE, "at": "2026-01-02T03:04:05Z"}
    return make_conformance(check, **told | changed)


def test_a_report_is_stored_by_its_digests_and_read_again(tmp_path: Path) -> None:
    path = store(tmp_path, report())
    assert path == tmp_path / "conformance" / "acme" / f"{FILES[7:23]}-{PLACE[7:23]}.json"
    assert find(tmp_path, "acme", FILES, PLACE) == report()
    assert all_reports(tmp_path) == [report()]
    assert sealed_runs(tmp_path) == [], "a report is no run"


def test_a_report_of_other_files_places_or_isolation_is_not_found(tmp_path: Path) -> None:
    store(tmp_path, report())
    assert find(tmp_path, "acme", digest_bytes(b"other"), PLACE) is None
    assert find(tmp_path, "acme", FILES, digest_bytes(b"other")) is None
    assert find(tmp_path, "other", FILES, PLACE) is None
    assert find(tmp_path, "acme", FILES, PLACE, Isolation.FILES_REACHABLE) is None
    assert find(tmp_path, "acme", FILES, PLACE, Isolation.SANDBOXED) == report()


def test_of_several_reports_the_one_made_last_is_the_latest(tmp_path: Path) -> None:
    later = report(submission_digest=digest_bytes(b"next"), at="2026-02-02T03:04:05Z")
    store(tmp_path, later)
    store(tmp_path, report())
    assert (latest(tmp_path, "acme"), latest(tmp_path, "other")) == (later, None)
    assert len(all_reports(tmp_path)) == 2


def test_a_check_made_again_takes_the_place_of_the_one_before(tmp_path: Path) -> None:
    store(tmp_path, report())
    store(tmp_path, report(at="2026-03-02T03:04:05Z"))
    assert [one.at for one in all_reports(tmp_path)] == ["2026-03-02T03:04:05Z"]


@pytest.mark.parametrize("damage", [b"", b"\xff\xfe", b"[1]", b'{"schema_version": 1}', b'{"schema_version": 1, "sl'])
def test_a_damaged_report_is_refused_with_its_place_and_what_to_do(tmp_path: Path, damage: bytes) -> None:
    path = store(tmp_path, report())
    path.write_bytes(damage)
    for read in (
        lambda: find(tmp_path, "acme", FILES, PLACE),
        lambda: latest(tmp_path, "acme"),
        lambda: all_reports(tmp_path),
    ):
        with pytest.raises(BadInput) as refusal:
            read()
        assert refusal.value.where == str(path)
        assert refusal.value.remedy


def test_a_report_that_lies_where_another_belongs_is_refused(tmp_path: Path) -> None:
    path = store(tmp_path, report())
    (tmp_path / "conformance" / "better").mkdir()
    moved = tmp_path / "conformance" / "better" / path.name
    path.rename(moved)
    with pytest.raises(BadInput, match="the file name does not match the slug 'acme'"):
        latest(tmp_path, "better")


def test_a_place_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "conformance").write_text("a file where a folder belongs")
    with pytest.raises(BadInput, match="cannot be written"):
        store(tmp_path, report())
