"""The command reference, generated from the commands so that it is always up to date."""

from __future__ import annotations

import io
import os
import sys
from contextlib import redirect_stdout
from pathlib import Path
from unittest.mock import patch

PAGE = Path("site/reference/cli.md")

COMMANDS = (
    (),
    ("run",),
    ("verify",),
    ("reproduce",),
    ("regrade",),
    ("compare",),
    ("overall",),
    ("check",),
    ("matrix",),
    ("evaluate",),
    ("failures",),
    ("items",),
    ("judge",),
    ("judge", "audit"),
    ("score",),
    ("import",),
    ("export",),
    ("submit",),
    ("submit", "new"),
    ("submit", "check"),
    ("submit", "results"),
    ("submit", "comment"),
    ("ledger",),
    ("ledger", "show"),
    ("ledger", "accept"),
    ("ledger", "reproduce"),
    ("ledger", "repeat"),
    ("ledger", "re-ask"),
    ("ledger", "rerun"),
    ("ledger", "supersede"),
    ("ledger", "invalidate"),
    ("ledger", "review"),
    ("ledger", "reply"),
    ("data",),
    ("data", "list"),
    ("data", "pull"),
    ("data", "verify"),
    ("data", "generate"),
    ("sources",),
    ("sources", "findings"),
    ("sources", "list"),
    ("sources", "pull"),
    ("sources", "import"),
    ("sources", "verify"),
    ("labels",),
    ("labels", "draw"),
    ("labels", "sheet"),
    ("labels", "add"),
    ("labels", "grade"),
    ("labels", "show"),
    ("archive",),
    ("archive", "push"),
    ("archive", "pull"),
    ("archive", "list"),
    ("archive", "trajectory"),
    ("archive", "verify"),
    ("archive", "prune"),
    ("site",),
    ("site", "build"),
    ("site", "serve"),
    ("publish",),
    ("init",),
    ("schema",),
    ("doctor",),
)
"""Every command, in the order of the page."""


def page() -> str:
    parts = [
        "# Commands",
        "Exit codes: 0 done; 1 done, but a check failed; 2 wrong call or bad input; 3 stopped by a budget, run\n"
        "again to resume; 130 interrupted, run again to resume.",
    ]
    for words in COMMANDS:
        parts.append(f"## {' '.join(('memeval', *words))}\n\n```text\n{help_of(*words)}\n```")
    return "\n\n".join(parts) + "\n"


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
