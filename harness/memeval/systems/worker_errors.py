"""Describes errors in a system's process as plain data. The worker loads it at the first error.

The file is beside the worker. Like the worker, it needs only the standard library of Python 3.9 or later.
"""
# No pathlib: the code compares paths as the interpreter spells them.
# ruff: noqa: PTH118, PTH119, PTH120

from __future__ import annotations

import contextlib
import difflib
import errno
import inspect
import os
import re
import reprlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from types import FrameType, ModuleType
    from typing import Any

FRAME_LIMIT = 8
"""How many innermost frames of a traceback are kept."""

TEXT_LIMIT = 300

VALUE_LIMIT = 80

CLASS_LIMIT = 3
METHOD_LIMIT = 12
"""How many unsuitable classes an error describes, and how many methods of each."""

SIMILAR_METHODS = {
    "ingest_session": (
        "add",
        "add_memory",
        "add_session",
        "ingest",
        "insert",
        "memorize",
        "remember",
        "store",
        "write",
    ),
    "query": ("answer", "ask", "chat", "generate", "get_answer", "respond", "run"),
    "reset": ("clear", "clear_all", "delete_all", "flush", "reset_memory", "wipe"),
}
"""Common other names of the methods that memeval needs."""

UNREACHABLE = (
    (
        "name resolution failed",
        r"name resolution|name or service not known|nodename nor servname|getaddrinfo|dns error",
    ),
    ("connection refused", r"connection refused|connect call failed"),
    ("network unreachable", r"network is unreachable|no route to host"),
)
"""Network errors, each with a pattern of the messages that libraries write."""

RUNNING_LOOP = r"cannot be called from a running event loop|while another loop is running|event loop is already running"
"""Messages of ``asyncio`` for a second event loop."""


def details(error: BaseException, calls: Any, worker: str) -> dict[str, Any]:
    """Return where an error happened and what caused it.

    ``calls``: the worker's calls, with the adapter's folder, its instance and the method that was running. ``worker``:
    the worker's file, as its code names it: its frames are left out.
    Returns: ``trace``: frames, innermost last. ``at``: the adapter's own innermost frame, such as ``adapter.py:12 in
    query``; blank if there is none. ``cause`` and ``about``: see :func:`cause_of`.
    """
    frames = [frame for frame in frames_of(error) if frame[0] not in (worker, details.__code__.co_filename)]
    trace = [cut(f"{file}:{line} in {name}") for file, line, name in frames if not file.startswith("<frozen")]
    fields: dict[str, Any] = {"trace": trace[-FRAME_LIMIT:], "at": own_frame(frames, calls.root)}
    if getattr(error, "kind", None) in ("misbehaved", "no_adapter"):
        if error.kind == "misbehaved":  # type: ignore[attr-defined]
            fields["at"] = definition(getattr(calls.system, calls.method, None), calls.root)
        if error.cause == "coroutine":  # type: ignore[attr-defined]
            fields["about"] = cut(call_of(error.about, calls.system))  # type: ignore[attr-defined]
        return {**fields, "trace": []}
    fields["cause"], fields["about"] = cause_of(error, calls, bool(frames))
    if fields["cause"] == "syntax":
        fields["at"] = located(str(error.filename), error.lineno, calls.root)  # type: ignore[attr-defined]
    elif fields["cause"] == "signature":
        fields["at"] = definition(function_called(calls), calls.root)
    return fields


def frames_of(error: BaseException) -> list[tuple[str, int, str]]:
    """Return the frames of a traceback, innermost last: file, line and function."""
    found, trace = [], error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        found.append((code.co_filename, trace.tb_lineno or 0, code.co_name))
        trace = trace.tb_next
    return found


def own_frame(frames: Iterable[tuple[str, int, str]], root: str) -> str:
    """Return the innermost frame in the adapter's folder; blank if there is none."""
    for file, line, name in reversed(list(frames)):
        if is_own(file, root):
            position = located(file, line, root)
            return position if name == "<module>" else cut(f"{position} in {name}")
    return ""


def is_own(file: str, root: str) -> bool:
    return bool(root) and file.startswith(os.path.join(root, "")) and "site-packages" not in file


def located(file: str, line: int | None, root: str) -> str:
    """Return ``FILE:LINE`` with the path inside the adapter's folder; blank if the file is outside."""
    if not is_own(file, root):
        return ""
    name = os.path.relpath(file, root)
    return cut(f"{name}:{line}" if line else name)


