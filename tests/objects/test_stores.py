"""Both stores keep the same promises: a folder, and a bucket of a real server."""

import errno
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memeval.objects import BadStore, Headers, ObjectStore, open_store, parse_place, s3
from memeval.objects.folder import PART
from memeval.objects.s3 import PART_BYTES
from memeval.records.errors import BadInput
from tests.support.bucket_server import BUCKET, Bucket
from tests.support.faulty_bucket import Fault, faulty_bucket


@pytest.fixture(params=["folder", "bucket"])
def store(request: pytest.FixtureRequest, tmp_path: Path, bucket: Bucket) -> ObjectStore:
    if request.param == "folder":
        return open_store(parse_place(str(tmp_path / "store")))
    return open_store(parse_place(f"s3://{BUCKET}/{tmp_path.name}"))


def test_an_object_is_stored_once_and_read_back(store: ObjectStore) -> None:
    assert store.create("a/b.json", b"one", Headers("application/json"))
    assert not store.create("a/b.json", b"two")
    assert store.read("a/b.json") == b"one"
    found = store.info("a/b.json")
    assert found is not None and (found.key, found.size) == ("a/b.json", 3)


def test_a_large_file_goes_in_parts_and_comes_back_whole(store: ObjectStore, tmp_path: Path) -> None:
    content = bytes(range(256)) * (PART_BYTES // 256 * 2 + 1)
    path = tmp_path / "large"
    path.write_bytes(content)
    assert store.create("large", path)
    assert not store.create("large", path)
    assert store.read("large") == content


def test_a_missing_object_is_a_key_error_and_nothing_to_delete(store: ObjectStore) -> None:
    assert store.info("none") is None
    with pytest.raises(KeyError):
        store.read("none")
    store.delete("none")


def test_the_list_is_sorted_and_below_the_prefix(store: ObjectStore) -> None:
    for key in ("b/2", "a/10", "a/1", "ab"):
        store.create(key, key.encode())
    assert [each.key for each in store.list()] == ["a/1", "a/10", "ab", "b/2"]
    assert [each.key for each in store.list("a/")] == ["a/1", "a/10"]
    assert [each.key for each in store.list("a/1")] == ["a/1", "a/10"]
    store.delete("a/1")
    assert [each.key for each in store.list("a/1")] == ["a/10"]


def test_replacing_what_someone_else_changed_is_refused(store: ObjectStore) -> None:
    store.create("index", b"1")
    seen = store.info("index")
    assert seen is not None and store.replace("index", b"2", seen=seen.etag)
    assert not store.replace("index", b"3", seen=seen.etag)
    assert store.read("index") == b"2"
    assert store.replace("index", b"4")
    assert store.read("index") == b"4"


def test_of_forty_writers_one_stores(store: ObjectStore) -> None:
    assert store.refuses_overwriting
    with ThreadPoolExecutor(40) as pool:
        stored = list(pool.map(lambda number: store.create("run", b"%d" % number), range(40)))
    assert sum(stored) == 1
    assert store.read("run") == b"%d" % stored.index(True)
    assert [each.key for each in store.list()] == ["run"]


def test_a_key_cannot_leave_a_folder(tmp_path: Path) -> None:
    store = open_store(parse_place(str(tmp_path / "store")))
    for key in ("../out", "/etc/x", "a/../../b", "", "a\0b"):
        with pytest.raises(BadInput, match="is not a key"):
            store.create(key, b"x")


@pytest.mark.parametrize(
    "named", ["s3://", "s3:bucket", "s3://UPPER/x", "s3://b/../x", "https://example.com", "", "git:main"]
)
def test_what_is_no_place_is_refused(named: str) -> None:
    with pytest.raises(BadInput):
        parse_place(named)


@pytest.mark.parametrize("times", [1, 100])
def test_a_reply_that_is_cut_in_its_headers_is_not_taken_for_an_empty_one(
    bucket: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    monkeypatch.setattr(s3, "TRIES", 2)
    with faulty_bucket(bucket) as faulty:
        store = open_store(parse_place(f"s3://{BUCKET}/{tmp_path.name}", endpoint=faulty.endpoint))
        assert store.create("a", b"one")
        calls: dict[str, Callable[[], object]] = {
            "GET .*/a": lambda: store.read("a"),
            "HEAD .*/a": lambda: store.info("a"),
            "GET .*list-type": lambda: [each.key for each in store.list()],
            "PUT .*/a": lambda: store.replace("a", b"one"),
        }
        for requests, call in calls.items():
            whole = call()
            faulty.faults[:] = [Fault(requests, in_headers=True, times=times)]
            if times == 1:
                assert call() == whole
            else:
                with pytest.raises(BadStore, match="cannot be reached"):
                    call()
            faulty.faults.clear()


@pytest.mark.parametrize("size", [3, PART_BYTES + 1], ids=["whole", "in-parts"])
def test_what_is_damaged_on_its_way_to_the_bucket_is_not_stored(bucket: Bucket, tmp_path: Path, size: int) -> None:
    with faulty_bucket(bucket) as faulty:
        store = open_store(parse_place(f"s3://{BUCKET}/{tmp_path.name}", endpoint=faulty.endpoint))
        faulty.faults[:] = [Fault("PUT .*/a", damages=True)]
        with pytest.raises(BadStore):
            store.create("a", b"x" * size)
        faulty.faults.clear()
        assert store.info("a") is None


def test_a_large_object_that_finds_its_key_taken_leaves_no_parts(bucket: Bucket, tmp_path: Path) -> None:
    store = open_store(parse_place(f"s3://{BUCKET}/{tmp_path.name}"))
    content = b"x" * (PART_BYTES + 1)
    assert [store.create("large", content) for _ in range(2)] == [True, False]
    assert bucket.client().list_multipart_uploads(Bucket=BUCKET).get("Uploads", []) == []


def test_a_probe_that_was_left_behind_is_no_object(bucket: Bucket, tmp_path: Path) -> None:
    store = open_store(parse_place(f"s3://{BUCKET}/{tmp_path.name}"))
    store.create("a", b"x")
    bucket.client().put_object(Bucket=BUCKET, Key=f"{tmp_path.name}/.memeval-probe-{'0' * 32}", Body=b"1")
    assert [each.key for each in store.list()] == ["a"]


def test_a_service_that_overwrites_is_asked_before_an_object_is_created(bucket: Bucket, tmp_path: Path) -> None:
    with faulty_bucket(bucket) as faulty:
        faulty.overwrites = True
        store = open_store(parse_place(f"s3://{BUCKET}/{tmp_path.name}", endpoint=faulty.endpoint))
        assert not store.refuses_overwriting
        assert [store.create("a", content) for content in (b"one", b"two")] == [True, False]
        assert store.read("a") == b"one"


def test_what_a_writer_has_not_finished_is_not_listed(tmp_path: Path) -> None:
    store = open_store(parse_place(str(tmp_path)))
    store.create("runs/a", b"whole")
    (tmp_path / "runs" / f"{PART}b").write_bytes(b"half")
    assert [each.key for each in store.list("runs/")] == ["runs/a"]


def test_objects_behind_a_link_are_listed(tmp_path: Path) -> None:
    store = open_store(parse_place(str(tmp_path / "store")))
    for key in ("runs/a/1", "runs/b/1"):
        store.create(key, b"x")
    (tmp_path / "store" / "runs" / "a").rename(tmp_path / "other disk")
    (tmp_path / "store" / "runs" / "a").symlink_to(tmp_path / "other disk")
    assert [each.key for each in store.list("runs/")] == ["runs/a/1", "runs/b/1"]


@pytest.mark.parametrize("target", ["a disk that is not mounted", "."], ids=["missing", "loop"])
def test_a_link_that_leads_to_no_object_is_named(tmp_path: Path, target: str) -> None:
    store = open_store(parse_place(str(tmp_path)))
    store.create("runs/a/1", b"x")
    (tmp_path / "runs" / "b").symlink_to(target)
    with pytest.raises(BadStore, match=r"runs/b.*: cannot be read"):
        list(store.list("runs/"))


def test_an_unreadable_folder_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store(parse_place(str(tmp_path)))
    store.create("runs/a/1", b"x")
    scandir = os.scandir

    def refuses_a(folder: str) -> object:
        if Path(folder).name == "a":
            raise PermissionError(errno.EACCES, "Permission denied", folder)
        return scandir(folder)

    monkeypatch.setattr("os.scandir", refuses_a)
    with pytest.raises(BadStore, match=r"runs/a: cannot be read \(Permission denied\)"):
        list(store.list())


def test_on_a_disk_without_links_the_faster_of_two_writers_stores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_store(parse_place(str(tmp_path)))

    def no_links(_part: Path, path: Path) -> None:
        if path.name == "both":
            path.write_bytes(b"faster")
        raise PermissionError("this disk has no links")

    monkeypatch.setattr("os.link", no_links)
    assert store.create("one", b"mine") and store.read("one") == b"mine"
    assert not store.create("both", b"mine") and store.read("both") == b"faster"
