"""Runs in the system's process: loads one adapter class and answers memeval's calls, one JSON line each.

This file is copied into a private folder and run there by the system's own interpreter, so it needs only the standard
library of Python 3.9 or later. If that is memeval's interpreter, the copy is compiled. It receives no scenario, no
category, and no ids except ordinals.

A request is ``{"id", "call", ...}``. A reply is ``{"id", "value"}`` or ``{"id", "error"}``. An error is ``{"kind",
"method", "message", ...}``. Its kind is one of:

- ``raised``: an exception of the adapter, with ``type`` and ``trace``;
- ``misbehaved``: a return value of a wrong type or size;
- ``failed``: a driver cannot make the call;
- ``died``: the server of a driver has ended;
- ``no_adapter``: there is no class to load;
- ``skipped``: a session after a failed one.

If known, ``at`` is the adapter's frame, and ``cause`` and ``about`` are the cause (see ``worker_errors.py``). All lines
are ASCII: other characters are escaped. ``site/protocol.md`` describes the same protocol for other programs.
"""
# Few imports, and no pathlib: the worker starts again after every crash.
# ruff: noqa: PTH100, PTH112, PTH118, PTH119, PTH120, PTH122, PTH208

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
    from types import FrameType, ModuleType
    from typing import Any

OPTIONAL = (
    *("close", "export_memories", "forget", "get_context_tokens", "ingest_session", "query"),
    *("recall", "reflect", "retain", "search", "settle", "usage"),
)
"""Optional methods, which the reply to ``load`` lists."""

DISPOSITIONS = "dispositions"
"""Reported like a method if ``reflect`` accepts a keyword with this name."""

TEXTS_TOGETHER = "texts_together"
"""Reported like a method if ``retain`` may be called for several texts at the same time."""

ASKED = ("query", "search", "recall", "reflect")
"""An adapter has at least one of these methods, by which it can be asked."""

NAMES = {
    "bank": ("bank", "bank_id"),
    "ids": ("ids", "memory_ids"),
    "k": ("k", "max_results", "limit"),
    "source_id": ("source_id", "id"),
    "timestamp": ("timestamp", "occurred_at"),
}
"""Alternative keywords for a part of a request, in order of preference. Other parts have only their own name."""

PARTS = (*NAMES, "dispositions", "fact_type", "metadata", "query", "since", "tags", "until")
"""The parts of a request that are passed by keyword, if the method accepts them."""

BANK = "memeval"
"""The bank for a request without one, if the method requires a bank."""

ABSTRACT = 1 << 20
TAKES_ANY_KEYWORD = 0x08
COROUTINE = 0x80
"""CPython's flags of an abstract class, a function with ``**kwargs``, and an ``async`` function."""

ITEM_LIMIT = 100_000
"""The most items of a search: an endless generator would fill the memory."""

TOKEN_LIMIT = 10**12
"""The largest count of tokens, so that sums of counts do not overflow."""

USAGE = ("prompt_tokens", "completion_tokens", "cost_usd")
"""Fields of the self-reported model usage: totals since the start or the last reset."""

MESSAGE_LIMIT = 1000
"""The most characters of an exception's message that are kept."""

HOLD_SECONDS = 0.05
"""How long replies to sessions that arrived together are delayed, to be sent together."""

PR_SET_NO_NEW_PRIVS, PR_CAPBSET_DROP = 38, 24
CAPABILITY_HEADER = bytes.fromhex("20080522" if sys.byteorder == "big" else "22050820") + bytes(4)
LANDLOCK_CREATE_RULESET, LANDLOCK_RESTRICT_SELF = 444, 446
LANDLOCK_RULES = bytes(16) + (2).to_bytes(8, sys.byteorder)
"""Linux constants, the same on all architectures. The Landlock rules scope signals and restrict no files or ports."""

DECLARED, MOST_AT_ONCE = "questions_at_once", 1024
"""The attribute of an adapter that answers several questions at the same time, and its largest value."""

BASE_CLASS = "MemorySystemAdapter"
BASE_PACKAGE, BASE_MODULE = "src", "src.adapter"
"""The base class of DeepMemEval's adapters, and the module that they import it from."""


