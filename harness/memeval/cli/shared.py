"""What commands share: options with one name and one help text, and the formats of printed results."""

import json
import sys
from collections.abc import Container, Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from memeval.cli.fields import FieldOf
from memeval.options import RESULTS, RunOptions
from memeval.records.errors import BadInput

DEFAULT_RESULTS = RESULTS

Benchmarks = Annotated[
    list[str] | None,
    typer.Option(
        "--benchmark",
        metavar="ID",
        help="Benchmark id, repeatable. Default: every benchmark whose data is on this machine.",
    ),
]
Protocol = Annotated[str | None, FieldOf(RunOptions)]
Tier = Annotated[str | None, FieldOf(RunOptions)]
Parameter = Annotated[
    list[str] | None,
    typer.Option(
        "--parameter", metavar="NAME=VALUE", help="Benchmark parameter, repeatable. Examples: seed=7, file=oracle."
    ),
]
Data = Annotated[
    Path | None, typer.Option("--data", help="Your own copy of the benchmark's data. Needs one benchmark.")
]
Errata = Annotated[Path | None, FieldOf(RunOptions)]
JudgeLabel = Annotated[str | None, FieldOf(RunOptions)]
Prompts = Annotated[Path | None, FieldOf(RunOptions)]


class ExecutorKind(StrEnum):
    """Where scenarios run."""

    LOCAL = "local"
    """On this machine."""
    DASK = "dask"
    """On the workers of a Dask cluster."""


Executors = Annotated[
    ExecutorKind, typer.Option("--executor", help="Where scenarios run: local (this machine) or dask (a Dask cluster).")
]
Results = Annotated[Path, typer.Option("--results", help="Folder of stored runs.", envvar="MEMEVAL_RESULTS")]
SignWith = Annotated[
    Path | None,
    typer.Option(
        "--sign-with",
        metavar="KEYFILE",
        help="SSH key that signs the entry. Default: no signature.",
        envvar="MEMEVAL_SIGNING_KEY",
    ),
]
SignersFile = Annotated[
    Path | None,
    typer.Option(
        "--signers",
        metavar="FILE",
        help="Keys that may sign, in OpenSSH's allowed_signers format. Default: memeval's own file.",
        envvar="MEMEVAL_SIGNERS",
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs", metavar="N", min=1, help="Processes that work side by side. Default: one per core, for many runs."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")]
Annotations = Annotated[
    str | None, typer.Option("--annotations", metavar="github", help="Also print annotations for a CI service.")
]
Summary = Annotated[
    Path | None,
    typer.Option("--summary", metavar="FILE", help="Append the result as Markdown, for $GITHUB_STEP_SUMMARY."),
]


Value = TypeVar("Value")

OldTo = Annotated[Path | None, typer.Option("--out", hidden=True)]
"""The deprecated name of ``--to``."""


def renamed(old: str, new: str, old_value: Value | None, value: Value) -> Value:
    """Return the value of an option that also has a deprecated name."""
    if old_value is None:
        return value
    print(f"memeval: {old} is deprecated. Use {new}.", file=sys.stderr)
    return old_value


def check_annotations(annotations: str | None) -> None:
    """Raise ``BadInput`` if there are no annotations for a CI service."""
    if annotations not in (None, "github"):
        raise BadInput(f"unknown annotations '{annotations}'.", remedy="Use --annotations github.")


def check_scheduler(executor: ExecutorKind, address: str | None) -> None:
    """Raise ``BadInput`` if one of the two options is missing."""
    if executor is ExecutorKind.DASK and not address:
        raise BadInput("--executor dask needs --scheduler.", remedy="Add the address: --scheduler tcp://10.0.0.1:8786.")
    if executor is ExecutorKind.LOCAL and address:
        raise BadInput("--scheduler needs --executor dask.", remedy="Add --executor dask, or remove --scheduler.")


def option_or_prompt(value: str | None, question: str, default: str = "", kind: type[StrEnum] | None = None) -> str:
    """Return the value of an option, or the answer to a prompt on a terminal, or the default."""
    if value is not None:
        return value
    if not sys.stdin.isatty():
        return default
    answer: str = typer.prompt(question, default=default, show_default=bool(default), err=True, type=kind or str)
    return answer.strip()


def resume_hint() -> str:
    """Return how an interrupted command resumes; with ``--fresh`` it would start again."""
    return f"Progress saved. Run the same command to resume{', without --fresh' if '--fresh' in sys.argv else ''}."


def visible(text: str) -> str:
    """Return a text with control characters and marks of direction as escapes, for a terminal."""
    from memeval.systems.channel import visible

    return visible(text)


def print_note(sentence: str) -> None:
    """Print a sentence on standard error: standard output is for results."""
    print(visible(sentence), file=sys.stderr)


def print_json(value: Any) -> None:
    """Print plain data as JSON, keys sorted; characters that standard output cannot encode as JSON's escapes."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, indent=2)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(value, sort_keys=True, ensure_ascii=True, indent=2)
    print(text)


def aligned(lines: Sequence[Sequence[str]], right: Container[int]) -> Iterator[str]:
    """Yield lines in columns for a terminal. ``right``: the columns that are aligned right; others are aligned left."""
    lines = [[visible(text) for text in line] for line in lines]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        cells = (
            text.rjust(width) if column in right else text.ljust(width)
            for column, (text, width) in enumerate(zip(line, widths, strict=True))
        )
        yield f"  {'  '.join(cells).rstrip()}"


def print_table(lines: Sequence[Sequence[str]], right: Container[int] | None = None) -> None:
    """Print lines in columns. ``right``: the columns that are aligned right; ``None`` for all but the first."""
    for line in aligned(lines, range(1, len(lines[0])) if right is None else right):
        print(line)


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: ``1 run``, ``2 runs``."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def megabytes(size: int) -> str:
    """Return a size in bytes as text: ``2.2 MB``, ``277 MB``, ``33 kB``; a file of a few bytes has 1 kB."""
    if size < 100_000:
        return f"{-(-size // 1000)} kB"
    return f"{size / 1e6:,.1f} MB" if size < 10_000_000 else f"{size / 1e6:,.0f} MB"


def percent(share: float | None) -> str:
    """Return a share as percent with one decimal; a dash for ``None``."""
    return "–" if share is None else f"{100 * share:.1f}"


def dollars(amount: float | None) -> str:
    """Return dollars as text; a dash if the amount is unknown, which is not 0."""
    return "–" if amount is None else f"${amount:.4f}" if amount < 1 else f"${amount:.2f}"
