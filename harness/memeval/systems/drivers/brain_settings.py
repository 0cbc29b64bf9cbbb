"""The parameters of a submission with a jeffs-brain daemon, and the daemon's environment variables."""

from __future__ import annotations

import os
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from memeval.systems.drivers.ask_stream import DaemonFailed
else:
    from ask_stream import DaemonFailed

MOST = 1000
"""The most items that may be requested."""

MODES = ("auto", "hybrid", "hybrid-rerank", "bm25", "semantic")
DEFAULTS: dict[str, Any] = {
    "scenario": "ask",
    "mode": "auto",
    "top_k": 5,
    "reader_mode": "basic",
    "candidate_k": 0,
    "rerank_top_n": 0,
    "sdk": "ts",
    "model": "",
}
"""The submission's parameters: ``scenario`` is ``ask`` (the daemon answers) or ``search`` (memeval's reader does);
``top_k`` is for ``ask``; 0 means the daemon's default; ``sdk`` is the language of the daemon: ts, go or py; ``model``
is the answering model, blank for the daemon's default."""

CHOICES = {
    "scenario": ("ask", "search"),
    "mode": MODES,
    "reader_mode": ("basic", "augmented"),
    "sdk": ("ts", "go", "py"),
}


def checked(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters, with defaults for missing ones.

    Raises:
        DaemonFailed: one is unknown or invalid.
    """
    if unknown := sorted(set(parameters) - set(DEFAULTS)):
        raise DaemonFailed(f"Unknown parameter {unknown[0]!r}. Known are {', '.join(DEFAULTS)}.")
    for name, value in parameters.items():
        if name in CHOICES:
            if value not in CHOICES[name]:
                raise DaemonFailed(f"Invalid parameter {name}: {value!r}. Use one of {', '.join(CHOICES[name])}.")
        elif name == "model":
            if not isinstance(value, str) or not re.fullmatch(r"[\w.:/@-]{0,100}", value):
                raise DaemonFailed(f"Invalid parameter model: {value!r}. Give the name of a model.")
        elif type(value) is not int or not 0 <= value <= MOST:
            raise DaemonFailed(f"Invalid parameter {name}: {value!r}. Give a whole number from 0 to {MOST}.")
    return {**DEFAULTS, **parameters}


def prepare_environment(settings: Mapping[str, Any]) -> None:
    """Set the variables that the daemon reads, from those that memeval gives to every system.

    Daemons take any key or address of a provider for leave to use it. So they get none where memeval's reader answers,
    and in ``bm25`` none for embeddings. The TypeScript one puts ``/v1`` behind the address, the others want it there.
    """
    os.environ.setdefault("JB_HOME", os.path.join(os.environ["HOME"], "jeffs-brain"))  # noqa: PTH118
    if settings["model"]:
        os.environ["JB_LLM_MODEL"] = settings["model"]
    base, typescript = os.environ.get("OPENAI_BASE_URL"), settings["sdk"] == "ts"
    asks, embeds = settings["scenario"] == "ask", settings["mode"] != "bm25"
    if base and typescript:
        base = re.sub(r"/v1/?$", "", base)
        os.environ["OPENAI_BASE_URL"] = base
        if asks:
            os.environ.setdefault("JB_LLM_PROVIDER", "openai")
            os.environ["JB_LLM_BASE_URL"] = base
            os.environ["JB_LLM_API_KEY"] = os.environ.get("OPENAI_API_KEY", "")
    if not embeds and (typescript or not asks):
        for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY"):
            os.environ.pop(name, None)
