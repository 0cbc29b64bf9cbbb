"""The record of calls: durable, shared between processes, whole after any kill."""

import asyncio
import fcntl
import multiprocessing
import os
import resource
import threading
from pathlib import Path
from typing import Any

import pytest

from memeval.gateway.record import CallRecord
from memeval.records.call import Api, Call, ModelRequest
from memeval.records.errors import BadInput
from tests.support.audits import make_call


def made(number: int, error: str | None = None) -> Call:
    request = ModelRequest(endpoint="http://127.0.0.1/v1", api=Api.CHAT, body={"model": "m", "seed": number})
    return make_call(request, None if error else f"reply {number}\n\u2028\x00", error=error)


def store(record: CallRecord, calls: list[Call]) -> None:
    async def together() -> None:
        await asyncio.gather(*(record.append(call) for call in calls))

    asyncio.run(together())


def test_stored_calls_are_found_in_order_of_arrival(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "calls.jsonl"
    calls = [made(number) for number in range(20)]
    record = CallRecord(path)
    store(record, calls)
    for each in (record, CallRecord(path)):
        assert (list(each.rows()), each.find(calls[7].key)) == (calls, calls[7])
        assert each.find(made(99).key) is None


def test_a_failed_call_is_kept_and_never_found(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    store(CallRecord(path), [made(1, "It broke."), made(2), made(2, "It broke later.")])
    record = CallRecord(path)
    assert (record.find(made(1).key), record.find(made(2).key)) == (None, made(2))
    assert len(list(record.rows())) == 3


@pytest.mark.parametrize("cut", [1, 2, 100, -1])
def test_a_last_line_cut_off_is_removed_and_the_rest_is_kept(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "calls.jsonl"
    store(CallRecord(path), [made(1), made(2)])
    whole = path.read_bytes()
    last = whole.splitlines(keepends=True)[-1]
    path.write_bytes(whole + last[:cut])
    record = CallRecord(path)
    assert list(record.rows()) == [made(1), made(2)]
    assert path.read_bytes() == whole
    store(record, [made(3)])
    assert list(CallRecord(path).rows()) == [made(1), made(2), made(3)]


def test_an_incomplete_line_of_another_process_is_removed_before_the_next_write(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    record = CallRecord(path)
    store(record, [made(1)])
    with path.open("ab") as other:
        other.write(b'{"key": "sha256:0')
    store(record, [made(2)])
    assert list(CallRecord(path).rows()) == list(record.rows()) == [made(1), made(2)]


@pytest.mark.parametrize("damage", [b"not json\n", b"[]\n", b'{"key": 1}{}\n', b"\xff\xfe\n", b"[" * 100_000 + b"\n"])
def test_a_damaged_line_in_the_middle_is_named_and_nothing_is_lost(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "calls.jsonl"
    store(CallRecord(path), [made(1)])
    good = path.read_bytes()
    path.write_bytes(good + damage + good)
    with pytest.raises(BadInput, match=r"calls\.jsonl:2: (not a recorded call|the line is damaged)"):
        CallRecord(path)
    assert path.read_bytes() == good + damage + good


def test_a_line_that_is_not_a_call_is_named_when_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    path.write_text('{"key": "sha256:0", "reply": "x"}\n', encoding="utf-8")
    with pytest.raises(BadInput, match=r"calls\.jsonl:1"):
        CallRecord(path).find("sha256:0")


def test_two_processes_share_a_record_and_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_write, args=(path, start)) for start in (0, 1000)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(30)
        assert writer.exitcode == 0
    seeds = [row.request.body["seed"] for row in CallRecord(path).rows()]
    assert sorted(seeds, key=str) == sorted([*range(100), *range(1000, 1100)], key=str)
    for start in (0, 1000):
        assert [seed for seed in seeds if seed in range(start, start + 100)] == list(range(start, start + 100))


def _write(path: Path, start: int) -> None:
    record = CallRecord(path)

    async def one_after_another() -> None:
        for number in range(start, start + 100):
            await record.append(made(number))

    asyncio.run(one_after_another())


def test_nobody_writes_while_another_holds_the_file(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    record = CallRecord(path)
    with path.open("ab") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        writing = threading.Thread(target=store, args=(record, [made(1)]))
        writing.start()
        writing.join(0.2)
        assert writing.is_alive()
        assert path.stat().st_size == 0
    writing.join(5)
    assert list(CallRecord(path).rows()) == [made(1)]


def test_a_process_finds_what_another_stored_once_it_stores_something_itself(tmp_path: Path) -> None:
    first, second = (CallRecord(tmp_path / "calls.jsonl") for _ in range(2))
    store(first, [made(1)])
    store(second, [made(2)])
    assert (second.find(made(1).key), list(second.rows())) == (made(1), [made(1), made(2)])


def test_calls_that_arrive_together_share_a_sync(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    sync = os.fsync

    def counted(handle: int) -> None:
        synced.append(handle)
        sync(handle)

    monkeypatch.setattr(os, "fsync", counted)
    store(CallRecord(tmp_path / "calls.jsonl"), [made(number) for number in range(64)])
    assert 1 <= len(synced) <= 2


def test_a_call_is_on_disk_when_append_returns(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"

    async def each() -> None:
        record = CallRecord(path)
        for number in range(5):
            await record.append(made(number))
            assert path.read_bytes().count(b"\n") == number + 1

    asyncio.run(each())


def test_a_call_is_stored_after_its_caller_is_cancelled(tmp_path: Path) -> None:
    record = CallRecord(tmp_path / "calls.jsonl")

    async def give_up() -> None:
        waiting = asyncio.create_task(record.append(made(1)))
        await asyncio.sleep(0)
        waiting.cancel()
        await record.drain()

    asyncio.run(give_up())
    assert list(CallRecord(tmp_path / "calls.jsonl").rows()) == [made(1)]


def test_a_full_disk_is_reported_and_leaves_no_partial_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "calls.jsonl"
    record = CallRecord(path)
    store(record, [made(1)])
    whole = path.read_bytes()

    def full(_handle: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        with pytest.raises(BadInput, match="No space left"):
            store(record, [made(2)])
    assert path.read_bytes() == whole
    assert record.find(made(2).key) is None
    store(record, [made(3)])
    assert list(CallRecord(path).rows()) == [made(1), made(3)]


def test_calls_before_the_one_that_finds_no_room_are_kept(tmp_path: Path) -> None:
    path, before = tmp_path / "calls.jsonl", resource.getrlimit(resource.RLIMIT_FSIZE)
    record = CallRecord(path)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, before[1]))
        with pytest.raises(BadInput, match="cannot be written"):
            store(record, [made(1), made(2).model_copy(update={"reply": "Lima" * 25_000})])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    store(record, [made(3)])
    for each in record, CallRecord(path):
        assert list(each.rows()) == [made(1), made(3)]


def test_a_call_that_cannot_be_written_is_an_error_and_not_a_wait(tmp_path: Path) -> None:
    record = CallRecord(tmp_path / "calls.jsonl")
    with pytest.raises(ValueError, match="surrogates not allowed"):
        store(record, [made(1).model_copy(update={"reply": "\ud800"})])
    store(record, [made(2)])
    assert list(CallRecord(tmp_path / "calls.jsonl").rows()) == [made(2)]


def test_a_call_with_the_deepest_body_of_a_request_can_be_read_again(tmp_path: Path) -> None:
    deep: Any = "x"
    for _ in range(197):
        deep = [deep]
    request = ModelRequest(endpoint="http://127.0.0.1/v1", api=Api.CHAT, body={"stop": deep})
    store(CallRecord(tmp_path / "calls.jsonl"), [make_call(request, "x")])
    assert next(CallRecord(tmp_path / "calls.jsonl").rows()).request == request
    with pytest.raises(ValueError, match="recursion limit exceeded"):
        ModelRequest(endpoint="http://127.0.0.1/v1", api=Api.CHAT, body={"stop": [deep]})


def test_a_record_in_memory_works_without_a_file() -> None:
    record = CallRecord(None)
    store(record, [made(1), made(2)])
    assert (list(record.rows()), record.find(made(1).key)) == ([made(1), made(2)], made(1))


def test_an_unwritable_path_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(BadInput, match="cannot be written"):
        CallRecord(tmp_path / "file" / "calls.jsonl")
