"""What the workflows under ``.github`` may do; the half that runs strangers' code can do nothing with it."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from memeval.evaluation.submit.proposed_results import MARKER
from tests.support.workflow_commands import memeval_calls, parse

ROOT = Path(__file__).parents[1]
WORKFLOWS = ROOT / ".github" / "workflows"
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


def all_steps(file: Path) -> Iterator[dict[str, Any]]:
    """Yield the steps of a workflow or of a composite action."""
    workflow = read(file)
    yield from steps(file) if "jobs" in workflow else workflow["runs"]["steps"]


def checkouts(file: Path) -> list[dict[str, Any]]:
    """Return the inputs of the steps of a workflow that check out a repository."""
    return [step.get("with", {}) for step in steps(file) if step.get("uses", "").startswith("actions/checkout@")]


def bash(script: str, where: Path, *options: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run the script of a step, with this environment alone."""
    command = ["bash", *options, "-e", "-o", "pipefail", "-c", script]
    return subprocess.run(command, cwd=where, env=variables, capture_output=True, text=True, timeout=60, check=False)


def write_tool(file: Path, script: str) -> None:
    """Write a program that takes the place of ``memeval``."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)


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


def on_schedule(file: Path) -> bool:
    """Return whether a workflow runs only the code of the main branch or of a tag: never a pull request's."""
    return set(read(file)["on"]) <= {"schedule", "workflow_dispatch", "release"}


SCHEDULED = [file for file in FILES if on_schedule(file)]


@pytest.mark.parametrize(
    ("schema", "files"),
    [
        ("github-workflows", FILES),
        ("github-actions", [ROOT / "action.yml"]),
        ("dependabot", [ROOT / ".github" / "dependabot.yml"]),
    ],
    ids=["workflows", "action", "dependabot"],
)
def test_the_files_are_what_github_reads(schema: str, files: list[Path]) -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}"]
    said = subprocess.run([*command, *map(str, files)], capture_output=True, text=True, timeout=60, check=False)
    assert said.returncode == 0, said.stdout


def test_every_workflow_is_tested_here() -> None:
    assert [file.stem for file in FILES] == [
        *("benchmarks", "ci", "evaluate", "publish", "results", "submission-comment", "submission")
    ]
    assert [file.stem for file in SCHEDULED] == ["benchmarks", "evaluate", "publish"]


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_workflow_has_few_rights_one_run_at_a_time_and_a_time_limit(file: Path) -> None:
    workflow = read(file)
    assert "pull_request_target" not in workflow["on"]
    assert workflow["permissions"] != "write-all"
    assert "concurrency" in workflow or file == SECOND
    for name, job in workflow["jobs"].items():
        own = {"contents": "write"} if (file.stem, name) == ("publish", "pages") else None
        assert job.get("permissions") == own
        assert job["timeout-minutes"] <= 360
    if on_schedule(file):
        assert workflow["permissions"] == {"contents": "read"}


@pytest.mark.parametrize("file", [*FILES, ROOT / "action.yml"], ids=lambda file: file.stem)
def test_no_text_of_a_user_is_part_of_a_script(file: Path) -> None:
    assert not any(EXPRESSION.search(step["run"]) for step in all_steps(file) if "run" in step)


def test_every_action_is_pinned_by_commit_and_everywhere_to_the_same() -> None:
    pins: dict[str, set[str]] = {}
    for file in [*FILES, *(ROOT / "templates" / "board" / "workflows").glob("*.yml"), ROOT / "action.yml"]:
        for line in file.read_text("utf-8").splitlines():
            if "uses:" in line:
                found = re.fullmatch(r" +(?:- )?uses: (actions/[a-z-]+)(?:/\w+)?@([0-9a-f]{40} # v\d+\.\d+\.\d+)", line)
                assert found is not None, line
                pins.setdefault(found[1], set()).add(found[2])
    assert {action: len(versions) for action, versions in pins.items()} == dict.fromkeys(pins, 1)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_only_workflows_without_strangers_code_have_secrets(file: Path) -> None:
    has_secrets = any("secrets." in text or "secrets[" in text for text in texts(read(file)))
    assert not has_secrets or on_schedule(file)


