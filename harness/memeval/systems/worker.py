"""The far end of the line: loads one adapter class and answers memeval's calls, one JSON line each.

This file is copied into a private folder and run there by the system's own interpreter, so it needs nothing but the
standard library of Python 3.9 or later. It knows no scenario, no category and no id but ordinals.

A request is ``{"id", "call", ...}``. A reply is ``{"id", "value", "seconds"}`` or ``{"id", "error", "seconds"}``;
``seconds`` is the worker's own count of the time the call took. An error is ``{"kind", "method", "message", ...}``, of
the kind ``raised`` (an exception of the adapter, with ``type`` and ``trace``), ``misbehaved`` (a wrong shape or size),
``failed`` (a driver cannot make the call), ``died`` (its server has ended), ``no_adapter`` (nothing to load) or
``skipped`` (a session behind one that failed). All lines are ASCII: other characters are escaped. ``site/protocol.md``
says the same for those who write a program of their own.
"""
# Few imports, and no pathlib: this is started anew after every crash.
# ruff: noqa: PTH100, PTH112, PTH119, PTH120, PTH122, PTH208

from __future__ import annotations

import contextlib
import json
import math
import os
import sys
import threading
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import ModuleType
    from typing import Any

OPTIONAL = (
    *("close", "export_memories", "forget", "get_context_tokens", "ingest_session", "query"),
    *("recall", "reflect", "retain", "search", "settle", "usage"),
)
"""Methods whose presence is reported."""

DISPOSITIONS = "dispositions"
"""Reported like a method where ``reflect`` takes a keyword of that name."""

NEEDED = "reset, ingest_session (or retain) and query (or search, recall or reflect)"
"""What makes a class an adapter, in words."""

ASKED = ("query", "search", "recall", "reflect")
"""Methods of which an adapter has one at least: what cannot be asked is no memory."""

NAMES = {
    "bank": ("bank", "bank_id"),
    "ids": ("ids", "memory_ids"),
    "k": ("k", "max_results", "limit"),
    "source_id": ("source_id", "id"),
    "timestamp": ("timestamp", "occurred_at"),
}
"""What an adapter may call a part of a request, the first it has; other parts go by their own name."""

PARTS = (*NAMES, "dispositions", "fact_type", "metadata", "query", "since", "tags", "until")
"""The parts of a request that are passed by keyword, to a method that takes them."""

BANK = "memeval"
"""The bank where none is asked for, for a method that cannot do without."""

ABSTRACT = 1 << 20
TAKES_ANY_KEYWORD = 0x08
COROUTINE = 0x80
"""CPython's flags of a class with abstract methods left, of a function with ``**kwargs``, and of an ``async`` one."""

ITEM_LIMIT = 100_000
"""How many items a search may bring up; an endless generator would fill the memory."""

TOKEN_LIMIT = 10**12
"""No context has more tokens than this; sums of a run's counts stay far from what a number can hold."""

USAGE = ("prompt_tokens", "completion_tokens", "cost_usd")
"""What is taken from a system's own account of its model calls: totals since it was started or last reset."""

MESSAGE_LIMIT = 1000
HOLD_SECONDS = 0.05
"""How long replies to calls that came together wait for one another, to go back together."""

PR_SET_NO_NEW_PRIVS, PR_CAPBSET_DROP = 38, 24
CAPABILITY_HEADER = bytes.fromhex("20080522" if sys.byteorder == "big" else "22050820") + bytes(4)
LANDLOCK_CREATE_RULESET, LANDLOCK_RESTRICT_SELF = 444, 446
LANDLOCK_RULES = bytes(16) + (2).to_bytes(8, sys.byteorder)
"""Numbers of the Linux kernel, the same on all machines: no file and no port is restricted, signals are scoped."""

TRACE_FRAMES = 8
"""How many characters of an exception's message are kept, and how many frames of its traceback, innermost last."""


class Refused(Exception):
    """Something that is not the adapter's own exception: by default, that it gave what it may not give."""

    def __init__(self, message: str, kind: str = "misbehaved") -> None:
        super().__init__(message)
        self.kind = kind


def kind_of(value: object) -> str:
    """Return the name of a value's type, as a reader would say it."""
    return "None" if value is None else type(value).__name__


