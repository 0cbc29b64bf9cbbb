"""What went wrong in a system's process, as plain data: read by the worker at the first failure.

It lies beside the worker and, like it, needs nothing but the standard library of Python 3.9 or later.
"""
# No pathlib: paths are compared as the interpreter gives them.
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
"""How many frames of a traceback are kept, innermost last."""

TEXT_LIMIT = 300
"""The longest piece of text, in characters."""

VALUE_LIMIT = 80
"""How many characters of a returned value are shown."""

CLASS_LIMIT = 3
METHOD_LIMIT = 12
"""How many classes that do not fit are described, and how many methods of each."""

NAMES_OF_METHODS = {
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
"""What authors call the methods that memeval needs, by the name that memeval calls."""

UNREACHABLE = (
    (
        "name resolution failed",
        r"name resolution|name or service not known|nodename nor servname|getaddrinfo|dns error",
    ),
    ("connection refused", r"connection refused|connect call failed"),
    ("network unreachable", r"network is unreachable|no route to host"),
)
"""Ways in which a host cannot be reached, each with what libraries write of it."""


def details(error: BaseException, calls: Any, worker: str) -> dict[str, Any]:
    """Return where an error happened and what caused it.

    Args:
        error: the exception.
        calls: the worker's calls, with the adapter's folder, its instance and the method that was running.
        worker: the worker's file, whose frames are nobody's business.

    Returns:
        ``trace``: frames, innermost last. ``at``: the adapter's own innermost frame, such as
        ``adapter.py:12 in query``; blank where there is none. ``cause`` and ``about``: see :func:`cause_of`.
    """
    frames = [frame for frame in frames_of(error) if frame[0] not in (worker, __file__)]
    trace = [cut(f"{file}:{line} in {name}") for file, line, name in frames if not file.startswith("<frozen")]
    told: dict[str, Any] = {"trace": trace[-FRAME_LIMIT:], "at": own_frame(frames, calls.root)}
    if getattr(error, "kind", None) in ("misbehaved", "no_adapter"):
        if error.kind == "misbehaved":  # type: ignore[attr-defined]
            told["at"] = definition(getattr(calls.system, calls.method, None), calls.root)
        return {**told, "trace": []}
    told["cause"], told["about"] = cause_of(error, calls, bool(frames))
    if told["cause"] == "syntax":
        told["at"] = located(str(error.filename), error.lineno, calls.root)  # type: ignore[attr-defined]
    elif told["cause"] == "signature":
        told["at"] = definition(function_called(calls), calls.root)
    return told


def frames_of(error: BaseException) -> list[tuple[str, int, str]]:
    """Return the frames of a traceback, innermost last: file, line and function."""
    found, trace = [], error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        found.append((code.co_filename, trace.tb_lineno or 0, code.co_name))
        trace = trace.tb_next
    return found


def own_frame(frames: Iterable[tuple[str, int, str]], root: str) -> str:
    """Return the innermost frame in the adapter's folder; blank where there is none."""
    for file, line, name in reversed(list(frames)):
        if is_own(file, root):
            place = located(file, line, root)
            return place if name == "<module>" else cut(f"{place} in {name}")
    return ""


def is_own(file: str, root: str) -> bool:
    """Whether a file is the system's own, and no package's."""
    return bool(root) and file.startswith(os.path.join(root, "")) and "site-packages" not in file


def located(file: str, line: int | None, root: str) -> str:
    """Return a line as ``FILE:LINE``, the file by its path inside the adapter's folder; blank where it is not in it."""
    if not is_own(file, root):
        return ""
    name = os.path.relpath(file, root)
    return cut(f"{name}:{line}" if line else name)


def definition(function: Any, root: str) -> str:
    """Return where a function begins; blank where that cannot be seen."""
    if isinstance(function, type):
        function = vars(function).get("__init__")
    if function is not None:
        function = inspect.unwrap(getattr(function, "__func__", function))
    code = getattr(function, "__code__", None)
    return "" if code is None else located(code.co_filename, code.co_firstlineno, root)


def cause_of(error: BaseException, calls: Any, has_frames: bool) -> tuple[str, str]:
    """Return a known cause of an error, and what it is about; two blanks for any other.

    ``module``: a missing module, its name. ``network``: a host out of reach, how. ``signature``: a method that cannot
    be called as memeval does, its signature. ``exit``: ``sys.exit``, its argument. ``file``: a file that is not in
    the adapter's folder, its path there. ``memory`` and ``syntax``: nothing.
    """
    chain = list(chain_of(error))
    if isinstance(error, ImportError):
        missing = [each.name for each in chain if isinstance(each, ModuleNotFoundError) and each.name]
        if missing:
            return "module", cut(missing[-1])
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
            given = str(inspect.signature(function))[1:].partition(") ->")[0].rstrip(")")
            return "signature", cut(f"{calls.method}({', '.join(filter(None, ('self', given)))})")
    if isinstance(error, FileNotFoundError) and is_own(str(error.filename), calls.root):
        return "file", cut(os.path.relpath(str(error.filename), calls.root))
    for each in chain:
        if how := out_of_reach(each):
            return "network", how
    return "", ""


def function_called(calls: Any) -> Any:
    """Return what was called last: a method of the instance, or the class that is to become one."""
    return calls.chosen if calls.method == "__init__" else getattr(calls.system, calls.method, None)


def chain_of(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an exception and those that led to it."""
    for _ in range(20):
        if error is None:
            return
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def out_of_reach(error: BaseException) -> str:
    """Return how a host could not be reached; blank for any other error."""
    if isinstance(error, ConnectionRefusedError):
        return "connection refused"
    if isinstance(error, OSError) and error.errno in (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN):
        return "network unreachable"
    if type(error).__name__ == "gaierror":
        return "name resolution failed"
    text = ""
    with contextlib.suppress(Exception):
        text = str(error)[:2000].lower()
    return next((how for how, words in UNREACHABLE if re.search(words, text)), "")


def short(value: object) -> str:
    """Return a value as it would be written in Python, cut; blank where it cannot be."""
    shortened = reprlib.Repr()
    shortened.maxstring = shortened.maxother = VALUE_LIMIT
    with contextlib.suppress(Exception):
        text = shortened.repr(value)
        return text if len(text) <= VALUE_LIMIT else f"{text[: VALUE_LIMIT - 1]}…"
    return ""


def unfit(module: ModuleType, classes: list[type], missing: Any) -> tuple[str, str]:
    """Return why no class will do, and how methods could be renamed (blank where nothing comes near).

    Args:
        module: the adapter file's.
        classes: the classes in question.
        missing: gives the methods that a class lacks.
    """
    file, root = str(module.__file__), os.path.dirname(str(module.__file__))
    if not classes:
        return f"no class in {os.path.basename(file)}", ""
    told, renamed = [], ""
    for one in sorted(classes, key=lambda each: len(missing(each)))[:CLASS_LIMIT]:
        lacking = missing(one)
        public = (name for name in dir(one) if not name.startswith("_") and name not in lacking)
        has = [name for name in public if callable(getattr(one, name, None))]
        line = 0
        with contextlib.suppress(OSError, TypeError):
            line = inspect.getsourcelines(one)[1]
        place = located(file, line, root) if line else os.path.basename(file)
        methods = ", ".join(has[:METHOD_LIMIT]) or "no methods"
        told.append(f"{one.__name__} ({place}) lacks {', '.join(lacking)}; it has {methods}")
        renamed = renamed or ", ".join(renames(has, lacking))
    return ". ".join(told), renamed


def renames(has: list[str], missing: list[str]) -> Iterator[str]:
    """Yield which methods were probably meant for missing ones."""
    left = [name for name in has if name not in NAMES_OF_METHODS]
    for lacking in missing:
        wanted = lacking.partition(" ")[0]
        known = [name for name in left if name in NAMES_OF_METHODS.get(wanted, ())]
        near = known or difflib.get_close_matches(wanted, left, n=1)
        if near:
            left.remove(near[0])
            yield f"{near[0]} to {wanted}"


def nearest(name: str, names: list[str]) -> str:
    """Return the name that was probably meant; the first where none comes near, blank where there are none."""
    return (difflib.get_close_matches(name, names, n=1) or names or [""])[0]


def awaited_stack(calls: Any, frame: FrameType | None) -> str:
    """Return where an asynchronous call of the adapter waits, in the form of ``faulthandler``.

    Blank where the adapter itself is running, for then the plain stack says more.
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
    """Return text that any file can hold, cut."""
    return text[:TEXT_LIMIT].encode("utf-8", "backslashreplace").decode("utf-8")
