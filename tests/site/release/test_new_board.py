"""``memeval init``: a whole board in an empty folder, or nothing at all."""

import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from memeval.evaluation.run.provenance import memeval_version
from memeval.records.errors import BadInput
from memeval.settings import read_settings
from memeval.site.pages.harness_wheel import wheel, wheel_name
from memeval.site.release.new_board import NewBoard, create_board, first_slug
from memeval.storage import package_digest
from memeval.systems.source import folder_source
from tests.support.commands import memeval
from tests.support.workflow_commands import memeval_calls, parse

SCHEMA = {"title": "Settings"}
EXPRESSION = re.compile(r"\$\{\{.*?\}\}")


OURS = {
    step["uses"]
    for file in (Path(__file__).parents[3] / ".github" / "workflows").glob("*.yml")
    for job in yaml.safe_load(file.read_text("utf-8"))["jobs"].values()
    for step in job["steps"]
    if "uses" in step
}
"""The actions of this repository's own workflows, which Dependabot keeps up to date."""


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("boards") / "mine"
    said = memeval("init", str(folder), "--title", "R&D [x](y)", where=folder.parent)
    assert (said.code, said.err) == (0, "")
    assert f"  cd {folder}\n  memeval run first-memory --benchmark beliefs@2 " in said.out
    return folder


def workflows(board: Path) -> list[Path]:
    return sorted((board / ".github" / "workflows").glob("*.yml"))


def steps(file: Path) -> list[dict[str, Any]]:
    return [step for job in yaml.safe_load(file.read_text("utf-8"))["jobs"].values() for step in job["steps"]]


def test_a_new_board_has_settings_workflows_and_a_first_submission(board: Path) -> None:
    files = {str(path.relative_to(board)) for path in board.rglob("*") if path.is_file()}
    assert files == {
        *("memeval.toml", "memeval.schema.json", "README.md", "requirements.txt", ".gitignore"),
        *(".gitattributes", ".github/CODEOWNERS"),
        ".github/dependabot.yml",
        *(f".github/workflows/{name}.yml" for name in ("submission", "evaluate", "publish")),
        *(f"submissions/first-memory/{name}" for name in ("submission.toml", "README.md", "adapter.py")),
        *("submissions/first-memory/requirements.lock", "results/.gitkeep"),
        f"harness/{wheel_name()}",
    }
    assert read_settings(board).title == "R&D [x](y)"
    assert read_settings(board).publish.to == "public"
    assert (board / "README.md").read_text("utf-8").startswith("# R\\&D \\[x\\]\\(y\\)\n")
    assert folder_source(board / "submissions" / first_slug()).slug == first_slug()
    assert "memeval run submissions/first-memory " in (board / "submissions/first-memory/README.md").read_text("utf-8")
    assert not [path for path in board.rglob("*") if path.is_file() and bytes(board.parent) in path.read_bytes()]


def test_a_new_board_pins_the_memeval_that_made_it(board: Path) -> None:
    carried = wheel()
    (stored,) = (board / "harness").iterdir()
    assert stored.read_bytes() == carried
    pins = [line for line in (board / "requirements.txt").read_text("utf-8").splitlines() if not line.startswith("#")]
    assert pins == ["--find-links harness", f"memeval-leaderboard=={memeval_version()}"]
    assert memeval_version().endswith(f"+{package_digest()[7:19]}")


def test_every_setting_that_the_file_suggests_is_valid(board: Path, tmp_path: Path) -> None:
    text = (board / "memeval.toml").read_text("utf-8")
    lines = [re.sub(r"^# (?=\[|\w+(-\w+)? = )", "", line) for line in text.splitlines()]
    (tmp_path / "memeval.toml").write_text("\n".join(lines), encoding="utf-8")
    settings = read_settings(tmp_path)
    assert settings.colours.accent_dark == "#63c5d4" and settings.archive.after_run
    assert settings.benchmarks == ("beliefs@2",) and settings.headline and settings.weights and settings.repository


def test_the_workflows_are_what_github_reads(board: Path) -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows"]
    files = workflows(board)
    said = subprocess.run([*command, *map(str, files)], capture_output=True, text=True, timeout=60, check=False)
    assert len(files) == 3 and said.returncode == 0, said.stdout
    command[-1] = "vendor.dependabot"
    said = subprocess.run(
        [*command, str(board / ".github" / "dependabot.yml")], capture_output=True, text=True, timeout=60, check=False
    )
    assert said.returncode == 0, said.stdout


