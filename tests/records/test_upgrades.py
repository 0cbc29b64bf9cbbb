"""Every released schema stays readable: what an older memeval wrote is lifted, step by step."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, ClassVar

import pytest

from memeval.records.base import Stored, Upgrade
from memeval.records.errors import BadInput, NewerSchema
from memeval.records.ledger import LedgerEntry, LedgerEvent
from memeval.records.release import Release


def seconds_get_a_unit(data: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in data.items() if name != "ms"} | {"seconds": data["ms"] / 1000}


def names_become_a_list(data: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in data.items() if name != "name"} | {"names": [data["name"]]}


class Invented(Stored):
    """A record that has had two earlier shapes."""

    SCHEMA: ClassVar[int] = 3
    UPGRADES: ClassVar[Mapping[int, Upgrade]] = {1: seconds_get_a_unit, 2: names_become_a_list}

    schema_version: int = 3
    """Version."""
    names: tuple[str, ...]
    """Since 3; ``name`` before."""
    seconds: float
    """Since 2; ``ms`` before."""


NOW = Invented(names=("Ada",), seconds=1.5)


@pytest.mark.parametrize(
    "older",
    [
        {"schema_version": 1, "name": "Ada", "ms": 1500},
        {"schema_version": 2, "name": "Ada", "seconds": 1.5},
        {"schema_version": 3, "names": ["Ada"], "seconds": 1.5},
    ],
    ids=lambda older: f"version {older['schema_version']}",
)
def test_each_older_version_is_read_as_what_it_means_today(older: dict[str, Any]) -> None:
    text = json.dumps(older)
    assert Invented.parse(text, "f") == Invented.parse(text.encode(), "f") == NOW


def test_a_lone_surrogate_is_refused_however_it_is_written() -> None:
    text = '{"schema_version": 3, "names": ["%s"], "seconds": 1.5}'
    for given in (text % "\ud800", text % "\\ud800", (text % "\\ud800").encode()):
        with pytest.raises(BadInput, match="unexpected end of hex escape"):
            Invented.parse(given, "f")


def test_what_is_written_names_the_version_it_is_written_in() -> None:
    assert json.loads(NOW.to_json())["schema_version"] == 3


def test_an_older_record_is_checked_once_it_is_lifted() -> None:
    with pytest.raises(BadInput, match="unknown key 'secnds'"):
        Invented.parse('{"schema_version":2,"name":"Ada","seconds":1.5,"secnds":1}', "f")


def test_a_shape_is_not_read_under_another_versions_number() -> None:
    with pytest.raises(BadInput, match="names"):
        Invented.parse('{"schema_version":3,"name":"Ada","ms":1500}', "f")


def test_an_older_record_that_lacks_what_it_should_hold_is_refused_with_a_sentence() -> None:
    with pytest.raises(BadInput) as refused:
        Invented.parse('{"schema_version":1,"name":"Ada"}', "f:4")
    assert str(refused.value) == "f:4: no Invented of schema version 1 (KeyError('ms'))."
    with pytest.raises(BadInput, match=r"no Invented of schema version 1 \(TypeError"):
        Invented.parse('{"schema_version":1,"name":"Ada","ms":"soon"}', "f:4")


def test_a_missing_step_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Invented, "UPGRADES", {1: seconds_get_a_unit})
    for version in (1, 2):
        with pytest.raises(BadInput, match=f"unknown schema version {version}"):
            Invented.parse(json.dumps({"schema_version": version, "name": "Ada", "ms": 1500, "seconds": 1.5}), "f")


def test_a_version_beyond_the_last_is_newer() -> None:
    with pytest.raises(NewerSchema, match="Invented has schema version 4, and this memeval reads up to 3"):
        Invented.parse('{"schema_version":4}', "f")


def test_a_record_cannot_be_defined_to_be_written_under_another_version_than_its_own() -> None:
    with pytest.raises(TypeError, match="Forgetful has SCHEMA 2: give it 'schema_version: int = 2' too"):

        class Forgetful(Stored):
            """Would write version 1."""

            SCHEMA: ClassVar[int] = 2


def test_a_ledger_line_of_an_older_shape_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    def who_and_why(data: dict[str, Any]) -> dict[str, Any]:
        kept = {name: value for name, value in data.items() if name not in ("who", "why")}
        return kept | {"by": data["who"], "reason": data["why"] or "not said"}

    older = {
        "schema_version": 0,
        "event": "accepted",
        "run_id": "r",
        "run_digest": "sha256:" + "0" * 64,
        "at": "2026-01-01T00:00:00+00:00",
        "who": "Ada",
        "why": "",
        "previous": None,
    }
    with pytest.raises(BadInput, match="unknown schema version 0"):
        LedgerEntry.parse(json.dumps(older), "f")
    monkeypatch.setattr(LedgerEntry, "UPGRADES", {0: who_and_why, 1: dict})
    entry = LedgerEntry.parse(json.dumps(older), "f")
    assert (entry.event, entry.by, entry.reason, entry.schema_version) == (LedgerEvent.ACCEPTED, "Ada", "not said", 2)


def test_a_release_of_an_older_shape_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    def rows_by_track_become_one_list(data: dict[str, Any]) -> dict[str, Any]:
        rows = [row | {"track_id": track} for track, members in data["tracks"].items() for row in members]
        return {name: value for name, value in data.items() if name != "tracks"} | {"rows": rows}

    row = {
        "benchmark": "beliefs@2",
        "system": "acme",
        "run_id": "r",
        "run_digest": "sha256:" + "0" * 64,
        "composite": 0.5,
        "best_rank": 1,
        "worst_rank": 2,
        "grades": "claimed",
        "answers": "self-run",
    }
    older = {
        "schema_version": 0,
        "version": "2026.11",
        "date": "2026-11-01",
        "memeval": "0.0.9",
        "tracks": {"0123456789ab": [row], "ba9876543210": [row, row]},
        "ledger_digest": None,
        "state": "sha256:" + "1" * 64,
    }
    monkeypatch.setattr(Release, "UPGRADES", {**Release.UPGRADES, 0: rows_by_track_become_one_list})
    release = Release.parse(json.dumps(older), "f")
    assert [each.track_id for each in release.rows] == ["0123456789ab", "ba9876543210", "ba9876543210"]
    assert Release.parse(release.to_json(), "f") == release
