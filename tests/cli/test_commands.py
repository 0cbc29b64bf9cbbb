"""The command line as its users meet it: what is printed, where, and with which exit code."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from memeval.archive.runs import RunFolder, sealed_runs
from memeval.local import catalogue
from memeval.records.errors import ExitCode
from tests.support.adapters import plain_adapter
from tests.support.calling import Call
from tests.support.tiny_model import NAME, gguf, pin

SMALL = ("--benchmark", "beliefs@2", "--parameter", "size=1")


def ran(call: Call, folder: Path, system: str = "always-hedge") -> RunFolder:
    """Return the one run of a system, made here."""
    call("run", system, *SMALL)
    (run,) = sealed_runs(folder / "results")
    return run


def test_a_run_prints_its_folder_and_nothing_else_on_standard_output(call: Call, tmp_path: Path) -> None:
    said = call("run", "no-memory", *SMALL)
    (run,) = sealed_runs(tmp_path / "results")
    assert said.done == f"{run.path.relative_to(tmp_path)}\n"
    assert "composite 0.0" in said.err and "12/12 items" in said.err


def test_what_a_run_leaves_can_be_verified_reproduced_and_entered_in_the_ledger(call: Call, tmp_path: Path) -> None:
    run = ran(call, tmp_path)
    name = run.run.run_id
    lines = ["digests", "track", "system", "rows", "contexts", "scores", "judgments", "calls", "clocks", "control"]
    assert call("verify") == (0, "".join(f"{line:13}ok: 1 run\n" for line in lines), "")
    assert call("verify", name)[1].splitlines()[:2] == ["digests      ok: 1 run", "track        ok: 1 run"]
    assert call("reproduce", name).done.endswith(": equal\n")
    assert call("ledger", "accept", name, "--reason", "a test", "--by", "me", "--runner", "maintainer")[0] == 0
    assert call("ledger", "reproduce", name, "--by", "me")[0] == 0
    shown = json.loads(call("ledger", "show", "--json").done)
    assert [(line["event"], line["by"]) for line in shown] == [("accepted", "me"), ("reproduced", "me")]
    assert call("verify")[0] == 0


def test_an_entry_that_adds_nothing_is_not_written_twice(call: Call, tmp_path: Path) -> None:
    run = ran(call, tmp_path)
    name, ledger = run.run.run_id, tmp_path / "results" / "ledger.jsonl"
    accept = ("ledger", "accept", name, "--by", "me", "--reason")
    assert call(*accept, "a test")[:2] == (ExitCode.DONE, f"accepted {name}\n")
    before = ledger.read_bytes()
    day = json.loads(before)["at"][:10]
    assert call(*accept, "another reason")[:2] == (
        ExitCode.DONE,
        f"already accepted {name} on {day} by me. Nothing was added.\n",
    )
    assert ledger.read_bytes() == before
    assert call(*accept, "I ran it", "--runner", "maintainer")[1] == f"accepted {name}\n"
    assert "already accepted" in call(*accept, "as before")[1]
    for number in range(2):
        assert ("already reproduced" in call("ledger", "reproduce", name, "--by", "me")[1]) is bool(number)
        assert ("already invalidated" in call("ledger", "invalidate", name, "--reason", "x", "--by", "me")[1]) is bool(
            number
        )
    assert call("ledger", "invalidate", name, "--reason", "y", "--by", "me")[1] == f"invalidated {name}\n"
    assert len(ledger.read_bytes().splitlines()) == 5


def test_an_incomplete_last_line_of_the_ledger_is_named_and_stops_nothing(call: Call, tmp_path: Path) -> None:
    run = ran(call, tmp_path)
    name, ledger = run.run.run_id, tmp_path / "results" / "ledger.jsonl"
    call("ledger", "accept", name, "--reason", "a test", "--by", "me")
    whole = ledger.read_bytes()
    ledger.write_bytes(whole + whole[:50])
    note = "memeval: results/ledger.jsonl:2: the last line is incomplete (50 bytes)."
    for words in (("ledger", "show"), ("verify",), ("site", "build"), ("publish", "--to", "public", "--dry-run")):
        assert call(*words)[::2] == (ExitCode.DONE, f"{note} It is ignored, and the next entry replaces it.\n")
    assert call("ledger", "reproduce", name, "--by", "me")[::2] == (ExitCode.DONE, f"{note} It was removed.\n")
    assert ledger.read_bytes().startswith(whole)
    assert call("verify")[::2] == (ExitCode.DONE, "")


@pytest.mark.parametrize(
    ("to", "said"),
    [
        ("s3://bucket/board", "there are no credentials for the bucket"),
        ("git:pages", "this folder is not in a Git repository. Run 'git init' first."),
        ("S3://bucket", "is neither a folder nor a bucket"),
        ("gs://bucket", "is neither a folder nor a bucket. Write DIR, s3://BUCKET/PREFIX or git:BRANCH."),
        ("https://host/x", "is neither a folder nor a bucket"),
    ],
)
def test_an_unusable_target_is_refused_before_anything_is_written(
    call: Call, tmp_path: Path, to: str, said: str
) -> None:
    call("run", "always-hedge", *SMALL)
    before = sorted(tmp_path.rglob("*"))
    assert call("publish", "--to", to).fails(said)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_run_gives_way_only_to_another_of_its_own_system(call: Call, tmp_path: Path) -> None:
    call("run", "no-memory", *SMALL, "--repeat", "2")
    call("run", "always-hedge", *SMALL)
    hedge, old, new = (run.run.run_id for run in sealed_runs(tmp_path / "results"))
    for other, said in ((old, "both arguments name the same run"), (hedge, "are of different systems or benchmarks")):
        assert call("ledger", "supersede", old, other, "--reason", "x", "--by", "me").fails(said)
    assert not (tmp_path / "results" / "ledger.jsonl").exists()
    assert call("ledger", "supersede", old, new, "--reason", "x", "--by", "me")[0] == ExitCode.DONE


def test_what_others_wrote_into_the_ledger_does_not_move_the_terminal(call: Call, tmp_path: Path) -> None:
    run = ran(call, tmp_path, "no-memory")
    call("ledger", "invalidate", run.run.run_id, "--reason", "\x1b[2J\u202e", "--by", "me")
    assert call("ledger", "show")[1].endswith("by me: \\x1b[2J\\u202e  [not signed]\n")


def test_machines_get_json(call: Call, tmp_path: Path) -> None:
    call("run", "always-hedge", *SMALL)
    verified = json.loads(call("verify", "--json")[1])
    assert (verified["runs"], verified["findings"]) == (1, [])
    assert verified["checks"][0] == {"name": "digests", "ok": 1, "failed": 0, "not_checked": {}}
    (report,) = json.loads(call("reproduce", "results", "--json")[1])
    assert (report["equal"], report["grades"]) == (True, 12)


def test_an_edited_run_fails_verify_with_exit_code_1(call: Call, tmp_path: Path) -> None:
    run = ran(call, tmp_path, "no-memory")
    head = run.path / "run.json"
    head.write_text(head.read_text().replace('"correct": 0', '"correct": 9'), encoding="utf-8")
    said = call("verify")
    assert said.fails("1 problem in 1 run", code=ExitCode.CHECK_FAILED) and "run.json: scores." in said.out
    assert call("publish", "--to", "public")[0] == ExitCode.CHECK_FAILED
    assert not (tmp_path / "public").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("run", "nobody"), "there is no system called 'nobody'"),
        (("run", "no-memry"), "Did you mean 'no-memory'?"),
        (("run", "missing.py"), "file or folder not found"),
        (("run", "no-memory", "--benchmark", "belief"), "Did you mean 'beliefs'?"),
        (("run", "no-memory", "--benchmark", "beliefs@9"), "beliefs has no version '9'"),
        (("run", "no-memory", *SMALL, "--tier", "huge"), "has no tier 'huge'"),
        (("run", "no-memory", *SMALL, "--protocol", "f1"), "has no protocol 'f1'"),
        (("run", "no-memory", *SMALL, "--judge", "gpt"), "there is no judge 'gpt'"),
        (
            ("run", "no-memory", *SMALL, "--judge", "rules@7"),
            "there is no judge 'rules@7'. Use --judge rules, which is rules@3.",
        ),
        (("run", "no-memory", *SMALL, "--judge", "\x1b[2J"), "there is no judge '\\x1b[2J'"),
        (("run", "no-memory", *SMALL, "--ask-seconds", "nan"), "invalid --ask-seconds nan. Give a number"),
        (("run", "no-memory", *SMALL, "--ask-seconds", "inf"), "invalid --ask-seconds inf. Give a number"),
        (("run", "no-memory", "--benchmark", "beliefs", "--parameter", "size=--5"), "invalid size=--5"),
        (("run", "no-memory", "--benchmark", "beliefs", "--parameter", "size=" + 5000 * "9"), "a whole number"),
        (("run", "no-memory", *SMALL, "--reader", "me"), "there is no reader 'me'"),
        (("run", "bm25", *SMALL, "--reader", "native"), "has no method 'query'"),
        (("run", "no-memory", *SMALL, "--max-refusals", "-1"), "--max-refusals"),
        (("run", "no-memory", *SMALL, "--max-refusals", "x"), "--max-refusals"),
        (("run", "no-memory", *SMALL, "--repeat", "0"), "--repeat is 0"),
        (("run", "no-memory", "--sandbox", "docker"), "'--sandbox': 'docker' is not one of"),
        (
            ("run", "no-memory", "--benchmark", "beliefs", "--parameter", "size"),
            "invalid --parameter 'size'. Write NAME=VALUE",
        ),
        (("run", "no-memory", "--benchmark", "beliefs", "--parameter", "colour=red"), "colour"),
        (("run", "no-memory", "--data", "x"), "--data needs one benchmark"),
        (("run", "no-memory", "--benchmark", "deepmemeval", "--data", "nowhere.json"), "nowhere.json"),
        (("run", "no-memory", *SMALL, "--python", "nowhere/python"), "cannot be run"),
        (("verify", "nowhere"), "no finished run nowhere"),
        (("verify", "."), "no finished run found"),
        (("reproduce", "nowhere"), "no finished run nowhere"),
        (("ledger", "accept", "nowhere", "--reason", "x"), "no finished run nowhere"),
        (("data", "pull", "beliefs"), "needs no download"),
        (("site", "serve", "--site", "nowhere"), "no site here"),
        (("publish", "--to", "public"), "no finished run to publish"),
        (("frobnicate",), "No such command"),
        (("run",), "Missing argument"),
    ],
)
def test_a_wrong_call_gets_a_sentence_and_exit_code_2(call: Call, words: tuple[str, ...], said: str) -> None:
    found = call(*words)
    assert found.fails(said) and found.out == ""


def test_a_refusal_of_several_lines_is_shown_in_lines_and_moves_no_terminal(call: Call, tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("name: x\nretain:\n  - {content: 1}\n  - {text: a}\n")
    code, out, err = call("run", "no-memory", "--benchmark", "astrocyte-suite", "--data", "bad.yaml")
    assert (code, out) == (ExitCode.BAD_INPUT, "")
    first, *others = err.splitlines()
    assert first.startswith("memeval: bad.yaml:")
    assert others
    assert all(line.startswith("  bad.yaml:") for line in others)
    assert "\x1b" not in call("run", "no\x1b[31m-memory").err


@pytest.mark.skipif(sys.platform != "linux", reason="needs a file system that nobody may write to: /proc")
def test_a_results_folder_that_is_read_only_is_named(call: Call) -> None:
    assert call("run", "no-memory", *SMALL, "--results", "/proc/memeval").fails("cannot be written", "--results")


def test_the_most_frequent_error_is_named_not_the_first(call: Call, tmp_path: Path) -> None:
    counted = "global asked; asked = globals().get('asked', 0) + 1"
    raised = f"{counted}; raise (KeyError('first') if asked == 1 else ValueError(f'{{asked}} usual'))"
    code, _, err = call("run", str(plain_adapter(tmp_path, on_query=raised)), *SMALL)
    assert code == ExitCode.CHECK_FAILED
    assert re.search(r"12 of 12 items failed \(11: .*ValueError: \d+ usual", err) and "(all" not in err


def test_a_run_written_by_a_later_memeval_is_named_and_left_alone(call: Call, tmp_path: Path) -> None:
    run = ran(call, tmp_path, "no-memory")
    head = run.path / "run.json"
    text = head.read_text().replace('"schema_version": 1', '"schema_version": 7')
    head.write_text(text, encoding="utf-8")
    for words in (("verify",), ("reproduce", str(run.path)), ("site", "build"), ("run", "no-memory", *SMALL)):
        code, out, err = call(*words)
        assert code != 0, words
        assert "Update memeval" in out + err, words
    assert head.read_text() == text


def test_a_system_that_fails_every_item_exits_1_and_a_control_does_not(call: Call, tmp_path: Path) -> None:
    adapter = str(plain_adapter(tmp_path, on_query="raise ValueError('no')"))
    said = call("run", adapter, *SMALL)
    assert said.fails(
        "not ranked: 12 of 12 items failed; composite 0.0",
        "12 of 12 items failed (all: ",
        "A run with more than 2 % errors is not ranked. Fix the system and run again.",
        "raised ValueError: no",
        code=ExitCode.CHECK_FAILED,
    )
    assert said.out.startswith("results/beliefs/plain/")
    assert call("run", adapter, *SMALL, "--limit", "6")[0] == ExitCode.CHECK_FAILED
    assert call("run", adapter, *SMALL, "--limit", "6", "--keep-going")[0] == ExitCode.DONE
    assert call("run", "always-error", *SMALL)[0] == ExitCode.DONE


def test_a_run_names_the_other_protocols_that_the_system_can_take(call: Call) -> None:
    code, _, err = call("run", "careful-store", "--benchmark", "lifecycle@1", "--parameter", "size=1")
    assert code == ExitCode.DONE
    (line,) = (line for line in err.splitlines() if "Its methods also fit:" in line)
    assert "banks (One bank for each user), export (Export after deletion)" in line and "search" not in line


def test_repeat_makes_so_many_runs_of_one_fingerprint(call: Call, tmp_path: Path) -> None:
    _, out, _ = call("run", "no-memory", *SMALL, "--repeat", "2", "--sandbox", "bwrap")
    assert len(out.splitlines()) == 2
    runs = sealed_runs(tmp_path / "results")
    assert len({run.run.fingerprint for run in runs}) == 1
    assert len({run.run.run_id for run in runs}) == 2


def test_an_empty_folder_becomes_a_board_and_a_full_one_is_refused(call: Call, tmp_path: Path) -> None:
    out = call("init", "board").done
    assert out.startswith("created a board in board. Next steps:") and "cd board" in out
    assert (tmp_path / "board" / "results").is_dir()
    assert call("init", "board").fails("not empty")


def interrupted(**_settings: object) -> None:
    raise KeyboardInterrupt


def test_schemas_are_written_and_their_drift_is_caught(call: Call, tmp_path: Path) -> None:
    assert call("schema", "schemas")[0] == 0
    assert call("schema", "schemas", "--check")[0] == 0
    (tmp_path / "schemas" / "run.schema.json").write_bytes(b"\xff{}")
    assert call("schema", "schemas", "--check").fails("run.schema.json", code=1)
    (tmp_path / "file").touch()
    assert call("schema", "file/schemas").fails("cannot be written (Not a directory)")


def test_only_a_command_that_goes_on_says_so_when_it_is_interrupted(
    call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memeval.cli.main.command_of", lambda *_words: interrupted)
    for words, said in (
        (("run", "bm25"), "interrupted. Progress saved."),
        (("archive", "push", "--all"), "interrupted. Progress saved."),
        (("archive", "prune", "--yes"), "interrupted.\n"),
        (("compare", "run", "run"), "interrupted.\n"),
        (("ledger", "rerun", "run"), "interrupted.\n"),
    ):
        assert call(*words).fails(said, code=ExitCode.INTERRUPTED)


def test_generated_data_keeps_scenarios_and_keys_apart(call: Call, tmp_path: Path) -> None:
    assert "12 items" in call("data", "generate", "beliefs@2", "--parameter", "size=1", "--to", "made").done
    scenarios = (tmp_path / "made" / "scenarios.jsonl").read_text()
    assert len(scenarios.splitlines()) == 1
    assert '"phrases"' not in scenarios and '"category"' not in scenarios
    assert len((tmp_path / "made" / "keys.jsonl").read_text().splitlines()) == 12


def test_a_refusal_shows_its_traceback_only_on_request(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "memeval"]
    plain = subprocess.run([*command, "run", "nobody"], capture_output=True, text=True, check=False, cwd=tmp_path)
    asked = subprocess.run(
        [*command, "--debug", "run", "nobody"], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert "Traceback" not in plain.stderr
    assert "Traceback" in asked.stderr


def test_output_that_nobody_reads_is_no_crash(tmp_path: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "memeval", "data", "list"]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, check=False, cwd=tmp_path)
    os.close(write)
    assert "Traceback" not in done.stderr


def test_the_doctor_checks_the_settings_of_the_board(call: Call, tmp_path: Path) -> None:
    (tmp_path / "memeval.toml").write_text('benchmarks = ["beliefs@2"]\n')
    assert f"\nSettings: {tmp_path}/memeval.toml is valid.\n" in call("doctor")[1]
    (tmp_path / "memeval.toml").write_text('\nbenchmarks = ["belief@1"]\n')
    assert f"\nSettings: {tmp_path}/memeval.toml:2: " in call("doctor")[1]


def test_the_doctor_says_what_is_here(call: Call) -> None:
    version, summary, *others = call("doctor").done.splitlines()
    assert version.startswith("memeval ")
    assert "benchmarks ready to run, " in summary and "need data: memeval data pull NAME" in summary
    assert ["beliefs@2", "ready"] in [line.split() for line in others]


def test_the_doctor_lists_the_models_of_this_machine(
    call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    weights = pin(monkeypatch, tmp_path, gguf())
    monkeypatch.setattr(catalogue, "ENGINES", {"chat": ("no-such-engine",), "embeddings": ("no-such-engine",)})
    assert f"  {NAME}                   ready: local:{NAME}\n" in (out := call("doctor")[1])
    assert "  smollm2-135m           missing: memeval model pull smollm2-135m\n" in out
    assert "  engine for chat        missing. Install it: pip install 'memeval-leaderboard[local]'" in out
    weights.write_bytes(weights.read_bytes()[:-1])
    assert f"the file has another size; fetch it again: memeval model pull {NAME}\n" in call("doctor")[1]
    weights.unlink()
    assert f"missing: memeval model pull {NAME}\n" in call("doctor")[1]


def test_the_version_is_printed(call: Call) -> None:
    assert call("--version").done.startswith("memeval ")
