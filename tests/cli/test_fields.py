"""Options that are fields of records: name, type, default and help come from the record, and the values reach it."""

from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer
from typer.testing import CliRunner

from memeval.cli.fields import FieldOf, Only, Without, command
from memeval.cli.reference import help_of
from memeval.execution.setup import SystemSetup
from memeval.options import AuditOptions, CheckOptions, ImportOptions, ModelOptions, RegradeOptions, RunOptions
from memeval.records.errors import BadInput
from memeval.records.track import Limits
from memeval.systems.sandbox import SandboxMode

RECORDS = (AuditOptions, CheckOptions, ImportOptions, ModelOptions, RegradeOptions, RunOptions, SystemSetup)


def given(kind: Any, *words: str) -> Any:
    """Return the record that a command receives, or the error that it ends with."""
    app, received = typer.Typer(), []

    def one(options: kind, tier: Annotated[str, FieldOf(RunOptions)] = "quick") -> None:
        received.append((options, tier))

    one.__annotations__["options"] = kind  # this module postpones annotations
    one.__annotations__["tier"] = Annotated[str, FieldOf(RunOptions)]
    command(app, "one")(one)
    result = CliRunner().invoke(app, list(words))
    return received[0] if received else result.exception or result.output


def test_a_command_without_options_receives_the_defaults_of_the_record() -> None:
    for record in (each for each in RECORDS if each is not RunOptions):
        assert given(record) == (record(), "quick"), record
    assert given(Annotated[RunOptions, Without("tier")]) == (RunOptions(), "quick")


def test_values_reach_the_record_and_the_records_inside_it() -> None:
    words = ("--limit", "3", "--fresh", "--budget", "usd=1", "--budget", "judge.tokens=9", "--sandbox", "none")
    more = ("--host", "a.example=http://b", "--ask-seconds", "5", "--errata", "e.json", "--skip-conformance")
    options, tier = given(Annotated[RunOptions, Without("tier")], *words, *more, "--tier", "full")
    assert (options.limit, options.fresh, options.models.budget) == (3, True, ("usd=1", "judge.tokens=9"))
    assert options.setup == SystemSetup(SandboxMode.NONE, {"a.example": "http://b"})
    assert (options.limits, options.errata, options.skip_conformance) == (Limits(ask_seconds=5), Path("e.json"), True)
    assert tier == "full"


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--limit", "0"), "--limit is 0."),
        (("--max-cost-usd", "nan"), "invalid budget 'usd=nan'"),
        (("--ask-seconds", "-1"), "invalid --ask-seconds -1."),
        (("--host", "a"), "invalid --host 'a'."),
        (("--judge-concurrency", "0"), "--judge-concurrency is 0."),
    ],
)
def test_a_value_that_is_not_valid_is_refused_before_the_command_runs(words: tuple[str, ...], problem: str) -> None:
    error = given(Annotated[RunOptions, Without("tier")], *words)
    assert isinstance(error, BadInput) and problem in error.problem


def test_a_command_offers_only_the_fields_that_it_names() -> None:
    kind = Annotated[RunOptions, Only("limit")]
    assert given(kind, "--limit", "2") == (RunOptions(limit=2), "quick")
    assert isinstance(given(kind, "--fresh"), SystemExit)


def test_the_help_of_an_option_is_the_text_below_the_field() -> None:
    shown = " ".join(help_of("run").replace("│", " ").split())
    for text in (
        "Concurrent calls to a judge model. [default: 16]",
        "Send requests for a declared host to your own server, repeatable.",
        "Time limit for one question. Another limit makes another track.",
    ):
        assert text in shown


def test_every_field_of_a_record_has_a_text() -> None:
    from memeval.cli.fields import _texts

    for record in RECORDS:
        for field in fields(record):
            assert _texts(record.__module__)[record.__name__, field.name].endswith("."), (record, field.name)
