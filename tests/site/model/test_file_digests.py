"""A file is read once for its digest, in this build and in later ones, until its state changes."""

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from memeval.archive import run_cache
from memeval.records.base import digest_bytes
from memeval.site.model import file_digests
from memeval.site.model.file_digests import digest_file, files_read_once

REAL = file_digests.JUST_BEFORE


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(run_cache, "cache_home", lambda: tmp_path / "cache")
    monkeypatch.setattr(file_digests, "JUST_BEFORE", 0)
    path = tmp_path / "file"
    path.write_bytes(b"one")
    return path


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    found: list[Path] = []
    real = file_digests._digest

    def digest(path: Path) -> str:
        found.append(path)
        return real(path)

    monkeypatch.setattr(file_digests, "_digest", digest)
    return found


def test_a_file_is_read_once_in_all_builds(file: Path, read: list[Path]) -> None:
    for _build in range(3):
        with files_read_once():
            assert [digest_file(file) for _ in range(2)] == [digest_bytes(b"one")] * 2
    assert read == [file]
    assert digest_file(file) == digest_bytes(b"one") and read == [file, file]


def test_a_file_with_equal_size_and_time_and_other_bytes_is_read_again(file: Path, read: list[Path]) -> None:
    with files_read_once():
        digest_file(file)
    state = file.stat()
    file.write_bytes(b"two")
    os.utime(file, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert (file.stat().st_size, file.stat().st_mtime_ns, file.stat().st_ino) == (3, state.st_mtime_ns, state.st_ino)
    with files_read_once():
        assert digest_file(file) == digest_bytes(b"two")


def test_a_file_that_changed_just_before_is_read_each_time(
    file: Path, read: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_digests, "JUST_BEFORE", REAL)
    old = file.stat().st_mtime - 60
    os.utime(file, (old, old))  # which is a change of its state
    with files_read_once():
        assert digest_file(file) == digest_file(file) == digest_bytes(b"one")
    assert len(read) == 2 and REAL >= 2_000_000_000  # in steps of two seconds, some file systems keep times


@pytest.mark.parametrize("name", ["st_dev", "st_ino", "st_size", "st_mtime_ns", "st_ctime_ns"])
def test_each_part_of_the_state_of_a_file_counts(name: str, file: Path, read: list[Path]) -> None:
    class Stated(type(file)):  # type: ignore[misc]  # a path whose state is not what it is
        def stat(self, **_: object) -> SimpleNamespace:
            state = super().stat()
            real = {each: getattr(state, each) for each in file_digests.STATE}
            return SimpleNamespace(**real | {name: real[name] - self.less})

    with files_read_once():
        for less in (0, 1, 0):
            path = Stated(file)
            path.less = less
            digest_file(path)
    assert len(read) == 2


def test_the_digest_of_a_file_that_no_build_asks_for_any_more_is_forgotten(file: Path, read: list[Path]) -> None:
    for names in (["file"], [], ["file"]):
        with files_read_once():
            for name in names:
                digest_file(file.with_name(name))
    assert len(read) == 2


def test_without_a_cache_each_build_reads_the_file(file: Path, read: list[Path]) -> None:
    (file.parent / "cache").write_text("no folder")
    for _build in range(2):
        with files_read_once():
            assert digest_file(file) == digest_file(file) == digest_bytes(b"one")
    assert len(read) == 2
