"""The command reference, generated from the commands so that it is always up to date."""

import io
import os
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any
from unittest.mock import patch

LIST = Path("site/reference/cli.md")
"""The page with the list of all commands."""

PAGES = Path("site/reference/cli")
"""The folder with the page of each command."""


def pages() -> dict[Path, str]:
    """Return the text of each page by its path: that of the list, and one for each command with those below it."""
    from memeval.cli.main import app
    from memeval.cli.plain_help import COMMAND_PANELS, command_of

    top = command_of(app)
    listed = [
        "# Commands",
        "Exit codes: 0 done; 1 done, but a check failed; 2 wrong call or bad input; 3 stopped by a budget, run\n"
        "again to resume; 130 interrupted, run again to resume.",
    ]
    made: dict[Path, str] = {}
    for panel, names in COMMAND_PANELS.items():
        commands = {name: top.commands[name] for name in names}
        rows = {f"[`memeval {name}`](cli/{name}.md)": each.short_help or each.help for name, each in commands.items()}
        listed += [f"## {panel}", _table("Command", rows)]
        made |= {PAGES / f"{name}.md": _page(each, name) for name, each in commands.items()}
    options = {", ".join(f"`{way}`" for way in each.opts): each.help for each in top.params}
    listed += ["## Options before the command", _table("Option", options)]
    return {LIST: "\n\n".join(listed) + "\n", **made}


def _table(what: str, rows: dict[str, str]) -> str:
    """Return a table of names with the first sentence of their help."""
    first = {name: " ".join(text.partition("\n\n")[0].split()) for name, text in rows.items()}
    return "\n".join(
        [f"| {what} | What it does |", "|---|---|", *(f"| {name} | {text} |" for name, text in first.items())]
    )


def _page(command: Any, name: str) -> str:
    parts = [
        f"{'#' if words == (name,) else '##'} memeval {' '.join(words)}\n\n```text\n{help_of(*words)}\n```"
        for words in each_command(command, (name,))
    ]
    return "\n\n".join([*parts, "[All commands](../cli.md)"]) + "\n"


def each_command(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the words of a command and of all below it, in the order of its help."""
    yield words
    for name, each in getattr(command, "commands", {}).items():
        if not each.hidden:
            yield from each_command(each, (*words, name))


def help_of(*words: str) -> str:
    """Return what ``--help`` of a command prints, 80 columns wide and without colour."""
    from memeval.cli.main import app
    from memeval.cli.plain_help import command_of

    text = io.StringIO()
    with patch.dict(os.environ, {"COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb"}), redirect_stdout(text):
        command_of(app)([*words, "--help"], prog_name="memeval", standalone_mode=False)
    return "\n".join(line.rstrip() for line in text.getvalue().strip().splitlines())


def main() -> None:
    """Write the pages, or with ``--check`` fail where one differs."""
    made, there = pages(), {LIST, *PAGES.glob("*.md")}
    if "--check" not in sys.argv[1:]:
        PAGES.mkdir(parents=True, exist_ok=True)
        for path, text in made.items():
            path.write_text(text, encoding="utf-8")
        for path in there - {*made}:
            path.unlink()
        return
    wrong = [
        path for path in {*made} | there if not path.is_file() or path.read_text(encoding="utf-8") != made.get(path)
    ]
    for path in sorted(wrong):
        print(f"{path} is out of date. Run python -m memeval.cli.reference.", file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
