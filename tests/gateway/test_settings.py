"""Request settings by model family: who is asked otherwise, what stays as it was, and a user's own file."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import JsonValue

from memeval.gateway.budget import Budget, parse_caps
from memeval.gateway.endpoints import OPENAI, Endpoint
from memeval.gateway.replies import text_of
from memeval.gateway.settings import VARIABLE, _shipped, settings_for, settings_text
from memeval.records.call import Api, ModelRequest, Phase
from memeval.records.errors import BadInput
from tests.gateway.asking import KEY, new_gateway
from tests.support.model_server import ModelServer, reasoning_only

USUAL: dict[str, Any] = {"temperature": 0, "max_tokens": 10, "seed": 42, "n": 1}
MISTRAL = "https://api.mistral.ai/v1"


@pytest.mark.parametrize(
    "model",
    [
        *("gpt-4o-2024-08-06", "gpt-4o-mini-2024-07-18", "gpt-4.1-2025-04-14", "gpt-5-chat-latest", "gpt-oss-120b"),
        *("claude-sonnet-4-6", "claude-opus-4-20250514", "claude-haiku-4-5-20251001", "claude-3-5-sonnet-latest"),
        *("gemini-3-pro", "deepseek-chat", "mistral-large-latest", "llama3:8b", "o3x", "org/o3", "olmo-3"),
    ],
)
def test_a_model_without_a_family_has_the_usual_settings(model: str) -> None:
    assert settings_for(model, OPENAI, USUAL) == USUAL
    assert settings_text(settings_for(model, OPENAI, USUAL), USUAL) is None


@pytest.mark.parametrize(
    "model",
    [
        *("o1", "o1-2024-12-17", "o3", "o3-2025-04-16", "o3-mini", "o3-mini-2025-01-31", "o4-mini", "openai/o4-mini"),
        *("gpt-5", "gpt-5-2025-08-07", "gpt-5-mini", "gpt-5-nano-2025-08-07", "gpt-5.1", "gpt-5.2-2025-12-11"),
    ],
)
def test_openais_reasoning_models_get_no_temperature_and_more_tokens(model: str) -> None:
    assert settings_for(model, OPENAI, USUAL) == {
        "max_completion_tokens": 10 + 4096,
        "reasoning_effort": "low",
        "seed": 42,
        "n": 1,
    }


@pytest.mark.parametrize(
    "model", ["o1-mini", "o1-preview", "o3-pro", "gpt-5-pro", "gpt-5.1-codex", "gpt-5.2-chat-latest"]
)
def test_openais_models_with_a_fixed_effort_are_sent_none(model: str) -> None:
    assert settings_for(model, OPENAI, USUAL) == {"max_completion_tokens": 10 + 16384, "seed": 42, "n": 1}


@pytest.mark.parametrize(
    "model", ["claude-opus-4-7", "anthropic/claude-opus-4.8", "claude-sonnet-5", "claude-haiku-5-5"]
)
def test_claude_models_that_refuse_a_temperature_are_sent_none(model: str) -> None:
    assert settings_for(model, "https://api.anthropic.com/v1", USUAL) == {"max_tokens": 10, "seed": 42, "n": 1}


def test_a_family_with_a_host_applies_only_there() -> None:
    assert settings_for("mistral-large-latest", MISTRAL, USUAL) == {
        "temperature": 0,
        "max_tokens": 10,
        "random_seed": 42,
        "n": 1,
    }


def test_every_shipped_family_cites_its_vendor() -> None:
    for family in _shipped():
        assert re.match(r"https://\S+", family.source) and family.note, family.name


def test_the_users_families_take_precedence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "families.toml"
    path.write_text(
        '[[family]]\nname = "mine"\nmodels = "o3|small"\nremove = ["seed"]\nset = { top_k = 1, stop = ["."] }\n'
    )
    monkeypatch.setenv(VARIABLE, str(path))
    changed: dict[str, JsonValue] = {"temperature": 0, "max_tokens": 10, "n": 1, "top_k": 1, "stop": ["."]}
    assert settings_for("small", OPENAI, USUAL) == settings_for("o3", OPENAI, USUAL) == changed
    assert settings_text(changed, USUAL) == '{"max_tokens":10,"n":1,"stop":["."],"temperature":0,"top_k":1}'
    assert "max_completion_tokens" in settings_for("o4-mini", OPENAI, USUAL)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "cannot be read"),
        ("[[family]\n", "not valid TOML"),
        ('[[family]]\nname = "a"\n', "'family.0.models' is missing"),
        ('[[family]]\nname = "a"\nmodels = "b"\nremoved = []\n', "Did you mean 'remove'?"),
        ('[[family]]\nname = "a"\nmodels = "("\n', "not a regular expression"),
        ('[[family]]\nname = "a"\nmodels = "b"\nset = { model = "c" }\n', "may not change 'model'"),
        ('[[family]]\nname = "a"\nmodels = "b"\nrename = { seed = "messages" }\n', "may not change 'messages'"),
    ],
)
def test_an_invalid_file_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None, said: str
) -> None:
    path = tmp_path / "families.toml"
    if text is not None:
        path.write_text(text)
    monkeypatch.setenv(VARIABLE, str(path))
    with pytest.raises(BadInput) as refusal:
        settings_for("b", OPENAI, USUAL)
    assert said in str(refusal.value) and str(path) in str(refusal.value)


def test_under_a_cap_a_systems_request_gets_the_limit_that_its_model_takes() -> None:
    body: dict[str, Any] = {"model": "o3", "messages": [{"role": "user", "content": "Hello"}]}
    with (
        ModelServer(refuses=reasoning_only) as server,
        new_gateway(budget=Budget(parse_caps(["tokens=100000"]))) as gate,
    ):
        request = ModelRequest(endpoint=server.url, api=Api.CHAT, body=body)
        call = gate.run(gate.pass_on(request, Endpoint(server.url, KEY), Phase.ASK, "s1", 0))
    assert text_of(call) in ("yes", "no")
    assert server.bodies == [body | {"max_completion_tokens": 4096}]
