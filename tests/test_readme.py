"""The README: its commands exist, and what it says of installing follows from one setting."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memeval.benchmarks.registry import all_benchmarks, origin
from memeval.cli.main import app
from memeval.cli.plain_help import command_of
from memeval.project import Project, project
from memeval.site.frame.guide_plugin import INSTALL, GuidePlugin

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", "CONTRIBUTING.md", "site/install.md", "site/submit.md", "site/repeat.md", "site/maintain.md")


def lines(page: str) -> Iterator[str]:
    """Yield the commands of a page's console blocks, continued lines joined."""
    for block in re.findall(r"```console\n(.*?)```", (ROOT / page).read_text("utf-8"), re.S):
        for line in block.replace("\\\n", " ").splitlines():
            if line.startswith("$ "):
                yield line[2:]


def calls() -> list[tuple[str, ...]]:
    """Return every call of ``memeval`` in the pages."""
    found = set()
    for page in PAGES:
        for line in lines(page):
            words = shlex.split(line, comments=True)
            while "memeval" in words:
                words = words[words.index("memeval") + 1 :]
                end = next((place for place, word in enumerate(words) if word in ("&&", ">", "|")), len(words))
                found.add(tuple(words[:end]))
                words = words[end:]
    return sorted(found)


@pytest.mark.parametrize("words", calls(), ids=" ".join)
def test_a_command_of_the_guide_parses(words: tuple[str, ...]) -> None:
    command: Any = command_of(app)
    context = command.make_context("memeval", list(words), resilient_parsing=False)
    while hasattr(command, "commands"):
        name, command, rest = command.resolve_command(context, [*context._protected_args, *context.args])
        context = command.make_context(name, list(rest), parent=context)


def test_every_make_target_of_the_guide_is_there() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.M))
    named = {name for page in PAGES for name in re.findall(r"\bmake ([a-z-]+)", "\n".join(lines(page)))}
    assert named and named <= targets


def test_the_readme_names_an_address_only_where_it_is_set() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    for command, value in (("git clone", project().repository), ("pipx install", project().package)):
        assert (f"{command} {value}" in text) if value else (command not in text)


def test_the_list_of_submissions_names_every_folder_once() -> None:
    listed = re.findall(r"\[([^]]+)\]\(\1\)", (ROOT / "submissions" / "README.md").read_text("utf-8"))
    folders = [path.parent.name for path in (ROOT / "submissions").glob("*/submission.toml")]
    assert sorted(listed) == sorted(folders)


def test_the_guide_says_what_each_benchmark_asks() -> None:
    part = (ROOT / "site" / "data.md").read_text("utf-8").split("## List benchmarks")[0]
    rows = [row.split("|")[1] for row in part.splitlines() if row.startswith("| `")]
    named = {name for row in rows for name in re.findall(r"`([a-z0-9-]+@\d+)`", row)}
    named |= {f"astrocyte{name}@1" for row in rows for name in re.findall(r"`(-[a-z]+)`", row)}
    assert named == {each.info.id for each in all_benchmarks() if origin(each.info.id).is_own}


def test_nothing_is_printed_that_an_empty_setting_would_break() -> None:
    steps = Project().install_steps()
    assert "git clone" not in steps and "pipx" not in steps and "In your clone of the repository" in steps
    assert ". .venv/bin/activate" in steps and ".venv/bin/memeval" in steps
    steps = Project("https://example.org/memeval.git", "memeval-leaderboard").install_steps()
    assert "$ git clone https://example.org/memeval.git memeval && cd memeval" in steps
    assert "`pipx install memeval-leaderboard`" in steps


@pytest.mark.parametrize("page", ["benchmark.md", "install.md", "submit.md", "repeat.md"])
def test_the_pages_for_newcomers_show_how_to_install(page: str) -> None:
    text = (ROOT / "site" / page).read_text("utf-8")
    (part,) = INSTALL.findall(text)
    assert part == f"<!-- install -->\n{project().install_steps()}\n<!-- /install -->", "the clone has the one setting"
    shown = GuidePlugin().on_page_markdown(text)
    assert shown.count(project().install_steps()) == 1 and "install -->" not in shown


def test_the_guide_for_benchmarks_shows_every_file_of_the_example() -> None:
    text = (ROOT / "site" / "benchmark.md").read_text("utf-8")
    shown = dict(re.findall(r'^```\w+ title="pantry/([^"]+)"\n(.*?)\n```$', text, re.M | re.S))
    example = ROOT / "examples" / "benchmark-package"
    others = {"LICENSE", "README.md"}
    files = [path for path in example.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    wanted = {path.relative_to(example).as_posix(): path.read_text("utf-8").rstrip("\n") for path in files}
    assert shown == {name: body for name, body in wanted.items() if name not in others}
