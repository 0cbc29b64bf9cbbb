"""What the workflows under ``.github`` may do; the half that runs strangers' code can do nothing with it."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from memeval.evaluation.commenting import MARKER

WORKFLOWS = Path(__file__).parents[1] / ".github" / "workflows"
FILES = sorted(WORKFLOWS.glob("*.yml"))
FIRST, SECOND = WORKFLOWS / "submission.yml", WORKFLOWS / "submission-comment.yml"
RESULTS = WORKFLOWS / "results.yml"

EXPRESSION = re.compile(r"\$\{\{(.*?)\}\}", re.DOTALL)


def read(file: Path) -> dict[str, Any]:
    """Return a workflow; YAML takes its key ``on`` for true."""
    data: dict[Any, Any] = yaml.safe_load(file.read_text("utf-8"))
    return {"on" if key is True else str(key): value for key, value in data.items()}


def steps(file: Path) -> Iterator[dict[str, Any]]:
    for job in read(file)["jobs"].values():
        yield from job["steps"]


def texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield str(key)
            yield from texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts(inner)
    else:
        yield str(value)


def test_the_workflows_are_what_github_reads() -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows"]
    said = subprocess.run([*command, *map(str, FILES)], capture_output=True, text=True, timeout=60, check=False)
    assert len(FILES) == 4
    assert said.returncode == 0, said.stdout


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_no_workflow_runs_strangers_code_with_rights(file: Path) -> None:
    workflow = read(file)
    assert "pull_request_target" not in workflow["on"]
    assert workflow["permissions"] != "write-all"
    assert all("permissions" not in job for job in workflow["jobs"].values())
    assert not any("secrets." in text or "secrets[" in text for text in texts(workflow))
    assert not any(EXPRESSION.search(step["run"]) for step in steps(file) if "run" in step)
    for step in steps(file):
        if "uses" in step:
            assert re.fullmatch(r"actions/[a-z-]+@v\d+", step["uses"]), step["uses"]


def test_the_first_half_has_no_right_but_to_read_and_no_token() -> None:
    workflow = read(FIRST)
    assert workflow["permissions"] == {"contents": "read"}
    assert set(workflow["on"]) == {"pull_request"}
    assert not any("github.token" in text or "GITHUB_TOKEN" in text for text in texts(workflow))
    checkouts = [step["with"] for step in steps(FIRST) if step.get("uses", "").startswith("actions/checkout@")]
    assert [step["persist-credentials"] for step in checkouts] == [False, False]


def test_the_first_half_takes_its_code_from_the_base_and_only_data_from_the_pull_request() -> None:
    by_path = {
        step["with"]["path"]: step["with"]["ref"]
        for step in steps(FIRST)
        if step.get("uses", "").startswith("actions/checkout@")
    }
    assert by_path == {
        "base": "${{ github.event.pull_request.base.sha }}",
        "data": "${{ github.event.pull_request.head.sha }}",
    }
    (installs,) = (step["run"] for step in steps(FIRST) if "pip install" in step.get("run", ""))
    assert "./base" in installs
    assert "data" not in installs


def test_the_second_half_runs_after_the_first_on_the_default_branch_and_may_only_comment() -> None:
    workflow = read(SECOND)
    assert workflow["permissions"] == {"actions": "read", "contents": "read", "pull-requests": "write"}
    assert workflow["on"] == {"workflow_run": {"workflows": [read(FIRST)["name"]], "types": ["completed"]}}
    (checkout,) = (step["with"] for step in steps(SECOND) if step.get("uses", "").startswith("actions/checkout@"))
    assert checkout == {"ref": "${{ github.event.repository.default_branch }}", "persist-credentials": False}


def test_the_second_half_shows_its_token_to_no_step_that_reads_a_report() -> None:
    for step in steps(SECOND):
        if "GH_TOKEN" in step.get("env", {}):
            assert "memeval" not in step["run"].replace(MARKER, "")
            assert "pip" not in step["run"]
    assert "GH_TOKEN" not in read(SECOND)["jobs"]["comment"]["env"]


def test_the_second_half_finds_its_own_comment_by_the_marker() -> None:
    assert sum(MARKER in step.get("run", "") for step in steps(SECOND)) == 1


def changed(tmp_path: Path, *slugs: str) -> subprocess.CompletedProcess[str]:
    """Run the step that checks what differs, with a ``memeval`` that writes down how it was called."""
    (script,) = (step["run"] for step in steps(FIRST) if "submit check" in step.get("run", ""))
    for place in ("base/submissions", "data/submissions", "bin"):
        (tmp_path / place).mkdir(parents=True)
    for slug in slugs:
        (tmp_path / "data" / "submissions" / slug).mkdir()
        (tmp_path / "data" / "submissions" / slug / "a").touch()
    for place in ("base", "data"):
        (tmp_path / place / "submissions" / "unchanged").mkdir()
    tool = tmp_path / "bin" / "memeval"
    tool.write_text('#!/bin/sh\nprintf "%s\\n" "$3" "$7" >> ../called\ncase "$3" in *bad*) exit 1;; esac\n')
    tool.chmod(0o755)
    return subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", script],
        cwd=tmp_path / "data",
        env={"PATH": f"{tmp_path}/bin:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


def test_only_changed_submissions_are_checked_whatever_their_names(tmp_path: Path) -> None:
    said = changed(tmp_path, "good", "a b; touch ..", "$(touch x)")
    assert said.returncode == 0, said.stderr
    assert (tmp_path / "called").read_text().splitlines() == [
        "submissions/$(touch x)",
        "../reports/1.json",
        "submissions/a b; touch ..",
        "../reports/2.json",
        "submissions/good",
        "../reports/3.json",
    ]


def test_one_bad_submission_fails_the_check_and_the_others_are_still_looked_at(tmp_path: Path) -> None:
    assert changed(tmp_path, "bad", "good").returncode == 1
    assert "submissions/good" in (tmp_path / "called").read_text()


def test_a_pull_request_that_changes_many_submissions_is_refused(tmp_path: Path) -> None:
    said = changed(tmp_path, *(f"s{number}" for number in range(6)))
    assert said.returncode == 1
    assert "at most 5" in said.stdout


def test_the_check_of_results_has_no_right_but_to_read_and_no_token() -> None:
    workflow = read(RESULTS)
    assert workflow["permissions"] == {"contents": "read"}
    assert workflow["on"] == {"pull_request": {"paths": ["results/**"]}}
    assert not any("github.token" in text or "GITHUB_TOKEN" in text for text in texts(workflow))
    (checkout,) = (step["with"] for step in steps(RESULTS) if step.get("uses", "").startswith("actions/checkout@"))
    assert (checkout["path"], checkout["persist-credentials"]) == ("data", False)
    (installs,) = (step["run"] for step in steps(RESULTS) if "pip install" in step.get("run", ""))
    assert "./base" in installs
    assert "data" not in installs


def merged(tmp_path: Path) -> Path:
    """Return a workspace whose ``data`` is a pull request, merged into a base that has moved on since."""
    data = tmp_path / "data"
    (data / "results").mkdir(parents=True)

    def git(*words: str) -> None:
        names = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
        subprocess.run(["git", "-C", str(data), *names, *words], check=True, capture_output=True, timeout=60)

    def commit(name: str, text: str) -> None:
        (data / name).parent.mkdir(parents=True, exist_ok=True)
        (data / name).write_text(text)
        git("add", ".")
        git("commit", "-q", "-m", name)

    git("init", "-q", "-b", "main")
    commit("results/ledger.jsonl", "one\n")
    git("switch", "-q", "-c", "theirs")
    commit("results/beliefs/acme/r1/run.json", "{}")
    git("switch", "-q", "main")
    commit("results/ledger.jsonl", "one\ntwo\n")
    git("merge", "-q", "--no-ff", "-m", "merge", "theirs")
    return tmp_path


def test_the_check_of_results_compares_the_merge_with_its_own_base(tmp_path: Path) -> None:
    workspace = merged(tmp_path)
    tool = tmp_path / "bin" / "memeval"
    tool.parent.mkdir()
    tool.write_text(f'#!/bin/sh\nexec {sys.executable} -m memeval "$@"\n')
    tool.chmod(0o755)
    scripts = [step for step in steps(RESULTS) if "run" in step and "pip install" not in step["run"]]
    for step in scripts[:-1]:
        done = subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", step["run"]],
            cwd=workspace,
            env={"PATH": f"{tmp_path}/bin:/usr/bin:/bin"},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    assert done.stdout == "beliefs/acme/r1\n"
    assert scripts[-1]["run"] == "memeval verify results"
    assert scripts[-1]["working-directory"] == "data"
    assert (tmp_path / "base" / "results" / "ledger.jsonl").read_text() == "one\ntwo\n"


def test_what_only_maintainers_may_change_has_an_owner() -> None:
    lines = (WORKFLOWS.parent / "CODEOWNERS").read_text("utf-8").splitlines()
    owned = {line.split()[0]: line.split()[1:] for line in lines if line and not line.startswith("#")}
    assert all(owners for owners in owned.values())
    assert {
        "/results/ledger.jsonl",
        "/results/releases/",
        "/harness/memeval/systems/controls/",
        "/harness/memeval/systems/known.toml",
        "/harness/memeval/allowed_signers",
        "/.github/",
    } <= owned.keys()
