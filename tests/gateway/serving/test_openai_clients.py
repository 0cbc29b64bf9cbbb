"""The real ``openai`` package against the endpoint: what works with the provider works here."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from memeval.records.call import Api, Phase
from tests.gateway.serving.helpers import KEY, Open, Rig

if TYPE_CHECKING:
    from openai import OpenAI

TOOL: Any = {
    "type": "function",
    "function": {"name": "weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}},
}
SAID: Any = [{"role": "user", "content": "Does Jim use Drone CI?"}]
LONG = "Jim uses Drone CI, and " * 40


@contextmanager
def client_of(rig: Rig) -> Iterator[OpenAI]:
    from openai import OpenAI  # here and below: it takes a second, which only the worker that runs these should need

    environment = rig.endpoint.environment
    with OpenAI(base_url=environment["OPENAI_BASE_URL"], api_key=environment["OPENAI_API_KEY"]) as client:
        yield client


def test_a_chat_is_answered_and_recorded_without_the_key(rig: Open) -> None:
    opened = rig(answer=lambda _body: "Yes.")
    opened.endpoint.in_phase(Phase.ASK)
    with client_of(opened) as client:
        reply = client.chat.completions.create(model="small", messages=SAID, temperature=0, user="me", store=True)
    assert reply.choices[0].message.content == "Yes."
    (call,) = opened.calls
    assert (call.phase, call.scenario_id, call.ordinal, call.error) == (Phase.ASK, "scenario-1", 0, None)
    assert call.request.body == {"model": "small", "messages": SAID, "temperature": 0}
    assert call.prompt_tokens and call.completion_tokens
    assert opened.upstream.headers[0]["authorization"] == f"Bearer {KEY}"
    assert KEY not in call.to_json()


def test_a_streamed_chat_is_the_whole_one_in_pieces_and_sent_upstream_whole(rig: Open) -> None:
    opened = rig(answer=lambda _body: LONG)
    with client_of(opened) as client:
        stream = client.chat.completions.create(
            model="small", messages=SAID, stream=True, stream_options={"include_usage": True}
        )
        chunks = list(stream)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices) == LONG
    assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == "stop"
    assert chunks[-1].usage is not None and chunks[-1].usage.total_tokens > 0
    assert len(chunks) > 5
    assert "stream" not in opened.upstream.bodies[0]


def test_streamed_and_whole_requests_are_one_request_to_the_record(rig: Open) -> None:
    opened = rig()
    with client_of(opened) as client:
        client.chat.completions.create(model="small", messages=SAID)
        list(client.chat.completions.create(model="small", messages=SAID, stream=True))
    assert [call.ordinal for call in opened.calls] == [0, 1]


@pytest.mark.parametrize("streamed", [False, True])
def test_tools_pass_through(rig: Open, streamed: bool) -> None:
    opened = rig()
    with client_of(opened) as client:
        if streamed:
            with client.chat.completions.stream(model="small", messages=SAID, tools=[TOOL]) as stream:
                reply: Any = stream.get_final_completion()
        else:
            reply = client.chat.completions.create(model="small", messages=SAID, tools=[TOOL])
        call = reply.choices[0].message.tool_calls[0]
        assert (call.id, call.function.name, call.function.arguments) == ("call_1", "weather", '{"city": "Ü"}')
        assert reply.choices[0].finish_reason == "tool_calls"
        told = [*SAID, reply.choices[0].message, {"role": "tool", "tool_call_id": "call_1", "content": "rain"}]
        client.chat.completions.create(model="small", messages=told)
    sent = opened.upstream.bodies[-1]["messages"]
    assert [message["role"] for message in sent] == ["user", "assistant", "tool"]
    assert sent[1]["tool_calls"][0]["function"]["arguments"] == '{"city": "Ü"}'


def test_several_choices_come_back_streamed_too(rig: Open) -> None:
    with client_of(rig()) as client:
        whole = client.chat.completions.create(model="small", messages=SAID, n=3)
        chunks = list(client.chat.completions.create(model="small", messages=SAID, n=3, stream=True))
    assert len(whole.choices) == 3
    assert {chunk.choices[0].index for chunk in chunks} == {0, 1, 2}


def test_embeddings_are_the_same_packed_and_plain(rig: Open) -> None:
    opened = rig()
    with client_of(opened) as client:
        packed = client.embeddings.create(model="vectors", input=["a", "b"])
        plain = client.embeddings.create(model="vectors", input=["a", "b"], encoding_format="float")
    assert packed.data[1].embedding == pytest.approx(plain.data[1].embedding, abs=1e-6)
    assert len(plain.data) == 2
    assert [call.request.api for call in opened.calls] == [Api.EMBEDDINGS] * 2
    assert opened.calls[0].request == opened.calls[1].request


def test_responses_say_the_same_as_chats(rig: Open) -> None:
    opened = rig(answer=lambda _body: "Yes.")
    with client_of(opened) as client:
        reply = client.responses.create(
            model="small", instructions="Be brief.", input="Drone CI?", max_output_tokens=9, store=False
        )
    assert (reply.output_text, reply.status) == ("Yes.", "completed")
    assert reply.usage is not None and reply.usage.input_tokens > 0
    assert opened.calls[0].request.body == {
        "model": "small",
        "max_completion_tokens": 9,
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Drone CI?"}],
    }


def test_a_response_is_streamed_as_its_events(rig: Open) -> None:
    opened = rig(answer=lambda _body: LONG)
    with client_of(opened) as client, client.responses.stream(model="small", input="Drone CI?") as stream:
        deltas = [event.delta for event in stream if event.type == "response.output_text.delta"]
        final = stream.get_final_response()
    assert "".join(deltas) == final.output_text == LONG
    assert len(deltas) > 5


def test_a_response_calls_functions_and_takes_their_results(rig: Open) -> None:
    opened = rig()
    tool: Any = {"type": "function", "name": "weather", "parameters": {"type": "object"}, "strict": False}
    with client_of(opened) as client:
        with client.responses.stream(model="small", input="Rain?", tools=[tool]) as stream:
            streamed = stream.get_final_response()
        reply = client.responses.create(model="small", input="Rain?", tools=[tool], tool_choice="required")
        call: Any = reply.output[0]
        assert (call.type, call.name, call.arguments) == ("function_call", "weather", '{"city": "Ü"}')
        assert streamed.output[0].model_dump()["arguments"] == call.arguments
        result = {"type": "function_call_output", "call_id": call.call_id, "output": "rain"}
        told: Any = [{"role": "user", "content": "Rain?"}, call.model_dump(exclude_none=True), result]
        client.responses.create(model="small", input=told)
    sent = opened.upstream.bodies[-1]["messages"]
    assert [message["role"] for message in sent] == ["user", "assistant", "tool"]
    assert sent[1]["tool_calls"][0]["id"] == sent[2]["tool_call_id"] == "call_1"


def test_a_reply_cut_off_by_its_limit_says_so(rig: Open) -> None:
    opened = rig()
    opened.upstream.finish = "length"
    with client_of(opened) as client:
        reply = client.responses.create(model="small", input="Drone CI?")
    assert reply.status == "incomplete"
    assert reply.incomplete_details is not None and reply.incomplete_details.reason == "max_output_tokens"


def test_the_list_of_models_has_the_declared_ones(rig: Open) -> None:
    with client_of(rig()) as client:
        assert [model.id for model in client.models.list()] == ["small", "large", "vectors"]


def test_the_async_client_gets_all_its_answers_at_once(rig: Open) -> None:
    from openai import AsyncOpenAI

    opened = rig(latency=0.05, answer=lambda body: body["messages"][0]["content"])

    async def ask() -> list[str | None]:
        environment = opened.endpoint.environment
        async with AsyncOpenAI(
            base_url=environment["OPENAI_BASE_URL"], api_key=environment["OPENAI_API_KEY"]
        ) as client:

            async def one(number: int) -> str | None:
                reply = await client.chat.completions.create(
                    model="small", messages=[{"role": "user", "content": f"Number {number}"}]
                )
                return reply.choices[0].message.content

            return list(await asyncio.gather(*(one(number) for number in range(20))))

    assert asyncio.run(ask()) == [f"Number {number}" for number in range(20)]
    assert opened.upstream.most_in_flight > 4


def test_clients_do_not_retry_refused_requests(rig: Open) -> None:
    import openai

    opened = rig(most_faults=None)
    with client_of(opened) as client:
        client.chat.completions.create(model="large", messages=SAID)
        opened.upstream.faults = {"500": 1.0}
        with pytest.raises(openai.PermissionDeniedError, match=r"'secret-model' is not declared"):
            client.chat.completions.create(model="secret-model", messages=SAID)
        with pytest.raises(openai.InternalServerError, match="replied with status 500"):
            client.chat.completions.create(model="small", messages=SAID)
    tries = [(call.request.model, call.tries) for call in opened.calls]
    assert tries == [("large", 1), ("secret-model", 0), ("small", 2)]


def test_a_wrong_token_is_refused(rig: Open) -> None:
    import openai

    with (
        openai.OpenAI(base_url=rig().endpoint.environment["OPENAI_BASE_URL"], api_key="memeval-0000") as client,
        pytest.raises(openai.AuthenticationError, match="Unknown key"),
    ):
        client.models.list()
