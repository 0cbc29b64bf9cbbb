"""Remedies for failures of a system: what its author can do, as a sentence."""

import os
import signal
from collections.abc import Callable
from pathlib import Path

from memeval.systems.child import Launch
from memeval.systems.manifest import MANIFEST
from memeval.systems.worker import ASKED

COMPILE = "uv pip compile --generate-hashes --universal requirements.in -o requirements.lock"
"""The command that makes a lock file from package names."""

ANSWER = "Return a str, or a dict with 'answer' (a str) and, if you like, 'context', 'items' and 'tokens'."
ITEMS = "Return a list of items, each a str or a dict with 'text', or a dict with 'context' or 'items'."

ITEM = "Make each item a str, or a dict with 'text' and, if you like, 'source_ids' and 'score'."

RETURNS = {
    "export_memories": ITEMS,
    "forget": "Return None, or how many memories were deleted.",
    "get_context_tokens": "Return a number, 0 or more.",
    "query": ANSWER,
    "recall": ITEMS,
    "reflect": ANSWER,
    "search": ITEMS,
    "usage": "Return a dict of numbers: prompt_tokens, completion_tokens, cost_usd.",
}
"""The remedy for an invalid return value, by method."""

SIGNATURES = {
    "close": "close(self)",
    "export_memories": "export_memories(self)",
    "forget": "forget(self, bank=None, ids=None, query=None)",
    "get_context_tokens": "get_context_tokens(self)",
    "ingest_session": "ingest_session(self, session, timestamp)",
    "query": 'query(self, question, timestamp="now")',
    "recall": "recall(self, query, bank=None, k=10, timestamp=None, tags=None, since=None, until=None)",
    "reflect": "reflect(self, query, bank=None, timestamp=None)",
    "reset": "reset(self)",
    "retain": "retain(self, content, bank=None, timestamp=None, tags=None, source_id=None, metadata=None)",
    "search": 'search(self, query, k, timestamp="now")',
    "settle": "settle(self, timeout)",
    "usage": "usage(self)",
}

SECONDS = {
    "forget": "reset_seconds",
    "reset": "reset_seconds",
    "retain": "take_in_seconds",
    "settle": "settle_seconds",
    "take_in": "take_in_seconds",
}
"""The time limit of each call that has no command-line option."""

MODEL_VARIABLES = ("ANTHROPIC_", "OPENAI_")
"""The first letters of the variables that memeval sets for declared models."""

SIGNALS = {
    signal.SIGABRT: "aborted",
    signal.SIGBUS: "bus error",
    signal.SIGFPE: "arithmetic error",
    signal.SIGILL: "illegal instruction",
    signal.SIGKILL: "killed from outside, often for lack of memory",
    signal.SIGSEGV: "segmentation fault",
    signal.SIGSYS: "forbidden system call",
    signal.SIGTERM: "terminated",
    signal.SIGXFSZ: "file larger than disk_mb",
}


def signal_words(number: int) -> str:
    try:
        name = signal.Signals(number)
    except ValueError:
        return f"signal {number}"
    return f"{name.name} ({SIGNALS[name]})" if name in SIGNALS else name.name


AWAIT = "Await the call instead of asyncio.run()."

FIXED = {
    "exit": "Raise an exception instead.",
    "item": ITEM,
    "no_class": f"Write a class with reset, ingest_session and {ASKED[0]}.",
    "package": "Import the module by its name, as in 'from helper import …': its folder is on sys.path.",
    "surrogate": "Decode bytes with errors='replace'.",
    "too_large": "Return less.",
}
"""The remedy for a cause that needs no detail."""


def remedy_for(cause: str, about: str, method: str, launch: Launch, *, sandboxed: bool) -> str:
    """Return the remedy for a cause that the worker reports; blank if absent.

    Args:
        cause: the worker's name of the cause; see ``worker_errors.cause_of``.
        about: the detail of the cause; text from outside, made visible.
        sandboxed: whether the system ran in a sandbox.
    """
    made: dict[str, Callable[[], str]] = {
        "class": lambda: _name_class(about, launch),
        "coroutine": lambda: f"Write: await {about}(…)." if about else "Await it.",
        "event_loop": lambda: f"Make {about} async, and await the call." if about else AWAIT,
        "file": lambda: _add_file(launch),
        "memory": lambda: _more_memory(launch) if sandboxed else "Keep less in memory.",
        "methods": lambda: f"Rename {about}." if about else "Add the missing methods.",
        "module": lambda: _add_module(about, launch),
        "network": lambda: _declare_host(launch, sandboxed),
        "relative": lambda: _locate_file(about, launch),
        "returned": lambda: RETURNS.get(method, ""),
        "signature": lambda: f"Declare it as {SIGNATURES[method]}." if method in SIGNATURES else _parameters(launch),
        "variable": lambda: _declare_variable(about, launch),
    }
    return made[cause]() if cause in made else FIXED.get(cause, "")


