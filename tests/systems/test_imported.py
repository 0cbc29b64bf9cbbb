"""Which modules beside a bare file belong to it, and that it runs with these alone, in a sandbox or not."""

from pathlib import Path

import pytest

from memeval.records.base import digest_bytes, digest_of
from memeval.records.errors import BadInput
from memeval.systems.errors import AdapterRaised
from memeval.systems.methods import files_of
from memeval.systems.process import SystemProcess
from memeval.systems.sandbox import SandboxMode, find_sandbox
from memeval.systems.source import find_system, start_system
from tests.systems.helpers import PATIENT, adapter, write


def laid_out(folder: Path, files: dict[str, str]) -> Path:
    """Write files by their paths, and return the adapter among them."""
    for inside, text in files.items():
        (folder / inside).parent.mkdir(parents=True, exist_ok=True)
        (folder / inside).write_text(text, "utf-8")
    return folder / "adapter.py"


def found(folder: Path, files: dict[str, str]) -> set[str]:
    """Return what belongs to an adapter beside itself."""
    return set(files_of(laid_out(folder, files))) - {"adapter.py"}


def asked(named: str, mode: SandboxMode) -> str:
    """Return the answer of a system, started for it."""
    source = find_system(named)
    process = SystemProcess(source.launch, PATIENT, print, sandbox=find_sandbox(mode, print))
    try:
        start_system(source, process)
        process.reset()
        return process.ask("q").answer
    finally:
        process.close()


both = pytest.mark.parametrize("mode", [SandboxMode.NONE, SandboxMode.BWRAP])


def test_a_file_without_siblings_keeps_its_digest(tmp_path: Path) -> None:
    file = write(tmp_path, adapter("import json, os.path\nreturn 'x'"))
    write(tmp_path, "x = 1", "unrelated.py")
    assert find_system(str(file)).submission_digest == digest_of({"adapter.py": digest_bytes(file.read_bytes())})


@pytest.mark.parametrize("sibling", ["store.py", "deep/part/leaf.py", "late.py"])
def test_a_change_of_an_imported_module_is_another_system(tmp_path: Path, sibling: str) -> None:
    source = "import store\n" + adapter("import late\nreturn 'x'")
    file = laid_out(
        tmp_path,
        {"adapter.py": source, "store.py": "from deep.part import leaf", "deep/part/leaf.py": "", "late.py": ""},
    )
    before = find_system(str(file)).submission_digest
    (tmp_path / sibling).write_text("x = 1")
    assert find_system(str(file)).submission_digest != before


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"adapter.py": "import a.b.c", "a/__init__.py": "", "a/b/__init__.py": "", "a/b/c.py": ""}, 3),
        ({"adapter.py": "import a.b", "a/b.py": "from . import c", "a/c.py": "from .d import x", "a/d.py": ""}, 3),
        ({"adapter.py": "import a", "a/__init__.py": "from .b import x", "a/b.py": "from ..a import c"}, 2),
        ({"adapter.py": "from a import *", "a/__init__.py": "", "a/b.py": "", "a/c.py": ""}, 3),
        ({"adapter.py": "import importlib\ndef f(): importlib.import_module('a.b')", "a/b.py": ""}, 1),
        ({"adapter.py": "import a", "a/__init__.py": "__import__('x')", "x.py": "import adapter"}, 2),
        ({"adapter.py": "try: import fast\nexcept: import slow", "fast.cpython-311.so": "", "slow.py": ""}, 2),
        ({"adapter.py": "from . import a\nfrom .. import b\nimport sys, c", "a.py": "", "b.py": "", "sys.py": ""}, 0),
        ({"adapter.py": "from src.adapter import M", "src/adapter.py": ""}, 1),
    ],
)  # fmt: skip
def test_modules_are_found_as_python_finds_them(tmp_path: Path, files: dict[str, str], expected: int) -> None:
    assert len(found(tmp_path, files)) == expected


def test_a_sibling_that_is_not_python_is_refused_with_its_line(tmp_path: Path) -> None:
    file = laid_out(tmp_path, {"adapter.py": "import store", "store.py": "x = 1\ndef f(:"})
    with pytest.raises(BadInput, match=r"store\.py:2: invalid Python"):
        find_system(str(file))


@both
def test_imported_siblings_are_there(tmp_path: Path, mode: SandboxMode) -> None:
    files = {"adapter.py": adapter("import a.b\nreturn a.b.X"), "a/__init__.py": "", "a/b.py": "X = 'from b'"}
    assert asked(str(laid_out(tmp_path, files)), mode) == "from b"


@both
def test_a_module_that_no_statement_names_is_not_there(tmp_path: Path, mode: SandboxMode) -> None:
    body = "import importlib\nreturn importlib.import_module('plu' + 'gin').X"
    file = laid_out(tmp_path, {"adapter.py": adapter(body), "plugin.py": "X = 'x'"})
    sentence = r"^missing module 'plugin' \(adapter\.py:\d+ in query\)\. It is beside adapter\.py, but no import"
    with pytest.raises(AdapterRaised, match=sentence):
        asked(str(file), mode)


@both
@pytest.mark.parametrize("path", ["os.path.join(os.path.dirname(__file__), 'facts.txt')", "'facts.txt'"])
def test_a_data_file_beside_is_not_there(tmp_path: Path, path: str, mode: SandboxMode) -> None:
    body = f"return open({path}).read()"
    file = laid_out(tmp_path, {"adapter.py": adapter(body), "facts.txt": "x"})
    with pytest.raises(AdapterRaised, match=r"there is no file 'facts\.txt' \(adapter.*Put data into a submission"):
        asked(str(file), mode)


@both
def test_a_deepmemeval_adapter_runs_as_it_is(tmp_path: Path, mode: SandboxMode) -> None:
    source = adapter("return str(MemorySystemAdapter.__doc__)").replace("System:", "Mine(MemorySystemAdapter):")
    source = f"from src.adapter import MemorySystemAdapter\n{source}\n    def get_context_tokens(self): return 1\n"
    file = laid_out(tmp_path / "adapters", {"adapter.py": source})
    assert asked(str(file), mode) == "None"
    laid_out(tmp_path / "adapters", {"src/adapter.py": "class MemorySystemAdapter:\n    'Its own.'"})
    assert asked(str(file), mode) == "Its own."


def test_a_sibling_that_was_changed_after_it_was_read_is_not_run(tmp_path: Path) -> None:
    source = find_system(str(laid_out(tmp_path, {"adapter.py": "import a\n" + adapter("return 'x'"), "a.py": ""})))
    (tmp_path / "a.py").write_text("x = 2")
    with pytest.raises(BadInput, match="was changed after it had been read"):
        start_system(source, SystemProcess(source.launch, PATIENT, print))


def test_the_folder_of_the_file_is_left_as_it_was(tmp_path: Path) -> None:
    file = laid_out(tmp_path, {"adapter.py": "import a\n" + adapter("return __file__"), "a.py": ""})
    assert not asked(str(file), SandboxMode.NONE).startswith(str(tmp_path))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.py", "adapter.py"]
