import contextlib
import json
import zipfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from memeval.cli.main import app
from memeval.records.conformance import SubmissionCheck
from memeval.records.errors import MemevalError
from memeval.systems.source import examined_folder
from tests.support.calling import Said


def memeval(*words: str, where: Path) -> Said:
    """Call ``memeval`` in this process, which costs far less than to start one."""
    with contextlib.chdir(where):
        said = CliRunner().invoke(app, words)
    if said.exception is None or isinstance(said.exception, SystemExit):
        return Said(said.exit_code, said.stdout, said.stderr)
    assert isinstance(said.exception, MemevalError), said.exception
    return Said(said.exception.exit_code, said.stdout, f"{said.stderr}memeval: {said.exception}")


def new(where: Path, *options: str) -> Said:
    return memeval("submit", "new", *options, where=where)


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """A folder with one submission, made without a word of an answer."""
    assert new(tmp_path).code == 0
    return tmp_path


def test_new_asks_nothing_without_a_terminal_and_names_the_next_two_commands(made: Path) -> None:
    source, faults = examined_folder(made / "submissions" / "my-memory")
    assert source is not None
    assert faults == []
    again = new(made)
    assert again.code == 2 and "submissions/my-memory: already exists. Choose another name." in again.err
    said = new(made, "--name", "Acme", "--kind", "command", "--licence", "MIT", "--model", "gpt-x", "--author", "A. B.")
    assert said.out.splitlines()[1:] == [
        "  memeval submit check submissions/acme",
        "  memeval run submissions/acme --benchmark beliefs@2",
    ]
    other, _ = examined_folder(made / "submissions" / "acme")
    assert other is not None and other.submission is not None
    assert (other.submission.kind, other.submission.licence, other.declared_models) == ("command", "MIT", ("gpt-x",))
    assert other.submission.authors == ("A. B.",)


def test_a_check_without_a_run_prints_a_table_or_json_and_stores_its_report(made: Path) -> None:
    table = memeval("submit", "check", "my-memory", "--no-run", "--to", "report.json", where=made)
    assert table.code == 0
    lines = table.out.splitlines()
    assert lines[0] == "submissions/my-memory"
    assert [line.split()[:2] for line in lines[1:]] == [
        ["✓", "read"],
        ["✓", "secrets"],
        ["–", "install"],
        ["–", "conformance"],
        ["–", "smoke"],
    ]
    stored = SubmissionCheck.parse((made / "report.json").read_bytes(), "report.json")
    printed = json.loads(memeval("submit", "check", "my-memory", "--no-run", "--json", where=made).out)
    assert printed["submission_digest"] == stored.submission_digest


def test_every_failed_check_is_shown_with_what_was_seen_and_what_to_do(made: Path) -> None:
    adapter = made / "submissions/my-memory/adapter.py"
    source = adapter.read_text()
    for old, new_code in (
        ("for turn in session", 'for turn in [t for t in session["turns"] if t["role"] != "assistant"] or session'),
        ('text = f"[{timestamp}] {turn', 'text = f"{turn'),
        ("found[:k]", "found"),
    ):
        assert old in source
        source = source.replace(old, new_code)
    adapter.write_text(source.replace('session["turns"]["turns"]', 'session["turns"]'))
    said = memeval("submit", "check", "my-memory", where=made)
    assert said.code == 0
    lines = said.out.splitlines()
    (step,) = (number for number, line in enumerate(lines) if " conformance " in line)
    assert lines[step].startswith("  ! conformance")
    failed = [line.split()[1] for line in lines[step + 1 :] if line.startswith("      ! ")]
    assert failed == ["assistant-kept:", "k-honoured:"]
    assert f"{len(failed)} failed" in lines[step]
    assert "Store the turns with the role `assistant` in `ingest_session` too" in said.out


def test_a_check_of_all_submissions_names_those_with_problems(made: Path) -> None:
    assert new(made, "--name", "Other").code == 0
    manifest = made / "submissions" / "other" / "submission.toml"
    manifest.write_text(manifest.read_text().replace("slug", "slugg"))
    said = memeval("submit", "check", "--all", "--no-run", where=made)
    assert said.code == 1
    assert "submissions/other/submission.toml:2: unknown key 'slugg'. Did you mean 'slug'?" in said.out
    assert "1 submission failed the check: submissions/other." in said.err


def test_a_check_of_several_submissions_reports_each(made: Path) -> None:
    assert new(made, "--name", "Other").code == 0
    assert new(made, "--name", "Third").code == 0
    (made / "submissions" / "other" / "README.md").unlink()
    words = ("submit", "check", "my-memory", "submissions/other", "--no-run")
    said = memeval(*words, where=made)
    assert said.code == 1
    assert [line for line in said.out.splitlines() if line.startswith("submissions/")] == [
        "submissions/my-memory",
        "submissions/other",
    ]
    assert "submissions/other: there is no README.md. Write how the system handles dates" in said.out
    assert said.err.endswith("memeval: 1 submission failed the check: submissions/other.")
    reports = json.loads(memeval(*words, "--json", where=made).out)
    assert [(each["folder"], each["steps"][0]["outcome"]) for each in reports] == [
        ("submissions/my-memory", "passed"),
        ("submissions/other", "failed"),
    ]


def test_a_wrong_call_is_refused(made: Path) -> None:
    for words in (("check",), ("check", "--all", "my-memory"), ("check", "nobody"), ("check", "--all", "--to", "x")):
        said = memeval("submit", *words, where=made)
        assert said.code == 2, words
        assert said.err.startswith("memeval: ")


def test_a_comment_is_made_of_reports_and_of_archives_of_them(made: Path) -> None:
    memeval("submit", "check", "my-memory", "--no-run", "--to", "report.json", where=made)
    with zipfile.ZipFile(made / "reports.zip", "w") as archive:
        archive.write(made / "report.json", "../../1.json")
    plain, packed = (memeval("submit", "comment", name, where=made) for name in ("report.json", "reports.zip"))
    assert plain.code == packed.code == 0
    assert plain.out == packed.out
    assert plain.out.startswith("<!-- memeval: check of submissions -->\n### Check of 1 submission: all passed")


def test_what_is_no_report_makes_no_comment(tmp_path: Path) -> None:
    (tmp_path / "junk.json").write_text('{"schema_version": 1, "steps": 3}')
    with zipfile.ZipFile(tmp_path / "many.zip", "w") as archive:
        for number in range(30):
            archive.writestr(f"{number}.json", "{}")
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("1.json", " " * 50_000_000)
    (tmp_path / "empty.zip").write_bytes(b"PK\5\6" + bytes(18))
    (tmp_path / "torn.zip").write_bytes((tmp_path / "bomb.zip").read_bytes()[1000:])
    for name in ("junk.json", "many.zip", "bomb.zip", "empty.zip", "torn.zip", "absent.json"):
        said = memeval("submit", "comment", name, where=tmp_path)
        assert (said.code, said.out) == (2, ""), name