def whole_text(value: Any, what: str) -> str:
    """Return ``value`` as text that can be written as UTF-8, or refuse it; ``what`` begins the refusal."""
    if not isinstance(value, str):
        raise Refused(f"{what} {kind_of(value)}, not text.")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise Refused(f"{what} text with a lone surrogate, which no file can hold.") from None
    return value


def number(value: Any, what: str) -> float:
    """Return ``value`` as a finite number, or refuse it; ``what`` begins the refusal."""
    if isinstance(value, (bool, str, bytes)) or not hasattr(value, "__float__"):
        raise Refused(f"{what} {kind_of(value)}, not a number.")
    try:
        plain = value if type(value) is int else float(value)
        finite = math.isfinite(plain)
    except OverflowError:
        finite = False
    if not finite:
        raise Refused(f"{what} a number that is not finite.")
    return plain


def amount(value: Any, what: str) -> float:
    """Return ``value`` as a count or sum that can be, or refuse it; ``what`` begins the refusal."""
    plain = number(value, what)
    if plain < 0:
        raise Refused(f"{what} a negative number.")
    if plain > TOKEN_LIMIT:
        raise Refused(f"{what} more than {TOKEN_LIMIT}.")
    return plain


def found_items(value: Any, what: str) -> list[dict[str, Any]]:
    """Return what a search found as plain data, or refuse it; ``what`` begins the refusal."""
    items: list[dict[str, Any]] = []
    for item in several(value, what):
        if len(items) == ITEM_LIMIT:
            raise Refused(f"{what} more than {ITEM_LIMIT} items.")
        if isinstance(item, str):
            item = {"text": item}
        if not isinstance(item, dict):
            raise Refused(f"{what} an item that is {kind_of(item)}, not a dict or text.")
        if "text" not in item:
            raise Refused(f"{what} an item without 'text'.")
        plain: dict[str, Any] = {"text": whole_text(item["text"], f"{what} an item whose 'text' is")}
        if item.get("source_ids") is not None:
            sources = several(item["source_ids"], f"{what} an item whose 'source_ids' is")
            plain["source_ids"] = [whole_text(one, f"{what} an item with a source id that is") for one in sources]
        if item.get("score") is not None:
            plain["score"] = number(item["score"], f"{what} an item whose 'score' is")
        items.append(plain)
    return items


def several(value: Any, what: str) -> Iterable[Any]:
    """Return ``value`` if it is a list or the like, or refuse it; ``what`` begins the refusal."""
    if isinstance(value, (str, bytes, dict)) or not hasattr(value, "__iter__"):
        raise Refused(f"{what} {kind_of(value)}, not a list.")
    items: Iterable[Any] = value
    return items


def function_of(method: Any) -> Any:
    """Return the function of a method, that below a decorator where there is one."""
    method = getattr(method, "__wrapped__", method)
    return getattr(method, "__func__", method)


def takes_keyword(method: Any, name: str) -> bool:
    """Whether ``method`` can be called with the keyword ``name``; true where that cannot be seen."""
    code = getattr(function_of(method), "__code__", None)
    if code is None or code.co_flags & TAKES_ANY_KEYWORD:
        return True
    return declares(method, name)


def declares(method: Any, name: str) -> bool:
    """Whether ``method`` has a parameter of its own called ``name``; false where that cannot be seen."""
    code = getattr(function_of(method), "__code__", None)
    return code is not None and name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def keyword_for(method: Any, part: str) -> str | None:
    """Return what ``method`` calls a part of a request; a parameter of its own goes before any that it lets pass."""
    names = NAMES.get(part, (part,))
    return next((name for takes in (declares, takes_keyword) for name in names if takes(method, name)), None)


def needs_keyword(method: Any, name: str) -> bool:
    """Whether ``method`` cannot be called without ``name``; false where that cannot be seen."""
    function = function_of(method)
    code = getattr(function, "__code__", None)
    if code is None:
        return False
    free = code.co_argcount - len(function.__defaults__ or ())
    by_keyword = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    return name in code.co_varnames[:free] or name in set(by_keyword).difference(function.__kwdefaults__ or ())


