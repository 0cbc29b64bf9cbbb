"""The index behind the data frames: what it reads again, and what it does about damage."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memeval.archive.rows import cache_path
from memeval.archive.runs import RunFolder, sealed_runs
from memeval.leaderboard.frame_columns import ITEMS, PANDAS, RUNS
from memeval.leaderboard.frame_index import LAYOUT, file_name
from tests.support.indexed_frames import IndexedFrames, built
from tests.support.runs import make_run, make_track

pytestmark = pytest.mark.products

TRACK = make_track(items=2)


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def indexed(cache: Path) -> Iterator[IndexedFrames]:
    with IndexedFrames(cache) as process:
        yield process


@pytest.fixture
def results(tmp_path: Path) -> Path:
    for day in (1, 2):
        run(tmp_path, day)
    return tmp_path


def run(results: Path, day: int, slug: str = "acme") -> RunFolder:
    return make_run(results, slug, {"kept": 1}, track=TRACK, started=f"2026-11-{day:02}T10:00:00.000+00:00")


def newest(cache: Path, table: str = "items") -> Path:
    """Return the newest file of a table of the index."""
    return max(cache.glob(f"frames/*/{table}-*.parquet"), key=lambda path: path.stat().st_mtime_ns)


def test_the_first_use_reads_every_run_and_the_second_none(indexed: IndexedFrames, results: Path) -> None:
    first = indexed.build(results)
    second = indexed.build(results)
    assert len(first.read) == 2
    assert second.read == []
    assert (second.items, second.runs, second.types) == (first.items, first.runs, first.types)
    assert first.warnings == second.warnings == []


def test_only_a_new_run_is_read(indexed: IndexedFrames, results: Path) -> None:
    indexed.build(results)
    new = run(results, day=3)
    found = indexed.build(results)
    assert found.read == [new.run.run_id]
    assert len(found.items) == 3 * 4


def test_items_are_in_the_order_of_runs_whenever_they_were_indexed(indexed: IndexedFrames, results: Path) -> None:
    run(results, day=9)
    indexed.build(results)
    run(results, day=5)
    ids = list(dict.fromkeys(item["run_id"] for item in indexed.build(results).items))
    assert ids == sorted(ids)
    assert len(ids) == 4


def test_a_deleted_run_is_gone(indexed: IndexedFrames, results: Path) -> None:
    indexed.build(results)
    gone = sealed_runs(results)[0]
    gone.path.joinpath("run.json").unlink()
    found = indexed.build(results)
    assert found.read == []
    assert gone.path.name not in {item["run_id"] for item in found.items}
    assert len(found.items) == 4


def test_a_changed_run_is_read_again(indexed: IndexedFrames, results: Path) -> None:
    indexed.build(results)
    head = sealed_runs(results)[0].path / "run.json"
    head.write_bytes(head.read_bytes() + b"\n")
    assert len(indexed.build(results).read) == 1


def test_with_and_without_pyarrow_the_frames_are_equal(indexed: IndexedFrames, results: Path) -> None:
    make_run(results, "other", {"kept": 1}, track=TRACK, errors=2)
    with_pyarrow = indexed.build(results)
    without = built(str(results))
    assert without["items"] == with_pyarrow.items
    assert without["runs"] == with_pyarrow.runs
    assert without["types"] == with_pyarrow.types
    assert with_pyarrow.types.items() >= {column.name: PANDAS[column.kind] for column in (*RUNS, *ITEMS)}.items()


def test_a_rebuild_reads_every_run(indexed: IndexedFrames, results: Path) -> None:
    first = indexed.build(results)
    again = indexed.build(results, rebuild=True)
    assert len(again.read) == 2
    assert again.items == first.items


def test_two_processes_that_build_an_index_leave_one_file(indexed: IndexedFrames, cache: Path, results: Path) -> None:
    for day in range(3, 9):
        run(results, day)
    with IndexedFrames(cache) as other, ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda process: process.build(results), (indexed, other))
    third = indexed.build(results)
    assert first.items == second.items == third.items
    assert first.warnings == second.warnings == third.warnings == []
    assert third.read == []
    assert len(list(newest(cache).parent.glob("*.parquet"))) == 2


def test_the_index_of_another_memeval_is_built_again(indexed: IndexedFrames, cache: Path, results: Path) -> None:
    first = indexed.build(results)
    other = indexed.build(results, layout=LAYOUT + 1)
    assert len(other.read) == 2
    assert other.items == first.items
    assert other.warnings == []
    assert len(list(newest(cache).parent.glob("*.parquet"))) == 2


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 1
    path.write_bytes(bytes(content))


def empty(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize("damage", [cut, flip, empty], ids=lambda each: each.__name__)
@pytest.mark.parametrize("table", ["items", "runs"])
def test_a_damaged_index_is_made_new(
    indexed: IndexedFrames, cache: Path, results: Path, table: str, damage: Callable[[Path], None]
) -> None:
    first = indexed.build(results)
    path = newest(cache, table)
    damage(path)
    found = indexed.build(results)
    assert found.items == first.items
    assert found.runs == first.runs
    assert found.warnings == [
        f"{path}: the index is damaged (the digest in its name is another one). It is built again from the runs."
    ]
    assert indexed.build(results).warnings == []


def test_a_foreign_file_of_the_right_digest_is_built_again(indexed: IndexedFrames, cache: Path, results: Path) -> None:
    first = indexed.build(results)
    path = newest(cache)
    path.unlink()
    path.with_name(file_name("items", b"no table")).write_bytes(b"no table")
    found = indexed.build(results)
    assert found.items == first.items
    assert "the index is damaged" in found.warnings[0]


def test_a_cache_that_cannot_be_written_is_named_and_the_frames_are_there(tmp_path: Path) -> None:
    run(tmp_path / "results", day=1)
    (tmp_path / "file").write_bytes(b"")
    with IndexedFrames(tmp_path / "file" / "cache") as process:
        found = process.build(tmp_path / "results")
    assert len(found.items) == 4
    assert [each.startswith("the index is not saved: ") for each in found.warnings] == [True, True]


def test_the_items_of_a_run_without_rows_are_left_out_with_a_warning(indexed: IndexedFrames, results: Path) -> None:
    half = sealed_runs(results)[0]
    half.file("grades.jsonl").unlink()
    found = indexed.build(results)
    assert len(found.runs) == 2
    assert half.path.name not in {item["run_id"] for item in found.items}
    assert found.warnings[-1] == f"{half.path}: its rows are not here, so its items are left out."


def test_rows_in_the_cache_of_the_archive_are_found(indexed: IndexedFrames, cache: Path, results: Path) -> None:
    moved = sealed_runs(results)[0]
    digest = moved.run.files["grades.jsonl"].digest
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MEMEVAL_CACHE", str(cache))
        path = cache_path(digest)
    path.parent.mkdir(parents=True, exist_ok=True)
    moved.file("grades.jsonl").replace(path)
    found = indexed.build(results)
    assert len(found.items) == 2 * 4
    assert found.warnings == []


def test_rows_of_another_digest_are_refused_and_other_runs_stay_indexed(indexed: IndexedFrames, results: Path) -> None:
    first, second = sealed_runs(results)
    second.file("grades.jsonl").write_bytes(first.file("responses.jsonl").read_bytes())
    assert "does not match its digest in run.json" in str(indexed.build(results).error)
    second.path.joinpath("run.json").unlink()
    found = indexed.build(results)
    assert found.read == []
    assert len(found.items) == 4
