"""``memeval check`` as its users call it: exit codes, formats, hooks, and what a ledger accepts."""

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from memeval import api
from memeval.archive.ledger import Ledger
from memeval.archive.runs import RunFolder
from memeval.cli import hooks
from memeval.cli.check_formats import annotations_of, summary_of
from memeval.cli.project import schemas
from memeval.records.ledger import LedgerEvent
from memeval.records.track import CategoryPlan
from tests.support.calling import Call
from tests.support.http_server import Call as Request
from tests.support.http_server import serving
from tests.support.runs import make_run, make_track

RESULTS = Path("results")


@pytest.fixture
def call(call: Call) -> Call:
    return lambda *words, command=("check",): call(*command, *words)


def stored(day: int, right: int, *, accepted: bool = True, **more: Any) -> RunFolder:
    started = f"2026-11-{day:02}T10:00:00.000+00:00"
    folder = make_run(RESULTS, "acme", {"kept": 50, "changed": right}, started=started, **more)
    if accepted:
        Ledger(RESULTS).append(LedgerEvent.ACCEPTED, folder, by="me", reason="a test")
    return folder


def regression() -> str:
    """Store an accepted run and a worse one; return the id of the latter."""
    stored(1, 45)
    return stored(2, 20).run.run_id


def settings(text: str) -> None:
    Path("memeval.toml").write_text(f"[check]\n{text}\n", encoding="utf-8")


def test_a_regression_ends_with_1_and_says_what_dropped(call: Call) -> None:
    said = call(regression())
    assert said.code == 1
    assert "baseline: mean of 1 accepted run" in said.out and "thin: 5 are asked for" in said.out
    (line,) = [line.split() for line in said.out.splitlines() if line.startswith("  changed")]
    assert line[:5] == ["changed", "90.0", "40.0", "-50.0", "points,"]
    assert line[-2:] == ["regression", "(critical)"]
    assert "corrected for 4 tests (step-down max-T)" in said.out
    assert said.err == "memeval: Regression: composite, changed.\n"


def test_no_drop_ends_with_0_and_annotations_are_printed_on_request(call: Call) -> None:
    stored(1, 45)
    run = stored(2, 45).run.run_id
    said = call(run)
    assert (said.code, said.err) == (0, "") and said.out.endswith("Passed: no metric passed its limit.\n")
    assert [call(run, *words).out.count("::notice ") for words in ((), ("--annotations", "github"))] == [0, 1]


def test_no_baseline_is_said_and_fails_only_if_one_is_required(call: Call) -> None:
    run = stored(1, 45).run.run_id
    assert "No baseline: nothing was compared." in call(run).done
    assert call(run, "--require-baseline").code == 1
    settings("require_baseline = true")
    assert call(run).err.startswith("memeval: no baseline. Accept an earlier run")


def test_a_baseline_of_another_track_ends_with_2(call: Call) -> None:
    other = stored(1, 30, track=make_track(items=40))
    said = call(stored(2, 45).run.run_id, "--baseline", other.run.run_id)
    assert said.fails("is on another track. Different: categories.")


def test_json_is_one_record_with_a_schema(call: Call) -> None:
    said = call(regression(), "--json", "--annotations", "github")
    record = json.loads(said.out)
    jsonschema.validate(record, schemas()["check"])
    assert (record["status"], record["baseline"]["thin"], record["tests"]) == ("regression", True, 4)
    assert [m["metric"] for m in record["metrics"]][:3] == ["composite", "kept", "changed"]
    assert record["metrics"][2]["delta_percent"] == pytest.approx(100 * record["metrics"][2]["delta_fraction"])
    assert said.err.startswith("::error title=memeval check%3A acme%3A regression::composite fell from 95.0 to 70.0 (")


