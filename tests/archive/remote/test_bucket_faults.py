"""What goes wrong between memeval and a bucket: each fault is a sentence, and pushing again finishes."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from memeval.archive.remote.index import listed_heads
from memeval.archive.remote.pulling import PullState
from memeval.archive.remote.pushing import PushState
from memeval.archive.remote.verifying import verify_archive
from memeval.cli.archive import warn_of_overwriting
from memeval.objects import BadStore, ObjectStore, open_store, parse_place, s3
from tests.support.archives import contents, pull, push, small_run
from tests.support.bucket_server import BUCKET, Bucket
from tests.support.faulty_bucket import Fault, FaultyBucket, faulty_bucket


@pytest.fixture(scope="module")
def server(bucket: Bucket) -> Iterator[FaultyBucket]:
    with faulty_bucket(bucket) as running:
        yield running


@pytest.fixture
def faulty(server: FaultyBucket, monkeypatch: pytest.MonkeyPatch) -> FaultyBucket:
    monkeypatch.setattr(s3, "TRIES", 2)
    server.faults, server.overwrites, server.lines = [], False, []
    return server


@pytest.fixture
def store(faulty: FaultyBucket, tmp_path: Path) -> ObjectStore:
    return open_store(parse_place(f"s3://{BUCKET}/{tmp_path.name}", endpoint=faulty.endpoint))


SENTENCES = {
    ("NoSuchBucket", 404): "the bucket does not exist. Create it, or correct its name or the endpoint.",
    ("AccessDenied", 403): "access is denied. Give the credentials the right to list, read and write below the prefix.",
    ("PermanentRedirect", 301): "the bucket is in another region. Set MEMEVAL_S3_REGION, or region in memeval.toml.",
    ("RequestTimeTooSkewed", 403): "the clock of this machine is wrong. Set the clock.",
    ("ExpiredToken", 400): "the credentials have expired. Renew them, and run the same command: it goes on.",
    ("SlowDown", 503): "the service asks to slow down. Run the same command later: it goes on.",
    ("InternalError", 500): "the service failed. Run the same command again: it goes on.",
    ("QuotaExceeded", 403): "the bucket is full. Raise its quota, or delete old objects.",
}


@pytest.mark.parametrize(("code", "status"), SENTENCES)
def test_an_error_of_the_service_is_a_sentence(
    code: str, status: int, store: ObjectStore, faulty: FaultyBucket, tmp_path: Path
) -> None:
    faulty.faults = [Fault("PUT .*", code, status)]
    with pytest.raises(BadStore) as found:
        push(store, small_run(tmp_path / "results"))
    assert str(found.value) == f"{store.url}: {SENTENCES[code, status]}"
    faulty.faults = []
    assert listed_heads(store) == []


@pytest.mark.parametrize(("code", "status"), [("ExpiredToken", 400), ("PermanentRedirect", 301), ("AccessDenied", 403)])
def test_a_reply_without_a_body_is_a_sentence_too(
    code: str, status: int, store: ObjectStore, faulty: FaultyBucket
) -> None:
    faulty.faults = [Fault(".*", code, status)]
    with pytest.raises(BadStore) as found:
        store.info("a")
    assert str(found.value) == f"{store.url}/a: {SENTENCES[code, status]}"


def test_credentials_that_expire_midway_leave_half_a_run_and_the_next_push_finishes(
    store: ObjectStore, faulty: FaultyBucket, tmp_path: Path
) -> None:
    run = small_run(tmp_path / "results")
    faulty.faults = [Fault("PUT .*/rows/", "ExpiredToken", 400, after=2)]
    with pytest.raises(BadStore, match="the credentials have expired"):
        push(store, run)
    assert listed_heads(store) == [] and len(list(store.list("rows/"))) == 2
    faulty.faults = []
    (outcome,) = push(store, run)
    assert outcome.state is PushState.PUSHED
    assert verify_archive(store).problems == []


def test_a_service_that_is_slow_for_a_moment_is_asked_again(
    store: ObjectStore, faulty: FaultyBucket, tmp_path: Path
) -> None:
    faulty.faults = [Fault("PUT .*/runs/", "SlowDown", 503, times=1), Fault("GET .*/rows/", reply_bytes=9, times=1)]
    push(store, small_run(tmp_path / "results"))
    assert [each.state for each in pull(store, tmp_path / "elsewhere")] == [PullState.PULLED]
    assert contents(tmp_path / "elsewhere") == contents(tmp_path / "results")


def test_a_connection_cut_in_part_7_of_12_leaves_nothing_or_goes_on(
    store: ObjectStore, faulty: FaultyBucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(s3, "PART_BYTES", 1000)
    monkeypatch.setattr("moto.s3.models.S3_UPLOAD_PART_MIN_SIZE", 1)
    content = bytes(range(240)) * 50
    for times in (100, 1):
        faulty.lines.clear()
        faulty.faults = [Fault("PUT .*partNumber=7", times=times)]
        if times > 1:
            with pytest.raises(BadStore, match="the service cannot be reached"):
                store.create("large", content)
            assert store.info("large") is None
            assert any(line.startswith("DELETE") and "uploadId" in line for line in faulty.lines)
        else:
            assert store.create("large", content)
    assert store.read("large") == content
    assert len([line for line in faulty.lines if "partNumber" in line]) == 13


def test_a_download_that_is_cut_each_time_leaves_no_file(
    store: ObjectStore, faulty: FaultyBucket, tmp_path: Path
) -> None:
    store.create("a", b"x" * 10_000)
    faulty.faults = [Fault("GET .*", reply_bytes=5000)]
    with pytest.raises(BadStore, match="the service cannot be reached"):
        store.download("a", tmp_path / "a")
    assert not (tmp_path / "a").exists()


def test_a_service_that_overwrites_is_found_and_asked_before_writing(
    store: ObjectStore, faulty: FaultyBucket, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    warn_of_overwriting(store)
    faulty.overwrites = True
    store = open_store(parse_place(store.url, endpoint=faulty.endpoint))
    warn_of_overwriting(store)
    said = capsys.readouterr().err
    assert said == f"memeval: {store.url}: this service overwrites objects. Push each run from one machine only.\n"
    run = small_run(tmp_path / "results")
    assert not store.refuses_overwriting
    assert [each.state for each in push(store, run)] == [PushState.PUSHED]
    faulty.lines.clear()
    assert [each.state for each in push(store, run)] == [PushState.PRESENT]
    assert not [line for line in faulty.lines if line.startswith("PUT")]
    assert verify_archive(store).problems == []
