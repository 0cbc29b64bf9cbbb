"""A pull request may add runs to the results, and nothing else may change."""

import os
import shutil
from pathlib import Path

import pytest

from memeval.evaluation.submit.proposed_results import check_proposed
from memeval.records.errors import BadInput
from tests.support.commands import memeval

RUN = "beliefs/acme/20261101T100000Z-00000000"
NEW = "beliefs/zeta/20261102T100000Z-11111111"

STORED = (
    "ledger.jsonl",
    "releases/2026.11.json",
    "audits/beliefs/rules/audit.json",
    f"{RUN}/run.json",
    f"{RUN}/grades.jsonl.gz",
    "conformance/acme/0123.json",
    "sources/acme/0123456789abcdef/adapter.py",
)


@pytest.fixture
def base(tmp_path: Path) -> Path:
    for name in STORED:
        add(tmp_path / "base", name)
    return tmp_path / "base"


@pytest.fixture
def proposed(base: Path) -> Path:
    return Path(shutil.copytree(base, base.with_name("proposed")))


def add(folder: Path, name: str, content: str = "as stored") -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(content)


def test_a_new_run_with_its_report_and_its_source_is_welcome(base: Path, proposed: Path) -> None:
    for name in (
        f"{NEW}/run.json",
        f"{NEW}/grades.jsonl.gz",
        "conformance/zeta/4567.json",
        "sources/zeta/fedcba9876543210/src/adapter.py",
    ):
        add(proposed, name)
    assert check_proposed(base, proposed) == ([NEW], [])
    assert check_proposed(base, base) == ([], [])


@pytest.mark.parametrize("name", STORED)
@pytest.mark.parametrize("edit", ["changed", "removed", "link"])
def test_nothing_stored_may_change(base: Path, proposed: Path, name: str, edit: str) -> None:
    path = proposed / name
    if edit == "changed":
        path.write_text("as forged")
    else:
        path.unlink()
    if edit == "link":
        path.symlink_to(base / name)
    runs, (finding,) = check_proposed(base, proposed)
    assert runs == []
    assert str(finding).startswith(f"{path}: {'is not a plain file' if edit == 'link' else f'was {edit}'}.")
    if edit == "changed" and name == "ledger.jsonl":
        assert finding.remedy == ("Undo the change. Only a maintainer adds lines to the ledger, after the merge.")


@pytest.mark.parametrize(
    "name",
    [
        "releases/2026.12.json",
        "audits/beliefs/mine/audit.json",
        "audits/beliefs/mine/run.json",
        f"{RUN}/extra.jsonl.gz",
        "sources/acme/0123456789abcdef/evil.py",
        "conformance/acme/evil.py",
        "beliefs/acme/run.json",
        f"{NEW}/deep/run.json",
        "allowed_signers",
        ".github/workflows/ci.yml",
    ],
)
def test_nothing_but_runs_may_be_added(base: Path, proposed: Path, name: str) -> None:
    add(proposed, name)
    runs, (finding,) = check_proposed(base, proposed)
    assert runs == []
    assert str(finding).startswith(f"{proposed / name}: does not belong to a new run. Remove it.")


def test_links_and_special_files_of_a_new_run_are_refused_and_not_followed(base: Path, proposed: Path) -> None:
    add(proposed, f"{NEW}/run.json")
    (proposed / NEW / "grades.jsonl.gz").symlink_to("/etc/passwd")
    os.mkfifo(proposed / NEW / "log.jsonl.gz")
    (proposed / "beliefs" / "all").symlink_to("/")
    _, findings = check_proposed(base, proposed)
    assert [finding.where for finding in findings] == [
        str(proposed / "beliefs" / "all"),
        str(proposed / NEW / "grades.jsonl.gz"),
        str(proposed / NEW / "log.jsonl.gz"),
    ]


def test_a_folder_that_is_a_link_is_refused(base: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(base)
    for folder in (tmp_path / "link", tmp_path / "nowhere"):
        with pytest.raises(BadInput, match="there is no results folder here"):
            check_proposed(base, folder)


def test_the_command_fails_with_every_problem(base: Path, proposed: Path) -> None:
    add(proposed, f"{NEW}/run.json")
    add(proposed, "ledger.jsonl", "as forged")
    done = memeval("submit", "results", "proposed", "--base", "base", where=base.parent)
    assert done.code == 1
    assert done.out.splitlines() == [
        NEW,
        "proposed/ledger.jsonl: was changed. Undo the change. Only a maintainer adds lines to the ledger, after the "
        "merge.",
    ]
    assert "1 problem in proposed." in done.err
