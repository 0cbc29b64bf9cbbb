"""Runs in the system's process: loads one adapter class and answers memeval's calls, one JSON line each.

This file is copied into a private folder and run there by the system's own interpreter, so it needs nothing but the
standard library of Python 3.9 or later. It knows no scenario, no category and no id but ordinals.

A request is ``{"id", "call", ...}``. A reply is ``{"id", "value", "seconds"}`` or ``{"id", "error", "seconds"}``;
``seconds`` is the worker's own count of the time the call took. An error is ``{"kind", "method", "message", ...}``, of
the kind ``raised`` (an exception of the adapter, with ``type`` and ``trace``), ``misbehaved`` (a wrong shape or size),
``failed`` (a driver cannot make the call), ``died`` (its server has ended), ``no_adapter`` (nothing to load) or
``skipped`` (a session behind one that failed). Where they are known, ``at`` says where in the adapter it happened, and
``cause`` and ``about`` say why (see ``worker_errors.py``). All lines are ASCII: other characters are escaped.
``site/protocol.md`` says the same for those who write a program of their own.
"""
# Few imports, and no pathlib: this is started anew after every crash.
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
"""Methods whose presence is reported."""

DISPOSITIONS = "dispositions"
"""Reported like a method where ``reflect`` takes a keyword of that name."""

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
"""How many characters of an exception's message are kept."""

HOLD_SECONDS = 0.05
"""How long replies to calls that came together wait for one another, to go back together."""

PR_SET_NO_NEW_PRIVS, PR_CAPBSET_DROP = 38, 24
CAPABILITY_HEADER = bytes.fromhex("20080522" if sys.byteorder == "big" else "22050820") + bytes(4)
LANDLOCK_CREATE_RULESET, LANDLOCK_RESTRICT_SELF = 444, 446
LANDLOCK_RULES = bytes(16) + (2).to_bytes(8, sys.byteorder)
"""Numbers of the Linux kernel, the same on all machines: no file and no port is restricted, signals are scoped."""

BASE_CLASS = "MemorySystemAdapter"
"""What DeepMemEval calls the base class of its adapters, and where they import it from."""
BASE_PACKAGE, BASE_MODULE = "src", "src.adapter"


class Refused(Exception):
    """Something that is not the adapter's own exception: by default, that it gave what it may not give."""

    def __init__(self, message: str, kind: str = "misbehaved", cause: str = "returned", about: str = "") -> None:
        super().__init__(message)
        self.kind, self.cause, self.about = kind, cause, about


