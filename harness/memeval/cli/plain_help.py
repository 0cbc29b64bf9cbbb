"""How ``--help`` names the values of options and arguments: ``SYSTEM``, ``N``, ``PATH``; a flag takes none."""

from __future__ import annotations

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
"""What stands behind an option, by the type of its value. Typer would print ``<bool>`` behind a flag."""


PANELS = {
    "Measure": ("run", "submit", "data", "matrix"),
    "Check and compare": ("verify", "reproduce", "compare", "failures", "rejudge", "judge"),
    "Exchange": ("import", "export"),
    "Publish": ("init", "ledger", "site", "publish"),
    "This installation": ("doctor", "schema"),
}
"""The panels of the command list."""


def command_of(app: typer.Typer) -> Any:
    """Return the command line of an application, its commands in panels and its values named for people."""
    command: Any = typer.main.get_command(app)
    for panel, names in PANELS.items():
        for name in names:
            command.commands[name].rich_help_panel = panel
    order = [name for names in PANELS.values() for name in names]
    command.commands = {name: command.commands[name] for name in order}
    _name_values(command, command.make_context(app.info.name, [], resilient_parsing=True))
    return command


def _name_values(command: Any, context: Any) -> None:
    for parameter in (*command.params, command.get_help_option(context)):
        if parameter.metavar is not None:
            continue
        if not parameter.opts[0].startswith("-"):
            parameter.metavar = parameter.name.upper()
            parameter.display_type_rich = lambda ctx: None
        elif not parameter.type_descriptor.is_choice:
            parameter.metavar = _VALUES.get(parameter.type_descriptor.annotation)
    for each in getattr(command, "commands", {}).values():
        _name_values(each, context)
