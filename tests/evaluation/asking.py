"""A judge, a reader and a system that call a real server on loopback."""

import gzip
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from memeval.archive.runs import RunFolder
from memeval.benchmarks import session
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.judge import judges
from memeval.evaluation.judge.judges import ChosenJudge, choose_judge
from memeval.evaluation.run import models
from memeval.evaluation.run.models import ModelOptions
from memeval.evaluation.run.running import RunOptions, run_system
from memeval.evaluation.verify.checks import subject
from memeval.evaluation.verify.reproduce import reproduce_run
from memeval.evaluation.verify.verification import verify_run
from memeval.gateway.limits import GatewayOptions
from memeval.options import RegradeOptions
from memeval.records.call import Api, Call, Caller, ModelRequest, Phase
from memeval.systems.source import SystemSource, file_source
from tests.support.adapters import plain_adapter
from tests.support.audits import make_call
from tests.support.model_server import ModelServer
from tests.support.tiny import CITIES, TinyBenchmark

Json = dict[str, Any]

JUDGE = "openai:gpt-4o"
"""A judge model with a known price; its name has no date."""
DATED = "openai:gpt-4o-2024-08-06@1"
"""Its dated name in a track."""
LABEL = "loopback"
"""The judge label."""

_FENCED = re.compile(
    r"^----- answer (?P<mark>\w+) begins -----\n(?P<answer>.*?)\n----- answer (?P=mark) ends -----$", re.S | re.M
)


def answer_in(body: Json) -> str:
    found = _FENCED.search(said_to(body))
    assert found, "no fenced answer"
    return found["answer"]


def said_to(body: Json) -> str:
    return str(body["messages"][-1]["content"])


def fair(body: Json) -> str:
    """Judge fairly: the answer must name the city of the reference in the prompt."""
    prompt = said_to(body).replace(answer_in(body), "")
    return "yes" if any(city in prompt and city in answer_in(body) for city in CITIES) else "no"


class PickyServer(ModelServer):
    """A model server that always fails some requests.

    ``answer``: the text of a reply, from the request's body. ``fails_on``: which requests fail. ``fault``: what goes
    wrong with them; ``400`` is not tried again, ``500`` is.
    """

    def __init__(
        self,
        answer: Callable[[Json], str] = fair,
        fails_on: Callable[[Json], bool] = lambda _body: False,
        fault: str = "400",
        **more: Any,
    ) -> None:
        super().__init__(answer=answer, **more)
        self.fails_on, self.fault = fails_on, fault
        self._refused: set[str] = set()

    async def _reply(self, request: web.Request, body: Json, name: str) -> web.StreamResponse:
        (self._refused.add if self.fails_on(body) else self._refused.discard)(name)
        return await super()._reply(request, body, name)

    def _fault(self, name: str) -> str | None:
        return self.fault if name in self._refused else super()._fault(name)


def benchmark_session(scenarios: int = 4) -> BenchmarkSession:
    """Return a session of the tiny benchmark with an item in each scenario."""
    return BenchmarkSession.open(TinyBenchmark(scenarios))


def judge(named: str = JUDGE) -> ChosenJudge:
    return choose_judge(named, LABEL)


def options(folder: Path, *caps: str, **more: Any) -> RunOptions:
    """Return options of a run that the model judges; ``caps`` as on the command line. No system is probed before."""
    usual: Json = {
        "results": folder / "results",
        "concurrency": 2,
        "skip_conformance": True,
        "judge": JUDGE,
        "judge_label": LABEL,
        "models": ModelOptions(budget=tuple(caps)),
    }
    return RunOptions(**usual | more)


def by_rules(folder: Path, **more: Any) -> RunOptions:
    """Return options of a run that is judged by rules."""
    return options(folder, **{"judge": "rules", "judge_label": None, **more})


def regrading(folder: Path, *caps: str, fresh: bool = False, judge_concurrency: int = 16) -> RegradeOptions:
    """Return options of regrading; ``caps`` as on the command line."""
    models = ModelOptions(budget=tuple(caps), judge_concurrency=judge_concurrency)
    return RegradeOptions(results=folder / "results", models=models, fresh=fresh)


def without_models(patch: pytest.MonkeyPatch) -> None:
    """Remove all keys and endpoints from the environment."""
    for prefix in ("OPENAI", "MEMEVAL_JUDGE", "MEMEVAL_READER"):
        for name in ("BASE_URL", "API_KEY"):
            patch.delenv(f"{prefix}_{name}", raising=False)


