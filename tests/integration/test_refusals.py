"""Endpoints that refuse every request: the run stops before it is sealed, says why, and resumes after the fix."""

from pathlib import Path
from typing import Any

from memeval.archive.runs import RunFolder, sealed_runs
from memeval.records.errors import ExitCode
from memeval.records.response import Outcome
from tests.support.adapters import plain_adapter
from tests.support.calling import Said
from tests.support.commands import memeval
from tests.support.model_server import ModelServer, reasoning_only

SMALL = ("--benchmark", "beliefs@2", "--parameter", "size=2")
JUDGE = ("--judge", "openai:gpt-4o", "--judge-label", "loopback")
KEY = "sk-a-key-that-nobody-may-ever-see-0123456789"
UNVERIFIED = {"message": "Your organization must be verified to use this model.", "type": "invalid_request_error"}


def run(place: Path, server: ModelServer, *words: str, **variables: str) -> Said:
    return memeval("run", *words, *SMALL, where=place, OPENAI_BASE_URL=server.url, OPENAI_API_KEY=KEY, **variables)


def test_a_judge_that_refuses_every_request_stops_the_run_and_the_same_command_finishes_it(tmp_path: Path) -> None:
    words = (str(plain_adapter(tmp_path)), *JUDGE)
    with ModelServer() as server:
        server.refuses = lambda _body: UNVERIFIED if len(server.answered) >= 6 else None
        said = run(tmp_path, server, *words, "--judge-concurrency", "1")
        assert said.code == ExitCode.BAD_INPUT, said.err
        assert (
            f"the judge's endpoint {server.url} refused 5 requests in a row (400): Your organization must be verified"
            in said.err
        )
        assert "Run the same command to resume" in said.err
        assert not sealed_runs(tmp_path / "results")
        assert server.requests == 11
        server.refuses = lambda _body: None
        said = run(tmp_path, server, *words)
        assert said.code == ExitCode.DONE, said.err
    assert set(server.answered.values()) == {1}, "nothing is paid for twice"
    assert RunFolder(tmp_path / said.folder).run.scores.overall.errors == 0


def test_a_reader_that_refuses_every_request_stops_the_run_and_retry_errors_leaves_no_error(tmp_path: Path) -> None:
    words = ("bm25", "--reader", "openai:gpt-4o")
    with ModelServer(refuses=lambda _body: UNVERIFIED) as server:
        said = run(tmp_path, server, *words)
        assert said.code == ExitCode.BAD_INPUT, said.err
        assert f"the reader's endpoint {server.url} refused 5 requests in a row (400)" in said.err
        assert "Run the same command with --retry-errors to resume" in said.err
        assert not sealed_runs(tmp_path / "results")
        server.refuses = lambda _body: None
        said = run(tmp_path, server, *words, "--retry-errors")
        assert said.code == ExitCode.DONE, said.err
    folder = RunFolder(tmp_path / said.folder)
    assert folder.run.scores.overall.errors == 0
    assert sum(row.outcome is Outcome.READER_ERROR for row in folder.responses()) <= 4


def test_a_run_above_the_error_gate_is_not_ranked_and_retry_errors_mends_it(tmp_path: Path) -> None:
    words = (str(plain_adapter(tmp_path)), *JUDGE, "--max-refusals", "0")
    with ModelServer(refuses=lambda _body: UNVERIFIED) as server:
        said = run(tmp_path, server, *words)
        assert said.code == ExitCode.CHECK_FAILED, said.err
        assert "not ranked: " in said.err
        assert "of 23 items failed (all: The judge gave no reply: The endpoint" in said.err
        assert "composite 0.0 [0.0" in said.err
        assert "Check the judge's endpoint, then run the same command with --retry-errors." in said.err
        assert memeval("reproduce", "results", where=tmp_path).code == ExitCode.DONE
        server.refuses = lambda _body: None
        said = run(tmp_path, server, *words, "--retry-errors")
        assert said.code == ExitCode.DONE, said.err
    assert RunFolder(tmp_path / said.folder).run.scores.overall.errors == 0


def test_a_reasoning_model_reads_and_judges_and_its_settings_are_part_of_the_track(tmp_path: Path) -> None:
    words = ("bm25", "--reader", "openai:o4-mini", "--judge", "openai:o3", "--judge-label", "loopback")
    with ModelServer(refuses=reasoning_only) as server:
        said = run(tmp_path, server, *words)
    assert said.code == ExitCode.DONE, said.err
    folder = RunFolder(tmp_path / said.folder)
    texts = {prompt.name: prompt.text for prompt in folder.prompts()}
    assert folder.run.scores.overall.errors == 0
    assert texts["judge/settings"] == '{"max_completion_tokens":4106,"n":1,"reasoning_effort":"low","seed":42}'
    assert texts["reader/settings"] == '{"max_completion_tokens":4608,"reasoning_effort":"low","seed":42}'
    assert {"judge/settings", "reader/settings"} <= folder.run.track.prompts.keys()
    for command in ("verify", "reproduce"):
        assert memeval(command, "results", where=tmp_path).code == ExitCode.DONE


def test_a_model_that_refuses_a_setting_is_judged_with_a_file_of_settings(tmp_path: Path) -> None:
    def no_seed(body: dict[str, Any]) -> dict[str, Any] | None:
        return {"message": "Extra inputs are not permitted: seed"} if "seed" in body else None

    words = (str(plain_adapter(tmp_path)), "--judge", "openai:house-model", "--judge-label", "loopback")
    settings = tmp_path / "families.toml"
    settings.write_text('[[family]]\nname = "house"\nmodels = "house-.*"\nremove = ["seed"]\n')
    with ModelServer(refuses=no_seed) as server:
        said = run(tmp_path, server, *words)
        assert said.code == ExitCode.BAD_INPUT
        assert "Extra inputs are not permitted: seed" in said.err and "MEMEVAL_MODEL_SETTINGS" in said.err
        said = run(tmp_path, server, *words, "--fresh", MEMEVAL_MODEL_SETTINGS=str(settings))
        assert said.code == ExitCode.DONE, said.err
    folder = RunFolder(tmp_path / said.folder)
    assert "judge/settings" in folder.run.track.prompts and "judge" not in folder.run.seeds
    settings.unlink()
    assert memeval("reproduce", str(folder.path), where=tmp_path).code == ExitCode.DONE
