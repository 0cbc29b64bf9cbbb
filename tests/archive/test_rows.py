"""Files of rows: equal bytes for equal rows, and no damage that passes for fewer rows."""

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memeval.archive import rows as module
from memeval.archive.rows import SharedRows, inner_digest, pack, read_file, read_rows
from memeval.records.errors import BadInput, NewerSchema
from memeval.records.journal import LogLine
from memeval.records.response import Context, Response
from tests.records.strategies import records

LINES = [LogLine(at=f"2026-11-01T10:00:{n:02}Z", event="said", detail=f"naïve – 🙂 {n}\nnext") for n in range(40)]
PACKED, DIGEST = pack(LINES)
RAW = gzip.decompress(PACKED)


def written(folder: Path, data: bytes, name: str = "log.jsonl.gz") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def refusal(path: Path) -> str:
    """Return the sentence that reading all rows ends in."""
    with pytest.raises(BadInput) as refused:
        list(read_rows(path, LogLine))
    assert str(refused.value).startswith(str(path))
    return str(refused.value).removeprefix(str(path))


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(records(Response) | records(Context), max_size=4))
def test_rows_come_back_as_they_were_packed(tmp_path: Path, rows: list[Response | Context]) -> None:
    for model in (Response, Context):
        mine = [row for row in rows if isinstance(row, model)]
        data, digest = pack(mine)
        path = written(tmp_path, data)
        again = list(read_rows(path, model))
        assert again == mine
        assert pack(again) == (data, digest)
        assert inner_digest(path) == digest


def test_packed_bytes_depend_on_the_rows_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.time", lambda: 1.0e9)
    assert pack(iter(LINES)) == (PACKED, DIGEST)
    assert PACKED[3:8] == bytes(5), "neither a name nor a time stands in the head (RFC 1952, section 2.3)"
    assert pack(LINES[::-1])[1].digest != DIGEST.digest


def test_the_digest_is_of_the_bytes_inside() -> None:
    assert DIGEST.digest == "sha256:" + hashlib.sha256(RAW).hexdigest()
    assert DIGEST.rows == RAW.count(b"\n") == 40
    assert b"".join(line.to_json().encode() + b"\n" for line in LINES) == RAW


def test_the_same_rows_compressed_otherwise_have_the_same_digest(tmp_path: Path) -> None:
    path = written(tmp_path, gzip.compress(RAW, compresslevel=1))
    assert path.read_bytes() != PACKED
    assert inner_digest(path) == DIGEST


def test_a_file_of_no_rows_is_read_as_none(tmp_path: Path) -> None:
    data, digest = pack([])
    assert digest.rows == 0
    assert list(read_rows(written(tmp_path, data), LogLine)) == []
    assert list(read_rows(written(tmp_path, b"", "log.jsonl"), LogLine)) == []


def test_a_file_cut_anywhere_is_refused_by_name(tmp_path: Path) -> None:
    for kept in range(len(PACKED)):
        path = written(tmp_path, PACKED[:kept])
        assert refusal(path).startswith(": the file is damaged ("), kept
        with pytest.raises(BadInput, match="damaged"):
            inner_digest(path)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.integers(0, len(PACKED) - 1), other=st.integers(1, 255))
def test_no_changed_byte_gives_other_rows(tmp_path: Path, place: int, other: int) -> None:
    damaged = bytearray(PACKED)
    damaged[place] ^= other
    path = written(tmp_path, bytes(damaged))
    try:
        read = list(read_rows(path, LogLine))
    except BadInput as error:
        assert str(error).startswith(str(path))
    else:
        assert read == LINES, "only what gzip's head says of name, time and system may change unseen"


def test_what_follows_the_rows_is_not_passed_over(tmp_path: Path) -> None:
    assert "damaged" in refusal(written(tmp_path, PACKED + b"more"))


@pytest.mark.parametrize("name", ["log.jsonl", "log.jsonl.gz"])
def test_a_last_line_without_its_end_is_cut_off(tmp_path: Path, name: str) -> None:
    data = RAW[:-1]
    path = written(tmp_path, gzip.compress(data) if name.endswith(".gz") else data, name)
    assert refusal(path) == ":40: the last line is cut off. Restore the file, or record a new run."
    if name.endswith(".gz"):
        with pytest.raises(BadInput, match=rf"log.jsonl.gz:{len(LINES)}: the last line is cut off"):
            inner_digest(path)


def test_a_file_that_is_not_there_or_is_a_folder_is_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path / "none.jsonl.gz").startswith(": the file is missing.")
    (tmp_path / "folder.jsonl").mkdir()
    assert refusal(tmp_path / "folder.jsonl").startswith(": is not a regular file.")