def with_the_tiny_benchmark(patch: pytest.MonkeyPatch, scenarios: int = 4, questions: int = 1) -> TinyBenchmark:
    """Register the tiny benchmark for stored runs, and shorten the retries of failing calls."""
    benchmark = TinyBenchmark(scenarios, questions)
    for module in (session, subject, judges):
        patch.setattr(module, "find", lambda _name: benchmark)

    def hasty(*given: Any, **named: Any) -> GatewayOptions:
        return replace(GatewayOptions(*given, **named), tries=2, first_wait_seconds=0.01, longest_wait_seconds=0.05)

    patch.setattr(models, "GatewayOptions", hasty)
    return benchmark


@contextmanager
def judged_run(folder: Path) -> Iterator[tuple[PickyServer, RunFolder]]:
    """Yield a judge server, and a run of 32 items that it judged; the ones about Oslo are wrong.

    Meanwhile the environment sends judges to the server, and the tiny benchmark is registered for stored runs.
    """
    with PickyServer() as server, pytest.MonkeyPatch.context() as patch:
        benchmark = with_the_tiny_benchmark(patch, 8, questions=4)
        without_models(patch)
        patch.setenv("OPENAI_BASE_URL", server.url)
        yield server, run_system(one_wrong(folder), BenchmarkSession.open(benchmark), options(folder))


def holds(run: RunFolder) -> bool:
    """Return whether a run is verified, and reproduced to the same grades."""
    run = RunFolder(run.path)
    again = reproduce_run(run)
    return not verify_run(run) and again.equal and again.composite == run.run.scores.composite.value


def one_wrong(folder: Path) -> SystemSource:
    """Return a system with one wrong answer, to the question about Oslo."""
    return file_source(plain_adapter(folder, on_query="if 'Oslo' in self.told[0]: return 'Nowhere.'"))


ASKING = '''
import json, os, urllib.request

class Asking:
    """Answers with a model reply; {doc}."""

    def reset(self):
        self.told = []

    def ingest_session(self, session, timestamp):
        self.told += [turn["content"] for turn in session["turns"]]

    def query(self, question, timestamp="now"):
        {on_query}
        body = {{"model": "small", "messages": [{{"role": "user", "content": self.told[0]}}]}}
        request = urllib.request.Request(
            os.environ["OPENAI_BASE_URL"] + "/chat/completions",
            data=json.dumps(body).encode(),
            headers={{"Content-Type": "application/json", "Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}},
        )
        with urllib.request.urlopen(request) as reply:
            return json.load(reply)["choices"][0]["message"]["content"]
'''

SEARCHING = '''
import os

class Searching:
    """Returns everything that it ingested."""

    def reset(self):
        self.told = []

    def ingest_session(self, session, timestamp):
        self.told += [turn["content"] for turn in session["turns"]]

    def search(self, query, k, timestamp="now"):
        {on_search}
        return [{{"text": text, "source_ids": [], "score": 1.0}} for text in self.told][:k]
'''


def asking_system(folder: Path, on_query: str = "pass") -> SystemSource:
    """Return a system that calls a declared model."""
    path = folder / "asking.py"
    path.write_text(ASKING.format(doc="for tests", on_query=on_query), encoding="utf-8")
    return replace(file_source(path), declared_models=("small",))


def searching_system(folder: Path, on_search: str = "pass") -> SystemSource:
    """Return a system that only retrieves, so that a reader answers."""
    path = folder / "searching.py"
    path.write_text(SEARCHING.format(on_search=on_search), encoding="utf-8")
    return file_source(path)


def rows_of(folder: RunFolder, name: str) -> list[Json]:
    return [json.loads(line) for line in gzip.decompress(folder.file(name).read_bytes()).splitlines()]


def files_under(folder: Path) -> Iterator[str]:
    return (str(path.relative_to(folder)) for path in sorted(folder.rglob("*")) if path.is_file())


def spent(run_id: str, phase: Phase = Phase.JUDGE, tokens: int = 100, usd: float | None = 0.5) -> Call:
    request = ModelRequest(endpoint="http://127.0.0.1:1/v1", api=Api.CHAT, body={"model": "gpt-4o", "max_tokens": 1})
    costs: dict[str, Any] = {"prompt_tokens": tokens, "completion_tokens": 0, "cost_usd": usd}
    caller = Caller.JUDGE if phase is Phase.JUDGE else Caller.SYSTEM
    return make_call(request, run_id=run_id, caller=caller, phase=phase, **costs)
