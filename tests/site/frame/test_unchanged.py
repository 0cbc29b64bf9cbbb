"""A site whose inputs and files are as they were is not built again; any other is."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from memeval.archive import run_cache
from memeval.benchmarks.registry import Origin
from memeval.records.base import Digest, digest_bytes
from memeval.site import build
from memeval.site.frame import building, site_folder
from memeval.site.frame.site_folder import contents_of, inputs_of, is_current, remember
from memeval.site.model import file_digests
from tests.site.frame.test_one_run_more import add_run
from tests.support.archives import contents


@pytest.fixture
def results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for module in (run_cache, site_folder):
        monkeypatch.setattr(module, "cache_home", lambda: tmp_path / "cache")
    monkeypatch.setenv("MEMEVAL_DATA", str(tmp_path / "data"))
    for name in ("sources/findings/claims.toml", "submissions/acme/submission.toml", "data/locomo/data.json"):
        path = tmp_path / "board" / name if not name.startswith("data") else tmp_path / name
        path.parent.mkdir(parents=True)
        path.write_text("one")
    (tmp_path / "board/results").mkdir()
    (tmp_path / "board/results/ledger.jsonl").write_text("")
    return tmp_path / "board/results"


def known(results: Path) -> Digest:
    found = inputs_of(results)
    assert found is not None
    return found


def test_a_current_site_stays_as_it_is(tmp_path: Path, results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("built again")

    for name in ("sources", "submissions"):
        (results.parent / name).rename(tmp_path / name)
    add_run(results, "qa-smoke")
    out = tmp_path / "site"
    build(results, out)
    before, place = contents(out), (out / "index.html").stat().st_ino
    with monkeypatch.context() as patch:
        patch.setattr(building, "read_site", refuse)
        build(results, out)
        assert (contents(out), (out / "index.html").stat().st_ino) == (before, place)
        (out / "index.html").write_bytes(b"damaged")
        with pytest.raises(AssertionError, match="built again"):
            build(results, out)
    build(results, out)
    assert contents(out) == before


def written(name: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("another text")

    return change


@pytest.mark.parametrize(
    "change",
    [
        written("board/results/ledger.jsonl"),
        written("board/results/locomo/acme/run/run.json"),
        written("board/memeval.toml"),
        written("board/sources/findings/claims.toml"),
        written("board/submissions/acme/submission.toml"),
        written("cache/rows/1234.jsonl.gz"),
        written("data/locomo/data.json"),
        lambda folder: (folder / "board/results/ledger.jsonl").unlink(),
    ],
)
def test_each_file_that_a_site_reads_counts(tmp_path: Path, results: Path, change: Callable[[Path], None]) -> None:
    before = known(results)
    assert known(results) == before
    change(tmp_path)
    assert known(results) != before


def test_templates_packages_and_settings_of_the_environment_count(
    tmp_path: Path, results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = {known(results)}
    monkeypatch.setenv("MEMEVAL_JUDGE_BASE_URL", "https://example.org/")
    seen.add(known(results))
    written("templates/pages/run.html")(tmp_path)
    monkeypatch.setattr(site_folder, "assets_root", lambda: tmp_path)
    seen.add(known(results))
    written("site/index.md")(tmp_path)
    seen.add(known(results))
    packages = tmp_path / "packages"
    monkeypatch.setattr(sys, "path", [*sys.path, str(packages)])
    for name in ("theme-1.0.dist-info", "theme-1.1.dist-info", "old-1.0.egg-info"):
        (packages / name).mkdir(parents=True)
        seen.add(known(results))
    assert len(seen) == 7


def test_a_link_or_a_benchmark_of_another_package_is_no_known_state(
    results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(site_folder, "origin", lambda _: Origin("acme-benchmarks", "1.0"))
        assert inputs_of(results) is None
    assert inputs_of(results) is not None
    (results / "linked").symlink_to(results.parent / "sources")
    assert inputs_of(results) is None


def test_a_file_changed_added_or_removed_in_the_site_is_seen(tmp_path: Path, results: Path) -> None:
    out, page, inputs = tmp_path / "site", tmp_path / "site/index.html", known(results)
    written("site/index.html")(tmp_path)
    remember(out, inputs, contents_of(out))
    assert is_current(out, inputs) and not is_current(out, "sha256:other")
    page.write_text("changed")
    assert not is_current(out, inputs)
    written("site/index.html")(tmp_path)
    assert is_current(out, inputs)
    written("site/more.html")(tmp_path)
    assert not is_current(out, inputs)
    (out / "more.html").rename(tmp_path / "more.html")
    page.unlink()
    page.symlink_to(tmp_path / "more.html")
    assert not is_current(out, inputs)


def test_large_and_small_files_have_the_digests_of_their_bytes(tmp_path: Path) -> None:
    for size in (0, file_digests.SMALL - 1, file_digests.SMALL, file_digests.SMALL + 1):
        (tmp_path / "file").write_bytes(b"x" * size)
        assert file_digests.digest_file(tmp_path / "file") == digest_bytes(b"x" * size)
