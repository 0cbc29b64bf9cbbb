"""A real model behind a real server, through reader, judge and gateway: that the plumbing holds, and no more."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from memeval.archive.ledger import Ledger
from memeval.archive.runs import RunFolder
from memeval.gateway.endpoints import Endpoint
from memeval.gateway.gateway import Gateway
from memeval.gateway.record import CallRecord
from memeval.gateway.replies import text_of
from memeval.leaderboard.board import RankStatus, build_board
from memeval.records.call import Api, ModelRequest, Phase
from memeval.records.errors import ExitCode
from tests.support.commands import ROOT, memeval
from tests.support.local_model import NAME
from tests.tools.install_tools import LOCAL_MODEL, find_local_model

pytestmark = [
    pytest.mark.products,
    pytest.mark.skipif(
        find_local_model() is None, reason=f"needs {' and '.join(LOCAL_MODEL)}; `make test-products` installs them"
    ),
]

REPEATS = 3

ONE_LINE = """
class OneLine:
    def reset(self):
        self.turns = []

    def ingest_session(self, session, timestamp):
        self.turns += [turn["content"] for turn in session["turns"]]

    def search(self, query, k, timestamp):
        return self.turns[-1:]
"""
"""A system that finds one line, so that the model has little to read."""

ENDS_EARLY = """
[[family]]
name = "small-and-talkative"
models = "smollm2"
set = { stop = [".", "\\n"] }
source = "https://github.com/ggml-org/llama.cpp/tree/master/tools/server"
note = "It repeats itself up to the limit on output tokens."
"""
"""Settings of the model's family, as a user would add them."""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    command = [sys.executable, "-m", "tests.support.local_model"]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        try:
            assert server.stdout is not None
            yield server.stdout.readline().strip()
        finally:
            server.kill()


def test_repeats_of_one_request_are_equal(url: str) -> None:
    request = ModelRequest(
        endpoint=url,
        api=Api.CHAT,
        body={
            "model": NAME,
            "messages": [{"role": "user", "content": "Where is Paris? Answer in one short sentence."}],
            "temperature": 0,
            "seed": 42,
            "max_tokens": 8,
        },
    )
    with Gateway(CallRecord(None)) as gateway:  # as a system samples: every repeat is really made
        calls = [
            gateway.run(gateway.pass_on(request, Endpoint(url), Phase.ASK, "a scenario", repeat))
            for repeat in range(REPEATS)
        ]
    assert [call.error for call in calls] == [None] * REPEATS
    replies = [(text_of(call), call.prompt_tokens, call.completion_tokens, call.fingerprint) for call in calls]
    assert replies[0][0]
    assert replies == replies[:1] * REPEATS


def test_a_pinned_model_answers_as_a_reader_and_again_with_equal_words(tmp_path: Path) -> None:
    weights = find_local_model()
    cache = str(tmp_path / "cache")
    pull = ("model", "pull", "smollm2-135m", "--file", str(weights))
    assert memeval(*pull, where=tmp_path, MEMEVAL_CACHE=cache).code == ExitCode.DONE
    (tmp_path / "one_line.py").write_text(ONE_LINE)
    asked = ("run", "one_line.py", "--benchmark", "beliefs@2", "--parameter", "size=1", "--limit", "2")
    folders = []
    for results in ("one", "other"):
        reader = ("--reader", "local:smollm2-135m", "--results", results)
        said = memeval(*asked, *reader, where=tmp_path, MEMEVAL_CACHE=cache)
        assert said.code == ExitCode.DONE, said.err
        folders.append(RunFolder(tmp_path / said.folder))
    one, other = folders
    assert one.run.track_id == other.run.track_id
    assert [row.answer for row in one.responses()] == [row.answer for row in other.responses()]
    assert {prompt.name for prompt in one.prompts()} == {"reader/answer", "reader/model"}
    assert memeval("verify", "one", where=tmp_path).code == ExitCode.DONE
    assert memeval("reproduce", "one", where=tmp_path).out.endswith(": equal\n")


def test_a_run_through_it_is_whole_unpriced_and_no_score(url: str, tmp_path: Path) -> None:
    asked = ("--reader", f"openai:{NAME}", "--judge", f"openai:{NAME}", "--judge-label", "plumbing", "--limit", "2")
    small = ("--benchmark", "beliefs@2", "--parameter", "size=1")
    settings = tmp_path / "families.toml"
    settings.write_text(ENDS_EARLY)
    (tmp_path / "one_line.py").write_text(ONE_LINE)
    said = memeval(
        "run", "one_line.py", *small, *asked, where=tmp_path, OPENAI_BASE_URL=url, MEMEVAL_MODEL_SETTINGS=str(settings)
    )
    assert said.code == ExitCode.DONE, said.err
    folder = RunFolder(tmp_path / said.folder)
    run = folder.run
    assert run.track.judge_label == "plumbing"
    assert set(run.usage) == {Phase.READ, Phase.JUDGE}
    for usage in run.usage.values():
        assert usage.calls > 0 and usage.failed == 0
        assert usage.prompt_tokens and usage.completion_tokens
        assert (usage.usd, usage.unpriced) == (None, usage.calls)
    assert run.cost.usd is None
    assert "unpriced" in said.err and "$" not in said.err
    assert any(response.answer for response in folder.responses())
    assert memeval("verify", where=tmp_path).code == ExitCode.DONE
    assert memeval("reproduce", "results", where=tmp_path).out.endswith(": equal\n")
    (row,) = build_board([folder], Ledger(tmp_path / "results")).runs
    assert (row.standing, row.rank) == (RankStatus.PLUMBING, None)
