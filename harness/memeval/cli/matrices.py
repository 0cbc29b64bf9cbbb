"""``memeval matrix``: several systems on several benchmarks, in one table."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from memeval.cli.fields import Without
from memeval.cli.outcomes import worst_of
from memeval.cli.shared import counted, print_json, print_note, resume_hint
from memeval.options import RunOptions
from memeval.records.errors import BadInput, CheckFailed, NotApplicable

if TYPE_CHECKING:
    from memeval.evaluation.plan.matrix import MatrixRun


class OutputFormat(StrEnum):
    """The format of what a command prints."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"


def matrix(
    options: Annotated[
        RunOptions,
        Without(
            *("protocol", "tier", "errata", "judge", "reader", "max_refusals", "python", "ask_seconds", "scheduler"),
            "keep_going",
        ),
    ],
    file: Annotated[Path | None, typer.Argument(help="A matrix file, in TOML.")] = None,
    example: Annotated[
        str | None, typer.Option("--example", metavar="NAME", help="Print an example file. Run nothing.")
    ] = None,
    form: Annotated[OutputFormat, typer.Option("--format", help="Format of the comparison.")] = OutputFormat.TABLE,
) -> None:
    """Run many systems on many benchmarks, from one file.

    Prints the comparison, and stores it under results/matrices. A cell is one combination of system, benchmark and
    reader. All cells run on the same items, one after another. Finished runs are reused, and interrupted runs resume. A
    failed cell does not stop the others.

    If cells fail, the exit code is the worst of theirs. If only a promotion gate fails, it is 1.

    Example: memeval matrix --example controls > controls.toml && memeval matrix controls.toml
    """
    from memeval import api
    from memeval.analysis.matrix_table import csv_text, table_text
    from memeval.execution.progress import Bar

    if example is not None:
        print(_example(example), end="")
        return
    if file is None:
        examples = ", ".join(_examples())
        raise BadInput("no matrix file given.", remedy=f"Name one, or print one with --example: {examples}.")
    with Bar() as progress:
        made = api.matrix(file, options=options, progress=progress)
    found = made.folder.matrix
    if form is OutputFormat.JSON:
        print_json(found.data())
    elif form is OutputFormat.CSV:
        print(csv_text(found), end="")
    else:
        print(table_text(found))
    sys.stdout.flush()
    for warning in found.warnings:
        print_note(f"warning: {warning}")
    for gate in found.gates:
        print_note(f"gate {'passed' if gate.passed else 'FAILED'}: {gate.sentence}")
    print_note(f"stored in {made.folder.path}")
    _conclude(made)


def _conclude(made: MatrixRun) -> None:
    """Raise if a cell or a gate failed. An unsupported benchmark is no failure if another cell has a run.

    Raises ``MemevalError`` if with the worst exit code of all.
    """
    runs = sum(outcome.folder is not None for outcome in made.outcomes)
    found = [
        outcome.error
        for outcome in made.outcomes
        if outcome.error is not None and not (runs and isinstance(outcome.error, NotApplicable))
    ]
    failed = [gate for gate in made.folder.matrix.gates if not gate.passed]
    if found:
        raise worst_of(
            found, f"{counted(len(found), 'cell')} of {len(made.outcomes)} failed. See above.", resume_hint()
        )
    if failed:
        raise CheckFailed(
            f"{counted(len(failed), 'promotion gate')} failed.", remedy="The gate lines above show the values."
        )


def _example(name: str) -> str:
    files = _examples()
    if name not in files:
        raise BadInput(f"unknown example '{name}'.", remedy=f"Choose one of: {', '.join(files)}.")
    return files[name].read_text(encoding="utf-8")


def _examples() -> dict[str, Path]:
    from memeval.site.model.files import assets_root

    return {path.stem: path for path in sorted((assets_root() / "templates" / "matrices").glob("*.toml"))}