@pytest.mark.parametrize("file", SCHEDULED, ids=lambda file: file.stem)
def test_a_secret_is_in_one_step_that_runs_no_code_of_submissions(file: Path) -> None:
    workflow = read(file)
    assert not any("secrets" in text for text in texts(workflow.get("env", {})))
    for job in workflow["jobs"].values():
        assert not any("secrets" in text for text in texts(job.get("env", {})))
        runs_submissions = any("memeval evaluate" in step.get("run", "") for step in job["steps"])
        for step in job["steps"]:
            secrets = set(re.findall(r"secrets\.(\w+)", str(step)))
            assert not secrets or "pip" not in step["run"]
            if runs_submissions and secrets:
                # It stays in memeval's own process, which asks models for the system in the sandbox.
                assert secrets == {"OPENAI_API_KEY"} and "--sandbox=bwrap" in step["run"]


@pytest.mark.parametrize("file", SCHEDULED, ids=lambda file: file.stem)
def test_a_job_that_writes_or_has_keys_of_a_bucket_reads_no_cache(file: Path) -> None:
    jobs = [
        job
        for job in read(file)["jobs"].values()
        if "permissions" in job or any("secrets.MEMEVAL_" in text for text in texts(job["steps"]))
    ]
    assert jobs
    for job in jobs:
        assert not any("actions/cache" in step.get("uses", "") for step in job["steps"])
        assert not any("cache" in step.get("with", {}) for step in job["steps"])


def test_only_the_job_that_pushes_a_branch_keeps_its_credentials() -> None:
    keeping = [
        (file.stem, name)
        for file in FILES
        for name, job in read(file)["jobs"].items()
        for step in job["steps"]
        if step.get("uses", "").startswith("actions/checkout@")
        and step.get("with", {}).get("persist-credentials") is not False
    ]
    assert keeping == [("publish", "pages")]


def test_every_secret_and_variable_is_explained_in_the_guide() -> None:
    guide = (ROOT / "site" / "automation.md").read_text("utf-8")
    named = set(re.findall(r"(?:secrets|vars)\.(\w+)", "".join(file.read_text("utf-8") for file in FILES)))
    assert len(named) >= 7 and {name for name in named if f"`{name}`" not in guide} == set()


@pytest.mark.parametrize("file", [*FILES, ROOT / "action.yml"], ids=lambda file: file.stem)
def test_every_memeval_command_exists_with_its_options(file: Path) -> None:
    calls = [call for step in all_steps(file) for call in memeval_calls(step.get("run", ""))]
    assert calls or file.stem == "ci"
    for call in calls:
        parse(call)


def test_a_command_with_an_unknown_option_would_be_found() -> None:
    (call,) = memeval_calls(
        '"$RUNNER_TEMP/memeval/bin/memeval" run ${TIER:+--level="$TIER"} \\\n  --json > out || true'
    )
    assert call == ["run", "--level=1", "--json"]
    with pytest.raises(Exception, match="No such option"):
        parse(call)


def test_the_evaluation_runs_each_night_and_the_benchmarks_each_week() -> None:
    assert read(WORKFLOWS / "evaluate.yml")["on"]["schedule"] == [{"cron": "0 5 * * *"}]
    assert read(WORKFLOWS / "benchmarks.yml")["on"]["schedule"] == [{"cron": "0 6 * * 1"}]


@pytest.mark.parametrize("file", [FIRST, RESULTS], ids=lambda file: file.stem)
def test_a_check_of_pull_requests_may_only_read_has_no_token_and_installs_the_base(file: Path) -> None:
    workflow = read(file)
    assert workflow["permissions"] == {"contents": "read"}
    assert set(workflow["on"]) == {"pull_request"}
    assert not any("github.token" in text or "GITHUB_TOKEN" in text for text in texts(workflow))
    (installs,) = (step["run"] for step in steps(file) if "pip install" in step.get("run", ""))
    assert "./base" in installs and "data" not in installs


def test_the_first_half_takes_its_code_from_the_base_and_only_data_from_the_pull_request() -> None:
    assert {given["path"]: given["ref"] for given in checkouts(FIRST)} == {
        "base": "${{ github.event.pull_request.base.sha }}",
        "data": "${{ github.event.pull_request.head.sha }}",
    }