def is_adapter(value: Any) -> bool:
    """Whether a value found in a module is an adapter class, by the rule that the field uses."""
    return (
        isinstance(value, type)
        and value.__name__ != "MemorySystemAdapter"
        and not value.__flags__ & ABSTRACT
        and hasattr(value, "reset")
        and (hasattr(value, "ingest_session") or hasattr(value, "retain"))
        and any(hasattr(value, name) for name in ASKED)
    )


def candidates_in(module: ModuleType) -> dict[str, type]:
    """Return the adapter classes of a module by name, in alphabetical order; a class with two names counts once."""
    found: dict[str, type] = {}
    for name in dir(module):
        value: Any = getattr(module, name, None)
        if is_adapter(value) and all(value is not other for other in found.values()):
            found[name] = value
    return found


def load_module(path: str) -> ModuleType:
    """Import the file at ``path``, with its folder first on the module path, so that its siblings import too."""
    import importlib.util

    sys.path.insert(0, os.path.dirname(path))
    name = os.path.splitext(os.path.basename(path))[0]
    if name in sys.modules or not name.isidentifier():
        name = "system_adapter"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise Refused("The adapter file is not Python.", "no_adapter")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def choose_class(module: ModuleType, wanted: str | None) -> tuple[type, list[str]]:
    """Return the adapter class to use, and the names of all that would do."""
    found = candidates_in(module)
    if wanted is None:
        if not found:
            raise Refused(f"No adapter class found: a class needs {NEEDED}.", "no_adapter")
        return next(iter(found.values())), list(found)
    value: Any = getattr(module, wanted, None)
    if not isinstance(value, type):
        others = f" The file has {', '.join(found)}." if found else ""
        raise Refused(f"There is no class {wanted}.{others}", "no_adapter")
    if not is_adapter(value):
        raise Refused(f"The class {wanted} is no adapter: it needs {NEEDED}, and no abstract method.", "no_adapter")
    return value, list(found)


def packages() -> dict[str, str]:
    """Return the distributions visible here by name, each with its version."""
    marked = (".dist-info", ".egg-info")
    folders = [folder for folder in sys.path if os.path.isdir(folder)]
    if not any(name.endswith(marked) for folder in folders for name in os.listdir(folder)):
        return {}
    import importlib.metadata

    seen: dict[str, str] = {}
    for found in importlib.metadata.distributions():
        name = found.metadata["Name"]
        if name:
            seen.setdefault(name.lower().replace("_", "-"), str(found.version))
    return seen