def test_a_line_too_long_to_be_a_row_is_refused_before_it_is_read_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    longest = max(map(len, RAW.splitlines(keepends=True)))
    path = written(tmp_path, PACKED)
    monkeypatch.setattr(module, "LONGEST_LINE", longest)
    assert len(list(read_rows(path, LogLine))) == 40
    monkeypatch.setattr(module, "LONGEST_LINE", longest - 1)
    assert "a line is too long to be a row." in refusal(path)
    monkeypatch.setattr(module, "LONGEST_LINE", 1000)
    assert refusal(written(tmp_path, gzip.compress(b"x" * 5000))).startswith(":1: a line is too long")


def with_third_line(line: str) -> bytes:
    lines = RAW.splitlines(keepends=True)
    return gzip.compress(b"".join([*lines[:2], line.encode() + b"\n", *lines[3:]]))


DATA = LINES[2].data()


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (json.dumps(DATA | {"evnet": 1}), "unknown key 'evnet'. Did you mean 'event'?"),
        (json.dumps({"schema_version": 1, "event": "x"}), "'at' is missing."),
        (json.dumps(DATA | {"event": 1}), "'event': text belongs here."),
        (json.dumps({"at": "now", "event": "x"}), "LogLine without a schema_version."),
        (json.dumps(DATA | {"schema_version": True}), "LogLine without a schema_version."),
        (json.dumps(DATA | {"schema_version": "1"}), "LogLine without a schema_version."),
        (json.dumps(DATA | {"schema_version": 1.0}), "LogLine without a schema_version."),
        (json.dumps(DATA | {"schema_version": 0}), "LogLine has schema version 0, and this memeval reads 1."),
        (json.dumps(DATA | {"detail": "\ud800"}), "not valid JSON (unexpected end of hex escape"),
        ("", "not valid JSON (Expecting value"),
        ("{", "not valid JSON ("),
        ("[]", "expected a JSON object, found list."),
        ("[" * 100_000, "not valid JSON ("),
    ],
)
def test_a_line_that_is_no_row_is_named(tmp_path: Path, line: str, sentence: str) -> None:
    assert refusal(written(tmp_path, with_third_line(line))).startswith(f":3: {sentence}")


@pytest.mark.parametrize("more", [{}, {"unheard_of": 1}])
def test_a_row_of_a_newer_schema_asks_for_a_newer_memeval(tmp_path: Path, more: dict[str, Any]) -> None:
    path = written(tmp_path, with_third_line(json.dumps(DATA | {"schema_version": 2} | more)))
    reading = read_rows(path, LogLine)
    assert [next(reading), next(reading)] == LINES[:2]
    with pytest.raises(NewerSchema, match=r"log\.jsonl\.gz:3: LogLine has schema version 2.* Update memeval\."):
        next(reading)


def test_reading_a_file_once_gives_rows_digest_and_size(tmp_path: Path) -> None:
    read = read_file(written(tmp_path, PACKED), LogLine)
    assert (read.rows, read.digest, read.size) == (LINES, DIGEST, len(RAW))


def test_files_with_equal_bytes_are_parsed_once(tmp_path: Path) -> None:
    rows = SharedRows()
    one, other = (written(tmp_path, PACKED, f"{name}.jsonl.gz") for name in "ab")
    assert rows.read(one, LogLine, DIGEST) is rows.read(other, LogLine, DIGEST)
    assert rows.read(one, LogLine, None).rows == LINES


def test_a_file_that_only_claims_equal_bytes_is_parsed_itself(tmp_path: Path) -> None:
    rows = SharedRows()
    rows.read(written(tmp_path, PACKED), LogLine, DIGEST)
    changed, its_digest = pack(LINES[1:])
    read = rows.read(written(tmp_path, changed, "other.jsonl.gz"), LogLine, DIGEST)
    assert (read.rows, read.digest) == (LINES[1:], its_digest)
    with pytest.raises(BadInput, match=r"other\.jsonl\.gz:40: .* cut off"):
        rows.read(written(tmp_path, gzip.compress(RAW[:-1]), "other.jsonl.gz"), LogLine, DIGEST)


def test_only_so_many_bytes_of_files_stay_in_memory(tmp_path: Path) -> None:
    rows, path = SharedRows(most=len(RAW) + 10), written(tmp_path, PACKED)
    first = rows.read(path, LogLine, DIGEST)
    shorter, its_digest = pack(LINES[:1])
    rows.read(written(tmp_path, shorter, "short.jsonl.gz"), LogLine, its_digest)
    assert rows.read(path, LogLine, DIGEST) is not first
    assert SharedRows(most=10).read(path, LogLine, DIGEST).rows == LINES
