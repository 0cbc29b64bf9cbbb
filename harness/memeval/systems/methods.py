"""Reads the adapter class of a Python file, its methods, and the modules it imports, without running them."""

import ast
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from memeval.systems.launching import check_python
from memeval.systems.worker import ASKED, DISPOSITIONS, OPTIONAL, TEXTS_TOGETHER

_DYNAMIC = frozenset({"__class__", "__dict__", "delattr", "eval", "exec", "globals", "locals", "setattr", "vars"})
"""Names by which code can change a class or an instance unseen."""

_HOOKS = frozenset({"__getattr__", "__getattribute__", "__new__"})


@dataclass(frozen=True)
class ClassMethods:
    class_name: str
    capabilities: tuple[str, ...]
    """Its methods other than ``reset``, in alphabetical order, as the reply to ``load`` lists them."""


def methods_in(file: Path, class_name: str | None = None) -> ClassMethods | None:
    """Return the adapter class of a file, and its methods.

    ``class_name``: the class; ``None`` for the only adapter class of the file.
    Returns: ``None`` if only a run shows
    them: the class has a base class, a decorator or methods that code adds.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
        return None
    if any(_is_dynamic(node) for node in ast.walk(tree)):
        return None
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    if class_name is None:
        if any(name.isidentifier() and name[:1].isupper() for name in _imported_names(tree)):
            return None  # an imported class may be an adapter, too
        adapters = [name for name, found in classes.items() if _is_adapter(found) and not _is_derived(found)]
        if len(adapters) != 1 or any(_is_derived(found) for found in classes.values()):
            return None
        class_name = adapters[0]
    found = classes.get(class_name)
    if found is None or _is_derived(found) or _bindings(tree, class_name) != 1:
        return None
    methods = _methods(found)
    if methods is None or _HOOKS & methods.keys():
        return None
    names = {name for name in OPTIONAL if name in methods}
    if "retain" in names:
        names.add("ingest_session")
    if "reflect" in names and _takes(methods["reflect"], DISPOSITIONS):
        names.add(DISPOSITIONS)
    if "retain" in names and (together := _texts_together(found)) is not False:
        if together is None:
            return None
        names.add(TEXTS_TOGETHER)
    return ClassMethods(class_name, tuple(sorted(names)))


def _is_dynamic(node: ast.AST) -> bool:
    """Return whether a node can change the methods of a class or an instance."""
    if isinstance(node, ast.Attribute):
        written = not isinstance(node.ctx, ast.Load)
        return node.attr in ("__dict__", "__class__") or (written and node.attr in (*OPTIONAL, TEXTS_TOGETHER))
    if isinstance(node, ast.ImportFrom):
        return any(alias.name == "*" for alias in node.names)
    return isinstance(node, ast.Name) and node.id in _DYNAMIC


def _imported_names(tree: ast.Module) -> Iterator[str]:
    """Yield the names that ``from x import y`` binds at the top of a module, except from ``typing`` and its like."""
    plain = ("__future__", "collections", "collections.abc", "dataclasses", "pathlib", "types", "typing")
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module not in plain:
            yield from (alias.asname or alias.name for alias in node.names)


def _is_adapter(found: ast.ClassDef) -> bool:
    names = {node.name for node in found.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    return "reset" in names and bool({"ingest_session", "retain"} & names) and bool(names.intersection(ASKED))


def _is_derived(found: ast.ClassDef) -> bool:
    """Return whether a class has more methods than those in its body, or other ones."""
    bases = [base for base in found.bases if not (isinstance(base, ast.Name) and base.id == "object")]
    return bool(bases or found.keywords or found.decorator_list)


def _bindings(tree: ast.Module, name: str) -> int:
    count = 0
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            count += node.id == name and not isinstance(node.ctx, ast.Load)
        elif isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            count += node.name == name
        elif isinstance(node, ast.alias):
            count += (node.asname or node.name.partition(".")[0]) == name
    return count


def _methods(found: ast.ClassDef) -> dict[str, ast.arguments] | None:
    """Return the methods in the body of a class; ``None`` if it holds other code that can define a method."""
    methods: dict[str, ast.arguments] = {}
    for node in found.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if node.decorator_list and node.name in (*OPTIONAL, *_HOOKS):
                return None
            methods[node.name] = node.args
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(not isinstance(target, ast.Name) or target.id in OPTIONAL for target in targets):
                return None
        elif not isinstance(node, ast.Pass) and not (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        ):
            return None
    return methods


def _texts_together(found: ast.ClassDef) -> bool | None:
    """Return whether a class retains several texts at the same time; ``None`` if only a run shows it."""
    for node in found.body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(target, ast.Name) and target.id == TEXTS_TOGETHER for target in targets):
                return True if isinstance(node.value, ast.Constant) and node.value.value is True else None
    return any(isinstance(node, ast.AsyncFunctionDef) and node.name == "retain" for node in found.body)


def _takes(arguments: ast.arguments, name: str) -> bool:
    named = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    return arguments.kwarg is not None or any(each.arg == name for each in named)


def files_of(file: Path) -> dict[str, Path]:
    """Return a Python file and all modules of its folder that it imports, directly or not, by their path inside it.

    Imports are read from the source and not run, imports in functions included. A module whose name is computed at run
    time is not found: it is not part of the system, and not available when the system runs.

    Raises BadInput: one of them is not valid Python, with the line.
    """
    root = file.parent
    found = {file.name: file.absolute()}
    unread: list[tuple[Path, str]] = [(file, "")]
    while unread:
        path, package = unread.pop()
        check_python(path)
        for name in _modules_named(path, package):
            for module, inside in _modules(root, name):
                key = module.relative_to(root).as_posix()
                if key not in found:
                    found[key] = module.absolute()
                    if module.suffix == ".py":
                        unread.append((module, inside))
    return {key: found[key] for key in (file.name, *sorted(found.keys() - {file.name}))}


def _modules_named(path: Path, package: str) -> Iterator[str]:
    """Yield the full names of the modules that a file may import. ``package``: its package; blank if it has none."""
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

    ``name``: the name after the dots; blank if there are only dots. ``package``: the package that the name is relative
    to; blank for none.
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
