"""Systems and readers that ask models: what of it is on record, who is refused, and what is never asked twice."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from memeval.archive.rows import read_rows
from memeval.archive.runs import RunFolder
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.run.running import RunOptions, run_system
from memeval.records.call import Caller, Phase
from memeval.records.errors import ExitCode
from memeval.records.journal import LogLine
from memeval.records.response import Outcome
from memeval.records.track import Limits
from memeval.systems.source import file_source
from tests.support.calling import Said
from tests.support.commands import memeval
from tests.support.model_server import ModelServer
from tests.support.tiny import TinyBenchmark

MODEL = "gpt-4o-mini-2024-07-18"
ITEMS = 12
SMALL = ("--benchmark", "beliefs@2", "--parameter", "size=1")
SAMPLES = 5

ASKING = '''
import json, os, sys, urllib.error, urllib.request

def ask(model, text):
    """Ask a model, as any client does that takes address and key from the environment."""
    body = {{"model": model, "messages": [{{"role": "user", "content": text}}], "max_tokens": 20}}
    request = urllib.request.Request(
        os.environ["OPENAI_BASE_URL"] + "/chat/completions",
        data=json.dumps(body).encode(),
        headers={{"Content-Type": "application/json", "Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}},
    )
    with urllib.request.urlopen(request, timeout=60) as reply:
        return json.load(reply)["choices"][0]["message"]["content"]

class Asking:
    def reset(self):
        self.told = []

    def ingest_session(self, session, timestamp):
        if not self.told:
            ask("{model}", "Sum up: " + session["turns"][0]["content"])
        self.told += [turn["content"] for turn in session["turns"]]

    def query(self, question, timestamp="now"):
        {on_query}
        return " ".join(ask("{model}", "Answer: " + question) for _ in range({samples}))
'''

MANIFEST = f"""
schema_version = 1
slug = "asking"
name = "Asking"
version = "1.0"
entry = "adapter.py:Asking"
authors = ["Nobody"]
licence = "Apache-2.0"
summary = "Asks a model."
declared_models = ["{MODEL}"]
"""


def adapter(folder: Path, name: str = "asking", on_query: str = "pass", samples: int = SAMPLES) -> Path:
    """Write an adapter that asks a model once when it is told something, and several times when it is asked."""
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.py"
    path.write_text(ASKING.format(model=MODEL, on_query=on_query, samples=samples), encoding="utf-8")
    return path


def run(where: Path, system: str, url: str, *more: str, **variables: str) -> tuple[RunFolder, Said]:
    said = memeval("run", system, *SMALL, *more, where=where, OPENAI_BASE_URL=url, **variables)
    assert said.code in (ExitCode.DONE, ExitCode.CHECK_FAILED), said.err  # too many errors to be ranked, or not
    return RunFolder(where / said.folder), said


@pytest.fixture
def server() -> Iterator[ModelServer]:
    """A server whose samples of one prompt differ, as a model's do."""
    count = iter(range(1_000_000))
    with ModelServer(answer=lambda _body: f"answer {next(count)}") as server:
        yield server


def test_every_call_of_a_bare_file_is_on_record_and_equal_samples_stay(tmp_path: Path, server: ModelServer) -> None:
    folder, _ = run(tmp_path, str(adapter(tmp_path)), server.url, "--model", MODEL)
    calls = list(folder.calls())
    assert len(calls) == server.requests
    assert {call.caller for call in calls} == {Caller.SYSTEM}
    assert [call.request.body for call in calls if call.request.body not in server.bodies] == []
    ordinals = defaultdict(list)
    for call in calls:
        ordinals[call.scenario_id, call.request.key].append(call.ordinal)
    sampled = [found for found in ordinals.values() if len(found) > 1]
    assert sampled and all(found == list(range(SAMPLES)) for found in sampled)
    assert len({call.key for call in calls}) == len(calls)
    for response in folder.responses():
        assert len(set(response.answer.split(" answer "))) == SAMPLES
    phases = Counter(call.phase for call in calls)
    usage = folder.run.usage
    assert {phase: each.calls for phase, each in usage.items()} == phases
    assert set(phases) == {Phase.INGEST, Phase.ASK}
    assert phases[Phase.ASK] == SAMPLES * sum(1 for _ in folder.responses())
    assert sum(each.usd or 0 for each in usage.values()) == pytest.approx(sum(call.cost_usd or 0 for call in calls))
    assert folder.run.cost.usd is not None and folder.run.cost.usd > 0
    assert memeval("verify", where=tmp_path).code == ExitCode.DONE
    assert memeval("reproduce", "results", where=tmp_path).code == ExitCode.DONE


