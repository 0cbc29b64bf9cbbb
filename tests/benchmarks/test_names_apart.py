"""No code outside the folder of a benchmark knows its name: only shapes of keys, and what catalogues declare."""

import ast
import re
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path

import memeval
from memeval.benchmarks.registry import GROUP

PACKAGE = Path(memeval.__file__).parent
FOLDERS = sorted(
    {entry.module.split(".")[2] for entry in entry_points(group=GROUP) if entry.module.startswith("memeval.")}
)
NAMES = re.compile(rf"(?<![a-z])(?:{'|'.join(FOLDERS)})(?![a-z])")

EXAMPLE = re.compile(r"(?:--benchmark |such as \S*|[Ee]xample: .*)\S*$")
"""What comes before a name in a text for people that gives it as an example."""


def words(name: str) -> str:
    """Return an identifier in lower case, its words apart: ``LocomoKey`` is ``locomo key``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|_", " ", name).lower()


def documentation(tree: ast.AST) -> set[int]:
    """Return the ids of the nodes that are docstrings."""
    return {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}


def named(source: str) -> Iterator[tuple[int, str]]:
    """Yield line and text of each identifier and literal of a source that names a benchmark."""
    tree = ast.parse(source)
    told = documentation(tree)
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 0)
        match node:
            case ast.Constant(value=str(text)) if id(node) not in told:
                hits = [hit for hit in NAMES.finditer(text.lower()) if not EXAMPLE.search(text[: hit.start()])]
                if hits:
                    yield line, text
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name) | ast.alias(name=name):
                if NAMES.search(words(name)):
                    yield line, name
            case ast.ImportFrom(module=str(name)) if NAMES.search(words(name)):
                yield line, name
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) if NAMES.search(words(name)):
                yield line, name


def test_no_code_outside_its_folder_names_a_benchmark() -> None:
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        place = path.relative_to(PACKAGE).as_posix()
        if place.startswith(tuple(f"benchmarks/{name}/" for name in FOLDERS)):
            continue
        found += [f"{place}:{line}: {text[:80]!r}" for line, text in named(path.read_text("utf-8"))]
    assert found == []


def test_no_benchmark_imports_from_the_folder_of_another() -> None:
    found = []
    for name in FOLDERS:
        for path in sorted((PACKAGE / "benchmarks" / name).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                modules = [node.module] if isinstance(node, ast.ImportFrom) else []
                modules += [each.name for each in node.names] if isinstance(node, ast.Import) else []
                folders = [(each or "").split(".")[2:3] for each in modules if (each or "").startswith(f"{GROUP}.")]
                found += [f"{path}: {folder}" for (folder,) in folders if folder in FOLDERS and folder != name]
    assert found == []


def test_a_name_is_found_wherever_it_hides() -> None:
    sources = (
        'A = "locomo@1"',
        "from memeval.benchmarks.locomo import keys",
        "class LocomoKey: ...",
        "x.locomo_key",
        'f"results/{locomo}"',
        "import memeval.benchmarks.qa as q",
    )
    assert all(list(named(source)) for source in sources)


def test_a_docstring_and_an_example_may_give_a_name() -> None:
    assert not list(named('"""As LoCoMo does."""\nHELP = "Run it: memeval run X --benchmark locomo@1."'))
