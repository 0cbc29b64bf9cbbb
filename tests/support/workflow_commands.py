"""The commands in workflows and guides: found, and parsed as ``memeval`` would parse them."""

import re
import shlex
from collections.abc import Iterator
from typing import Any

from memeval.cli.main import app
from memeval.cli.plain_help import command_of

_CONTINUED = re.compile(r"\\\n\s*")
_OPTIONAL = re.compile(r'\$\{\w+:\+([^{}"]*"\$\w+")\}')
"""A word that the shell leaves out if a variable is empty: ``${TIER:+--tier="$TIER"}``."""
_CALL = re.compile(r'(?:^|(?<=[\s"(]))(?:"[^"]*/)?memeval"? (?!=)')


def memeval_calls(script: str) -> Iterator[list[str]]:
    """Yield the words of each call of ``memeval`` in a shell script, without ``memeval``."""
    for line in _CONTINUED.sub("", script).splitlines():
        if line.lstrip().startswith("#"):
            continue
        for found in _CALL.finditer(line):
            call = _OPTIONAL.sub(r"\1", line[found.end() :])
            words = []
            for word in shlex.split(re.split(r" (?:>>?|\|\|?|&&) |\)\"?$", call)[0]):
                words.append(re.sub(r"\$\w+", "1", word))
            yield words


def parse(words: list[str]) -> None:
    """Parse a command without running it; an unknown command or option is an error."""
    command: Any = command_of(app)
    context = command.make_context("memeval", [], resilient_parsing=True)
    while hasattr(command, "resolve_command"):
        name, command, words = command.resolve_command(context, words)
        context = command.make_context(name, [], parent=context, resilient_parsing=True)
    context.resilient_parsing = False
    command.make_parser(context).parse_args(list(words))
