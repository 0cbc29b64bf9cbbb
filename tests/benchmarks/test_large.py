"""Large files: indexed once as a stream, then opened element by element."""

import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memeval.benchmarks import large
from memeval.benchmarks.large import Indexed, indexed
from memeval.records.base import digest_bytes
from memeval.records.errors import BadInput

REMEDY = "Fetch it anew."
ROWS = [{"id": f"q{n}", "text": "naïve “quotes” 😀 " * n, "parts": [{"id": "x"}, {"id": "y\\"}]} for n in range(40)]


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return memeval's cache folder, in which an index of any file is kept."""
    monkeypatch.setenv("MEMEVAL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(large, "KEPT_FROM_BYTES", 0)
    return tmp_path / "cache"


def whole(row: dict[str, Any]) -> dict[str, Any]:
    return row


def opened(path: Path, kind: str = "test@1") -> Indexed:
    return indexed(path, whole, kind=kind, remedy=REMEDY)


def written(path: Path, data: bytes | list[dict[str, Any]]) -> Path:
    path.write_bytes(data if isinstance(data, bytes) else json.dumps(data, ensure_ascii=False, indent=1).encode())
    return path


def refusal(path: Path) -> str:
    with pytest.raises(BadInput) as caught:
        opened(path)
    assert caught.value.remedy == REMEDY and caught.value.where == str(path)
    return caught.value.problem


def indexes(folder: Path) -> list[Path]:
    return sorted((folder / "indexes").glob("*"))


TEXT = st.text(max_size=12) | st.sampled_from(['"', "\\", "},{", '{"a"', '}, {"a": 1', "\u2028", "é", "\U0001f600"])
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)
ARRAYS = st.lists(st.dictionaries(TEXT | st.sampled_from(["a", "b"]), VALUES, max_size=3), max_size=6)
BLANKS = st.text(" \n\r\t", max_size=3)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=ARRAYS, blanks=st.lists(BLANKS, min_size=4, max_size=4), plain=st.booleans(), window=st.integers(1, 200))
def test_any_array_read_in_any_windows_gives_the_same_elements_byte_for_byte(
    rows: list[dict[str, Any]], blanks: list[str], plain: bool, window: int, tmp_path: Path
) -> None:
    before, within, after, end = blanks
    texts = [json.dumps(row, ensure_ascii=plain, indent=1 if within else None) for row in rows]
    data = (before + "[" + within + f"{after},{within}".join(texts) + after + "]" + end).encode()
    path = written(tmp_path / "rows.json", data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(large, "WINDOW_BYTES", window)
        patch.setattr(large, "KEPT_FROM_BYTES", 10**9)
        found = opened(path)
    assert [found.element(place) for place in range(len(rows))] == [text.encode() for text in texts]
    assert list(found.heads) == rows
    assert found.digest == digest_bytes(data)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_file_cut_anywhere_is_refused(tmp_path: Path, data: st.DataObject) -> None:
    text = json.dumps(ROWS[:4], ensure_ascii=False).encode()
    path = written(tmp_path / "cut.json", text[: data.draw(st.integers(1, len(text) - 1))])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(large, "WINDOW_BYTES", data.draw(st.integers(1, 400)))
        assert "the file is truncated: it ends after" in refusal(path)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_what_json_refuses_is_refused(tmp_path: Path, data: st.DataObject) -> None:
    text = bytearray(json.dumps(ROWS[:3], ensure_ascii=False).encode())
    text[data.draw(st.integers(0, len(text) - 1))] = data.draw(st.integers(0, 255))
    path = written(tmp_path / "hurt.json", bytes(text))
    try:
        expected = json.loads(text.decode())
        assert isinstance(expected, list) and all(isinstance(row, dict) for row in expected)
    except (ValueError, AssertionError):
        refusal(path)
    else:
        assert list(opened(path).heads) == expected


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "the file is empty."),
        (b" \n ", "the file is empty."),
        (b"{}", "expected a JSON array of objects."),
        (b"null", "expected a JSON array of objects."),
        (b"\xef\xbb\xbf", "the file is empty."),
        (b"\xef\xbb\xbf{}", "expected a JSON array of objects."),
        (b"[", "the file is truncated: it ends after 1 bytes and 0 elements."),
        (b'[{"a": 1}', "the file is truncated: it ends after 9 bytes and 1 elements."),
        (b'[{"a": 1},', "the file is truncated: it ends after 10 bytes and 1 elements."),
        (b'[{"a": "x', "the file is truncated: it ends after 9 bytes, in element 1."),
        *(
            (data, f"after element {number}, expected another object or the end of the array.")
            for data, number in ((b"[1]", 0), (b"[{}, [], {}]", 1), (b"[{},]", 1), (b"[{} {}]", 1))
        ),
        (b"[{}] []", "unexpected data after the end of the array, at byte 6."),
        (b'[{"a": \'x\', "b": "a longer text stands here"}]', "element 1 is not valid JSON (Expecting value)."),
        (b'[{"a": "x\ny", "b": "a longer text stands here"}]', "element 1 is not valid JSON (Invalid control"),
        (b'[{"a": NaN}]', "element 1 is not valid JSON in UTF-8 ("),
        (b'[{"a": "\\ud800"}]', "element 1 is not valid JSON in UTF-8 ("),
        (b'[{}, {"a": "\xff"}]', "element 2 is not valid JSON in UTF-8 ("),
        (b'[{"a": ' + b"9" * 5000 + b"}]", "element 1 is not valid JSON ("),
        (b'[{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}]", "element 1 is nested too deeply."),
        (b'[{"a": ' + b"[" * 500 + b"]" * 500 + b"}]", "element 1 is not valid JSON in UTF-8 (recursion limit"),
    ],
)
def test_a_bad_file_gets_a_sentence(tmp_path: Path, data: bytes, sentence: str) -> None:
    assert refusal(written(tmp_path / "bad.json", data)).startswith(sentence)


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path / "none.json") == "file not found."
    assert refusal(tmp_path).startswith("cannot read the file")


