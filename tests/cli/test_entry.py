"""What the entry point of the command line sets before it starts."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from memeval.__main__ import main
from memeval.cli.main import VisibleStream

THREADS = "OPENBLAS_NUM_THREADS"


@pytest.mark.parametrize(("given", "used"), [(None, "1"), ("3", "3")])
def test_matrices_are_multiplied_on_one_thread_by_default(
    monkeypatch: pytest.MonkeyPatch, given: str | None, used: str
) -> None:
    monkeypatch.setenv(THREADS, given or "")
    if given is None:
        monkeypatch.delenv(THREADS)
    seen: list[str | None] = []
    monkeypatch.setattr("memeval.cli.main.main", lambda: seen.append(os.environ.get(THREADS)))
    main()
    assert seen == [used]


def scored(folder: Path, answers: dict[str, str], *more: str, **variables: str) -> bytes:
    """Return what ``memeval score`` prints about answers, in a process of its own."""
    (folder / "answers.json").write_text(json.dumps(answers), encoding="utf-8")
    words = ("score", "answers.json", "--benchmark", "qa-smoke@1", "--protocol", "ask-basic", *more)
    command, environment = [sys.executable, "-m", "memeval", *words], os.environ | variables
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout


@pytest.mark.parametrize(
    ("encoding", "more"),
    [("ascii:strict", ()), *((each, ("--json",)) for each in ("ascii", "ascii:strict", "cp1252", "latin-1", "utf-8"))],
)
def test_every_encoding_of_standard_output_is_printed_with_replacements(
    tmp_path: Path, encoding: str, more: tuple[str, ...]
) -> None:
    answers = {"capital-of-australia": "Canberra – 記憶", "ゆめ – é": "–"}
    printed = scored(tmp_path, answers, *more, PYTHONIOENCODING=encoding, PYTHONUTF8="0")
    said = printed.decode(encoding.partition(":")[0])
    assert "0" in said if not more else json.loads(said)["unknown"] == ["ゆめ – é"]


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_no_output_has_control_characters_or_turns_the_direction_of_a_text(
    tmp_path: Path, more: tuple[str, ...]
) -> None:
    name = "a\x07b\x9bc\u202ed\u2066e\x1b[2J"
    said = scored(tmp_path, {"capital-of-australia": "Canberra", name: "–"}, *more).decode()
    assert set(said) - {"\n"} == {each for each in said if each.isprintable()}
    assert not more or json.loads(said)["unknown"] == [name]


def test_a_terminal_gets_colours_from_rich_and_no_control_character_from_what_is_printed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown = io.StringIO()
    shown.isatty = lambda: True  # type: ignore[method-assign]
    monkeypatch.setattr(sys, "stdout", VisibleStream(shown))
    print("\x1b[31mred\x1b]0;title\x07\u202e\t")
    Console(color_system="standard", legacy_windows=False).print("[bold]bold[/]", end="")
    assert shown.getvalue() == "\\u001b[31mred\\u001b]0;title\\u0007\\u202e\t\n\x1b[1mbold\x1b[0m"