def definition(function: Any, root: str) -> str:
    """Return the first line of a function as ``FILE:LINE``; blank if unknown."""
    if isinstance(function, type):
        function = vars(function).get("__init__")
    if function is not None:
        function = inspect.unwrap(getattr(function, "__func__", function))
    code = getattr(function, "__code__", None)
    return "" if code is None else located(code.co_filename, code.co_firstlineno, root)


def cause_of(error: BaseException, calls: Any, has_frames: bool) -> tuple[str, str]:
    """Return the known cause of an error and its detail; two blanks for another error.

    - ``module``: a missing module; its name.
    - ``network``: a host that cannot be reached; the kind of error.
    - ``signature``: a method that does not accept memeval's arguments; its signature.
    - ``exit``: a call of ``sys.exit``; the argument.
    - ``file``: a missing file of the adapter's folder; its path inside the folder.
    - ``relative``: a missing file with a relative path; the path.
    - ``variable``: a missing environment variable; its name.
    - ``event_loop``: ``asyncio.run`` in an event loop; the caller's name if it is not ``async``.
    - ``memory``, ``syntax``, and ``package``, a relative import in a file that is in no package: no detail.
    """
    chain = list(chain_of(error))
    if isinstance(error, ImportError):
        missing = [each.name for each in chain if isinstance(each, ModuleNotFoundError) and each.name]
        if missing:
            return "module", cut(missing[-1])
        if "attempted relative import" in str(error):
            return "package", ""
    if isinstance(error, SyntaxError) and is_own(str(error.filename), calls.root):
        return "syntax", ""
    if isinstance(error, MemoryError):
        return "memory", ""
    if isinstance(error, SystemExit):
        return "exit", "" if error.code is None else cut(str(error.code))
    if isinstance(error, TypeError) and not has_frames:
        function = function_called(calls)
        with contextlib.suppress(TypeError, ValueError):
            # The instance is not among the parameters of a bound method.
            parameters = str(inspect.signature(function))[1:].partition(") ->")[0].rstrip(")")
            return "signature", cut(f"{calls.method}({', '.join(filter(None, ('self', parameters)))})")
    if isinstance(error, FileNotFoundError) and is_own(str(error.filename), calls.root):
        return "file", cut(os.path.relpath(str(error.filename), calls.root))
    if is_missing_relative_file(error):
        return "relative", cut(os.fspath(error.filename))  # type: ignore[attr-defined]
    if isinstance(error, KeyError) and is_from_environment(error):
        return "variable", cut(str(error.args[0]))
    if isinstance(error, RuntimeError) and re.search(RUNNING_LOOP, str(error)):
        return "event_loop", synchronous_caller(error, calls.root)
    for each in chain:
        if kind := network_error(each):
            return "network", kind
    return "", ""


def call_of(qualified: str, system: Any) -> str:
    """Return how the adapter calls a function, such as ``self.find``; blank if the name is unknown.

    ``qualified``: the function's qualified name, such as ``Memory.find``.
    """
    owner, _, name = qualified.rpartition(".")
    is_method = any(each.__qualname__ == owner for each in type(system).__mro__)
    return f"self.{name}" if is_method else name


def function_called(calls: Any) -> Any:
    """Return the last called function: a method of the instance, or the class itself."""
    return calls.chosen if calls.method == "__init__" else getattr(calls.system, calls.method, None)


def is_missing_relative_file(error: BaseException) -> bool:
    """Whether an error is a missing file with a relative path. Programs that cannot be started do not count."""
    if not isinstance(error, FileNotFoundError) or not isinstance(error.filename, str) or not error.filename:
        return False
    files = [os.path.basename(file) for file, _, _ in frames_of(error)]
    return not error.filename.startswith("/") and "subprocess.py" not in files


def is_from_environment(error: BaseException) -> bool:
    """Whether ``os.environ[...]`` raised an error."""
    file, _, name = (frames_of(error) or [("", 0, "")])[-1]
    return name == "__getitem__" and file in ("<frozen os>", os.__file__)


