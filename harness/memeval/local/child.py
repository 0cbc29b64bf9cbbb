"""The process of a local model, ``python -m memeval.local.child``; :class:`memeval.local.server.LocalServer` starts it.

It reads its settings as one line of JSON from standard input, prints its address as one line of JSON, and ends when
standard input ends, so that it never outlives the process that started it.
"""

import json
import os
import sys
import threading
from typing import Any

from memeval.local.front import Front, ModelEngine


def main() -> None:
    settings: dict[str, Any] = json.loads(sys.stdin.readline())
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what the engine prints is no message
    try:
        engine = _engine(settings)
        front = Front(engine, settings["port"], settings["key"])
    except Exception as error:
        _say(out, {"error": _sentence(error, settings)})
        os._exit(1)
    _say(out, {"address": front.address})
    threading.Thread(target=front.serve_forever, daemon=True).start()
    sys.stdin.read()
    os._exit(0)  # without waiting for a computation


def _engine(settings: dict[str, Any]) -> ModelEngine:
    if settings["kind"] == "embeddings":
        from memeval.local.embedding import Embedder

        return Embedder(settings)
    from memeval.local.llama import Llama

    return Llama(settings)


def _sentence(error: Exception, settings: dict[str, Any]) -> str:
    if isinstance(error, ModuleNotFoundError):
        return f"The package {error.name} is not installed: pip install 'memeval-leaderboard[local]'."
    if isinstance(error, MemoryError) or "alloc" in str(error):
        return "There is not enough memory to load it."
    if "Failed to init" in str(error):  # llama.cpp gives no reason to its callers
        return "The engine cannot load it: too little memory, or weights that this version of the engine does not know."
    if isinstance(error, OSError) and settings["port"]:
        return f"Port {settings['port']} cannot be used ({error.strerror})."
    return f"The engine says: {type(error).__name__}: {' '.join(str(error).split())[:300]}"


def _say(out: Any, message: dict[str, Any]) -> None:
    out.write(json.dumps(message) + "\n")
    out.flush()


if __name__ == "__main__":
    main()