def test_a_submission_may_ask_what_it_declares_and_nothing_else(tmp_path: Path, server: ModelServer) -> None:
    refused = """
        try:
            ask("gpt-4o", "a model of another price: " + question)
            raise SystemExit("it was answered")
        except urllib.error.HTTPError as error:
            assert error.code == 403, error.code
            print(error.read().decode(), file=sys.stderr)
    """
    adapter(tmp_path / "asking", "adapter", on_query=refused.strip(), samples=1)
    (tmp_path / "asking" / "submission.toml").write_text(MANIFEST, encoding="utf-8")
    folder, _ = run(tmp_path, "./asking", server.url, "--skip-conformance")
    assert folder.run.system.declared_models == (MODEL,)
    assert {body["model"] for body in server.bodies} == {MODEL}
    tried = [call for call in folder.calls() if call.request.model == "gpt-4o"]
    assert len(tried) == sum(1 for _ in folder.responses())
    assert {(call.tries, call.reply, call.cost_usd) for call in tried} == {(0, None, None)}
    assert all("is not declared by the submission" in (call.error or "") for call in tried)
    assert folder.run.scores.overall.errors == 0


def test_a_submission_that_keeps_nothing_is_refused_before_a_run_pays(tmp_path: Path, server: ModelServer) -> None:
    adapter(tmp_path / "asking", "adapter", samples=1)
    (tmp_path / "asking" / "submission.toml").write_text(MANIFEST, encoding="utf-8")
    said = memeval("run", "./asking", *SMALL, where=tmp_path, OPENAI_BASE_URL=server.url)
    assert said.code == ExitCode.BAD_INPUT
    assert "'asking' does not follow the adapter contract (planted-fact" in said.err
    assert not list(tmp_path.rglob("plan.json"))
    asked = server.requests
    assert asked > 0
    again = memeval("run", "./asking", *SMALL, where=tmp_path, OPENAI_BASE_URL=server.url)
    assert again.code == ExitCode.BAD_INPUT
    assert server.requests == asked  # what was found out is on record
    folder, _ = run(tmp_path, "./asking", server.url, "--skip-conformance")
    calls = list(folder.calls())
    assert len(calls) == server.requests - asked
    assert all(call.scenario_id and not call.scenario_id.startswith("conformance") for call in calls)


def test_a_system_that_asks_without_end_is_ended_and_the_run_goes_on(tmp_path: Path, server: ModelServer) -> None:
    mark = tmp_path / "looped"
    endless = f"""
        if not os.path.exists({str(mark)!r}):
            open({str(mark)!r}, "w").close()
            while True:
                ask("{MODEL}", question)
    """
    path = adapter(tmp_path, on_query=endless.strip(), samples=1)
    folder, said = run(tmp_path, str(path), server.url, "--model", MODEL, "--ask-seconds", "2", "--concurrency", "1")
    assert "query took longer than 2 s" in said.err
    outcomes = Counter(response.outcome for response in folder.responses())
    assert outcomes[Outcome.TIMEOUT] == 1
    assert outcomes[Outcome.OK] == outcomes.total() - 1
    assert len(list(folder.calls())) >= server.requests - 1  # one may have been under way


def test_a_system_that_asks_too_often_is_refused(
    tmp_path: Path, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    source = replace(file_source(adapter(tmp_path, samples=10)), declared_models=(MODEL,))
    folder = run_system(
        source,
        BenchmarkSession.open(TinyBenchmark(3, 1)),
        RunOptions(results=tmp_path / "results", limits=Limits(scenario_calls=7)),
    )
    assert Counter(call.scenario_id for call in folder.calls()).most_common(1)[0][1] == 7
    assert server.requests == 3 * 7
    assert {response.outcome for response in folder.responses()} == {Outcome.ADAPTER_ERROR}
    log = read_rows(folder.file("log.jsonl"), LogLine)
    said = [line.detail for line in log if line.event == "endpoint"]
    assert said == ["The system has made 7 model calls in this scenario; further ones are refused."] * 3


def test_what_a_reader_was_sent_is_on_record_and_is_never_paid_for_twice(tmp_path: Path) -> None:
    with ModelServer(answer=lambda body: f"I read {len(str(body))} signs.") as server:
        reading = ("--reader", f"openai:{MODEL}")
        first, _ = run(tmp_path, "bm25", server.url, *reading)
        calls = {call.key: call for call in first.calls()}
        responses = list(first.responses())
        assert len(calls) == server.requests == len(responses)
        assert {call.caller for call in calls.values()} == {Caller.READER}
        for response in responses:
            sent = calls[str(response.reader_key)].request.body
            assert sent in server.bodies
            assert response.answer == f"I read {len(str(sent))} signs."
        assert first.run.usage[Phase.READ].calls == len(responses)
        second, _ = run(tmp_path, "bm25", server.url, *reading, "--fresh")
        assert server.requests == len(responses)
    usage = second.run.usage[Phase.READ]
    assert (usage.calls, usage.cached, usage.usd) == (0, len(responses), 0)
    assert usage.cached_usd == pytest.approx(first.run.usage[Phase.READ].usd)
    assert [row.answer for row in second.responses()] == [row.answer for row in responses]
    said = memeval("reproduce", "results", where=tmp_path)
    assert (said.code, said.out.count(": equal\n")) == (ExitCode.DONE, 2)
