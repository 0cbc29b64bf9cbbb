"""The ``memeval`` command: puts the groups together, and turns refusals into sentences and exit codes."""

from __future__ import annotations

import gc
import sys
from typing import Annotated

import typer

from memeval.cli import (
    analysing,
    comparing,
    data,
    exchanging,
    judging,
    ledger,
    matrices,
    project,
    publishing,
    running,
    submitting,
    trust,
)
from memeval.cli.shared import RESUME_HINT
from memeval.records.errors import ExitCode, MemevalError

_SELDOM = (50_000, 20, 100)
"""When cycles are looked for: rows are many and refer to nothing above them, so that looking often finds nothing."""

app = typer.Typer(
    name="memeval",
    help="Run memory systems for AI agents through benchmarks under one fixed protocol, and publish what came out.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

running.add_to(app)
trust.add_to(app)
judging.add_to(app)
analysing.add_to(app)
comparing.add_to(app)
matrices.add_to(app)
exchanging.add_to(app)
app.add_typer(submitting.app, name="submit")
app.add_typer(ledger.app, name="ledger")
app.add_typer(data.app, name="data")
publishing.add_to(app)
project.add_to(app)


def _print_version(asked: bool) -> None:
    if asked:
        from memeval.evaluation.provenance import memeval_version

        print(f"memeval {memeval_version()}")
        raise typer.Exit


@app.callback()
def _memeval(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of a refusal.")] = False,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    """Read the options that stand before any command."""


def main() -> None:
    """Run the command line and exit with its code; refusals are one sentence on standard error."""
    debug = "--debug" in sys.argv
    gc.set_threshold(*_SELDOM)
    try:
        code = app(standalone_mode=False)
    except MemevalError as error:
        if debug:
            raise
        _say(str(error))
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        code = ExitCode.INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(ExitCode.DONE)
    except Exception as error:
        if debug or not hasattr(error, "show"):
            if debug:
                raise
            _say(f"unexpected {type(error).__name__}: {error}. Run again with --debug, and report what it shows.")
            sys.exit(ExitCode.CHECK_FAILED)
        error.show()  # a wrong call, as click words it
        sys.exit(ExitCode.BAD_INPUT)
    if code == ExitCode.INTERRUPTED:  # Typer, too, turns Ctrl-C into this code
        _say(f"interrupted. {RESUME_HINT}")
    sys.exit(code if isinstance(code, int) else ExitCode.DONE)


def _say(sentence: str) -> None:
    from memeval.systems.output import visible

    first, *others = map(visible, sentence.splitlines() or [""])
    print(f"memeval: {first}", *(f"  {line.strip()}" for line in others), sep="\n", file=sys.stderr)