class Calls:
    """One adapter instance, and the calls that memeval makes on it."""

    def __init__(self) -> None:
        self.system: Any = None
        self.loop: Any = None
        self.reply_bytes = 0
        self.broken = False
        self.method = ""
        """The adapter's method that is running, for error messages."""

    def run(self, method: str, *args: Any, **keywords: Any) -> Any:
        """Call one method of the adapter; await what it gives on the one event loop of the instance."""
        self.method = method
        value = getattr(self.system, method)(*args, **keywords)
        if not hasattr(value, "__await__"):
            return value
        if self.loop is None:
            import asyncio

            self.loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self.loop)
        return self.loop.run_until_complete(awaited(value))

    def run_at(self, method: str, request: dict[str, Any], *args: Any) -> Any:
        """Call a method with the request's timestamp; where it has none, the adapter's own default stands."""
        if "timestamp" not in request:
            return self.run(method, *args)
        if takes_keyword(getattr(self.system, method), "timestamp"):
            return self.run(method, *args, timestamp=request["timestamp"])
        return self.run(method, *args, request["timestamp"])

    def run_with(self, method: str, request: dict[str, Any], first: str | None = None) -> Any:
        """Call a method with what a request holds: ``first`` by place, the rest by keyword as far as it takes it."""
        self.method = method
        return self.run(method, *([request[first]] if first else []), **self.keywords(method, request, first))

    def keywords(self, method: str, request: dict[str, Any], first: str | None = None) -> dict[str, Any]:
        """Return what of a request is passed to a method by keyword."""
        function, keywords = getattr(self.system, method), {}
        for part in PARTS:
            name = keyword_for(function, part)
            if name is None or part == first:
                continue
            if part in request:
                keywords[name] = request[part]
            elif part == "bank" and needs_keyword(function, name):
                keywords[name] = BANK
        return keywords

    def recalls_at_once(self) -> bool:
        """Whether several searches of a bank can go on at once: ``recall`` is asynchronous."""
        code = getattr(function_of(getattr(self.system, "recall", None)), "__code__", None)
        return code is not None and bool(code.co_flags & COROUTINE)

    def answer_together(self, requests: list[dict[str, Any]], write: Callable[[str], None]) -> None:
        """Make several asynchronous recalls at once, and write their replies in order, each when it is due."""
        import asyncio

        async def reply_to(request: dict[str, Any]) -> str:
            started = time.perf_counter()
            try:
                found = await self.system.recall(request["query"], **self.keywords("recall", request, "query"))
                self.method = "recall"
                body = f'"value":{self.encoded(self.brought_up(found, "recall"))}'
            except BaseException as error:
                self.method = "recall"
                body = f'"error":{json.dumps(self.describe(error))}'
            return f'{{"id":{request["id"]},{body},"seconds":{time.perf_counter() - started:.6f}}}\n'

        async def all_of_them() -> None:
            for task in [asyncio.ensure_future(reply_to(request)) for request in requests]:
                write(await task)

        if self.loop is None:
            self.loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self.loop)
        self.loop.run_until_complete(all_of_them())

    def has(self, method: str) -> bool:
        """Whether the adapter has a method."""
        return callable(getattr(self.system, method, None))

    def capabilities(self) -> list[str]:
        """Return what the adapter can do beyond ``reset``."""
        texts = self.has("retain")
        can = [name for name in OPTIONAL if self.has(name) or (name == "ingest_session" and texts)]
        if self.has("reflect") and takes_keyword(self.system.reflect, DISPOSITIONS):
            can.append(DISPOSITIONS)
        return can

    def load(self, request: dict[str, Any]) -> dict[str, Any]:
        """Load the adapter, make the instance, and say what was found."""
        self.method = "load"
        self.reply_bytes = request["reply_bytes"]
        module = load_module(request["file"])
        chosen, candidates = choose_class(module, request["class"])
        self.system = chosen(**request["parameters"])
        return {
            "class": chosen.__name__,
            "candidates": candidates,
            "capabilities": self.capabilities(),
            "implementation": sys.implementation.name,
            "python": ".".join(map(str, sys.version_info[:3])),
            "packages": {**packages(), **(self.run("versions") if self.has("versions") else {})},
        }

    def reset(self, request: dict[str, Any]) -> None:
        """Empty the memory; where that fails, nothing is taken in until it succeeds."""
        self.broken = True
        self.run("reset")
        self.broken = False

    def take_in(self, request: dict[str, Any]) -> None:
        """Take a session in; once one fails, those behind it are skipped until the next reset."""
        if self.broken:
            raise Refused("Not taken in, since an earlier call failed.", "skipped")
        self.broken = True
        session, timestamp = request["session"], request["timestamp"]
        if self.has("ingest_session"):
            self.run("ingest_session", session, timestamp)
        else:  # a system that takes in texts is handed dated lines
            said = ((turn.get("speaker") or turn["role"], turn["content"]) for turn in session["turns"])
            text = "\n".join(f"[{session['date']}] {speaker}: {content}" for speaker, content in said)
            self.retain({"content": text, "timestamp": timestamp})
        self.broken = False

    def retain(self, request: dict[str, Any]) -> dict[str, Any]:
        """Take a text in."""
        self.run_with("retain", request, "content")
        return {}

    def settle(self, request: dict[str, Any]) -> bool:
        """Wait until everything taken in can be asked for; false where it cannot yet."""
        return self.run("settle", request["timeout"]) is not False

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Put a question."""
        return self.answered(self.run_at("query", request, request["question"]), "query")

    def reflect(self, request: dict[str, Any]) -> dict[str, Any]:
        """Put a question to a bank."""
        return self.answered(self.run_with("reflect", request, "query"), "reflect")

    def answered(self, answer: Any, method: str) -> dict[str, Any]:
        """Return an answer, checked, with the count of tokens, where there is one, of the same round trip."""
        if isinstance(answer, dict):
            if "answer" not in answer:
                raise Refused(f"{method} returned a dict without 'answer'.")
            value = self.retrieved(answer, method)
            value["answer"] = whole_text(answer["answer"], f"{method} returned a dict whose 'answer' is")
            if answer.get("tokens") is not None:
                value["tokens"] = amount(answer["tokens"], f"{method} returned a dict whose 'tokens' is")
        else:
            value = {"answer": whole_text(answer, f"{method} returned")}
        if "tokens" not in value and self.has("get_context_tokens"):
            value["tokens"] = amount(self.run("get_context_tokens"), "get_context_tokens returned")
            self.method = method
        return value

    def search(self, request: dict[str, Any]) -> dict[str, Any]:
        """Search the memory."""
        return self.brought_up(self.run_at("search", request, request["query"], request["k"]), "search")

    def recall(self, request: dict[str, Any]) -> dict[str, Any]:
        """Search a bank."""
        return self.brought_up(self.run_with("recall", request, "query"), "recall")

    def export(self, request: dict[str, Any]) -> dict[str, Any]:
        """Bring up all that is kept."""
        return self.brought_up(self.run("export_memories"), "export_memories")

    def brought_up(self, found: Any, method: str) -> dict[str, Any]:
        """Return what was found, checked: a list of items, or a dict with a context, items or both."""
        if not isinstance(found, dict):
            return {"items": found_items(found, f"{method} returned")}
        value = self.retrieved(found, method)
        if not value:
            raise Refused(f"{method} returned a dict with neither 'context' nor 'items'.")
        return value

    def retrieved(self, found: dict[str, Any], method: str) -> dict[str, Any]:
        """Return the context and the items of a returned dict, checked."""
        value: dict[str, Any] = {}
        if found.get("context") is not None:
            value["context"] = whole_text(found["context"], f"{method} returned a dict whose 'context' is")
        if found.get("items") is not None:
            value["items"] = found_items(found["items"], f"{method} returned")
        return value

    def forget(self, request: dict[str, Any]) -> dict[str, Any]:
        """Forget a bank, texts by their ids, or what a query finds; the system may say how many that were."""
        count = self.run_with("forget", request)
        if count is not None and amount(count, "forget returned") % 1:
            raise Refused("forget returned a number that is not whole.")
        return {"forgotten": None if count is None else int(count)}

    def usage(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the system's own account of its model calls, as far as memeval knows the names in it."""
        told = self.run("usage")
        if not isinstance(told, dict):
            raise Refused(f"usage returned {kind_of(told)}, not a dict.")
        known = [name for name in USAGE if told.get(name) is not None]
        return {name: amount(told[name], f"usage returned a dict whose '{name}' is") for name in known}

    def close(self, request: dict[str, Any]) -> None:
        """Let the system put its things away."""
        if self.has("close"):
            self.run("close")

    def encoded(self, value: Any) -> str:
        """Return a value as ASCII JSON, or refuse one that is beyond the limit in bytes of UTF-8."""
        text, limit = json.dumps(value, allow_nan=False), self.reply_bytes
        if len(text) > limit and len(json.dumps(value, ensure_ascii=False).encode("utf-8")) > limit:
            raise Refused(f"{self.method} returned more than {limit} bytes.")
        return text

    def answer(self, request: dict[str, Any]) -> str:
        """Make one call and return its reply; nothing that an adapter raises gets out of here."""
        started = time.perf_counter()
        try:
            call: Callable[[dict[str, Any]], Any] = getattr(self, request["call"])
            body = f'"value":{self.encoded(call(request))}'
        except BaseException as error:
            body = f'"error":{json.dumps(self.describe(error))}'
        return f'{{"id":{request["id"]},{body},"seconds":{time.perf_counter() - started:.6f}}}\n'

    def describe(self, error: BaseException) -> dict[str, Any]:
        """Return a failure as plain data: its kind, the method that was running, its words, and where it happened."""
        told: dict[str, Any] = {"method": self.method, "message": ""}
        with contextlib.suppress(BaseException):
            told["message"] = storable(str(error), MESSAGE_LIMIT)
        if isinstance(error, Refused):
            return {**told, "kind": error.kind}
        if getattr(error, "memeval_kind", None) in ("failed", "died"):  # a driver's own sentences
            return {**told, "kind": error.memeval_kind}  # type: ignore[attr-defined]
        trace: list[str] = []
        with contextlib.suppress(BaseException):
            import traceback

            frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename != __file__]
            trace += [storable(f"{f.filename}:{f.lineno} in {f.name}", 300) for f in frames[-TRACE_FRAMES:]]
        return {**told, "kind": "raised", "type": storable(type(error).__name__, 100), "trace": trace}