def synchronous_caller(error: BaseException, root: str) -> str:
    """Return the name of the adapter's innermost function in a traceback; blank if it is ``async``."""
    found, trace = "", error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if is_own(code.co_filename, root):
            found = "" if code.co_flags & inspect.CO_COROUTINE else cut(code.co_name)
        trace = trace.tb_next
    return found


def chain_of(error: BaseException | None) -> Iterator[BaseException]:
    for _ in range(20):
        if error is None:
            return
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def network_error(error: BaseException) -> str:
    """Return the kind of a network error; blank for another error."""
    if isinstance(error, ConnectionRefusedError):
        return "connection refused"
    if isinstance(error, OSError) and error.errno in (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN):
        return "network unreachable"
    if type(error).__name__ == "gaierror":
        return "name resolution failed"
    text = ""
    with contextlib.suppress(Exception):
        text = str(error)[:2000].lower()
    return next((kind for kind, pattern in UNREACHABLE if re.search(pattern, text)), "")


def short(value: object) -> str:
    """Return the ``repr`` of a value, cut; blank if that fails."""
    shortened = reprlib.Repr()
    shortened.maxstring, shortened.maxother = VALUE_LIMIT, 4 * VALUE_LIMIT
    with contextlib.suppress(Exception):
        text = re.sub(r" at 0x[0-9A-Fa-f]+", "", shortened.repr(value))
        return text if len(text) <= VALUE_LIMIT else f"{text[: VALUE_LIMIT - 1]}…"
    return ""


def missing_adapter(module: ModuleType, classes: list[type], missing: Any) -> tuple[str, str]:
    """Return why no class is suitable, and which methods to rename (blank if no name is similar)."""
    file, root = str(module.__file__), os.path.dirname(str(module.__file__))
    if not classes:
        return f"no class in {os.path.basename(file)}", ""
    problems, renamed = [], ""
    for one in sorted(classes, key=lambda each: len(missing(each)))[:CLASS_LIMIT]:
        lacking = missing(one)
        public = (name for name in dir(one) if not name.startswith("_") and name not in lacking)
        has = [name for name in public if callable(getattr(one, name, None))]
        line = 0
        with contextlib.suppress(OSError, TypeError):
            line = inspect.getsourcelines(one)[1]
        position = located(file, line, root) if line else os.path.basename(file)
        methods = ", ".join(has[:METHOD_LIMIT]) or "no methods"
        problems.append(f"{one.__name__} ({position}) lacks {', '.join(lacking)}; it has {methods}")
        renamed = renamed or ", ".join(renames(has, lacking))
    return ". ".join(problems), renamed


def renames(has: list[str], missing: list[str]) -> Iterator[str]:
    """Yield likely renames of existing methods to missing ones, such as ``ask to query``."""
    candidates = [name for name in has if name not in SIMILAR_METHODS]
    for lacking in missing:
        wanted = lacking.partition(" ")[0]
        known = [name for name in candidates if name in SIMILAR_METHODS.get(wanted, ())]
        near = known or difflib.get_close_matches(wanted, candidates, n=1)
        if near:
            candidates.remove(near[0])
            yield f"{near[0]} to {wanted}"


def nearest(name: str, names: list[str]) -> str:
    """Return the most similar name; the first if none is similar, blank if there are no names."""
    return (difflib.get_close_matches(name, names, n=1) or names or [""])[0]


def awaited_stack(calls: Any, frame: FrameType | None) -> str:
    """Return the stack of an adapter's asynchronous call that waits, in the format of ``faulthandler``.

    Blank if the adapter itself is running: then the plain stack has more details.
    """
    while frame is not None:
        if is_own(frame.f_code.co_filename, calls.root):
            return ""
        frame = frame.f_back
    lines: list[str] = []
    waiting = calls.waiting
    while waiting is not None:
        inner = getattr(waiting, "cr_frame", None) or getattr(waiting, "gi_frame", None)
        if inner is not None:
            code = inner.f_code
            lines.insert(0, f'  File "{code.co_filename}", line {inner.f_lineno} in {code.co_name}\n')
        waiting = getattr(waiting, "cr_await", None) or getattr(waiting, "gi_yieldfrom", None)
    return "Stack (most recent call first):\n" + "".join(lines) if lines else ""


def cut(text: str) -> str:
    """Return text cut to ``TEXT_LIMIT``, with lone surrogates escaped."""
    return text[:TEXT_LIMIT].encode("utf-8", "backslashreplace").decode("utf-8")
