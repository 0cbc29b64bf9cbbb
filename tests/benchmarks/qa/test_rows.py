"""Reading question sets: what is a row, and what is refused, with every fault and its line."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memeval.benchmarks.qa.rows import LARGEST_LINE, MOST_FAULTS, QuestionRow, Scorer, read_rows, rows_of
from memeval.records.errors import BadInput

EXACT, JUDGE = Scorer.EXACT, Scorer.JUDGE
WHOLE: dict[str, Any] = {
    "id": "a",
    "question": "Who?",
    "expected_substrings": ["Ada"],
    "reference_answer": "It was Ada.",
}


def lines(*rows: Any) -> bytes:
    return "".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows).encode()


def refused(data: bytes, scorer: Scorer = EXACT) -> str:
    with pytest.raises(BadInput) as caught:
        rows_of(data, scorer, "set.jsonl")
    return str(caught.value)


def test_a_row_is_read_with_all_that_it_may_have() -> None:
    row = WHOLE | {"expected_substrings": ["Ada", " ", "Lovelace"], "match": "all", "tags": ["x", "x", " y "]}
    (read,) = rows_of(lines(row | {"questionDate": "2026-01-31T09:30:00Z"}), EXACT, "x")
    assert read == QuestionRow(
        id="a",
        question="Who?",
        needles=("Ada", "Lovelace"),
        all_of=True,
        reference="It was Ada.",
        asked_at="2026-01-31T09:30:00Z",
        tags=("x", "y"),
    )


def test_comments_blank_lines_nulls_line_ends_of_windows_and_a_byte_order_mark_do_no_harm() -> None:
    first = json.dumps(WHOLE | {"question_date": None, "tags": None, "match": None})
    second = json.dumps(WHOLE | {"id": "b"})
    data = b"\xef\xbb\xbf# a set\r\n\r\n  # more\r\n" + first.encode() + b"\r\n \t\r\n" + second.encode()
    assert [row.id for row in rows_of(data, EXACT, "x")] == ["a", "b"]


def test_each_scorer_needs_its_own_field_and_no_other() -> None:
    needles = {"id": "a", "question": "Who?", "expected_substrings": ["Ada"]}
    reference = {"id": "a", "question": "Who?", "reference_answer": "Ada"}
    (with_needles,) = rows_of(lines(needles), EXACT, "x")
    (with_reference,) = rows_of(lines(reference), JUDGE, "x")
    assert (with_needles.body, with_reference.body) == ("Ada", "Ada")
    assert "'expected_substrings' is missing" in refused(lines(reference))
    assert "'expected_substrings' is empty" in refused(lines(reference | {"expected_substrings": ["", " "]}))
    assert "'expected_substrings' is missing" in refused(lines(reference | {"expected_substrings": []}))
    assert "'reference_answer' is missing" in refused(lines(needles), JUDGE)
    assert "'reference_answer' is missing" in refused(lines(needles | {"reference_answer": "  "}), JUDGE)


def test_every_fault_is_named_with_its_line() -> None:
    said = refused(lines("# one", WHOLE, {"question": 7}, WHOLE, "{", "[]", WHOLE | {"id": "c", "tags": "x"}))
    assert said == (
        "set.jsonl: 5 rows are invalid.\n"
        "  line 3: 'question' must be text, not a number. 'id' is missing. "
        "'expected_substrings' is missing. The exact scorer needs it.\n"
        "  line 4: the id 'a' is already used in line 2.\n"
        "  line 5: truncated JSON (Expecting property name enclosed in double quotes, column 2).\n"
        "  line 6: not a JSON object.\n"
        "  line 7: 'tags' must be a list of texts, not text.\n"
        "  Fix the file and run again."
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"id": " "}, "'id' is blank."),
        ({"id": "a\nb"}, "unprintable characters"),
        ({"id": " a"}, "spaces around it"),
        ({"id": "x" * 201}, "'id' has a text of 201 characters; the limit is 200."),
        ({"id": 7}, "'id' must be text, not a number."),
        ({"id": True}, "'id' must be text, not true or false."),
        ({"id": None}, "'id' is missing."),
        ({"question": ""}, "'question' is blank."),
        ({"question": ["Who?"]}, "'question' must be text, not a list."),
        ({"question": "\ud800"}, "half a character"),
        ({"question": "a\0b"}, "a NUL"),
        ({"expected_substrings": "Ada"}, "'expected_substrings' must be a list of texts, not text."),
        ({"expected_substrings": {"Ada": 1}}, "must be a list of texts, not an object."),
        ({"expected_substrings": ["Ada", 0]}, "must contain only texts, not a number."),
        ({"expected_substrings": ["Ada", None]}, "must contain only texts, not null."),
        ({"expected_substrings": ["Ada"] * 101}, "has 101 texts; the limit is 100."),
        ({"expected_substrings": ["A" * 1001]}, "has a text of 1,001 characters"),
        ({"reference_answer": 7}, "'reference_answer' must be text, not a number."),
        ({"match": "both"}, "'match' must be"),
        ({"match": ["any"]}, "'match' must be"),
        ({"question_date": "31.1.2026"}, "must be an ISO 8601 date"),
        ({"question_date": 20260131}, "must be an ISO 8601 date"),
        ({"question_date": "2026-02-30"}, "a date that does not exist"),
        ({"question_date": "2026-01-01", "questionDate": "2026-01-02"}, "'question_date' and 'questionDate' differ."),
        ({"tags": ["a\tb"]}, "'tags' contains unprintable characters."),
        ({"tags": ["x" * 41]}, "'tags' has a text of 41 characters"),
        ({"expected_substring": ["Ada"]}, "Did you mean 'expected_substrings'?"),
        ({"weather": 1}, "unknown field 'weather'."),
    ],
)
def test_a_value_that_does_not_belong_is_refused(change: dict[str, Any], said: str) -> None:
    assert said in refused(lines(WHOLE | change))


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "the file is empty."),
        (b" \n\t\n", "the file is empty."),
        (b"# nothing\n", "the file has no rows."),
        (gzip.compress(lines(WHOLE)), "compressed with gzip"),
        (lines(WHOLE).decode().encode("utf-16"), "the file is UTF-16."),
        (json.dumps([WHOLE], indent=1).encode(), "the file is a JSON list."),
        (lines(WHOLE)[:-20], "line 1: truncated JSON"),
        (b'{"id": "\xff"}\n', "line 1: not UTF-8, at byte 9."),
        (b'{"id": "a", "id": "b"}\n', "the field 'id' occurs twice."),
        (b'{"id": NaN}\n', "NaN is not a valid number."),
        (b'{"id": ' + b"9" * 5000 + b"}\n", "'id' must be text, not a number."),
        (b"[" * 100_000 + b"\n", "the file is a JSON list."),
        (b'{"id": ' + b"[" * 100_000 + b"\n", "nested too deep"),
        (b"x" * (LARGEST_LINE + 1) + b"\n", "the limit is 1,048,576."),
    ],
)
def test_what_is_no_question_set_is_refused_by_what_it_is(data: bytes, said: str) -> None:
    assert said in refused(data)


def test_a_file_of_nothing_but_faults_is_refused_in_a_bounded_sentence() -> None:
    said = refused(b"x\n" * 1000)
    assert "1,000 rows are invalid." in said
    assert said.count("line ") == MOST_FAULTS
    assert "… and 950 more" in said


def test_a_file_that_is_not_there_or_is_a_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"no\.jsonl: file not found"):
        read_rows(tmp_path / "no.jsonl", EXACT)
    with pytest.raises(BadInput, match="this is not a file"):
        read_rows(tmp_path, EXACT)


@given(st.binary(max_size=200) | st.text(max_size=80).map(str.encode))
@example(b'{"id": "a", "question": "b", "expected_substrings": ["c"]}')
def test_whatever_the_bytes_there_are_rows_or_a_sentence(data: bytes) -> None:
    try:
        rows = rows_of(data, EXACT, "x")
    except BadInput as error:
        assert str(error)
    else:
        assert all(row.id and row.question and row.needles for row in rows)