async def awaited(value: Any) -> Any:
    """Await anything that can be awaited, coroutine or not."""
    return await value


def storable(text: str, limit: int) -> str:
    """Return text that any file can hold, cut to ``limit`` characters."""
    return text[:limit].encode("utf-8", "backslashreplace").decode("utf-8")


def batches(descriptor: int) -> Iterable[list[bytes]]:
    """Yield the lines that come in, those together that came together."""
    parts: list[bytes] = []
    while chunk := os.read(descriptor, 1 << 16):
        first, *others = chunk.split(b"\n")
        parts.append(first)
        if others:
            yield [b"".join(parts), *others[:-1]]
            parts = [others[-1]]


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of ``data``."""
    while data:
        data = data[os.write(descriptor, data) :]


def end_abandoned(folder: str) -> None:
    """End this process, those it started, and its private folder, if it has one: memeval has gone without a word.

    The folder was noted at the start: by now an adapter may have set ``TMPDIR`` to a place that holds other things.
    """
    import shutil
    import signal

    if folder:
        shutil.rmtree(folder, ignore_errors=True)
    if os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(1)


def watch(parent: int, folder: str) -> None:
    """Wait until the process that started this one has gone."""
    while os.getppid() == parent:
        time.sleep(0.5)
    end_abandoned(folder)


def from_libc(name: str) -> Callable[..., int]:
    """Return a function of the C library that takes ints and bytes.

    CPython's own extension module is ten times as fast to load as ``ctypes`` around it.
    """
    try:
        import _ctypes

        address = _ctypes.dlsym(_ctypes.dlopen(None, 0), name)  # type: ignore[arg-type]
        call = _ctypes.call_cdeclfunction
        return lambda *arguments: call(address, arguments)
    except (ImportError, AttributeError):
        import ctypes

        return getattr(ctypes.CDLL(None), name)  # type: ignore[no-any-return]


def give_up_privileges() -> None:
    """Put what other processes hold, keys among it, out of this one's reach, and of all that it starts, for good.

    Without capabilities root may not look into a process that closed itself, as memeval does. A Landlock domain, where
    the kernel has it, may not look into (nor signal) any process outside of it, such as the shell that memeval was
    started from. Each step stands by itself: where the kernel refuses one, the others still hold.
    """
    if sys.platform != "linux":
        return
    with contextlib.suppress(OSError):
        prctl, capset, syscall = from_libc("prctl"), from_libc("capset"), from_libc("syscall")
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        capability = 0
        while capability < 64 and prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0:
            capability += 1
        capset(CAPABILITY_HEADER, bytes(24))
        domain = syscall(LANDLOCK_CREATE_RULESET, LANDLOCK_RULES, len(LANDLOCK_RULES), 0)
        if domain >= 0:
            syscall(LANDLOCK_RESTRICT_SELF, domain, 0)
            os.close(domain)


def serve() -> None:
    """Answer calls until memeval says close."""
    give_up_privileges()
    folder = os.path.dirname(os.path.abspath(__file__))
    requests, replies = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    if sys.path and sys.path[0] == folder:
        del sys.path[0]
    private = folder if folder == os.environ.get("HOME") else ""  # a worker that was not copied lies among sources
    threading.Thread(target=watch, args=(os.getppid(), private), daemon=True).start()
    calls = Calls()
    try:
        for batch in batches(requests):
            answers, since = [], time.monotonic()
            asked = [json.loads(line) for line in batch]
            if len(asked) > 1 and all(each["call"] == "recall" for each in asked) and calls.recalls_at_once():
                calls.answer_together(asked, lambda reply: write_all(replies, reply.encode("ascii")))
                continue
            for request in asked:
                answers.append(calls.answer(request))
                if time.monotonic() - since > HOLD_SECONDS:
                    write_all(replies, "".join(answers).encode("ascii"))
                    answers, since = [], time.monotonic()
            write_all(replies, "".join(answers).encode("ascii"))
            if request["call"] == "close":
                return
    except BrokenPipeError:
        pass
    end_abandoned(private)


if __name__ == "__main__":
    serve()
