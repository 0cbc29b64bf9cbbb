"""What is made from a run's rows is made once, and again when run, code or data change."""

from pathlib import Path

import pytest

from memeval.archive import run_cache
from memeval.archive.run_cache import kept
from memeval.archive.runs import RunFolder
from tests.site.factory import FakeBenchmark, Made, make_run


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RunFolder:
    monkeypatch.setattr(run_cache, "cache_home", lambda: tmp_path / "cache")
    return make_run(tmp_path / "results", Made("acme", "Acme"), FakeBenchmark())


def refuse() -> bytes:
    raise AssertionError("it is computed again")


def test_what_was_made_once_is_read(folder: RunFolder) -> None:
    assert kept(folder, "kind", "data", lambda: b"made\nonce") == b"made\nonce"
    assert kept(folder, "kind", "data", refuse) == b"made\nonce"


def test_another_kind_or_other_data_or_code_is_made_anew(folder: RunFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    kept(folder, "kind", "data", lambda: b"1")
    assert kept(folder, "other", "data", lambda: b"2") == b"2"
    assert kept(folder, "kind", "no data", lambda: b"3") == b"3"
    monkeypatch.setattr(run_cache, "code_digest", lambda: "another version")
    assert kept(folder, "kind", "no data", lambda: b"4") == b"4"


def test_another_run_json_is_another_run(folder: RunFolder) -> None:
    kept(folder, "kind", "data", lambda: b"1")
    head = folder.path / "run.json"
    head.write_bytes(head.read_bytes() + b" ")
    assert kept(RunFolder(folder.path), "kind", "data", lambda: b"2") == b"2"


@pytest.mark.parametrize("damage", [b"", b"\xff\n", b"no digest\nchanged", None])
def test_a_damaged_file_is_made_anew_and_repaired(folder: RunFolder, tmp_path: Path, damage: bytes | None) -> None:
    kept(folder, "kind", "data", lambda: b"1")
    [file] = (tmp_path / "cache/site").iterdir()
    file.write_bytes(file.read_bytes()[:-1] + b"2" if damage is None else damage)
    assert kept(folder, "kind", "data", lambda: b"1") == b"1"
    assert kept(folder, "kind", "data", refuse) == b"1"


def test_a_folder_that_cannot_be_written_costs_only_time(folder: RunFolder, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where a folder belongs")
    assert kept(folder, "kind", "data", lambda: b"1") == b"1"
    assert kept(folder, "kind", "data", lambda: b"1") == b"1"
