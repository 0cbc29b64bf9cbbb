"""Two parsers read the JSON text of records: the quick one takes nothing that Python's own does not take."""

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memeval.records.base import RepeatedKey, parsed


class Pairs(list[tuple[str, Any]]):
    """An object whose keys may repeat."""


KEYS = st.sampled_from(["", "a", "ab", "\0", "é", "\ud800", "nested"])
NUMBERS = st.integers() | st.floats() | st.sampled_from([10**400, -0.0, 1e-320, 2**53 + 1])
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(st.characters(), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.lists(st.tuples(KEYS, inner), max_size=3).map(Pairs),
    max_leaves=12,
)
BYTES = st.sampled_from([*b'{}[],:"\\0123456789.eE+-trufalsn/ \t\n\0\x0b\x7f\xc3\xa9\xed\xa0\xef\xbb\xbfINy'])


def written(value: Any, ascii_only: bool) -> str:
    if isinstance(value, Pairs):
        inside = (f"{json.dumps(name)}: {written(each, ascii_only)}" for name, each in value)
        return "{" + ", ".join(inside) + "}"
    if isinstance(value, list):
        return "[" + ",".join(written(each, ascii_only) for each in value) + "]"
    return json.dumps(value, ensure_ascii=ascii_only)


@st.composite
def texts(draw: st.DrawFn) -> bytes:
    """Text of JSON, whole or damaged in a few places."""
    text = bytearray(written(draw(VALUES), draw(st.booleans())).encode("utf-8", "surrogatepass"))
    for _ in range(draw(st.integers(0, 2))):
        place = draw(st.integers(0, len(text)))
        text[place : place + draw(st.integers(0, 2))] = draw(st.lists(BYTES, max_size=2))
    return bytes(text)


def outcome(text: str | bytes) -> str:
    """Return what the parsers read in a text, or what they say of it."""
    try:
        return repr(parsed(text))
    except (ValueError, RecursionError) as error:
        return f"{type(error).__name__}: {error}"


@given(texts())
@example(b'\xef\xbb\xbf{"a": 1}')
@example(b'{"a": %s}' % (b"1" * 5000))
@example(b'{"a": 1} {"a": 1}')
@example(b'{"\\u0061": 1, "a": 2}')
@example(b'{"a": "\\ud800"}')
@example(b'{"a": [Infinity, -Infinity, NaN, 1e400, 5e-400, -0, -0.0, 1E+3]}')
@example(b"[" * 300 + b"]" * 300)
def test_bytes_are_read_as_python_s_own_parser_reads_their_text(text: bytes) -> None:
    try:
        decoded = text.decode()
    except UnicodeDecodeError as error:
        assert outcome(text) == f"UnicodeDecodeError: {error}"
        return
    assert outcome(text) == outcome(decoded)


@pytest.mark.parametrize("depth", [0, 3])
def test_a_key_that_occurs_twice_is_named_at_any_depth(depth: int) -> None:
    with pytest.raises(RepeatedKey, match="the key 'again' occurs twice"):
        parsed(b'{"in": ' * depth + b'{"again": 1, "again": 1}' + b"}" * depth)


def test_whole_text_is_left_to_the_quick_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(json, "loads")
    assert parsed(b'{"a": [1, 2.5, null]}') == {"a": [1, 2.5, None]}
