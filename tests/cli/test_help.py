"""What ``--help`` shows: panels, whole sentences, one name for one idea; and the deprecated names that still work."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from memeval.cli import publishing
from memeval.cli.main import app
from memeval.cli.plain_help import COMMAND_PANELS, OPTION_PANELS, PANEL_THRESHOLD, command_of, names_of
from memeval.cli.reference import LIST, PAGES, help_of, main
from tests.support.calling import Call, Said


def commands(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield a command and all below it that the help names, each with the words that call it."""
    yield words, command
    for name, below in getattr(command, "commands", {}).items():
        if not below.hidden:
            yield from commands(below, (*words, name))


ALL = dict(commands(command_of(app)))


def test_one_command_alone_is_what_it_is_among_all() -> None:
    def told(command: Any) -> Any:
        given = [
            (each.opts, each.help, each.metavar, getattr(each, "rich_help_panel", None)) for each in command.params
        ]
        below = [(name, told(each)) for name, each in getattr(command, "commands", {}).items()]
        return command.help, command.short_help, command.rich_help_panel, given, below

    assert {*names_of(app)} == {*command_of(app).commands}
    for name in names_of(app):
        alone = command_of(app, name)
        assert [*alone.commands] == [name]
        assert told(alone.commands[name]) == told(command_of(app).commands[name])
        assert [each.name for each in alone.params] == [each.name for each in command_of(app).params]


@pytest.mark.parametrize(
    ("words", "said"), [(["regrde"], "Did you mean 'regrade'"), (["ledger", "shw"], "No such command 'shw'")]
)
def test_a_mistyped_command_is_named_with_the_one_that_may_be_meant(words: list[str], said: str, call: Call) -> None:
    assert call(*words).fails(said)


def test_the_reference_leads_to_a_page_of_every_command() -> None:
    linked = re.findall(r"\(cli/(.*?)\)", LIST.read_text("utf-8"))
    texts = [(PAGES / name).read_text("utf-8") for name in linked]
    headings = [heading for text in texts for heading in re.findall(r"^##? memeval (.*)$", text, re.M)]
    assert [tuple(heading.split()) for heading in headings] == [words for words in ALL if words]


def test_a_page_of_a_command_that_is_gone_is_told_and_removed(call: Call) -> None:
    def program() -> None:
        main()
        sys.exit(0)

    def reference(*words: str) -> Said:
        return call(*words, program=program)

    assert reference().code == 0
    (PAGES / "gone.md").write_text("# memeval gone\n")
    assert reference("--check").fails(f"{PAGES / 'gone.md'} is out of date", code=1)
    assert reference().code == reference("--check").code == 0


def test_a_command_list_holds_one_short_sentence_a_command() -> None:
    for command in ALL.values():
        for name, below in getattr(command, "commands", {}).items():
            sentence = " ".join((below.short_help or below.help).split("\n\n")[0].split())
            assert len(sentence) <= 60, f"{name}: {sentence}"
            assert sentence.endswith("."), f"{name}: {sentence}"


def test_every_option_of_a_command_with_many_stands_in_a_panel() -> None:
    for words, command in ALL.items():
        shown = [each for each in command.params if each.opts[0].startswith("-") and not each.hidden]
        if len(shown) >= PANEL_THRESHOLD:
            optional = [each for each in shown if not each.required]
            assert [each.name for each in optional if each.rich_help_panel not in OPTION_PANELS] == [], words


def test_run_shows_its_panels_in_order_and_no_type_behind_a_flag() -> None:
    text = help_of("run")
    titles = [line.split()[1:-1] for line in text.splitlines() if line.startswith("╭─")]
    assert [" ".join(words) for words in titles] == [
        *("Arguments", "Options", "What to run", "Models and judge", "Limits and cost", "Sandbox and environment"),
        *("Storage and repetition", "Output"),
    ]
    assert "<bool>" not in text and "SYSTEM" in text


def test_a_place_to_write_to_has_one_name() -> None:
    names = {name for command in ALL.values() for each in command.params if not each.hidden for name in each.opts}
    assert "--to" in names and not names & {"--out", "--into"}


def test_the_deprecated_names_of_to_still_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    made = CliRunner().invoke(app, ["submit", "new", "--name", "A", "--into", "elsewhere"])
    assert made.exit_code == 0, made.output
    assert (tmp_path / "elsewhere" / "a" / "submission.toml").is_file()
    assert "--into is deprecated. Use --to." in made.stderr
    built: list[Path] = []
    monkeypatch.setattr("memeval.site.build", lambda results, out, **_: built.append(out))
    said = CliRunner().invoke(app, ["site", "build", "--out", "old"])
    assert CliRunner().invoke(app, ["site", "build", "--to", "new"]).output == "new\n"
    assert CliRunner().invoke(app, ["site", "build"]).output == f"{publishing.DEFAULT_SITE}\n"
    assert (said.stdout, said.stderr) == ("old\n", "memeval: --out is deprecated. Use --to.\n")
    assert built == [Path("old"), Path("new"), publishing.DEFAULT_SITE]


def test_a_shell_completes_commands_and_options(monkeypatch: pytest.MonkeyPatch) -> None:
    for line, offered in (("memeval ru", "run"), ("memeval run --benchm", "--benchmark")):
        words = {"_MEMEVAL_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": str(line.count(" "))}
        assert CliRunner().invoke(app, [], env=words, prog_name="memeval").output.split() == [offered]


def test_every_command_stands_in_a_panel() -> None:
    panels = [name for names in COMMAND_PANELS.values() for name in names]
    assert sorted((name,) for name in panels) == sorted(words for words in ALL if len(words) == 1)


def test_the_command_line_is_defined_without_records_and_systems() -> None:
    """What commands need is imported when they run: ``--help`` waits for none of it."""
    code = "import sys, memeval.cli.main; print('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    loaded = set(done.stdout.split())
    assert "memeval.cli.running" in loaded
    assert not loaded & {"memeval.records.base", "memeval.systems.process", "memeval.evaluation", "pydantic", "asyncio"}
