"""Request settings by model family: who is asked otherwise, what stays as it was, and a user's own file."""

import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import JsonValue

from memeval.gateway.budget import Budget, parse_caps
from memeval.gateway.endpoints import OPENAI
from memeval.gateway.replies import text_of
from memeval.gateway.settings import VARIABLE, _shipped, settings_for, settings_text
from memeval.records.call import Api, ModelRequest
from memeval.records.errors import BadInput
from tests.gateway.asking import new_gateway, pass_on
from tests.support.model_server import ModelServer, reasoning_only

USUAL: dict[str, Any] = {"temperature": 0, "max_tokens": 10, "seed": 42, "n": 1}
GOOGLE = "https://generativelanguage.googleapis.com/v1beta/openai"
MISTRAL = "https://api.mistral.ai/v1"


@pytest.mark.parametrize(
    "model",
    [
        *("gpt-4o-2024-08-06", "gpt-4o-mini-2024-07-18", "gpt-4.1-2025-04-14", "gpt-5-chat-latest"),
        *("claude-sonnet-4-6", "claude-opus-4-20250514", "claude-haiku-4-5-20251001", "claude-3-5-sonnet-latest"),
        *(
            "gemini-2.0-flash",
            "deepseek-chat",
            "deepseek-v3",
            "grok-3",
            "grok-4-fast-non-reasoning",
            "kimi-k2-instruct",
        ),
        *("qwen2.5:7b", "qwen3-coder", "Qwen/Qwen3-235B-A22B-Instruct-2507", "gemma-3-27b-it", "thinker-7b"),
        *("mistral-large-latest", "llama3:8b", "o3x", "org/o3", "olmo-3"),
    ],
)
def test_a_model_without_a_family_has_the_usual_settings(model: str) -> None:
    assert settings_for(model, OPENAI, USUAL) == USUAL
    assert settings_text(settings_for(model, OPENAI, USUAL), USUAL) is None


@pytest.mark.parametrize(
    ("models", "endpoint", "settings"),
    [
        (
            "o1 o1-2024-12-17 o3 o3-2025-04-16 o3-mini o3-mini-2025-01-31 o4-mini openai/o4-mini gpt-5 "
            "gpt-5-2025-08-07 gpt-5-mini gpt-5-nano-2025-08-07 gpt-5.1 gpt-5.2-2025-12-11",
            OPENAI,
            {"max_completion_tokens": 10 + 4096, "reasoning_effort": "low", "seed": 42, "n": 1},
        ),
        (
            "o1-mini o1-preview o3-pro gpt-5-pro gpt-5.1-codex gpt-5.2-chat-latest",
            OPENAI,
            {"max_completion_tokens": 10 + 16384, "seed": 42, "n": 1},
        ),
        (
            "claude-opus-4-7 anthropic/claude-opus-4.8 claude-sonnet-5 claude-haiku-5-5",
            "https://api.anthropic.com/v1",
            {"max_tokens": 10, "seed": 42, "n": 1},
        ),
        ("gemini-2.0-flash", GOOGLE, {"temperature": 0, "max_tokens": 10, "n": 1}),
        ("models/gemini-2.5-pro", GOOGLE, {"temperature": 0, "max_tokens": 8202, "n": 1}),
        ("mistral-large-latest", MISTRAL, {"temperature": 0, "max_tokens": 10, "random_seed": 42, "n": 1}),
    ],
    ids=[
        "reasoning models of OpenAI get no temperature and more tokens",
        "models of OpenAI with a fixed effort are sent none",
        "models of Anthropic that refuse a temperature are sent none",
        "Google's own endpoint is sent no seed",
        "Google's own endpoint is sent no seed by a model that thinks",
        "a family with a host applies only there",
    ],
)
def test_a_family_has_settings_of_its_own(models: str, endpoint: str, settings: dict[str, Any]) -> None:
    for model in models.split():
        assert settings_for(model, endpoint, USUAL) == settings, model


@pytest.mark.parametrize(
    "model",
    [
        *("deepseek-reasoner", "deepseek/deepseek-r1:free", "openrouter/deepseek/deepseek-r1", "us.deepseek.r1-v1:0"),
        *("accounts/fireworks/models/deepseek-r1-0528", "deepseek-ai/DeepSeek-V3.2", "deepseek-r1:8b"),
        *("hf.co/unsloth/DeepSeek-R1-Distill-Qwen-7B-GGUF:Q4_K_M", "qwen3:8b", "qwen/qwq-32b", "qwen3.5-plus"),
        *("Qwen/Qwen3-30B-A3B-Thinking-2507", "gpt-oss-120b", "openrouter/openai/gpt-oss-20b", "gpt-oss:20b"),
        *("moonshotai/kimi-k2-thinking", "kimi-k2.5", "x-ai/grok-4", "grok-3-mini", "xai/grok-4-fast-reasoning"),
        *("models/gemini-2.5-pro", "google/gemini-2.5-flash", "vertex_ai/gemini-3-pro", "openrouter/openai/o3"),
        *("openai/gpt-5-mini:online", "anthropic/claude-3.7-sonnet:thinking", "magistral-medium-2509", "z-ai/glm-4.6"),
        *("phi4-reasoning:14b", "perplexity/sonar-reasoning-pro", "allenai/olmo-3-32b-think", "MiniMaxAI/MiniMax-M2"),
    ],
)
def test_a_model_that_thinks_gets_tokens_for_it_under_every_name(model: str) -> None:
    settings = settings_for(model, "https://router.example/v1", USUAL)
    limits = [settings[name] for name in ("max_tokens", "max_completion_tokens") if name in settings]
    assert len(limits) == 1 and isinstance(limits[0], int) and limits[0] >= 4096


@pytest.mark.parametrize(
    ("deployment", "thinks"),
    [
        ("my-o3-mini-eu", True),
        ("prod_gpt5", True),
        ("GPT-5-mini", True),
        ("judge-gpt-4o", False),
        ("gpt-5-chat", False),
    ],
)
def test_an_azure_deployment_is_known_by_the_model_in_its_name(deployment: str, thinks: bool) -> None:
    settings = settings_for(deployment, "https://acme.openai.azure.com/openai/deployments/x", USUAL)
    assert ("max_completion_tokens" in settings) is thinks
    assert ("temperature" in settings) is not thinks


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
def test_an_invalid_file_is_refused_before_the_first_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str | None, said: str
) -> None:
    path = tmp_path / "families.toml"
    if text is not None:
        path.write_text(text)
    monkeypatch.setenv(VARIABLE, str(path))
    for read in (lambda: settings_for("b", OPENAI, USUAL), new_gateway):
        with pytest.raises(BadInput) as refusal:
            read()
        assert said in str(refusal.value) and str(path) in str(refusal.value)


def test_under_a_cap_a_systems_request_gets_the_limit_that_its_model_takes() -> None:
    body: dict[str, Any] = {"model": "o3", "messages": [{"role": "user", "content": "Hello"}]}
    with (
        ModelServer(refuses=reasoning_only) as server,
        new_gateway(budget=Budget(parse_caps(["tokens=100000"]))) as gate,
    ):
        request = ModelRequest(endpoint=server.url, api=Api.CHAT, body=body)
        call = pass_on(gate, server, request)
    assert text_of(call) in ("yes", "no")
    assert server.bodies == [body | {"max_completion_tokens": 4096}]
