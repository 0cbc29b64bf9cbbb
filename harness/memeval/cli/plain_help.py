"""The layout of ``--help``: panels of commands and options, and placeholders such as ``SYSTEM``, ``N`` or ``PATH``."""

from copy import copy
from functools import cache
from pathlib import Path
from typing import Any

import typer

_VALUES: dict[Any, str] = {
    str: "TEXT",
    int: "N",
    float: "N",
    Path: "PATH",
    list[str]: "TEXT",
    list[Path]: "PATH",
    bool: "",
}
"""The placeholder of an option's value, by type. Without it, Typer prints ``<bool>`` after a flag."""


COMMAND_PANELS = {
    "Measure": ("run", "submit", "data", "matrix", "evaluate", "history"),
    "Check and compare": (
        *("verify", "reproduce", "compare", "overall", "check", "failures", "items", "regrade", "judge"),
    ),
    "Import and export": ("score", "import", "export", "sources", "labels"),
    "Publish": ("init", "ledger", "site", "publish", "archive"),
    "This installation": ("model", "doctor", "schema"),
}
"""The panels of the command list, in order."""

OPTION_PANELS = {
    "What to run": (
        "systems",
        "benchmarks",
        "benchmark",
        "tier",
        "protocol",
        "parameter",
        "data",
        "errata",
        "limit",
        "items",
        "example",
        "pull_data",
        "versions",
        "last",
        "check_forms",
        "plan",
    ),
    "Comparison": ("baseline", "require_baseline", "power"),
    "Models and judge": ("judge", "judge_label", "prompts", "reader", "model"),
    "Limits and cost": (
        *("estimate", "max_cost_usd", "budget", "requests_per_minute", "tokens_per_minute"),
        *(
            "concurrency",
            "executor",
            "scheduler",
            "judge_concurrency",
            "model_concurrency",
            "max_refusals",
            "ask_seconds",
        ),
    ),
    "Sandbox and environment": ("sandbox", "host", "python", "skip_conformance"),
    "Which runs": ("every", "only_benchmark", "only_system", "only_track", "since", "until", "of_release", "measure"),
    "Origin of the answers": ("system", "slug", "source", "commit", "licence", "claimed"),
    "Release": ("release", "check", "dry_run", "remote", "by", "sign_with", "signers"),
    "Storage and repetition": (
        *("results", "fresh", "repeat", "times_beside", "retry", "retry_errors", "keep_going", "replay", "push"),
    ),
    "Output": (
        *("floor", "form", "to", "place", "annotations", "summary", "on_regression"),
        *("chart", "as_csv", "as_json"),
    ),
}
"""The panels of options, by the name of their parameter; used by commands with many options."""

PANEL_THRESHOLD = 8
"""Number of options from which a command shows them in panels."""


def names_of(app: typer.Typer) -> list[str | None]:
    """Return the names of an application's commands and groups of commands."""
    commands = [each.name for each in app.registered_commands]
    return commands + [each.name for each in app.registered_groups]


@cache
def command_of(app: typer.Typer, only: str | None = None) -> Any:
    """Return the command line of an application, with panels and placeholders.

    ``only``: the name of the only command to make; ``None`` makes all, which takes ten times as long.
    """
    command: Any = typer.main.get_command(app if only is None else _with_one(app, only))
    panels = {name: panel for panel, names in COMMAND_PANELS.items() for name in names}
    for name in command.commands:
        command.commands[name].rich_help_panel = panels.get(name)
    order = [name for name in panels if name in command.commands]
    command.commands = {name: command.commands[name] for name in (*order, *command.commands)}
    _arrange(command, command.make_context(app.info.name, [], resilient_parsing=True))
    return command


def _with_one(app: typer.Typer, name: str) -> typer.Typer:
    some = copy(app)
    some.registered_commands = [each for each in app.registered_commands if each.name == name]
    some.registered_groups = [each for each in app.registered_groups if each.name == name]
    return some


def _arrange(command: Any, context: Any) -> None:
    options = [parameter for parameter in command.params if parameter.opts[0].startswith("-")]
    many = sum(not option.hidden for option in options) >= PANEL_THRESHOLD
    panels = {name: panel for panel, names in OPTION_PANELS.items() for name in names}
    order = list(panels)
    for option in (*options, command.get_help_option(context)):
        if option.metavar is None and not option.type_descriptor.is_choice:
            option.metavar = _VALUES.get(option.type_descriptor.annotation)
        if many:
            option.rich_help_panel = panels.get(option.name)
    for argument in command.params:
        if argument not in options:
            argument.metavar = argument.metavar or argument.name.upper()
            argument.display_type_rich = lambda ctx: None
    if many:
        command.params.sort(key=lambda each: order.index(each.name) if each.name in panels and each in options else -1)
    for each in getattr(command, "commands", {}).values():
        _arrange(each, context)
