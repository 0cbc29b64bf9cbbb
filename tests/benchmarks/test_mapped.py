"""A mapping says where the answers are in a file: every row is read as it was written, or refused in a sentence."""

import csv
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from memeval.benchmarks.formats.mapped import mapping_of, read_mapped
from memeval.benchmarks.formats.mapped_rows import read_rows
from memeval.benchmarks.formats.reading import NO_ANSWER, AnswerFile, ImportedAnswer
from memeval.benchmarks.formats.simple import table_rows
from memeval.records.base import digest_bytes
from memeval.records.errors import BadInput
from memeval.records.imported import Claim
from memeval.records.mapping import AnswerMapping, FieldPlace, RowMapping

PLAIN = AnswerMapping(rows="$[*]", item="id", answer="said", milliseconds="ms", error="error")
NESTED = AnswerMapping(
    rows="$.runs[*].rows[*]",
    item="q.id",
    answer="q.said",
    system="name",
    made_at="at",
    limits={"top_k": ("settings.k", "k"), "mode": ("mode",)},
    spent_usd=("cost.a", "cost.b"),
    claimed_score="score",
    claimed_items="asked",
    claimed_judge="judge",
)
SHORT = st.text(max_size=6).filter(lambda text: text.isascii() or text == text.encode(errors="replace").decode())
ROWS = st.lists(
    st.tuples(st.text("abc", min_size=1, max_size=4), SHORT), min_size=1, max_size=5, unique_by=lambda r: r[0]
)


def file_of(data: bytes, name: str = "mem-x.json") -> AnswerFile:
    return AnswerFile(Path(name), data, digest_bytes(data))


def answers_of(value: Any, mapping: AnswerMapping = PLAIN) -> tuple[ImportedAnswer, ...]:
    return read_mapped(file_of(json.dumps(value).encode()), mapping, "plain").answers


@given(ROWS, st.sampled_from(["list", "indented", "\n", "\r\n", "\r"]), st.booleans())
def test_rows_are_read_from_every_form(rows: list[tuple[str, str]], form: str, mark: bool) -> None:
    values = [{"id": name, "said": text, "other": [float("nan")]} for name, text in rows]
    if form in ("list", "indented"):
        text = json.dumps(values, indent=2 if form == "indented" else None)
    else:
        text = form.join(json.dumps(value) for value in values) + form
    found = read_mapped(file_of(text.encode("utf-8-sig" if mark else "utf-8")), PLAIN, "plain").answers
    assert [(answer.question_id, answer.text, answer.error) for answer in found] == [(*row, None) for row in rows]


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["id", "said", "ms", "error", "x"]), inner, max_size=4)
        ),
        max_leaves=12,
    ),
    st.sampled_from([PLAIN, NESTED]),
)
def test_any_value_is_answers_or_refused_with_the_file_and_a_remedy(value: object, mapping: AnswerMapping) -> None:
    try:
        found = answers_of(value, mapping)
    except BadInput as refused:
        assert str(refused).startswith("mem-x.json")
        assert refused.remedy
    else:
        assert len({answer.question_id for answer in found}) == len(found) > 0
        for answer in found:
            assert answer.question_id and answer.text.encode() is not None
            assert answer.seconds is None or 0 <= answer.seconds < 1e15


@given(st.binary(max_size=80) | st.text('[]{}",:0123456789eE.-nulltrueNaN idsa\r\n', max_size=80).map(str.encode))
def test_any_bytes_are_answers_or_refused(data: bytes) -> None:
    try:
        assert read_mapped(file_of(data), PLAIN, "plain").answers
    except BadInput as refused:
        assert str(refused).startswith("mem-x.json") and refused.remedy


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"said": "x"}, "row 2: 'id' is missing"),
        ({"id": "b"}, "row 2: 'said' is missing"),
        ({"id": None, "said": "x"}, "row 2: 'id' is null or empty"),
        ({"id": "", "said": "x"}, "row 2: 'id' is null or empty"),
        ({"id": ["b"], "said": "x"}, "row 2: 'id' is not text"),
        ({"id": "b", "said": True}, "row 2: 'said' is not text"),
        ({"id": "b", "said": float("inf")}, "row 2: 'said' is not text"),
        ({"id": "b", "said": "\ud800"}, "row 2: 'said' has more than 4,000,000 characters, or half a character"),
        ({"id": "b", "said": "x", "ms": "soon"}, "row 2: 'ms' is not a number"),
        ({"id": "b", "said": "x", "ms": float("inf")}, "row 2: 'ms' is not a number"),
        ({"id": "b", "said": "x", "ms": -1}, "row 2: 'ms' is negative"),
        ({"id": "a", "said": "x"}, "row 2: second answer to the question 'a'"),
        (7, "row 2: expected a JSON object, found a number"),
    ],
)
def test_a_row_that_does_not_fit_is_refused_with_its_number(row: Any, problem: str) -> None:
    with pytest.raises(BadInput) as refused:
        answers_of([{"id": "a", "said": "x"}, row])
    assert problem in str(refused.value)
    assert refused.value.remedy