def test_an_enormous_element_and_too_many_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large, "WINDOW_BYTES", 1000)
    monkeypatch.setattr(large, "LARGEST_ELEMENT_BYTES", 5000)
    path = written(tmp_path / "long.json", [{"a": "short"}, {"a": "x" * 20_000}])
    assert refusal(path) == "element 2 has more than 5,000 bytes."
    monkeypatch.setattr(large, "MOST_ELEMENTS", 3)
    assert refusal(written(tmp_path / "many.json", [{}] * 4)) == "the file has more than 3 elements."


def test_a_line_of_a_hundred_megabytes_is_an_element_like_any_other(tmp_path: Path) -> None:
    text = b'[{"a": "' + b"x" * 100_000_000 + b'"}, {"a": "y"}]'
    path = written(tmp_path / "line.json", text)
    found = indexed(path, lambda row: {"size": len(row["a"])}, kind="sizes@1", remedy=REMEDY)
    assert found.heads == ({"size": 100_000_000}, {"size": 1}) and found.digest == digest_bytes(text)


def test_the_memory_it_takes_does_not_grow_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    row = json.dumps({"text": "made up " * 70_000})
    with path.open("w") as file:
        file.write("[" + row + ("," + row) * 120 + "]")
    code = (
        "import resource, sys\nfrom pathlib import Path\nfrom memeval.benchmarks.large import indexed\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "indexed(Path(sys.argv[1]), lambda row: {}, kind='memory@1', remedy='')\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    said = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True).stdout
    assert path.stat().st_size > 65_000_000
    assert int(said) < 30_000, "kilobytes"


def test_what_the_head_refuses_is_refused(tmp_path: Path) -> None:
    def picky(row: dict[str, Any]) -> dict[str, Any]:
        raise BadInput(f"{row['id']} is not wanted.")

    with pytest.raises(BadInput, match="q0 is not wanted"):
        indexed(written(tmp_path / "rows.json", ROWS), picky, kind="picky@1", remedy=REMEDY)


def test_a_second_call_reads_the_index_and_parses_nothing(tmp_path: Path, folder: Path) -> None:
    path = written(tmp_path / "rows.json", ROWS)
    first = opened(path)
    assert len(indexes(folder)) == 1

    def never(row: dict[str, Any]) -> dict[str, Any]:
        raise AssertionError("the file was parsed again")

    second = indexed(path, never, kind="test@1", remedy=REMEDY)
    assert second == first and second.heads == tuple(ROWS)
    assert json.loads(second.element(7)) == ROWS[7]