class Refused(Exception):
    """An error other than an exception of the adapter: by default, an invalid return value."""

    def __init__(self, message: str, kind: str = "misbehaved", cause: str = "returned", about: str = "") -> None:
        super().__init__(message)
        self.kind, self.cause, self.about = kind, cause, about


def beside(name: str) -> Any:
    """Return a module of the worker in a file beside it, which is loaded when it is first needed."""
    module_name = f"memeval_{name}"
    if module_name not in sys.modules:
        import importlib.util

        folder, own = os.path.split(os.path.abspath(__file__))
        path = os.path.join(folder, name + os.path.splitext(own)[1])  # compiled, if this file is
        spec = importlib.util.spec_from_file_location(module_name, path)
        if spec is None or spec.loader is None:
            raise ImportError(path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        sys.modules[module_name] = module
    return sys.modules[module_name]


def errors() -> Any:
    return beside("worker_errors")


def kind_of(value: object) -> str:
    """Return a value's type and its text, cut."""
    if value is None:
        return "None"
    shown = ""
    with contextlib.suppress(BaseException):
        shown = storable(errors().short(value), 100)
    return f"{type(value).__name__} ({shown})" if shown else type(value).__name__


def wrong_type(value: Any, what: str, wanted: str, cause: str = "returned") -> Refused:
    """Return the error for a value of a wrong type. ``what`` begins the message."""
    if hasattr(value, "__await__"):
        name = str(getattr(value, "__qualname__", ""))
        return Refused(f"{what} a {type(value).__name__} that was not awaited", cause="coroutine", about=name)
    return Refused(f"{what} {kind_of(value)}, not {wanted}", cause=cause)


def valid_text(value: Any, what: str) -> str:
    """Return ``value`` if it is valid Unicode text, or refuse it. ``what`` begins the message."""
    if not isinstance(value, str):
        raise wrong_type(value, what, "text")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise Refused(
            f"{what} text that UTF-8 cannot encode (lone surrogate at character {error.start})", cause="surrogate"
        ) from None
    return value


def number(value: Any, what: str) -> float:
    """Return ``value`` as a finite number, or refuse it. ``what`` begins the message."""
    if isinstance(value, (bool, str, bytes)) or not hasattr(value, "__float__"):
        raise wrong_type(value, what, "a number")
    try:
        plain = value if type(value) is int else float(value)
        finite = math.isfinite(plain)
    except OverflowError:
        finite = False
    if not finite:
        raise Refused(f"{what} a number that is not finite")
    return plain


def amount(value: Any, what: str) -> float:
    """Return ``value`` as a number from 0 to ``TOKEN_LIMIT``, or refuse it. ``what`` begins the message."""
    plain = number(value, what)
    if plain < 0:
        raise Refused(f"{what} a negative number")
    if plain > TOKEN_LIMIT:
        raise Refused(f"{what} more than {TOKEN_LIMIT}")
    return plain


def found_items(value: Any, what: str) -> list[dict[str, Any]]:
    """Return the items of a search as plain data, or refuse them. ``what`` begins the message."""
    items: list[dict[str, Any]] = []
    for item in as_list(value, what):
        if len(items) == ITEM_LIMIT:
            raise Refused(f"{what} more than {ITEM_LIMIT} items", cause="too_large")
        if isinstance(item, str):
            item = {"text": item}
        if not isinstance(item, dict):
            raise wrong_type(item, f"{what} an item that is", "a dict or text", "item")
        if "text" not in item:
            raise Refused(f"{what} an item without 'text': {kind_of(item)}", cause="item")
        plain: dict[str, Any] = {"text": valid_text(item["text"], f"{what} an item whose 'text' is")}
        if item.get("source_ids") is not None:
            sources = as_list(item["source_ids"], f"{what} an item whose 'source_ids' is")
            plain["source_ids"] = [valid_text(one, f"{what} an item with a source id that is") for one in sources]
        if item.get("score") is not None:
            plain["score"] = number(item["score"], f"{what} an item whose 'score' is")
        items.append(plain)
    return items


def as_list(value: Any, what: str) -> Iterable[Any]:
    """Return ``value`` if it is a list or another iterable, or refuse it. ``what`` begins the message."""
    if isinstance(value, (str, bytes, dict)) or not hasattr(value, "__iter__"):
        raise wrong_type(value, what, "a list")
    items: Iterable[Any] = value
    return items


def function_of(method: Any) -> Any:
    method = getattr(method, "__wrapped__", method)
    return getattr(method, "__func__", method)


def takes_keyword(method: Any, name: str) -> bool:
    """Whether ``method`` accepts the keyword ``name``; true if unknown."""
    code = getattr(function_of(method), "__code__", None)
    if code is None or code.co_flags & TAKES_ANY_KEYWORD:
        return True
    return declares(method, name)


def declares(method: Any, name: str) -> bool:
    """Whether ``method`` has a parameter ``name``; false if unknown."""
    code = getattr(function_of(method), "__code__", None)
    return code is not None and name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def keyword_for(method: Any, part: str) -> str | None:
    """Return the keyword of ``method`` for a part of a request. Parameters take precedence over ``**kwargs``."""
    names = NAMES.get(part, (part,))
    return next((name for takes in (declares, takes_keyword) for name in names if takes(method, name)), None)


def needs_keyword(method: Any, name: str) -> bool:
    """Whether ``method`` requires ``name``; false if unknown."""
    function = function_of(method)
    code = getattr(function, "__code__", None)
    if code is None:
        return False
    required = code.co_argcount - len(function.__defaults__ or ())
    by_keyword = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    return name in code.co_varnames[:required] or name in set(by_keyword).difference(function.__kwdefaults__ or ())


def is_adapter(value: Any) -> bool:
    """Whether a value is an adapter class: it has the methods that DeepMemEval's loader requires."""
    return isinstance(value, type) and not missing_methods(value)


def missing_methods(value: type) -> list[str]:
    """Return the missing methods of an adapter class, abstract ones included."""
    missing = [] if hasattr(value, "reset") else ["reset"]
    if not hasattr(value, "ingest_session") and not hasattr(value, "retain"):
        missing.append("ingest_session (or retain)")
    if not any(hasattr(value, name) for name in ASKED):
        missing.append("query (or search, recall or reflect)")
    if value.__flags__ & ABSTRACT:
        missing += sorted(getattr(value, "__abstractmethods__", ()))
    return missing


def classes_in(module: ModuleType) -> dict[str, type]:
    """Return the classes of a module by name, in alphabetical order. A class with two names is returned once."""
    found: dict[str, type] = {}
    for name in dir(module):
        value: Any = getattr(module, name, None)
        if isinstance(value, type) and all(value is not other for other in found.values()):
            own = str(value.__name__)
            found[own if getattr(module, own, None) is value else name] = value
    return found


def precedence(value: type, module: ModuleType) -> tuple[bool, bool]:
    """Return the sort key of an adapter class: the file's own classes are higher, the base class is lower."""
    return value.__module__ == module.__name__, value.__name__ != BASE_CLASS


class BaseClassFinder:
    """Provides DeepMemEval's ``src.adapter`` with only the base class, if the adapter's folder has no such module.

    It is last on ``sys.meta_path``, so an existing module takes precedence.
    """

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> Any:
        """Return the spec of the module; ``None`` for other modules."""
        if name not in (BASE_PACKAGE, BASE_MODULE):
            return None
        from importlib.machinery import ModuleSpec

        loader: Any = BaseClassFinder
        return ModuleSpec(name, loader, is_package=name == BASE_PACKAGE)

    @staticmethod
    def create_module(spec: Any) -> None:
        """Use Python's default module object."""

    @staticmethod
    def exec_module(module: Any) -> None:
        if module.__name__ == BASE_MODULE:
            from abc import ABC, abstractmethod

            class MemorySystemAdapter(ABC):
                @abstractmethod
                def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
                    """Ingest a session."""

                @abstractmethod
                def query(self, question: str, timestamp: str = "now") -> str:
                    """Answer a question."""

                @abstractmethod
                def get_context_tokens(self) -> int:
                    """Return the tokens of the last context."""

                @abstractmethod
                def reset(self) -> None:
                    """Forget everything."""

            MemorySystemAdapter.__module__ = BASE_MODULE
            module.MemorySystemAdapter = MemorySystemAdapter


def load_module(path: str) -> ModuleType:
    """Import the file at ``path``, with its folder first on ``sys.path``, so that it can import modules beside it."""
    import importlib.util

    sys.path.insert(0, os.path.dirname(path))
    finder: Any = BaseClassFinder
    sys.meta_path.append(finder)
    name = os.path.splitext(os.path.basename(path))[0]
    if name in sys.modules or not name.isidentifier():
        name = "system_adapter"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise Refused("the adapter file is not Python", "no_adapter", "no_class")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def choose_class(module: ModuleType, wanted: str | None) -> type:
    classes = classes_in(module)
    found = {name: value for name, value in classes.items() if is_adapter(value)}
    if wanted is not None:
        value: Any = getattr(module, wanted, None)
        if isinstance(value, type):
            if not is_adapter(value):
                raise no_adapter(module, [value])
            return value
        if not found:
            raise no_adapter(module, defined_in(classes, module))
        problem = f"there is no class {wanted}; its adapter classes: {', '.join(found)}"
        raise Refused(problem, "no_adapter", "class", errors().nearest(wanted, list(found)))
    if not found:
        raise no_adapter(module, defined_in(classes, module))
    best = max(precedence(value, module) for value in found.values())
    first = [name for name, value in found.items() if precedence(value, module) == best]
    if len(first) > 1:
        raise Refused(f"several adapter classes: {', '.join(first)}", "no_adapter", "class", first[0])
    return found[first[0]]


def defined_in(classes: dict[str, type], module: ModuleType) -> list[type]:
    return [value for value in classes.values() if value.__module__ == module.__name__]


def no_adapter(module: ModuleType, classes: list[type]) -> Refused:
    """Return the error for a module without an adapter class."""
    problem, renamed = errors().missing_adapter(module, classes, missing_methods)
    return Refused(storable(problem, MESSAGE_LIMIT), "no_adapter", "methods" if classes else "no_class", renamed)


def packages() -> dict[str, str]:
    """Return the importable distributions by name, each with its version."""
    suffixes = (".dist-info", ".egg-info")
    folders = [folder for folder in sys.path if os.path.isdir(folder)]
    if not any(name.endswith(suffixes) for folder in folders for name in os.listdir(folder)):
        return {}
    import importlib.metadata

    versions: dict[str, str] = {}
    for found in importlib.metadata.distributions():
        name = found.metadata["Name"]
        if name:
            versions.setdefault(name.lower().replace("_", "-"), str(found.version))
    return versions


class Calls:
    def __init__(self) -> None:
        self.system: Any = None
        self.loop: Any = None
        self.reply_bytes = 0
        self.broken = False
        self.method = ""
        """The adapter's running method, for error messages."""
        self.root = ""
        """The adapter's folder; blank if there is none."""
        self.chosen: Any = None
        self.waiting: Any = None
        """The coroutine of the running asynchronous call."""
        self.wait_for = self.wait_on_loop

    def event_loop(self) -> Any:
        if self.loop is None:
            import asyncio

            self.loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self.loop)
        return self.loop

    def wait_on_loop(self, awaitable: Any) -> Any:
        """Wait for a coroutine on the event loop of the instance."""
        self.waiting = awaited(awaitable)
        return self.event_loop().run_until_complete(self.waiting)

    def run(self, method: str, *args: Any, **keywords: Any) -> Any:
        """Call a method of the adapter; await the result of an asynchronous one on the instance's event loop."""
        self.method = method
        value = getattr(self.system, method)(*args, **keywords)
        return self.wait_for(value) if hasattr(value, "__await__") else value

    def run_at(self, method: str, request: dict[str, Any], *args: Any) -> Any:
        """Call a method with the request's timestamp, or without one for the adapter's default."""
        if "timestamp" not in request:
            return self.run(method, *args)
        if takes_keyword(getattr(self.system, method), "timestamp"):
            return self.run(method, *args, timestamp=request["timestamp"])
        return self.run(method, *args, request["timestamp"])

    def run_with(self, method: str, request: dict[str, Any], first: str | None = None) -> Any:
        """Call a method with the parts of a request: ``first`` by position, the others by accepted keyword."""
        self.method = method
        return self.run(method, *([request[first]] if first else []), **self.keywords(method, request, first))

    def keywords(self, method: str, request: dict[str, Any], first: str | None = None) -> dict[str, Any]:
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

    def questions_at_once(self) -> int:
        """Return how many questions the adapter answers at the same time, as it declares; 1 if it does not."""
        declared = getattr(self.system, DECLARED, 1)
        if type(declared) is not int or not 1 <= declared <= MOST_AT_ONCE:
            shown = kind_of(declared)
            raise Refused(f"{DECLARED} is {shown}, not a whole number from 1 to {MOST_AT_ONCE}", cause="declared")
        return declared

    def is_asynchronous(self, method: str) -> bool:
        """Whether a method is asynchronous: then several of its calls can wait at the same time."""
        code = getattr(function_of(getattr(self.system, method, None)), "__code__", None)
        return code is not None and bool(code.co_flags & COROUTINE)

    def texts_together(self) -> bool:
        """Whether texts can be retained at the same time: ``retain`` is asynchronous, or the adapter says so."""
        declared = getattr(self.system, TEXTS_TOGETHER, False)
        if type(declared) is not bool:
            raise Refused(f"{TEXTS_TOGETHER} is {kind_of(declared)}, not True or False", cause="declared")
        return declared or self.is_asynchronous("retain")

    def is_together(self, request: dict[str, Any]) -> bool:
        """Whether a call may be made together with others of its kind."""
        if not request.get("together"):
            return False
        if request["call"] == "retain":
            return self.texts_together()
        return self.questions_at_once() > 1 or (request["call"] == "recall" and self.is_asynchronous("recall"))

    def has(self, method: str) -> bool:
        return callable(getattr(self.system, method, None))

    def capabilities(self) -> list[str]:
        """Return the adapter's methods other than ``reset``."""
        has_retain = self.has("retain")
        found = [name for name in OPTIONAL if self.has(name) or (name == "ingest_session" and has_retain)]
        if self.has("reflect") and takes_keyword(self.system.reflect, DISPOSITIONS):
            found.append(DISPOSITIONS)
        if has_retain and self.texts_together():
            found.append(TEXTS_TOGETHER)
        return found

    def load(self, request: dict[str, Any]) -> dict[str, Any]:
        self.method = "load"
        self.reply_bytes = request["reply_bytes"]
        self.root = os.path.dirname(request["file"])
        module = load_module(request["file"])
        self.chosen = choose_class(module, request["class"])
        self.method = "__init__"
        self.system = self.chosen(**request["parameters"])
        self.method = "load"
        return {
            "class": self.chosen.__name__,
            "capabilities": self.capabilities(),
            DECLARED: self.questions_at_once(),
            "implementation": sys.implementation.name,
            "python": ".".join(map(str, sys.version_info[:3])),
            "packages": {**packages(), **(self.run("versions") if self.has("versions") else {})},
        }

    def reset(self, request: dict[str, Any]) -> None:
        """Empty the memory. After a failure, sessions are skipped until a reset succeeds."""
        self.broken = True
        self.run("reset")
        self.broken = False

    def take_in(self, request: dict[str, Any]) -> None:
        """Ingest a session. After a failure, later sessions are skipped until the next reset."""
        if self.broken:
            raise Refused("not ingested, because an earlier call failed", "skipped")
        self.broken = True
        session, timestamp = request["session"], request["timestamp"]
        if self.has("ingest_session"):
            self.run("ingest_session", session, timestamp)
        else:  # a system that ingests texts receives dated lines
            turns = ((turn.get("speaker") or turn["role"], turn["content"]) for turn in session["turns"])
            text = "\n".join(f"[{session['date']}] {speaker}: {content}" for speaker, content in turns)
            self.retain({"content": text, "timestamp": timestamp})
        self.broken = False

    def retain(self, request: dict[str, Any]) -> dict[str, Any]:
        self.run_with("retain", request, "content")
        return {}

    def settle(self, request: dict[str, Any]) -> bool:
        """Wait until all ingested data is indexed; return false if it is not."""
        return self.run("settle", request["timeout"]) is not False

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        return self.checked_answer(self.run_at("query", request, request["question"]), "query")

    def reflect(self, request: dict[str, Any]) -> dict[str, Any]:
        return self.checked_answer(self.run_with("reflect", request, "query"), "reflect")

    def checked_answer(self, answer: Any, method: str) -> dict[str, Any]:
        """Return a checked answer, with the count of tokens if there is one."""
        if isinstance(answer, dict):
            if "answer" not in answer:
                raise Refused(f"{method} returned a dict without 'answer': {kind_of(answer)}")
            value = self.retrieved(answer, method)
            value["answer"] = valid_text(answer["answer"], f"{method} returned a dict whose 'answer' is")
            if answer.get("tokens") is not None:
                value["tokens"] = amount(answer["tokens"], f"{method} returned a dict whose 'tokens' is")
        else:
            value = {"answer": valid_text(answer, f"{method} returned")}
        if "tokens" not in value and self.has("get_context_tokens"):
            value["tokens"] = amount(self.run("get_context_tokens"), "get_context_tokens returned")
            self.method = method
        return value

    def search(self, request: dict[str, Any]) -> dict[str, Any]:
        return self.search_result(self.run_at("search", request, request["query"], request["k"]), "search")

    def recall(self, request: dict[str, Any]) -> dict[str, Any]:
        return self.search_result(self.run_with("recall", request, "query"), "recall")

    def export(self, request: dict[str, Any]) -> dict[str, Any]:
        return self.search_result(self.run("export_memories"), "export_memories")

    def search_result(self, found: Any, method: str) -> dict[str, Any]:
        if not isinstance(found, dict):
            return {"items": found_items(found, f"{method} returned")}
        value = self.retrieved(found, method)
        if not value:
            raise Refused(f"{method} returned a dict with neither 'context' nor 'items'")
        return value

    def retrieved(self, found: dict[str, Any], method: str) -> dict[str, Any]:
        value: dict[str, Any] = {}
        if found.get("context") is not None:
            value["context"] = valid_text(found["context"], f"{method} returned a dict whose 'context' is")
        if found.get("items") is not None:
            value["items"] = found_items(found["items"], f"{method} returned")
        return value

    def forget(self, request: dict[str, Any]) -> dict[str, Any]:
        """Delete a bank, texts by their ids, or memories about a query; return how many, if the system reports it."""
        self.method = "forget"
        for part in ("bank", "ids", "query"):  # without one of its filters, a request would delete more
            if part in request and keyword_for(self.system.forget, part) is None:
                raise Refused(f"forget has no keyword '{part}', so it cannot forget by it", cause="signature")
        count = self.run_with("forget", request)
        if count is not None and amount(count, "forget returned") % 1:
            raise Refused("forget returned a number that is not whole")
        return {"forgotten": None if count is None else int(count)}

    def usage(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the self-reported model usage, without unknown fields."""
        reported = self.run("usage")
        if not isinstance(reported, dict):
            raise wrong_type(reported, "usage returned", "a dict")
        known = [name for name in USAGE if reported.get(name) is not None]
        return {name: amount(reported[name], f"usage returned a dict whose '{name}' is") for name in known}

    def close(self, request: dict[str, Any]) -> None:
        if self.has("close"):
            self.run("close")

    def encoded(self, value: Any) -> str:
        """Return a value as ASCII JSON, or refuse it if its UTF-8 exceeds the limit."""
        text, limit = json.dumps(value, allow_nan=False), self.reply_bytes
        # Escaping makes UTF-8 at most three times as long.
        if len(text) > limit and (
            len(text) > 3 * limit or len(json.dumps(value, ensure_ascii=False).encode("utf-8")) > limit
        ):
            raise Refused(f"{self.method} returned more than the limit of {limit / 1_000_000:g} MB", cause="too_large")
        return text

    def reply(self, request: dict[str, Any]) -> str:
        """Make a call by the method of its name; return its reply. No exception of the adapter passes this method."""
        try:
            call: Callable[[dict[str, Any]], Any] = getattr(self, request["call"])
            body = f'"value":{self.encoded(call(request))}'
        except BaseException as error:
            body = f'"error":{json.dumps(self.describe(error))}'
        return f'{{"id":{request["id"]},{body}}}\n'

    def describe(self, error: BaseException) -> dict[str, Any]:
        """Return a failure as plain data: its kind, the running method, the message and the frame."""
        fields: dict[str, Any] = {"method": self.method, "message": ""}
        with contextlib.suppress(BaseException):
            fields["message"] = storable(str(error), MESSAGE_LIMIT)
        if isinstance(error, Refused):
            fields.update(kind=error.kind, cause=error.cause, about=storable(error.about, MESSAGE_LIMIT))
        elif getattr(error, "memeval_kind", None) in ("failed", "died"):  # a driver's own message
            return {**fields, "kind": error.memeval_kind}  # type: ignore[attr-defined]
        else:
            fields.update(kind="raised", type=storable(type(error).__name__, 100))
        with contextlib.suppress(BaseException):
            fields.update(errors().details(error, self, serve.__code__.co_filename))
        return fields


async def awaited(value: Any) -> Any:
    return await value


def storable(text: str, limit: int) -> str:
    """Return text cut to ``limit`` characters, with lone surrogates escaped."""
    return text[:limit].encode("utf-8", "backslashreplace").decode("utf-8")


class Requests:
    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._parts: list[bytes] = []

    def read(self) -> list[bytes]:
        """Wait for bytes, and return the lines that are whole by then. Raises EOFError: there are no more."""
        chunk = os.read(self.descriptor, 1 << 16)
        if not chunk:
            raise EOFError
        first, *others = chunk.split(b"\n")
        self._parts.append(first)
        if not others:
            return []
        lines = [b"".join(self._parts), *others[:-1]]
        self._parts = [others[-1]]
        return lines


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of ``data``, also if the pipe accepts it in parts."""
    while data:
        data = data[os.write(descriptor, data) :]


def end_abandoned(folder: str) -> None:
    """Kill this process and its children, and delete its private folder: memeval has ended without ``close``.

    The path of the folder is from the start: the adapter may have changed ``TMPDIR`` to another folder.
    """
    import shutil
    import signal

    if folder:
        shutil.rmtree(folder, ignore_errors=True)
    if os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGKILL)
    os._exit(1)