def test_the_second_half_runs_after_the_first_on_the_default_branch_and_may_only_comment() -> None:
    workflow = read(SECOND)
    assert workflow["permissions"] == {"actions": "read", "contents": "read", "pull-requests": "write"}
    assert workflow["on"] == {"workflow_run": {"workflows": [read(FIRST)["name"]], "types": ["completed"]}}
    assert checkouts(SECOND) == [{"ref": "${{ github.event.repository.default_branch }}", "persist-credentials": False}]


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
    for place in ("base/submissions", "data/submissions"):
        (tmp_path / place).mkdir(parents=True, exist_ok=True)
    for slug in slugs:
        (tmp_path / "data" / "submissions" / slug).mkdir()
        (tmp_path / "data" / "submissions" / slug / "a").touch()
    for place in ("base", "data"):
        (tmp_path / place / "submissions" / "unchanged").mkdir()
    said = 'printf "%s\\n" "$3" "$7" >> ../called\ncase "$3" in *bad*) exit 1;; esac'
    write_tool(tmp_path / "bin" / "memeval", said)
    return bash(script, tmp_path / "data", PATH=f"{tmp_path}/bin:/usr/bin:/bin")


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


def test_the_list_of_submissions_may_change_but_not_hide_a_folder(tmp_path: Path) -> None:
    (tmp_path / "file" / "data" / "submissions").mkdir(parents=True)
    (tmp_path / "file" / "data" / "submissions" / "README.md").write_text("| [good](good) |\n")
    assert changed(tmp_path / "file", "good").returncode == 0
    assert (tmp_path / "file" / "called").read_text().split() == ["submissions/good", "../reports/1.json"]
    assert changed(tmp_path / "folder", "README.md").returncode == 0
    assert (tmp_path / "folder" / "called").read_text().split() == ["submissions/README.md", "../reports/1.json"]


def test_one_bad_submission_fails_the_check_and_the_others_are_still_looked_at(tmp_path: Path) -> None:
    assert changed(tmp_path, "bad", "good").returncode == 1
    assert "submissions/good" in (tmp_path / "called").read_text()


def test_a_pull_request_that_changes_many_submissions_is_refused(tmp_path: Path) -> None:
    said = changed(tmp_path, *(f"s{number}" for number in range(6)))
    assert said.returncode == 1
    assert "at most 5" in said.stdout


def test_the_check_of_results_runs_where_results_change_and_takes_them_as_data() -> None:
    assert read(RESULTS)["on"] == {"pull_request": {"paths": ["results/**"]}}
    assert [given["path"] for given in checkouts(RESULTS)] == ["data"]


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
    write_tool(tmp_path / "bin" / "memeval", f'exec {sys.executable} -m memeval "$@"')
    scripts = [step for step in steps(RESULTS) if "run" in step and "pip install" not in step["run"]]
    for step in scripts[:-1]:
        done = bash(step["run"], workspace, PATH=f"{tmp_path}/bin:/usr/bin:/bin")
        assert done.returncode == 0, done.stderr
    assert done.stdout == "beliefs/acme/r1\n"
    assert scripts[-1]["run"] == "memeval verify results"
    assert scripts[-1]["working-directory"] == "data"
    assert (tmp_path / "base" / "results" / "ledger.jsonl").read_text() == "one\ntwo\n"


def guide_workflows() -> list[str]:
    page = (ROOT / "site" / "automation.md").read_text("utf-8")
    return [part.partition("```")[0] for part in page.split("```yaml\n")[1:]]


@pytest.mark.parametrize("text", guide_workflows(), ids=["main", "last-version"])
def test_a_workflow_for_other_repositories_has_ten_lines_and_is_what_github_reads(tmp_path: Path, text: str) -> None:
    assert len(text.splitlines()) == 10
    file = tmp_path / "memory.yml"
    file.write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", str(file)]
    assert subprocess.run(command, capture_output=True, timeout=60, check=False).returncode == 0
    action = read(ROOT / "action.yml")
    given = next(step["with"] for step in steps(file) if "memeval" in step.get("uses", ""))
    required = {name for name, field in action["inputs"].items() if field.get("required")}
    assert required <= given.keys() <= action["inputs"].keys()


def test_the_guide_explains_every_input_of_the_action() -> None:
    page = (ROOT / "site" / "automation.md").read_text("utf-8")
    table = page.partition("| input | meaning | default |")[2].partition("\n\n")[0]
    assert set(re.findall(r"`([a-z-]+)`", "".join(re.findall(r"^\|([^|]+)\|", table, re.MULTILINE)))) == set(
        read(ROOT / "action.yml")["inputs"]
    )


