"""Every form of reply and error that providers send: what a reader and a judge get of it, over real HTTP."""

from collections.abc import Iterator
from typing import Any

import pytest

from memeval.execution.model_reader import ModelReader
from memeval.gateway.endpoints import Endpoint
from memeval.gateway.record import CallRecord
from memeval.gateway.replies import is_usable, text_of
from memeval.gateway.stops import GatewayStopped
from memeval.reading import ReaderFailed
from memeval.records.call import Caller, Phase
from tests.gateway.asking import KEY, ask, new_gateway, question
from tests.gateway.forms import FORMS
from tests.support.audits import make_call
from tests.support.model_server import ModelServer

OPTIONS: dict[str, Any] = {"tries": 2, "refusals": 0}


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


def sends(server: ModelServer, form: dict[str, Any]) -> int:
    """Make the server send a form, and return the number of requests so far."""
    server.refusal = (form.get("status", 200), form["body"])
    return server.requests


@pytest.mark.parametrize("form", FORMS)
def test_a_judge_gets_the_text_or_a_failed_try(server: ModelServer, form: dict[str, Any]) -> None:
    shared, before = CallRecord(None), sends(server, form)
    with new_gateway(shared, **OPTIONS) as gateway:
        if "stops" in form:
            with pytest.raises(GatewayStopped) as stopped:
                ask(gateway, server)
            assert form["stops"] in str(stopped.value) and stopped.value.exit_code == form["exit"]
            return
        call = ask(gateway, server)
    assert text_of(call) == form.get("text")
    assert is_usable(call) is ("text" in form)
    if "text" in form:
        assert (call.error, call.tries, call.ended_early) == (None, 1, form.get("ended_early"))
        assert list(shared.rows()) == [call]
    else:
        assert form["failed"] in str(call.error)
        assert call.tries == server.requests - before == form["tries"]
        assert list(shared.rows()) == [], "a failed try is not a recorded answer"


@pytest.mark.parametrize("form", FORMS)
def test_a_reader_answers_with_the_text_or_fails(server: ModelServer, form: dict[str, Any]) -> None:
    sends(server, form)
    with new_gateway(**OPTIONS) as gateway:
        reader = ModelReader("openai:m", Endpoint(server.url, KEY), gateway, 1000)
        if "stops" in form:
            with pytest.raises(GatewayStopped):
                reader.read("Where?", None, ["Lima"])
        elif "text" in form:
            answer = reader.read("Where?", None, ["Lima"])
            assert answer.answer == form["text"]
            early = form.get("ended_early")
            assert answer.note == (None if early is None else f"The model's reply is not complete: {early}.")
        else:
            with pytest.raises(ReaderFailed) as failed:
                reader.read("Where?", None, ["Lima"])
            assert form["failed"] in str(failed.value)


@pytest.mark.parametrize("way", ["the shared record", "a sealed run"])
def test_a_reply_that_an_older_memeval_stored_as_an_answer_is_asked_again(server: ModelServer, way: str) -> None:
    server.refusal = None
    request = question(server.url)
    old = make_call(request, '{"choices": [{"message": {"content": ""}, "finish_reason": "error"}]}')
    shared = CallRecord(None)
    shared.append_all([old] if way == "the shared record" else [])
    with new_gateway(shared) as gateway:
        gateway.reuse([old] if way == "a sealed run" else [])
        call = ask(gateway, server)
        assert text_of(call) in ("yes", "no")
        assert (gateway.made, gateway.cached) == (1, 0)
        assert ask(gateway, server) == call
        assert (gateway.made, gateway.cached) == (1, 1)


def test_six_replies_that_a_filter_emptied_do_not_count_as_an_outage(server: ModelServer) -> None:
    server.refusal = (200, {"choices": [{"message": {"content": None}, "finish_reason": "content_filter"}]})
    with new_gateway(**OPTIONS) as gateway:
        for number in range(6):
            assert ask(gateway, server, number).error is not None
        gateway.check()


def test_a_payment_that_is_due_with_a_time_to_wait_is_retried() -> None:
    """OpenRouter holds credit for requests in flight, and says when there is some again."""
    body = {"error": {"code": 402, "message": "In-flight budget."}}
    due = ModelServer(refusal=(402, body), refusal_headers={"Retry-After": "0.01"})
    with due as server, new_gateway(**OPTIONS) as gateway:
        call = ask(gateway, server)
    assert call.tries == 2 and "status 402: In-flight budget." in str(call.error)


def test_a_refusal_without_a_message_has_a_remedy_that_names_none() -> None:
    with (
        ModelServer(refusal=(400, {})) as server,
        new_gateway(concurrency=1, refusals=1) as gateway,
        pytest.raises(GatewayStopped, match="The endpoint gives no reason"),
    ):
        ask(gateway, server)


def test_a_key_in_the_query_is_sent_and_never_shown() -> None:
    query = "api-version=2024-06-01&subscription-key=very-secret-value"
    body = {"error": {"message": "Denied for very-secret-value."}}
    with ModelServer(refusal=(400, body)) as server, new_gateway(**OPTIONS) as gateway:
        endpoint = Endpoint(server.url, KEY, query=query)
        call = gateway.call(question(server.url), endpoint, Caller.JUDGE, Phase.JUDGE)
    assert server.queries == [{"api-version": "2024-06-01", "subscription-key": "very-secret-value"}]
    assert server.headers[0]["api-key"] == KEY
    assert "Denied for [secret]." in str(call.error)
    assert "very-secret-value" not in call.to_json() + repr(endpoint)
