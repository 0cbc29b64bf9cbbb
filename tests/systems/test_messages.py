import contextlib
import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memeval.records.scenario import Session, Turn, TurnKind
from memeval.systems import messages
from memeval.systems.errors import AdapterRaised, NoAdapter
from memeval.systems.messages import FoundItem, ProtocolError


def test_a_session_is_one_ascii_line_with_no_key_that_says_nothing() -> None:
    session = Session(
        session_id="s001",
        date="2025-01-02",
        turns=(
            Turn(turn_id="s001:t01", role="user", content="Grüße\nan 👋", speaker="Ann"),
            Turn(turn_id="s001:t02", role="assistant", content="ls", kind=TurnKind.ACTION),
        ),
    )
    line = messages.session_json(session)
    assert line.isascii() and b"\n" not in line
    assert json.loads(line) == {
        "session_id": "s001",
        "date": "2025-01-02",
        "turns": [
            {"turn_id": "s001:t01", "role": "user", "content": "Grüße\nan 👋", "speaker": "Ann"},
            {"turn_id": "s001:t02", "role": "assistant", "content": "ls", "kind": "action"},
        ],
    }


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"rubbish",
        b"\xff",
        b"[]",
        b'{"id":2,"value":null}',
        b'{"id":1}',
        b'{"id":1,"value":null,"error":{}}',
        b'{"id":1,"value":NaN}',
        b"[" * 100_000,
        b'{"id":1,"value":' + b"9" * 5000 + b"}",
    ],
)
def test_a_line_that_is_no_reply_is_refused(line: bytes) -> None:
    with pytest.raises(ProtocolError):
        messages.from_line(line, (1,))


@pytest.mark.parametrize(
    "value",
    [
        None,
        "text",
        {"answer": None},
        {"answer": 5},
        {"answer": "\ud800"},
        {"answer": "", "context": 1},
        {"answer": "", "items": "abc"},
        {"answer": "", "items": [{"text": "\udfff"}]},
        {"answer": "", "items": [{"text": "a", "score": True}]},
        {"answer": "", "items": [{"text": "a", "source_ids": "s001"}]},
        {"answer": "", "tokens": "5"},
        {"answer": "", "tokens": 10**400},
        {"answer": "", "tokens": 1e308},
        {"answer": "", "tokens": -1},
    ],
)
def test_a_forged_reply_of_the_wrong_shape_is_refused(value: object) -> None:
    with pytest.raises(ProtocolError):
        messages.reply(value, 0.1)


def test_a_value_that_is_nested_too_deeply_to_be_shown_is_refused() -> None:
    value: list[object] = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(ProtocolError, match="has a deeply nested value instead of a string"):
        messages.text(value)


def test_a_reply_is_read_with_all_it_may_hold() -> None:
    value = {"answer": "a", "context": "c", "items": [{"text": "t", "source_ids": ["s001"], "score": 1}], "tokens": 2.5}
    reply = messages.reply(value, 0.2)
    assert (reply.answer, reply.context, reply.items) == ("a", "c", (FoundItem("t", ("s001",), 1.0),))
    assert (reply.reported_tokens, reply.seconds) == (2.5, 0.2)


def test_an_exception_without_words_is_named_by_its_type() -> None:
    error = {"kind": "raised", "method": "query", "message": "", "type": "KeyError", "trace": []}
    failure = messages.failure(error, "ask")
    assert isinstance(failure, AdapterRaised) and failure.sentence == "query raised KeyError."


def test_an_error_of_an_unknown_form_is_refused() -> None:
    for error in (5, {}, {"kind": "new", "message": "", "method": ""}):
        with pytest.raises(ProtocolError):
            messages.failure(error, "ask")


def test_a_program_may_leave_out_what_only_python_knows_and_name_calls_or_methods() -> None:
    told = messages.adapter_info({"capabilities": ["load", "take_in", "query", "export", "take_in"]})
    assert told.capabilities == ("export_memories", "ingest_session", "query")
    assert (told.class_name, told.python, dict(told.packages)) == ("", "", {})


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"capabilities": "ask"},
        {"capabilities": ["take_in", "ask", "dream"]},
        {"capabilities": ["take_in", "ask", 5]},
        {"capabilities": ["take_in", "ask"], "packages": {"x": 1}},
        {"capabilities": ["take_in", "ask"], "class": None},
    ],
)
def test_what_a_program_does_say_of_itself_must_be_right(value: object) -> None:
    with pytest.raises(ProtocolError):
        messages.adapter_info(value)


@pytest.mark.parametrize("count", ["1", True, -1, 1.5, 10**400, [1]])
def test_a_count_of_the_forgotten_is_whole_or_missing(count: object) -> None:
    with pytest.raises(ProtocolError):
        messages.forgotten({"forgotten": count})
    assert (messages.forgotten({"forgotten": 3}), messages.forgotten({})) == (3, None)


def test_a_stray_line_is_shown_cut_and_harmless() -> None:
    with pytest.raises(ProtocolError) as broken:
        messages.from_line(b"\x1b[2J" + "é".encode() * 500 + b"\xff", (1,))
    assert str(broken.value).startswith("is not UTF-8 ('\\x1b[2J\u00e9")
    assert len(str(broken.value)) < 150


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=[]), max_size=9),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["answer", "items", "text", "context", "capabilities", "forgotten"]), inner)
    ),
    max_leaves=12,
)


@given(JSON)
def test_whatever_a_program_says_is_read_or_refused(value: object) -> None:
    readers: list[Callable[[object], object]] = [
        messages.adapter_info,
        messages.usage,
        messages.exported,
        messages.forgotten,
        lambda value: messages.reply(value, 0.0),
        lambda value: messages.failure(value, "ask"),
    ]
    for read in readers:
        with contextlib.suppress(ProtocolError, NoAdapter):
            json.dumps(str(read(value)), ensure_ascii=False).encode("utf-8")
