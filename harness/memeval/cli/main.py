"""The ``memeval`` command: adds the command groups, and turns errors into messages and exit codes."""

import io
import re
import sys
from typing import Annotated, Any, TextIO, cast

import typer

from memeval.cli import (
    archive,
    check,
    comparing,
    data,
    evaluate,
    exchanging,
    history,
    judging,
    labels,
    ledger,
    matrices,
    models,
    overall,
    project,
    publishing,
    running,
    sources,
    submitting,
    trust,
)
from memeval.cli.fields import command
from memeval.cli.plain_help import command_of, names_of
from memeval.cli.shared import resume_hint, visible
from memeval.records.errors import ExitCode, MemevalError

app = typer.Typer(
    name="memeval",
    help="Measure memory systems for AI agents, and publish the results.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)

for _name, _function in (
    ("run", running.run),
    ("verify", trust.verify),
    ("reproduce", trust.reproduce),
    ("regrade", judging.regrade),
    ("failures", comparing.failures),
    ("items", comparing.items),
    ("compare", comparing.compare),
    ("overall", overall.overall),
    ("check", check.check),
    ("matrix", matrices.matrix),
    ("history", history.history),
    ("evaluate", evaluate.evaluate),
    ("import", exchanging.import_),
    ("export", exchanging.export),
    ("score", exchanging.score),
    ("publish", publishing.publish),
    ("init", project.init),
    ("schema", project.schema),
    ("doctor", project.doctor),
):
    command(app, _name)(_function)
app.command("rejudge", hidden=True, context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(
    judging.rejudge
)
for _name, _group in (
    ("judge", judging.app),
    ("submit", submitting.app),
    ("ledger", ledger.app),
    ("data", data.app),
    ("model", models.app),
    ("sources", sources.app),
    ("labels", labels.app),
    ("archive", archive.app),
    ("site", publishing.site),
):
    app.add_typer(_group, name=_name)


RESUMED = {
    *("run", "matrix", "evaluate", "history", "regrade", "import"),
    *("data pull", "model pull", "sources pull", "archive push", "archive pull"),
}
"""The commands that go on where they stopped when they are called again."""


def _print_version(asked: bool) -> None:
    if asked:
        from memeval.evaluation.run.provenance import memeval_version

        print(f"memeval {memeval_version()}")
        raise typer.Exit


@app.callback()
def _memeval(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    """Handle the options before the command."""


class VisibleStream:
    """A stream on which control characters and marks of direction are escapes, whoever named what is printed.

    Colours and progress bars are written by rich, to the stream itself: it asks for ``rich_proxied_file``.
    """

    HIDDEN = re.compile(r"[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")

    def __init__(self, stream: TextIO) -> None:
        self._stream = self.rich_proxied_file = stream

    def write(self, text: str) -> int:
        """Write a text. The escapes are those of JSON, so that printed JSON stays valid."""
        return self._stream.write(self.HIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def main() -> None:
    """Run the command line and exit with its code; an error prints one message on standard error."""
    for name, errors in (("stdout", "replace"), ("stderr", "backslashreplace")):
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=errors)
        setattr(sys, name, cast(TextIO, VisibleStream(stream)))
    debug = "--debug" in sys.argv
    words = [word for word in sys.argv[1:] if not word.startswith("-")]
    reported: MemevalError | None = None
    try:
        chosen = command_of(app, words[0] if words and words[0] in names_of(app) else None)
        code = chosen(prog_name="memeval", standalone_mode=False)
    except MemevalError as error:
        if debug:
            raise
        reported = error
        _print_error(str(error))
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        code = ExitCode.INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(ExitCode.DONE)
    except Exception as error:
        if debug:
            raise
        if not hasattr(error, "show"):
            _print_error(
                f"unexpected {type(error).__name__}: {error}. Run again with --debug, and report the traceback."
            )
            sys.exit(ExitCode.CHECK_FAILED)
        if isinstance(message := getattr(error, "message", None), str):
            setattr(error, "message", message.removeprefix("Value error, "))  # noqa: B010 (click's exception, untyped)
        error.show()  # a wrong call: click has its own message
        sys.exit(ExitCode.BAD_INPUT)
    finally:
        if not sys.stderr.closed:
            _print_broken_benchmarks(reported)
    if code == ExitCode.INTERRUPTED:  # Typer also turns Ctrl-C into this code
        resumes = not RESUMED.isdisjoint((" ".join(words[:1]), " ".join(words[:2])))
        _print_error(f"interrupted. {resume_hint()}" if resumes else "interrupted.")
    sys.exit(code if isinstance(code, int) else ExitCode.DONE)


def _print_broken_benchmarks(reported: MemevalError | None) -> None:
    """Print a warning for each installed benchmark that the command needed and that cannot be used."""
    if (registry := sys.modules.get("memeval.benchmarks.registry")) is not None:
        for problem in registry.problems():
            if problem is not reported:
                _print_error(f"warning: {problem}")


def _print_error(message: str) -> None:
    first, *others = map(visible, message.splitlines() or [""])
    print(f"memeval: {first}", *(f"  {line.strip()}" for line in others), sep="\n", file=sys.stderr)