def test_what_can_mean_only_one_thing_is_read() -> None:
    found = answers_of(
        [
            {"id": "a", "said": None},
            {"id": "b", "said": float("nan"), "ms": float("nan")},
            {"id": 7, "said": 42, "ms": "250"},
            {"id": "c", "said": 2.5, "error": ""},
            {"id": "d", "said": "[ERROR] no such store", "error": True},
            {"id": "e", "said": "x", "error": "timed out"},
        ]
    )
    assert [(answer.question_id, answer.text, answer.error) for answer in found] == [
        ("a", "", NO_ANSWER),
        ("b", "", NO_ANSWER),
        ("7", "42", None),
        ("c", "2.5", None),
        ("d", "", "no such store"),
        ("e", "", "timed out"),
    ]
    assert found[2].seconds == 0.25


def test_what_a_file_says_about_all_rows_is_read() -> None:
    value = {
        "name": "mem-y",
        "at": "2026-01-01",
        "settings": {"k": None},
        "k": 5,
        "mode": "",
        "cost": {"a": 1, "b": 0.5},
        "score": 0.25,
        "asked": 8,
        "judge": "gpt",
        "runs": [{"rows": [{"q": {"id": "a", "said": "x"}}]}, {"rows": [{"q": {"id": "b", "said": "y"}}]}],
    }
    found = read_mapped(file_of(json.dumps(value).encode()), NESTED, "nested")
    assert (found.system, found.slug, found.imported.made_at) == ("mem-y", "mem-y-nested", "2026-01-01")
    assert (found.imported.limits, found.imported.cost_usd) == ({"top_k": 5}, 1.5)
    assert found.imported.claims == (Claim(score=0.25, items=8, judge="gpt"),)
    for change, problem in (
        ({"name": None}, "'name' is missing"),
        ({"score": 25}, "'score' is not a number of at most 1"),
    ):
        with pytest.raises(BadInput, match=problem):
            read_mapped(file_of(json.dumps(value | change).encode()), NESTED, "nested")


@pytest.mark.parametrize(
    ("mapping", "problem"),
    [
        (RowMapping(rows="$", answer="said", gold="said"), "'gold' and 'answer' are both mapped to path 'said'"),
        (RowMapping(rows="$", seconds="s", milliseconds="ms"), "both 'seconds' and 'milliseconds'"),
        (RowMapping(rows="$", verdicts={"a": "ok", "b": "ok"}), "'verdicts.a' and 'verdicts.b'"),
        (RowMapping(rows="$", item=FieldPlace(path="id", pattern="(")), "'item': '(' is not a regular expression"),
    ],
)
def test_a_mapping_that_contradicts_itself_says_so(mapping: RowMapping, problem: str) -> None:
    assert problem in (mapping.problem() or "")


def test_one_field_may_give_two_parts() -> None:
    whole, part = FieldPlace(path="id"), FieldPlace(path="id", pattern=r"^(\w+):")
    assert RowMapping(rows="$", item=whole, scenario=part).problem() is None


def test_a_source_with_a_field_that_no_row_has_is_refused_with_the_fields_there_are() -> None:
    mapping = RowMapping(rows="$[*]", item="id", answer="reply")
    with pytest.raises(BadInput, match="no row has the field of 'answer'") as refused:
        read_rows(b'[{"id": "a", "said": "x"}]', mapping, "there")
    assert "id, said" in str(refused.value)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "has no mapping 'mine'"),
        ('[mine]\nrows = "$"\nitem = "a"\nitem = "b"\n', "answers.toml:4: not valid TOML: a key occurs twice"),
        ('[mine]\nrows = "$"\nitem = "a"\nanswer = "a"\n', "answers.toml:1: 'item' and 'answer' are both mapped"),
        ('[mine]\nrows = "$"\nitm = "a"\n', "answers.toml:3: unknown key 'itm'. Did you mean 'item'?"),
        ('[mine]\nitem = "a"\n', "answers.toml:1: 'rows' is missing"),
    ],
)
def test_a_mapping_that_is_not_valid_is_refused_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, problem: str
) -> None:
    package = f"mapped_{digest_bytes(text.encode())[7:15]}"
    (tmp_path / package).mkdir()
    (tmp_path / package / "__init__.py").touch()
    (tmp_path / package / "answers.toml").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(BadInput) as refused:
        mapping_of(f"{package}:mine")
    assert problem in str(refused.value)
    sys.modules.pop(package, None)


def test_a_mapping_is_strict_about_its_own_fields() -> None:
    with pytest.raises(ValidationError):
        AnswerMapping.model_validate({"rows": "$", "colour": "red"})


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
