"""``memeval sources``: answers that others published."""

from __future__ import annotations

import typer

from memeval.cli import findings

app = typer.Typer(help="Answers and scores that others published.", no_args_is_help=True)

findings.add_to(app)