def slow_remedy(call: str, launch: Launch) -> str:
    if call == "load":
        limit = f"start_seconds under [resources] in {MANIFEST}"
        return f"Load less, or raise {limit}." if launch.folder else "Load less at import and in __init__."
    if call in ("ask", "search", "recall", "reflect", "export"):
        return "Make it faster, or raise --ask-seconds."
    name = SECONDS.get(call)
    if name is None:
        return "Make it faster."
    held = " It may wait for a lock or a connection that an earlier call holds." if call == "reset" else ""
    return f"Make it faster.{held} The limit is a part of the track; only Python's RunOptions.limits can raise {name}."


def _add_module(name: str, launch: Launch) -> str:
    top = name.partition(".")[0]
    folder = launch.file.parent
    if launch.is_bare and top.isidentifier() and any((folder / name).exists() for name in (top, f"{top}.py")):
        return (
            f"It is beside {launch.file.name}, but no import statement names it, so it is not part of the run. "
            "Name it in an import statement, or make a submission folder: memeval submit new."
        )
    if launch.folder is None:
        if not launch.own_interpreter:
            return f"Install it for {launch.interpreter}."
        return "Pass --python with a Python that has it, or create a submission: memeval submit new."
    from memeval.systems.environments.tools import find_uv

    install_uv = "" if find_uv() else " Get uv with: pip install uv."
    if launch.own_interpreter or (launch.folder / "requirements.lock").is_file():
        return f"Add its package to requirements.in, then run '{COMPILE}'.{install_uv}"
    return f"Install it for {launch.interpreter}."


def _add_file(launch: Launch) -> str:
    if launch.is_bare:
        return (
            f"{launch.file.name} runs with the modules it imports and no other file. "
            "Put data into a submission folder: memeval submit new."
        )
    return "Add the file, or correct its path."


def _locate_file(path: str, launch: Launch) -> str:
    if launch.folder is not None and os.path.normpath(path) in launch.files:
        return "The working folder is another one: build the path from __file__."
    return _add_file(launch)


def _declare_variable(name: str, launch: Launch) -> str:
    if name.startswith(MODEL_VARIABLES):
        way = "Pass --model NAME" if launch.folder is None else f"Name the model in declared_models of {MANIFEST}"
        return f"{way}: memeval then sets it."
    if launch.folder is None:
        return "A single file gets no variables. Declare it in a submission folder: memeval submit new."
    return f"Set it under [variables] in {MANIFEST}. Declare a key as 'key' under [[hosts]]."


def _declare_host(launch: Launch, sandboxed: bool) -> str:
    if not sandboxed:
        return "Check the address, and that the service runs."
    if launch.folder is None:
        return (
            "The sandbox has no network. Run with --sandbox none, "
            f"or make a submission folder and declare the host under [[hosts]] in its {MANIFEST}."
        )
    return f"The sandbox has no network. Declare the host under [[hosts]] in {MANIFEST}, or run with --sandbox none."


def _more_memory(launch: Launch) -> str:
    limit = f"The limit is {launch.resources.memory_mb} MiB"
    if launch.folder is None:
        return f"{limit}; keep less in memory."
    return f"{limit}: keep less, or raise memory_mb under [resources] in {MANIFEST}."


def _name_class(name: str, launch: Launch) -> str:
    if launch.folder is None:
        return f"Name one: {launch.file.name}:{name}."
    file = launch.file
    inside = file.relative_to(launch.folder) if file.is_relative_to(launch.folder) else Path(file.name)
    return f'Name one in {MANIFEST}: entry = "{inside.as_posix()}:{name}".'


def _parameters(launch: Launch) -> str:
    if launch.folder is None:
        return "Let __init__ need no argument."
    names = ", ".join(launch.parameters) or "none"
    return f"Let __init__ accept the [parameters] in {MANIFEST}: {names}."