def test_no_text_of_a_user_is_part_of_a_script_and_strangers_code_has_no_secret(board: Path) -> None:
    for file in workflows(board):
        workflow = yaml.safe_load(file.read_text("utf-8"))
        assert not any(EXPRESSION.search(step.get("run", "")) for step in steps(file))
        for used in (step["uses"] for step in steps(file) if "uses" in step):
            assert used in OURS or re.fullmatch(r"actions/(upload-pages-artifact|deploy-pages)@[0-9a-f]{40}", used)
        if file.stem == "submission":
            assert workflow["permissions"] == {"contents": "read"} and "secrets." not in file.read_text("utf-8")
        for step in steps(file):
            if "secrets." in str(step):
                assert not re.search("memeval (run|evaluate|submit)", step["run"])


def test_every_memeval_command_of_the_workflows_and_of_the_readme_exists(board: Path) -> None:
    scripts = [step.get("run", "") for file in workflows(board) for step in steps(file)]
    blocks = re.findall(r"```\n(.*?)```", (board / "README.md").read_text("utf-8"), re.DOTALL)
    calls = [words for script in (*scripts, *blocks) for words in memeval_calls(script)]
    assert len(calls) >= 9
    for words in calls:
        parse(words)
    with pytest.raises(Exception, match="No such option"):
        parse(["run", "x", "--annotations", "github"])


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("title", "<b>", "--title: 'title' does not have the required form. Write one line of 1 to 60"),
        ("title", "two\nlines", "--title: 'title' does not have the required form."),
        ("title", "x" * 61, "--title: 'title': "),
        ("title", "\udcff", "--title: 'title': "),
        ("repository", "git@example.org:x", "--repository: 'repository' does not have the required form. Write a web"),
    ],
)
def test_a_choice_that_is_not_plain_is_refused(option: str, value: str, message: str) -> None:
    with pytest.raises(BadInput) as refused:
        NewBoard(**{"title": "x", option: value})
    assert str(refused.value).startswith(message)


def test_a_folder_with_content_is_refused_and_stays_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(BadInput, match=r"the folder is not empty\. Choose an empty or new folder\."):
        create_board(tmp_path, NewBoard("x"), SCHEMA)
    with pytest.raises(BadInput, match=r"notes\.txt: this is a file\. Choose a folder\."):
        create_board(tmp_path / "notes.txt", NewBoard("x"), SCHEMA)
    with pytest.raises(BadInput, match=r"cannot be written \(Not a directory\)"):
        create_board(tmp_path / "notes.txt" / "board", NewBoard("x"), SCHEMA)
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_a_folder_with_nothing_but_a_repository_counts_as_empty(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    create_board(tmp_path, NewBoard("x"), SCHEMA)
    assert (tmp_path / "memeval.toml").is_file() and not list(tmp_path.glob(".new-*"))


def test_a_board_that_cannot_be_completed_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_args: object, **_kwargs: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("memeval.site.release.new_board.scaffold", full)
    with pytest.raises(BadInput, match=r"cannot be written \(No space left on device\)\. Choose another folder\."):
        create_board(tmp_path / "board", NewBoard("x"), SCHEMA)
    assert not (tmp_path / "board").exists()


def test_a_folder_where_nobody_may_write_is_refused() -> None:
    with pytest.raises(BadInput, match=r"/proc/self/board: cannot be written \(.+\)\. Choose another folder\."):
        create_board(Path("/proc/self/board"), NewBoard("x"), SCHEMA)


@pytest.mark.parametrize(
    ("typed", "repository", "contact"),
    [("https://example.org/b\nb@example.org\n", "https://example.org/b", "b@example.org"), ("\n\n", None, None)],
)
def test_init_asks_for_repository_and_contact_on_a_terminal(
    tmp_path: Path, typed: str, repository: str | None, contact: str | None
) -> None:
    keyboard, terminal = pty.openpty()
    os.write(keyboard, typed.encode())
    words = [sys.executable, "-m", "memeval", "init", "ours"]
    done = subprocess.run(words, cwd=tmp_path, stdin=terminal, capture_output=True, check=False, text=True)
    os.close(keyboard)
    os.close(terminal)
    assert (done.returncode, done.stderr.count("(Enter: none yet)")) == (0, 2)
    settings = read_settings(tmp_path / "ours")
    assert (settings.repository, settings.contact) == (repository, contact)