def test_names_from_outside_cannot_leave_an_annotation_or_a_table_cell(call: Call) -> None:
    evil = "x|<b>@you\n::error::y [a](https://e.example) `c` %0A"
    track = make_track(categories=tuple(CategoryPlan(name=n, weight=0.5, items=50, grader="g") for n in ("kept", evil)))
    make: dict[str, Any] = {"track": track, "version": evil.replace("\n", "")}  # no file can have a line break there
    before = make_run(RESULTS, "acme", {"kept": 50, evil: 45}, started="2026-11-01T10:00:00.000+00:00", **make)
    now = make_run(RESULTS, "acme", {"kept": 50, evil: 10}, started="2026-11-02T10:00:00.000+00:00", **make)
    checked = api.check(now, before.run.run_id)
    lines = list(annotations_of(checked))
    assert len(lines) == 2 and all(line.startswith("::error title=") and "\n" not in line for line in lines)
    assert "%250A" in lines[1]
    summary = summary_of(checked)
    assert not any(part in summary for part in ("<b>", "@you", "](", "`c`", "https://", "\n::error"))
    cells = {line.count("|") for line in summary.splitlines() if line.startswith("|")}
    assert cells == {8}
    said = call(now.run.run_id, "--baseline", before.run.run_id)
    assert "\n::error::y" not in said.out + said.err


def test_the_summary_is_appended_and_a_failure_to_write_it_is_a_warning(call: Call) -> None:
    run = regression()
    Path("summary.md").write_text("before\n", encoding="utf-8")
    assert call(run, "--summary", "summary.md").code == 1
    text = Path("summary.md").read_text(encoding="utf-8")
    assert text.startswith("before\n### memeval check: regression\n") and "| changed | 90.0 | 40.0 |" in text
    assert call(run, "--summary", "no/such/folder.md").fails("the summary was not written", code=1)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("category_points = -1", "check.category_points"),
        ("overall_points = nan", "check.overall_points"),
        ("relative_percent = 101", "check.relative_percent"),
        ("baseline_runs = 0", "check.baseline_runs"),
        ("significance_percent = 0", "check.significance_percent"),
        ('warn_only = ["latency"]', "check.warn_only"),
        ("catgory_points = 1", "Did you mean 'category_points'?"),
        ('on_regression = "http://example.com/hook"', "needs an HTTPS address"),
        ('on_regression = "https://user:secret@example.com/"', "needs an HTTPS address"),
        ("on_regression = []", "the command is empty"),
    ],
)
def test_settings_that_make_no_sense_are_refused(call: Call, line: str, problem: str) -> None:
    run = stored(1, 45).run.run_id
    settings(line)
    said = call(run)
    assert said.fails(problem, "memeval.toml") and "secret" not in said.err


def test_limits_come_from_the_settings(call: Call) -> None:
    run = regression()
    settings("relative_percent = 90\noverall_points = 60\ncategory_points = 60")
    assert "60 points or 90 %" in call(run).done


def test_the_smallest_drops_that_are_found_are_printed(call: Call) -> None:
    run = stored(1, 45).run.run_id
    table = call(run, "--power").done
    assert "composite" in table and "10 % noise" in table
    record = json.loads(call(run, "--power", "--json").out)
    assert [each["metric"] for each in record["drops"]] == ["composite", "kept", "changed"]
    assert 0.03 < record["drops"][1]["quiet"] < 0.5


@dataclass
class Hook:
    """A webhook that fails the first requests."""

    url: str
    failures: list[int]
    requests: list[tuple[dict[str, str], bytes]] = field(default_factory=list)


@pytest.fixture
def hook(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hook]:
    monkeypatch.setattr(hooks, "FIRST_WAIT", 0.01)
    monkeypatch.setenv("MEMEVAL_WEBHOOK_SECRET", "s3cret")
    hook = Hook("", [])

    def take(request: Request) -> None:
        hook.requests.append((dict(request.headers), request.body()))
        status = hook.failures.pop(0) if hook.failures else 204
        request.reply(status, headers={"Location": f"{hook.url}?elsewhere"} if status == 302 else {})

    with serving(take) as url:
        hook.url = f"{url}/hook-token"
        yield hook


def test_a_webhook_receives_the_signed_result_after_retries(call: Call, hook: Hook) -> None:
    hook.failures += [503, 429]
    said = call(regression(), "--on-regression", hook.url)
    assert said.code == 1 and "warning" not in said.err
    assert len(hook.requests) == 3
    headers, body = hook.requests[-1]
    assert json.loads(body)["status"] == "regression"
    signature = hooks.signature_of("s3cret", headers["X-Memeval-Timestamp"], body)
    assert headers["X-Memeval-Signature"] == f"sha256={signature}"