def watch(parent: int, folder: str) -> None:
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
    """Prevent this process and its children from reading the memory of other processes, which may hold keys.

    Without capabilities, root cannot read a process that is not dumpable, such as memeval. A process in a Landlock
    domain cannot read or signal processes outside of it, such as the shell that started memeval. If the kernel refuses
    one step, the others still have effect.
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


def show_stacks(calls: Calls) -> None:
    """Print the stack at a crash, and when memeval sends SIGUSR1.

    ``faulthandler`` prints it even while an extension module blocks Python. For a waiting asynchronous call, the signal
    handler adds the stack of its coroutine.
    """
    import faulthandler
    import signal

    def print_awaited(number: int, frame: FrameType | None) -> None:
        with contextlib.suppress(BaseException):
            os.write(2, errors().awaited_stack(calls, frame).encode("utf-8", "backslashreplace"))

    with contextlib.suppress(OSError, ValueError, RuntimeError, AttributeError):
        faulthandler.enable(2, all_threads=False)
        signal.signal(signal.SIGUSR1, print_awaited)
        faulthandler.register(signal.SIGUSR1, 2, all_threads=False, chain=True)


def serve() -> None:
    """Answer calls until the call ``close``.

    Calls arrive on standard input and replies leave on standard output. What the adapter prints goes to standard error.
    """
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
    private = folder if folder == os.environ.get("HOME") else ""  # a worker that was not copied is in the source folder
    threading.Thread(target=watch, args=(os.getppid(), private), daemon=True).start()
    calls = Calls()
    show_stacks(calls)
    lines = Requests(requests)

    def write(reply: str) -> None:
        write_all(replies, reply.encode("ascii"))

    try:
        while True:
            batch = lines.read()
            waiting = [json.loads(line) for line in batch]
            # Calls that the adapter can make at the same time; this returns the calls that come after them.
            while waiting and calls.is_together(waiting[0]):
                waiting = beside("worker_together").converse(calls, waiting, lines, write)
            answers, since = "", time.monotonic()
            for request in waiting:
                answers += calls.reply(request)
                # Any other reply goes at once: its call has a time limit and a time of its own.
                if request["call"] != "take_in" or time.monotonic() - since > HOLD_SECONDS:
                    write(answers)
                    answers, since = "", time.monotonic()
            write(answers)
            if waiting and waiting[-1]["call"] == "close":
                return
    except (BrokenPipeError, EOFError):
        pass
    end_abandoned(private)


if __name__ == "__main__":
    serve()
