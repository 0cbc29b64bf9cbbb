"""The command reference, generated from the commands so that it is always up to date."""

import io
import os
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any
from unittest.mock import patch

PAGE = Path("site/reference/cli.md")


def page() -> str:
    parts = [
        "# Commands",
        "Exit codes: 0 done; 1 done, but a check failed; 2 wrong call or bad input; 3 stopped by a budget, run\n"
        "again to resume; 130 interrupted, run again to resume.",
    ]
    for words in each_command():
        parts.append(f"## {' '.join(('memeval', *words))}\n\n```text\n{help_of(*words)}\n```")
    return "\n\n".join(parts) + "\n"


def each_command(below: Any = None, words: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the words of every command, in the order of the page."""
    from memeval.cli.main import app
    from memeval.cli.plain_help import command_of

    yield words
    for name, each in getattr(below or command_of(app), "commands", {}).items():
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
    """Write the page, or with ``--check`` fail where it differs."""
    text = page()
    if "--check" not in sys.argv[1:]:
        PAGE.parent.mkdir(parents=True, exist_ok=True)
        PAGE.write_text(text, encoding="utf-8")
    elif not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != text:
        print(f"{PAGE} is out of date. Run python -m memeval.cli.reference.", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