def test_heads_are_plain_json_from_the_first_call_on(tmp_path: Path) -> None:
    path = written(tmp_path / "rows.json", ROWS[:1])
    made = indexed(path, lambda row: {"pair": (1, 2)}, kind="pairs@1", remedy=REMEDY)
    assert made.heads == indexed(path, whole, kind="pairs@1", remedy=REMEDY).heads == ({"pair": [1, 2]},)


def test_another_kind_has_another_index(tmp_path: Path, folder: Path) -> None:
    path = written(tmp_path / "rows.json", ROWS)
    opened(path)
    assert indexed(path, lambda row: {}, kind="test@2", remedy=REMEDY).heads == ({},) * len(ROWS)
    assert len(indexes(folder)) == 2


def test_a_changed_file_is_read_again_and_replaces_its_index(tmp_path: Path, folder: Path) -> None:
    path = written(tmp_path / "rows.json", ROWS)
    old = opened(path)
    times = path.stat()
    changed = path.read_bytes().replace(b'"q7"', b'"Q7"')
    path.write_bytes(changed)
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))  # what hides a change from size and time alone
    new = opened(path)
    assert new.heads[7]["id"] == "Q7" and new.digest == digest_bytes(changed) != old.digest
    assert len(indexes(folder)) == 1


@pytest.mark.parametrize(
    "harm",
    [
        lambda good: good[:-20],
        lambda good: good.replace(b'"q3"', b'"z3"'),
        lambda good: b"",
        lambda good: b"\xff\x00\n",
        lambda good: b"[]\n[]\n",
    ],
    ids=["cut", "flip", "empty", "binary", "list"],
)
def test_a_damaged_index_is_made_again(tmp_path: Path, folder: Path, harm: Callable[[bytes], bytes]) -> None:
    path = written(tmp_path / "rows.json", ROWS)
    first = opened(path)
    (index,) = indexes(folder)
    good = index.read_bytes()
    index.write_bytes(harm(good))
    assert opened(path) == first
    assert index.read_bytes() == good


def test_a_small_file_needs_no_index(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large, "KEPT_FROM_BYTES", 1 << 20)
    assert opened(written(tmp_path / "rows.json", ROWS)).heads == tuple(ROWS)
    assert indexes(folder) == []


def test_where_the_cache_cannot_be_written_the_file_opens_all_the_same(tmp_path: Path, folder: Path) -> None:
    folder.write_bytes(b"a file stands where the folder would be")
    path = written(tmp_path / "rows.json", ROWS)
    assert opened(path).heads == opened(path).heads == tuple(ROWS)


def test_an_index_that_finds_no_room_leaves_nothing_behind(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    path = written(tmp_path / "rows.json", ROWS)
    monkeypatch.setattr(os, "fsync", full)
    assert opened(path).heads == tuple(ROWS)
    assert indexes(folder) == []


def test_a_file_that_changes_while_it_is_in_use_is_noticed(tmp_path: Path) -> None:
    path = written(tmp_path / "rows.json", ROWS)
    found = opened(path)
    written(path, [*ROWS, {}])
    with pytest.raises(BadInput, match="changed during the run"):
        found.element(0)
    path.unlink()
    with pytest.raises(BadInput, match="cannot read the file"):
        found.element(0)


def test_a_file_that_changes_while_it_is_read_is_noticed(tmp_path: Path, folder: Path) -> None:
    path = written(tmp_path / "rows.json", ROWS)

    def meddling(row: dict[str, Any]) -> dict[str, Any]:
        with path.open("ab") as file:
            file.write(b" ")
        return row

    with pytest.raises(BadInput, match="changed while memeval read it"):
        indexed(path, meddling, kind="test@1", remedy=REMEDY)
    assert indexes(folder) == []


def test_elements_open_from_many_threads(tmp_path: Path) -> None:
    found = opened(written(tmp_path / "rows.json", ROWS))
    with ThreadPoolExecutor(8) as threads:
        texts = list(threads.map(found.element, list(range(len(ROWS))) * 20))
    assert [json.loads(text) for text in texts] == ROWS * 20
    assert sha256(found.path.read_bytes()).hexdigest() in found.digest
