"""The digest of the code, which caches depend on: any file counts, wherever the package is installed."""

import platform
from collections.abc import Callable
from pathlib import Path

import pytest

from memeval import storage

Digest = Callable[[], str]


@pytest.fixture
def digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Digest:
    """Return the digest of a package of two files."""
    package = tmp_path / "here" / "package"
    (package / "words").mkdir(parents=True)
    (package / "storage.py").write_bytes(b"code")
    (package / "words" / "one.toml").write_bytes(b"data")
    monkeypatch.setattr(storage, "__file__", str(package / "storage.py"))
    return storage.code_digest.__wrapped__


def test_contents_names_and_new_files_count(tmp_path: Path, digest: Digest) -> None:
    package = tmp_path / "here" / "package"
    seen = [digest()]
    (package / "words" / "one.toml").write_bytes(b"data.")
    seen.append(digest())
    (package / "words" / "one.toml").rename(package / "words" / "two.toml")
    seen.append(digest())
    (package / "new.json").write_bytes(b"")
    seen.append(digest())
    (package / "new.json").unlink()
    assert len(set(seen)) == 4 and digest() == seen[2]


def test_one_file_is_not_taken_for_two(tmp_path: Path, digest: Digest) -> None:
    words = tmp_path / "here" / "package" / "words"
    (words / "one.toml").write_bytes(b"ab")
    (words / "two.toml").write_bytes(b"c")
    first = digest()
    (words / "one.toml").write_bytes(b"a")
    (words / "two.toml").write_bytes(b"bc")
    assert digest() != first


def test_bytecode_and_the_place_do_not_count_and_the_python_does(
    tmp_path: Path, digest: Digest, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = digest()
    for name in ("storage.cpython-311.pyc", "storage.cpython-311.pyc.139871"):  # the second while it is being written
        (tmp_path / "here" / "package" / "words" / "__pycache__").mkdir(exist_ok=True)
        (tmp_path / "here" / "package" / "words" / "__pycache__" / name).write_bytes(b"bytecode")
    assert digest() == first
    (tmp_path / "here").rename(tmp_path / "there")
    monkeypatch.setattr(storage, "__file__", str(tmp_path / "there" / "package" / "storage.py"))
    assert digest() == first
    own = storage.package_digest.__wrapped__
    before = own()
    (tmp_path / "there" / "package" / "_assets").mkdir()
    (tmp_path / "there" / "package" / "_assets" / "site.css").write_bytes(b"of the wheel")
    monkeypatch.setattr(platform, "python_version", lambda: "3.99.0")
    assert own() == before == f"sha256:{before[7:]}"
    assert digest() != first