def errors() -> Any:
    """Return the module beside this one that explains failures; it is loaded at the first one."""
    name = "memeval_worker_errors"
    if name not in sys.modules:
        import importlib.util

        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "worker_errors.py")
        spec = importlib.util.spec_from_file_location(name, path)
        if spec is None or spec.loader is None:
            raise ImportError(path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        sys.modules[name] = module
    return sys.modules[name]


def kind_of(value: object) -> str:
    """Return the name of a value's type and the value itself, cut."""
    if value is None:
        return "None"
    shown = ""
    with contextlib.suppress(BaseException):
        shown = storable(errors().short(value), 100)
    return f"{type(value).__name__} ({shown})" if shown else type(value).__name__


def whole_text(value: Any, what: str) -> str:
    """Return ``value`` as text that can be written as UTF-8, or refuse it; ``what`` begins the refusal."""
    if not isinstance(value, str):
        raise Refused(f"{what} {kind_of(value)}, not text")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise Refused(
            f"{what} text that UTF-8 cannot encode (lone surrogate at character {error.start})", cause="surrogate"
        ) from None
    return value


def number(value: Any, what: str) -> float:
    """Return ``value`` as a finite number, or refuse it; ``what`` begins the refusal."""
    if isinstance(value, (bool, str, bytes)) or not hasattr(value, "__float__"):
        raise Refused(f"{what} {kind_of(value)}, not a number")
    try:
        plain = value if type(value) is int else float(value)
        finite = math.isfinite(plain)
    except OverflowError:
        finite = False
    if not finite:
        raise Refused(f"{what} a number that is not finite")
    return plain


def amount(value: Any, what: str) -> float:
    """Return ``value`` as a count or sum that can be, or refuse it; ``what`` begins the refusal."""
    plain = number(value, what)
    if plain < 0:
        raise Refused(f"{what} a negative number")
    if plain > TOKEN_LIMIT:
        raise Refused(f"{what} more than {TOKEN_LIMIT}")
    return plain


def found_items(value: Any, what: str) -> list[dict[str, Any]]:
    """Return what a search found as plain data, or refuse it; ``what`` begins the refusal."""
    items: list[dict[str, Any]] = []
    for item in several(value, what):
        if len(items) == ITEM_LIMIT:
            raise Refused(f"{what} more than {ITEM_LIMIT} items", cause="too_large")
        if isinstance(item, str):
            item = {"text": item}
        if not isinstance(item, dict):
            raise Refused(f"{what} an item that is {kind_of(item)}, not a dict or text", cause="item")
        if "text" not in item:
            raise Refused(f"{what} an item without 'text': {kind_of(item)}", cause="item")
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
        raise Refused(f"{what} {kind_of(value)}, not a list")
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
    """Whether a value found in a module is an adapter class: it has the methods that DeepMemEval's loader asks for."""
    return isinstance(value, type) and not missing_methods(value)


def missing_methods(value: type) -> list[str]:
    """Return the methods that a class lacks to be an adapter, abstract ones included."""
    lacking = [] if hasattr(value, "reset") else ["reset"]
    if not hasattr(value, "ingest_session") and not hasattr(value, "retain"):
        lacking.append("ingest_session (or retain)")
    if not any(hasattr(value, name) for name in ASKED):
        lacking.append("query (or search, recall or reflect)")
    if value.__flags__ & ABSTRACT:
        lacking += sorted(getattr(value, "__abstractmethods__", ()))
    return lacking


def classes_in(module: ModuleType) -> dict[str, type]:
    """Return the classes of a module by name, in alphabetical order; a class with two names counts once, by its own."""
    found: dict[str, type] = {}
    for name in dir(module):
        value: Any = getattr(module, name, None)
        if isinstance(value, type) and all(value is not other for other in found.values()):
            own = str(value.__name__)
            found[own if getattr(module, own, None) is value else name] = value
    return found


def standing(value: type, module: ModuleType) -> tuple[bool, bool]:
    """Return what puts one adapter class before another: a file's own before imported ones, others before a base."""
    return value.__module__ == module.__name__, value.__name__ != BASE_CLASS


class BaseClassFinder:
    """Provides DeepMemEval's ``src.adapter``, with the base class alone, where the adapter's folder has none.

    It stands last on ``sys.meta_path``, so a module of that name that is there goes first.
    """

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> Any:
        """Return how to load the module; ``None`` for all others."""
        if name not in (BASE_PACKAGE, BASE_MODULE):
            return None
        from importlib.machinery import ModuleSpec

        loader: Any = BaseClassFinder
        return ModuleSpec(name, loader, is_package=name == BASE_PACKAGE)

    @staticmethod
    def create_module(spec: Any) -> None:
        """Let Python make the module."""

    @staticmethod
    def exec_module(module: Any) -> None:
        """Fill the module."""
        if module.__name__ == BASE_MODULE:
            from abc import ABC, abstractmethod

            class MemorySystemAdapter(ABC):
                """The methods that DeepMemEval asks of an adapter."""

                @abstractmethod
                def ingest_session(self, session: dict[str, Any], timestamp: str) -> None:
                    """Take a session in."""

                @abstractmethod
                def query(self, question: str, timestamp: str = "now") -> str:
                    """Answer a question."""

                @abstractmethod
                def get_context_tokens(self) -> int:
                    """Return the size of the last context."""

                @abstractmethod
                def reset(self) -> None:
                    """Forget everything."""

            MemorySystemAdapter.__module__ = BASE_MODULE
            module.MemorySystemAdapter = MemorySystemAdapter


def load_module(path: str) -> ModuleType:
    """Import the file at ``path``, with its folder first on the module path, so that its siblings import too."""
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


def choose_class(module: ModuleType, wanted: str | None) -> tuple[type, list[str]]:
    """Return the adapter class to use, and the names of all that would do."""
    classes = classes_in(module)
    found = {name: value for name, value in classes.items() if is_adapter(value)}
    file = os.path.basename(str(module.__file__))
    if wanted is not None:
        value: Any = getattr(module, wanted, None)
        if isinstance(value, type):
            if not is_adapter(value):
                raise unfit(module, [value])
            return value, list(found)
        if not found:
            raise unfit(module, own_of(classes, module))
        named = f"there is no class {wanted} in {file}; adapter classes there: {', '.join(found)}"
        raise Refused(named, "no_adapter", "class", errors().nearest(wanted, list(found)))
    if not found:
        raise unfit(module, own_of(classes, module))
    best = max(standing(value, module) for value in found.values())
    first = [name for name, value in found.items() if standing(value, module) == best]
    if len(first) > 1:
        raise Refused(f"{file} has several adapter classes: {', '.join(first)}", "no_adapter", "class", first[0])
    return found[first[0]], list(found)


def own_of(classes: dict[str, type], module: ModuleType) -> list[type]:
    """Return the classes that a module defines itself."""
    return [value for value in classes.values() if value.__module__ == module.__name__]


def unfit(module: ModuleType, classes: list[type]) -> Refused:
    """Return the refusal of classes that lack methods."""
    why, renamed = errors().unfit(module, classes, missing_methods)
    return Refused(storable(why, MESSAGE_LIMIT), "no_adapter", "methods" if classes else "no_class", renamed)


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
        self.root = ""
        """The adapter's folder; blank where there is none."""
        self.chosen: Any = None
        """The adapter's class."""
        self.waiting: Any = None
        """The asynchronous call that is running."""

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
        self.waiting = awaited(value)
        return self.loop.run_until_complete(self.waiting)

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
        self.root = os.path.dirname(request["file"])
        module = load_module(request["file"])
        self.chosen, candidates = choose_class(module, request["class"])
        self.method = "__init__"
        self.system = self.chosen(**request["parameters"])
        self.method = "load"
        return {
            "class": self.chosen.__name__,
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
            raise Refused("not ingested, because an earlier call failed", "skipped")
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
                raise Refused(f"{method} returned a dict without 'answer': {kind_of(answer)}")
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
            raise Refused(f"{method} returned a dict with neither 'context' nor 'items'")
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
            raise Refused("forget returned a number that is not whole")
        return {"forgotten": None if count is None else int(count)}

    def usage(self, request: dict[str, Any]) -> dict[str, Any]:
        """Return the system's own account of its model calls, as far as memeval knows the names in it."""
        told = self.run("usage")
        if not isinstance(told, dict):
            raise Refused(f"usage returned {kind_of(told)}, not a dict")
        known = [name for name in USAGE if told.get(name) is not None]
        return {name: amount(told[name], f"usage returned a dict whose '{name}' is") for name in known}

    def close(self, request: dict[str, Any]) -> None:
        """Let the system put its things away."""
        if self.has("close"):
            self.run("close")

    def encoded(self, value: Any) -> str:
        """Return a value as ASCII JSON, or refuse one that is beyond the limit in bytes of UTF-8."""
        text, limit = json.dumps(value, allow_nan=False), self.reply_bytes
        # Escaping makes UTF-8 at most three times as long.
        if len(text) > limit and (
            len(text) > 3 * limit or len(json.dumps(value, ensure_ascii=False).encode("utf-8")) > limit
        ):
            raise Refused(f"{self.method} returned more than the limit of {limit / 1_000_000:g} MB", cause="too_large")
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
            told.update(kind=error.kind, cause=error.cause, about=storable(error.about, MESSAGE_LIMIT))
        elif getattr(error, "memeval_kind", None) in ("failed", "died"):  # a driver's own sentences
            return {**told, "kind": error.memeval_kind}  # type: ignore[attr-defined]
        else:
            told.update(kind="raised", type=storable(type(error).__name__, 100))
        with contextlib.suppress(BaseException):
            told.update(errors().details(error, self, __file__))
        return told


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


def show_stacks(calls: Calls) -> None:
    """Have the stack printed where a crash ends the process, and where memeval asks for it by SIGUSR1.

    ``faulthandler`` prints it even while an extension module keeps Python from running; where a call of the adapter
    waits for something, Python itself adds which.
    """
    import faulthandler
    import signal

    def asked(number: int, frame: FrameType | None) -> None:
        with contextlib.suppress(BaseException):
            os.write(2, errors().awaited_stack(calls, frame).encode("utf-8", "backslashreplace"))

    with contextlib.suppress(OSError, ValueError, RuntimeError, AttributeError):
        faulthandler.enable(2, all_threads=False)
        signal.signal(signal.SIGUSR1, asked)
        faulthandler.register(signal.SIGUSR1, 2, all_threads=False, chain=True)


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
    show_stacks(calls)
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