def act(name: str, home: Path, **variables: str) -> dict[str, str]:
    """Run a step of the action, and return its outputs."""
    (script,) = (step["run"] for step in all_steps(ROOT / "action.yml") if step["name"] == name)
    output = home / "outputs"
    output.write_text("")
    fixed = {"PATH": "/usr/bin:/bin", "RUNNER_TEMP": str(home), "GITHUB_OUTPUT": str(output)}
    fixed |= {"GITHUB_STEP_SUMMARY": str(home / "summary.md")}
    done = bash(script, home, "--noprofile", "--norc", **fixed | variables)
    assert done.returncode == 0, done.stderr
    return dict(line.split("=", 1) for line in output.read_text().splitlines())


def test_the_action_gives_its_inputs_to_one_command_and_leaves_out_empty_ones(tmp_path: Path) -> None:
    write_tool(tmp_path / "memeval" / "bin" / "memeval", 'printf "%s\\n" "$@" > "$RUNNER_TEMP/called"')
    evil = "a b; touch x,$(touch y).py"
    names = act("Name the folders", tmp_path, SYSTEM=evil)
    assert re.fullmatch("[0-9a-f]{16}", names["id"]) and Path(names["baseline"]).is_dir()
    inputs = {"SYSTEM": evil, "BENCHMARKS": "beliefs@2", "TIER": "", "READER": "", "LIMIT": "20", "PYTHON": ""}
    inputs |= {"JUDGE": "rules", "BUDGET": "1", "SANDBOX": "auto"}
    act("Run and check", tmp_path, **inputs, RESULTS=names["results"], BASELINE=names["baseline"])
    called = (tmp_path / "called").read_text().splitlines()
    assert called[:5] == ["evaluate", f"--systems={evil}", "--benchmarks=beliefs@2", "--pull-data", "--limit=20"]
    assert not any(word.startswith(("--tier", "--reader", "--python")) for word in called)
    folders = {f"--to={names['results']}", f"--results={names['results']}"}
    assert {f"--baseline={names['baseline']}", "--fresh"} | folders <= set(called)
    parse(called)
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["called", "outputs"]


def test_the_action_measures_the_last_release_of_each_system_and_compares_with_it(tmp_path: Path) -> None:
    said = 'printf "%s\\n" "$*" >> "$RUNNER_TEMP/called"\nexit "$([ $1 = data ] && echo 2 || echo 0)"'
    write_tool(tmp_path / "memeval" / "bin" / "memeval", said)
    inputs = {"SYSTEM": "one,two words", "BENCHMARKS": "beliefs@2,locomo@1", "TIER": "fair", "READER": "", "LIMIT": ""}
    inputs |= {"JUDGE": "rules", "BUDGET": "1", "SANDBOX": "auto", "RESULTS": "out"}
    act("Measure the last released version", tmp_path, **inputs)
    tracks = "--last=1 --benchmark=beliefs@2//fair --benchmark=locomo@1//fair"
    rest = "--judge=rules --max-cost-usd=1 --sandbox=auto --results=out"
    assert (tmp_path / "called").read_text().splitlines() == [
        "data pull beliefs@2 --accept-licence",
        "data pull locomo@1 --accept-licence",
        f"history one {tracks} {rest}",
        f"history two words {tracks} {rest}",
    ]
    steps_by_name = {step["name"]: step for step in all_steps(ROOT / "action.yml")}
    assert steps_by_name["Measure the last released version"]["if"] == "${{ inputs.baseline == 'last-version' }}"
    compared = steps_by_name["Run and check"]["env"]["BASELINE"]
    assert compared == "${{ inputs.baseline || steps.names.outputs.baseline }}"


def test_the_action_replaces_the_old_baseline(tmp_path: Path) -> None:
    results, baseline = tmp_path / "results", tmp_path / "baseline"
    for folder, name in ((results, "new"), (baseline, "old")):
        (folder / name).mkdir(parents=True)
    act("Make the runs the next baseline", tmp_path, RESULTS=str(results), BASELINE=str(baseline))
    assert [path.name for path in baseline.iterdir()] == ["new"]
