"""The API formats (dialects) that the endpoint supports, by path."""

from collections.abc import Callable
from typing import Any

from memeval.gateway.serving.completion import Exchange
from memeval.gateway.serving.dialects import anthropic, ollama, openai, responses

EXCHANGES: dict[str, type[Exchange]] = {
    "/v1/chat/completions": openai.OpenAIChat,
    "/v1/responses": responses.Responses,
    "/v1/embeddings": openai.Embeddings,
    "/v1/messages": anthropic.Messages,
    "/api/chat": ollama.OllamaChat,
    "/api/generate": ollama.Generate,
    "/api/embed": ollama.Embed,
    "/api/embeddings": ollama.OldEmbeddings,
}
"""The request class of each POST path."""


def error_form(path: str) -> Callable[[int, str], dict[str, Any]]:
    if path.startswith("/v1/messages"):
        return anthropic.error
    return ollama.error if path.startswith("/api/") else openai.error


def openai_models(names: tuple[str, ...]) -> dict[str, Any]:
    """Return the list of models in a form for both OpenAI's and Anthropic's clients."""
    rows = [
        {
            "id": name,
            "object": "model",
            "created": 0,
            "owned_by": "declared",
            "type": "model",
            "display_name": name,
            "created_at": "1970-01-01T00:00:00Z",
        }
        for name in names
    ]
    ends = {"first_id": names[0], "last_id": names[-1]} if names else {"first_id": None, "last_id": None}
    return {"object": "list", "data": rows, "has_more": False, **ends}


def ollama_models(names: tuple[str, ...]) -> dict[str, Any]:
    return {"models": [{"name": name, "model": name} for name in names]}


LISTS = {"/v1/models": openai_models, "/api/tags": ollama_models}
"""The GET paths, which list the declared models in their dialect."""
