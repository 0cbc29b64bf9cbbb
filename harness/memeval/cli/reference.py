"""The command reference, generated from the commands themselves, so that the page cannot drift."""

from __future__ import annotations

import sys
from pathlib import Path

from typer.testing import CliRunner

PAGE = Path("site/reference/cli.md")

COMMANDS = (
    (),
    ("run",),
    ("verify",),
    ("reproduce",),
    ("rejudge",),
    ("compare",),
    ("matrix",),
    ("failures",),
    ("judge",),
    ("judge", "audit"),
    ("judge", "bridge"),
    ("import",),
    ("export",),
    ("submit",),
    ("submit", "new"),
    ("submit", "check"),
    ("submit", "comment"),
    ("ledger",),
    ("ledger", "show"),
    ("ledger", "accept"),
    ("ledger", "reproduce"),
    ("ledger", "repeat"),
    ("ledger", "supersede"),
    ("ledger", "invalidate"),
    ("ledger", "review"),
    ("ledger", "reply"),
    ("data",),
    ("data", "list"),
    ("data", "pull"),
    ("data", "verify"),
    ("data", "generate"),
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
    """Return the reference page as Markdown."""
    from memeval.cli.main import app

    runner = CliRunner(env={"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"})
    parts = [
        "# Commands",
        "This page is made from the commands themselves. Exit codes: 0 done; 1 done, and what was asked does\n"
        "not hold; 2 wrong call or bad input; 3 stopped by a budget, resumable; 130 interrupted, resumable.",
    ]
    for words in COMMANDS:
        text = runner.invoke(app, [*words, "--help"], prog_name="memeval").output
        lines = "\n".join(line.rstrip() for line in text.strip().splitlines())
        parts.append(f"## {' '.join(('memeval', *words))}\n\n```text\n{lines}\n```")
    return "\n\n".join(parts) + "\n"


def main() -> None:
    """Write the page, or with ``--check`` fail where it differs."""
    text = page()
    if "--check" not in sys.argv[1:]:
        PAGE.parent.mkdir(parents=True, exist_ok=True)
        PAGE.write_text(text, encoding="utf-8")
    elif not PAGE.is_file() or PAGE.read_text(encoding="utf-8") != text:
        print(f"{PAGE} differs from the commands. Run python -m memeval.cli.reference.", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
