"""``memeval submit`` as its users meet it."""

import json
import zipfile
from functools import partial
from pathlib import Path

import pytest

from memeval.records.conformance import SubmissionCheck
from memeval.systems.source import examined_folder
from tests.support.calling import Call


@pytest.fixture
def submit(call: Call) -> Call:
    return partial(call, "submit")


@pytest.fixture
def made(submit: Call) -> Call:
    """Call ``memeval submit`` where there is one submission, made without a word of an answer."""
    assert submit("new").code == 0
    return submit


def test_new_asks_nothing_without_a_terminal_and_names_the_next_two_commands(made: Call) -> None:
    source, faults = examined_folder(Path("submissions/my-memory"))
    assert source is not None
    assert faults == []
    assert made("new").fails("submissions/my-memory: already exists. Choose another name.")
    said = made(
        "new", "--name", "Acme", "--kind", "command", "--licence", "MIT", "--model", "gpt-x", "--author", "A. B."
    )
    assert said.out.splitlines()[1:] == [
        "  memeval submit check submissions/acme",
        "  memeval run submissions/acme --benchmark beliefs@2",
    ]
    other, _ = examined_folder(Path("submissions/acme"))
    assert other is not None and other.submission is not None
    assert (other.submission.kind, other.submission.licence, other.declared_models) == ("command", "MIT", ("gpt-x",))
    assert other.submission.authors == ("A. B.",)


def test_a_check_without_a_run_prints_a_table_or_json_and_stores_its_report(made: Call) -> None:
    table = made("check", "my-memory", "--no-run", "--to", "report.json")
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
    stored = SubmissionCheck.parse(Path("report.json").read_bytes(), "report.json")
    printed = json.loads(made("check", "my-memory", "--no-run", "--json").out)
    assert printed["submission_digest"] == stored.submission_digest


def test_every_failed_check_is_shown_with_what_was_seen_and_what_to_do(made: Call) -> None:
    adapter = Path("submissions/my-memory/adapter.py")
    source = adapter.read_text()
    for old, new_code in (
        ("for turn in session", 'for turn in [t for t in session["turns"] if t["role"] != "assistant"] or session'),
        ('text = f"[{timestamp}] {turn', 'text = f"{turn'),
        ("found[:k]", "found"),
    ):
        assert old in source
        source = source.replace(old, new_code)
    adapter.write_text(source.replace('session["turns"]["turns"]', 'session["turns"]'))
    said = made("check", "my-memory")
    assert said.code == 0
    lines = said.out.splitlines()
    (step,) = (number for number, line in enumerate(lines) if " conformance " in line)
    assert lines[step].startswith("  ! conformance")
    failed = [line.split()[1] for line in lines[step + 1 :] if line.startswith("      ! ")]
    assert failed == ["assistant-kept:", "k-honoured:"]
    assert f"{len(failed)} failed" in lines[step]
    assert "Store the turns with the role `assistant` in `ingest_session` too" in said.out


def test_a_check_of_all_submissions_names_those_with_problems(made: Call) -> None:
    assert made("new", "--name", "Other").code == 0
    manifest = Path("submissions/other/submission.toml")
    manifest.write_text(manifest.read_text().replace("slug", "slugg"))
    said = made("check", "--all", "--no-run")
    assert said.fails("1 submission failed the check: submissions/other.", code=1)
    assert "submissions/other/submission.toml:2: unknown key 'slugg'. Did you mean 'slug'?" in said.out


def test_a_check_of_several_submissions_reports_each(made: Call) -> None:
    assert made("new", "--name", "Other").code == 0
    assert made("new", "--name", "Third").code == 0
    Path("submissions/other/README.md").unlink()
    words = ("check", "my-memory", "submissions/other", "--no-run")
    said = made(*words)
    assert said.fails("memeval: 1 submission failed the check: submissions/other.", code=1)
    assert [line for line in said.out.splitlines() if line.startswith("submissions/")] == [
        "submissions/my-memory",
        "submissions/other",
    ]
    assert "submissions/other: there is no README.md. Write how the system handles dates" in said.out
    reports = json.loads(made(*words, "--json").out)
    assert [(each["folder"], each["steps"][0]["outcome"]) for each in reports] == [
        ("submissions/my-memory", "passed"),
        ("submissions/other", "failed"),
    ]


def test_a_wrong_call_is_refused(made: Call) -> None:
    for words in (("check",), ("check", "--all", "my-memory"), ("check", "nobody"), ("check", "--all", "--to", "x")):
        assert made(*words).fails("memeval: "), words


def test_a_comment_is_made_of_reports_and_of_archives_of_them(made: Call) -> None:
    made("check", "my-memory", "--no-run", "--to", "report.json")
    with zipfile.ZipFile("reports.zip", "w") as archive:
        archive.write("report.json", "../../1.json")
    plain, packed = (made("comment", name) for name in ("report.json", "reports.zip"))
    assert plain.code == packed.code == 0
    assert plain.out == packed.out
    assert plain.out.startswith("<!-- memeval: check of submissions -->\n### Check of 1 submission: all passed")


def test_what_is_no_report_makes_no_comment(submit: Call) -> None:
    Path("junk.json").write_text('{"schema_version": 1, "steps": 3}')
    with zipfile.ZipFile("many.zip", "w") as archive:
        for number in range(30):
            archive.writestr(f"{number}.json", "{}")
    with zipfile.ZipFile("bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("1.json", " " * 50_000_000)
    Path("empty.zip").write_bytes(b"PK\5\6" + bytes(18))
    Path("torn.zip").write_bytes(Path("bomb.zip").read_bytes()[1000:])
    for name in ("junk.json", "many.zip", "bomb.zip", "empty.zip", "torn.zip", "absent.json"):
        said = submit("comment", name)
        assert (said.code, said.out) == (2, ""), name
