"""The status page: each row has a date, and what it names exists."""

import re
import shlex
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest

from memeval.cli.main import app
from memeval.cli.plain_help import command_of

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "site" / "status.md").read_text("utf-8")


def rows() -> Iterator[tuple[str, str, str]]:
    for line in PAGE.splitlines():
        if line.startswith("| ") and not line.startswith(("| claim ", "| not tried ", "| gap ")):
            claim, day, proof = (cell.strip() for cell in line.strip("|").split("|"))
            yield claim, day, proof


def commands() -> list[str]:
    """Return the commands of the tables with claims and gaps; their last column is a command."""
    untried = PAGE[PAGE.index("## What was never") : PAGE.index("## Known gaps")]
    proofs = [proof for claim, _day, proof in rows() if claim not in untried]
    assert all(re.fullmatch(r"`[^`]+`", proof) for proof in proofs), proofs
    return [proof.strip("`") for proof in proofs]


@pytest.mark.parametrize("row", list(rows()), ids=lambda row: row[0][:40])
def test_a_claim_has_a_date_that_is_not_in_the_future(row: tuple[str, str, str]) -> None:
    claim, day, proof = row
    assert claim.endswith(".") and proof
    assert date(2026, 11, 1) <= date.fromisoformat(day) <= datetime.now(UTC).date()


def test_every_part_of_the_page_has_rows() -> None:
    assert len(list(rows())) > len(commands()) > 5


@pytest.mark.parametrize("line", sorted(set(commands())))
def test_the_command_of_a_claim_exists(line: str) -> None:
    program, *words = shlex.split(line)
    if program == "pytest":
        path = ROOT / words[0]
        files = sorted(path.rglob("test_*.py")) if path.is_dir() else [path]
        names = [name for file in files for name in re.findall(r"def (test_\w+)", file.read_text("utf-8"))]
        wanted = words[2] if words[1:2] == ["-k"] else "test_"
        assert any(wanted in name for name in names)
        return
    assert program == "memeval"
    command: Any = command_of(app)
    if words[-1] == "--help":
        words.pop()
        for word in words:
            command = command.commands[word]
        return
    context = command.make_context(program, words)
    while hasattr(command, "commands"):
        name, command, rest = command.resolve_command(context, [*context._protected_args, *context.args])
        context = command.make_context(name, list(rest), parent=context)
