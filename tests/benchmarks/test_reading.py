"""Files of answers are hostile: whatever is in them, they are read as what they should be or refused in a sentence."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.benchmarks.formats import reading
from memeval.benchmarks.formats.reading import AnswerFile, ForeignRecord, Id, Text, fitted, listed, once
from memeval.records.base import digest_bytes
from memeval.records.errors import BadInput


class Row(ForeignRecord):
    id: Id
    text: Text


def written(folder: Path, data: bytes) -> AnswerFile:
    path = folder / "answers.json"
    path.write_bytes(data)
    return AnswerFile.open(path)


def refusal(folder: Path, data: bytes) -> str:
    with pytest.raises(BadInput) as refused:
        for where, value in written(folder, data).rows():
            fitted(Row, value, where)
    return str(refused.value)


def test_a_list_and_lines_are_the_same_rows(tmp_path: Path) -> None:
    rows = [{"id": "a", "text": "Ä"}, {"id": "b", "text": ""}]
    whole = written(tmp_path, json.dumps(rows).encode())
    lines = written(tmp_path, b"\xef\xbb\xbf" + b"\n\r\n".join(json.dumps(row).encode() for row in rows))
    assert [value for _, value in whole.rows()] == [value for _, value in lines.rows()] == rows
    assert whole.digest == digest_bytes(json.dumps(rows).encode())
    assert [where.partition("answers.json")[2] for where, _ in lines.rows()] == [":1", ":3"]


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "the file is empty"),
        (b" \n\t ", "the file is empty"),
        (b'[{"id": "a", "text": "b"}', "cut off"),
        (b'[{"id": "a", "te', "cut off"),
        (b"[]", "contains no answers"),
        (b'[{"id": "a"}]', "element 1: 'text' is missing"),
        (b'[{"id": "a", "text": true}]', "'text': text belongs here"),
        (b'[{"id": "a", "text": NaN}]', "'text': text belongs here"),
        (b'[{"id": 3, "text": ""}]', "element 1: 'id': text belongs here. Correct or remove this field"),
        (b'[{"id": "", "text": "b"}]', "'id'"),
        (b'[{"id": "' + b"x" * 201 + b'", "text": "b"}]', "'id'"),
        (b'["a"]', "expected a JSON object, found text"),
        (b"{} 7", "not valid JSON"),
        (b'[{"id": "a", "text": -Infinity}]', "'text': text belongs here"),
        (b'[{"id": "a", "text": 1e999}]', "'text': text belongs here"),
        (b'[{"id": "a", "text": ' + b"9" * 6000 + b"}]", "'text': text belongs here"),
        (b'{"id": "a", "text": ""}\n{"id": "b", "te', "answers.json:2: the file is cut off"),
        (b'{"id": "a", "te\n{"id": "b", "text": ""}\n', "answers.json:1: the file is cut off"),
        (b'{"id": "a", "text": ""}\n7\n', "answers.json:2: expected a JSON object, found a number"),
        (b'[{"id": "a", "id": "b", "text": "c"}]', "the key 'id' occurs twice"),
        (b'[{"id": "a", "text": "\\ud800"}]', "answers.json: element 1"),
        ('[{"id": "ü"}]'.encode("latin-1"), "not UTF-8 at byte 9"),
        ('[{"id": "a"}]'.encode("utf-16"), "not UTF-8 at byte 0"),
        (b"\x00\x01\x02", "not valid JSON"),
        (b"\x1f\x8b\x08\x00", "the file is compressed with gzip, not text. Unpack it with gunzip."),
        (b"PK\x03\x04\x14", "a ZIP archive"),
        (b"<!doctype html>\n<html>\n", "this is HTML, not JSON. The address serves a page"),
        (b"[" * 100_000, "nested too deeply"),
    ],
)
def test_invalid_files_are_refused_with_a_reason(tmp_path: Path, data: bytes, told: str) -> None:
    assert told in refusal(tmp_path, data)


@pytest.mark.parametrize("number", [b"NaN", b"-Infinity", b"1e999", b"9" * 6000])
def test_a_field_that_is_ignored_may_have_any_number(tmp_path: Path, number: bytes) -> None:
    for start, end in ((b"[", b"]"), (b"", b"\n")):
        file = written(tmp_path, start + b'{"id": "a", "text": 3, "x": ' + number + b"}" + end)
        assert [fitted(Row, value, where) for where, value in file.rows()] == [Row(id="a", text="3")]


@pytest.mark.parametrize(
    "data",
    [
        b'{"id": "a", "text": "b"}',
        b'\xef\xbb\xbf{"id": "a", "text": "b"}\n',
        b'\xef\xbb\xbf{\n "id": "a",\n "text": "b"\n}\n',
        b'\xef\xbb\xbf[{"id": "a", "text": "b"}]',
        b'[\n{"id": "a", "text": "b"}\n]',
        b'[\r{"id": "a",\r"text": "b"}\r]',
    ],
)
def test_one_row_is_read_from_every_form(tmp_path: Path, data: bytes) -> None:
    assert [value for _where, value in written(tmp_path, data).rows()] == [{"id": "a", "text": "b"}]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r", "\n\n", "\n\ufeff"])
def test_lines_have_any_line_ends(tmp_path: Path, end: str) -> None:
    file = written(tmp_path, f'{{"id": "a"}}{end}{{"id": "b"}}{end}'.encode())
    assert [value["id"] for _where, value in file.rows()] == ["a", "b"]


def test_lines_in_place_of_one_object_are_refused_as_lines(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="expected one JSON object, found 2 lines of JSON"):
        fitted(Row, written(tmp_path, b'{"id": "a"}\n{"id": "b"}\n').json(), "there")


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="file not found"):
        AnswerFile.open(tmp_path / "none.json")
    with pytest.raises(BadInput, match="not a file"):
        AnswerFile.open(tmp_path)


def test_a_file_that_is_too_large_is_not_read_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "LARGEST", 10)
    assert written(tmp_path, b"[1, 2, 3] ").json() == [1, 2, 3]
    with pytest.raises(BadInput, match="more than 10 bytes"):
        written(tmp_path, b"[1, 2, 3]  ")


def test_a_question_that_is_answered_twice_is_refused_at_the_second(tmp_path: Path) -> None:
    once([("one", "a"), ("two", "b")])
    with pytest.raises(BadInput, match="two: second answer to the question 'a'") as refused:
        once([("one", "a"), ("two", "a")])
    assert "Keep one answer per question" in str(refused.value)


def test_what_lies_beside_a_file_is_read_where_it_is_there(tmp_path: Path) -> None:
    file = written(tmp_path, b"[1]")
    assert file.beside("report.json") is None
    (tmp_path / "report.json").write_text('{"a": 1}')
    assert file.beside("report.json") == {"a": 1}
    (tmp_path / "report.json").write_text('{"a": ')
    with pytest.raises(BadInput, match=r"report\.json: the file is cut off"):
        file.beside("report.json")


@given(
    st.binary(max_size=200)
    | st.text(alphabet='[]{}",:0123456789eE.-nulltruefalseNaN \n\\u', max_size=80).map(str.encode)
)
def test_any_bytes_are_rows_or_refused(data: bytes) -> None:
    file = AnswerFile(Path("any.json"), data, digest_bytes(data))
    try:
        for where, value in file.rows():
            row = fitted(Row, value, where)
            row.text.encode()
    except BadInput as refused:
        assert "any.json" in str(refused)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=8,
    )
)
def test_any_value_is_a_list_with_something_in_it_or_refused(value: object) -> None:
    try:
        assert listed(value, "there") == value
    except BadInput as refused:
        assert not isinstance(value, list) or not value
        assert "there" in str(refused)
