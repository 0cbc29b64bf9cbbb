"""Finds the modules that a Python file imports from its folder: they are part of the system and its digest."""

from __future__ import annotations

import ast
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

from memeval.systems.launching import check_python


def files_of(file: Path) -> dict[str, Path]:
    """Return a Python file and all modules of its folder that it imports, directly or not, by their path inside it.

    Imports are read from the source and not run, imports in functions included. A module whose name is computed at run
    time is not found: it is not part of the system, and not available when the system runs.

    Raises:
        BadInput: one of them is not valid Python, with the line.
    """
    root = file.parent
    found = {file.name: file.absolute()}
    unread: list[tuple[Path, str]] = [(file, "")]
    while unread:
        path, package = unread.pop()
        check_python(path)
        for name in _imported_names(path, package):
            for module, inside in _modules(root, name):
                key = module.relative_to(root).as_posix()
                if key not in found:
                    found[key] = module.absolute()
                    if module.suffix == ".py":
                        unread.append((module, inside))
    return {key: found[key] for key in (file.name, *sorted(found.keys() - {file.name}))}


def _imported_names(path: Path, package: str) -> Iterator[str]:
    """Yield the full names of the modules that a file may import.

    Args:
        package: its package; blank if it has none.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(path.read_bytes())
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(node.level, node.module or "", package)
            yield from () if base is None else (f"{base}.{alias.name}".lstrip(".") for alias in node.names)
        elif isinstance(node, ast.Call):
            yield from _named_in_call(node, package)


def _named_in_call(call: ast.Call, package: str) -> Iterator[str]:
    """Yield the module that ``import_module("name")`` or ``__import__("name")`` names as a literal."""
    called = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", None)
    first = call.args[0] if call.args else None
    if called in ("import_module", "__import__") and isinstance(first, ast.Constant) and isinstance(first.value, str):
        bare = first.value.lstrip(".")
        name = _absolute(len(first.value) - len(bare), bare, package)
        if name:
            yield name


def _absolute(level: int, name: str, package: str) -> str | None:
    """Return the full name of a module; ``None`` for a relative name outside every package.

    Args:
        name: the name after the dots; blank if there are only dots.
        package: the package that the name is relative to; blank for none.
    """
    if level == 0:
        return name
    parts = package.split(".") if package else []
    if level > len(parts):
        return None
    return ".".join((*parts[: len(parts) - level + 1], *([name] if name else [])))


def _modules(root: Path, name: str) -> Iterator[tuple[Path, str]]:
    """Yield the files that run when a module is imported, parent packages first, each with its package."""
    first, folder, package = name.partition(".")[0], root, ""
    if first in sys.builtin_module_names:
        return
    for part in name.split("."):
        if part == "*":  # may import every module of the package
            yield from ((path, package) for path in sorted(folder.glob("*.py")) if package)
            return
        if not part.isidentifier():
            return
        parent, package = package, f"{package}.{part}".lstrip(".")
        if (folder / part / "__init__.py").is_file():
            yield folder / part / "__init__.py", package
        else:
            compiled = (path for path in folder.glob(f"{part}.*") if path.suffix in (".so", ".pyd"))
            files = [path for path in (folder / f"{part}.py", *sorted(compiled)) if path.is_file()]
            yield from ((path, parent) for path in files)
            if files:
                return
        folder /= part
        if not folder.is_dir():
            return
