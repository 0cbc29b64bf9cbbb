from __future__ import annotations

import json

import pytest

from memeval.records.scenario import Session, Turn, TurnKind
from memeval.systems import messages
from memeval.systems.failures import AdapterRaised
from memeval.systems.messages import Found, Garbled


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
    with pytest.raises(Garbled):
        messages.from_line(line, 1)


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
    with pytest.raises(Garbled):
        messages.reply(value, 0.1, 0.1)


def test_a_reply_is_read_with_all_it_may_hold() -> None:
    value = {"answer": "a", "context": "c", "items": [{"text": "t", "source_ids": ["s001"], "score": 1}], "tokens": 2.5}
    reply = messages.reply(value, 0.2, 0.1)
    assert (reply.answer, reply.context, reply.items) == ("a", "c", (Found("t", ("s001",), 1.0),))
    assert (reply.reported_tokens, reply.seconds, reply.worker_seconds) == (2.5, 0.2, 0.1)


def test_an_exception_without_words_is_named_by_its_type() -> None:
    error = {"kind": "raised", "method": "query", "message": "", "type": "KeyError", "trace": []}
    failure = messages.failure(error, "ask")
    assert isinstance(failure, AdapterRaised)
    assert failure.sentence == "query raised KeyError."


def test_an_error_of_an_unknown_form_is_refused() -> None:
    for error in (5, {}, {"kind": "new", "message": "", "method": ""}):
        with pytest.raises(Garbled):
            messages.failure(error, "ask")
