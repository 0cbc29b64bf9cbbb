"""Tables of comma-separated values: every row as it was written, or a refusal with its line."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.benchmarks.formats.simple import table_rows
from memeval.records.errors import BadInput

CELL = st.text(alphabet='ab"\n\r,;\t é', max_size=8)


def read(data: bytes) -> list[dict[str, str]]:
    return [row for _where, row in table_rows(data, "t.csv", "id")]


@given(
    st.lists(st.tuples(CELL, CELL), max_size=6),
    st.sampled_from([",", "\t", ";"]),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.booleans(),
)
def test_what_a_program_writes_is_read_back(rows: list[tuple[str, str]], delimiter: str, end: str, mark: bool) -> None:
    stream = io.StringIO(newline="")
    csv.writer(stream, delimiter=delimiter, lineterminator=end, quoting=csv.QUOTE_ALL).writerows(
        [("id", "text"), *rows]
    )
    data = stream.getvalue().encode("utf-8-sig" if mark else "utf-8")
    assert read(data) == [{"id": first, "text": second} for first, second in rows]


@given(st.text(alphabet='id,"\n\rab\t;', max_size=60))
def test_any_text_is_rows_or_refused_with_its_line(text: str) -> None:
    try:
        for row in read(f"id,text\n{text}".encode()):
            assert set(row) == {"id", "text"}
    except BadInput as refused:
        assert str(refused).startswith("t.csv:")
        assert refused.remedy


@given(st.binary(max_size=60))
def test_any_bytes_are_rows_or_refused(data: bytes) -> None:
    try:
        read(data)
    except BadInput as refused:
        assert str(refused).startswith("t.csv")
        assert refused.remedy


def test_the_line_of_a_fault_counts_the_lines_inside_quotes() -> None:
    with pytest.raises(BadInput, match=r"t\.csv:5: the row has more fields"):
        read(b'id,text\r\n1,"a\r\nb"\r\n\r\n2,c,d\r\n')