@pytest.mark.parametrize(("failures", "requests"), [([500] * 9, hooks.TRIES), ([404] * 9, 1), ([302] * 9, 1)])
def test_a_webhook_that_is_down_is_one_warning_and_no_pass(
    call: Call, hook: Hook, failures: list[int], requests: int
) -> None:
    hook.failures += failures
    said = call(regression(), "--on-regression", hook.url)
    assert (said.code, len(hook.requests)) == (1, requests)
    assert said.err.count("warning") == 1 and f"(status {failures[0]})" in said.err
    assert "hook-token" not in said.err and "s3cret" not in said.err


def test_no_server_and_no_secret_are_warnings_too(call: Call, hook: Hook, monkeypatch: pytest.MonkeyPatch) -> None:
    run = regression()
    said = call(run, "--on-regression", "http://127.0.0.1:1/hook-token")
    assert said.fails("the webhook at http://127.0.0.1 failed (ConnectionRefusedError)", code=1)
    monkeypatch.delenv("MEMEVAL_WEBHOOK_SECRET")
    assert call(run, "--on-regression", hook.url).fails("MEMEVAL_WEBHOOK_SECRET is not set", code=1)
    assert not hook.requests


def test_a_command_receives_the_result_and_is_never_a_shell(call: Call) -> None:
    run = regression()
    code = "import sys; open(sys.argv[1], 'w').write(sys.stdin.read()); print('done')"
    settings(f"on_regression = {json.dumps([sys.executable, '-c', code, 'got.json; touch evil'])}")
    said = call(run, "--json")
    assert said.code == 1 and json.loads(said.out)["status"] == "regression"
    assert json.loads(Path("got.json; touch evil").read_text())["run_id"] == run
    assert not Path("evil").exists()


@pytest.mark.parametrize(
    ("command", "problem"),
    [("no-such-program", "cannot be started (No such file"), ("false", "failed with exit code 1")],
)
def test_a_command_that_fails_is_one_warning(call: Call, command: str, problem: str) -> None:
    said = call(regression(), "--on-regression", command)
    assert said.fails(problem, code=1) and said.err.count("warning") == 1


def test_a_command_on_the_command_line_may_be_a_list(call: Call, tmp_path: Path) -> None:
    code = "import json, sys; open(sys.argv[1], 'w').write(json.load(sys.stdin)['system'])"
    command = json.dumps([sys.executable, "-c", code, str(tmp_path / "two words")])
    said = call(regression(), "--on-regression", command)
    assert (said.code, "warning" in said.err, (tmp_path / "two words").read_text()) == (1, False, "acme")


def test_hooks_run_only_for_a_regression_and_can_be_switched_off(call: Call) -> None:
    stored(1, 45)
    settings(f"on_regression = {json.dumps([sys.executable, '-c', 'open(chr(120), chr(119))'])}")
    assert call(stored(2, 45).run.run_id).code == 0
    assert call(stored(3, 20, accepted=False).run.run_id, "--on-regression", "none").code == 1
    assert not Path("x").exists()


def test_a_regression_is_accepted_only_with_the_flag_and_the_ledger_says_so(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memeval.evaluation.verify.verification.verify_run", lambda _folder: [])
    stored(1, 45)
    run = stored(2, 20, accepted=False).run.run_id
    accept = ("ledger", "accept")
    said = call(run, "--reason", "new model", command=accept)
    assert said.fails("the run is a regression (composite, changed).", "add --regressed and give the reason", code=1)
    later = stored(3, 20, accepted=False)
    found = api.check(later)
    assert found.baseline is not None and run not in found.baseline.runs
    assert call(run, "--reason", "new model", "--regressed", command=accept).code == 0
    assert Ledger(RESULTS).entries()[-1].reason == "regression accepted (composite, changed): new model"
    found = api.check(later)
    assert found.baseline is not None and found.baseline.runs[0] == run


def test_a_slow_decay_fails_with_its_comparison_in_every_output(call: Call, tmp_path: Path) -> None:
    for night in range(1, 12):
        stored(night, 46 - night)
    run = stored(12, 34).run.run_id
    said = call(run, "--annotations", "github", "--summary", "summary.md")
    assert said.code == 1 and "drift: line through 12 runs, from " in said.out
    assert "p: one-sided paired test, corrected for 3 tests (step-down max-T). A loss counts if p < 0.01" in said.out
    assert "::error" in said.out and "Regression: composite (drift), changed (drift)." in said.out
    assert "line through 12 runs" in Path("summary.md").read_text(encoding="utf-8")
    assert "Holm" not in said.out
