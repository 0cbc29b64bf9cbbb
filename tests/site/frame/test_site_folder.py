"""A new site takes the place of an earlier one: what is equal stays as it is, and nothing else is left."""

from pathlib import Path

import pytest

from memeval.records.base import digest_bytes
from memeval.records.errors import BadInput
from memeval.site import build
from memeval.site.frame import building
from memeval.site.frame.site_folder import SiteFolder, contents_of
from memeval.site.model.files import Asset
from tests.support.archives import contents


@pytest.fixture
def earlier(tmp_path: Path) -> Path:
    for name in ("same.html", "deep/er/same.txt", "changed.html", "gone.html", "empty/er/gone.txt", "folder/a", "file"):
        path = tmp_path / "out" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("one")
    (tmp_path / "made").mkdir()
    return tmp_path / "out"


NEW = {"same.html": b"one", "deep/er/same.txt": b"one", "changed.html": b"two", "folder": b"file", "file/b": b"x"}


def assets() -> list[Asset]:
    """The files of the new site: one is read only if it is needed."""
    path, content = "deep/er/same.txt", b"one"
    return [
        *(Asset(name, content) for name, content in NEW.items() if name != path),
        Asset(path, lambda: pytest.fail("read"), digest_bytes(content)),
    ]


def replaced(out: Path, files: list[Asset]) -> list[tuple[str, str]]:
    folder = SiteFolder(out.parent / "made", out)
    for file in files:
        folder.write(file)
    listed = folder.contents()
    folder.move_to(out)
    return listed


def test_equal_files_stay_and_all_others_are_those_of_the_new_site(earlier: Path) -> None:
    places = {name: (earlier / name).stat().st_ino for name in ("same.html", "deep/er/same.txt")}
    listed = replaced(earlier, assets())
    assert contents(earlier) == NEW
    assert {name: (earlier / name).stat().st_ino for name in places} == places
    assert {path.name for path in earlier.iterdir()} == {"same.html", "deep", "changed.html", "folder", "file"}
    assert listed == sorted(contents_of(earlier))
    assert not [path for path in (earlier.parent / "made").rglob("*") if path.is_file()]


def test_no_link_of_the_earlier_site_stays_or_is_followed(earlier: Path) -> None:
    outside = earlier.parent / "outside"
    (earlier / "deep/er").rename(outside)
    (earlier / "deep/er").symlink_to(outside)
    (earlier / "same.html").rename(outside / "same.html")
    (earlier / "same.html").symlink_to(outside / "same.html")
    (earlier / "more").symlink_to(outside)
    replaced(earlier, [Asset(name, content, digest_bytes(content)) for name, content in NEW.items()])
    assert contents(earlier) == NEW
    assert not [path for path in earlier.rglob("*") if path.is_symlink()]
    assert contents(outside) == {"same.txt": b"one", "same.html": b"one"}


def test_a_changed_file_is_never_missing(earlier: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def replace(*_: object) -> None:
        raise OSError

    monkeypatch.setattr(Path, "replace", replace)
    with pytest.raises(OSError):
        replaced(earlier, assets())
    assert (earlier / "changed.html").read_bytes() == b"one" and not (earlier / "gone.html").exists()


def test_without_an_earlier_site_the_folder_becomes_the_site(tmp_path: Path) -> None:
    (tmp_path / "made").mkdir()
    folder = SiteFolder(tmp_path / "made")
    for name, content in NEW.items():
        folder.write(Asset(name, content))
    listed = folder.contents()
    folder.move_to(tmp_path / "out")
    assert contents(tmp_path / "out") == NEW and listed == sorted(contents_of(tmp_path / "out"))


def test_a_file_with_a_known_digest_is_written_once(tmp_path: Path) -> None:
    folder = SiteFolder(tmp_path)
    folder.write(Asset("a", b"one", digest_bytes(b"one")))
    folder.write(Asset("a", lambda: pytest.fail("read"), digest_bytes(b"one")))
    assert contents(tmp_path) == {"a": b"one"}


def test_a_build_that_fails_leaves_the_earlier_site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "results").mkdir()
    build(tmp_path / "results", tmp_path / "site")
    before = contents(tmp_path / "site")
    (tmp_path / "memeval.toml").write_text('title = "Another board"\n')
    real = building.generate

    def generate(*given: object) -> None:
        real(*given)  # type: ignore[arg-type]
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch, pytest.raises(BadInput, match="No space left"):
        patch.setattr(building, "generate", generate)
        build(tmp_path / "results", tmp_path / "site")
    assert contents(tmp_path / "site") == before
    assert {path.name for path in tmp_path.iterdir()} == {"results", "site", "memeval.toml"}
    build(tmp_path / "results", tmp_path / "site")
    assert b"Another board" in contents(tmp_path / "site")["index.html"]
