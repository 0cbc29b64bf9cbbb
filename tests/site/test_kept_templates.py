"""Compiled templates: kept from build to build, and compiled again when their source has changed."""

from __future__ import annotations

from pathlib import Path

import pytest
from jinja2 import Environment, FileSystemLoader

from memeval.archive import run_cache
from memeval.site.kept_templates import KeptTemplates


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(run_cache, "cache_home", lambda: tmp_path / "cache")
    (tmp_path / "page.html").write_text("Hello {{ name }}")
    return tmp_path


def rendered(folder: Path) -> str:
    """Render the page as a new process does."""
    made = Environment(loader=FileSystemLoader(folder), autoescape=True, bytecode_cache=KeptTemplates())
    return made.get_template("page.html").render(name="<b>")


def test_a_kept_template_is_not_compiled(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert rendered(folder) == "Hello &lt;b&gt;"
    monkeypatch.setattr(Environment, "compile", None)
    assert rendered(folder) == "Hello &lt;b&gt;"


def test_another_source_is_compiled(folder: Path) -> None:
    rendered(folder)
    (folder / "page.html").write_text("Bye {{ name }}")
    assert rendered(folder) == "Bye &lt;b&gt;"


@pytest.mark.parametrize("cut", [True, False])
def test_a_damaged_template_is_compiled(folder: Path, cut: bool) -> None:
    rendered(folder)
    [file] = (folder / "cache/site").iterdir()
    content = file.read_bytes()
    file.write_bytes(content[:-9] if cut else content[:-1] + bytes([content[-1] ^ 1]))
    assert rendered(folder) == "Hello &lt;b&gt;"
    assert file.read_bytes() == content


def test_other_tools_compile_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rendered(folder)
    monkeypatch.setattr("memeval.site.kept_templates._tools", lambda: "others")
    monkeypatch.setattr(Environment, "compile", None)
    with pytest.raises(TypeError, match="NoneType"):
        rendered(folder)
