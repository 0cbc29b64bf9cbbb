"""A whole ``memeval regrade`` of DeepMemEval's judged rows, beside a bare loop over the same client."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from bench.measure import PYTHON, Cost, Ratio, cost_of, in_turn, ratio
from bench.run_deepmemeval import trivial_run

PAIRS = 7
CONCURRENCY = 64
LATENCY = 0.05
HOW = {"create": "by its create", "post": "by its bare post, with no reply parsed"}
ROOT = Path(__file__).parents[1]


def measure(scratch: Path) -> list[Ratio]:
    """Measure on the released data where it is here, else on ``beliefs@2``."""
    name, given, run = trivial_run(scratch)
    cost_of([*run, "--results", "source"], scratch)
    rejudge = [
        *(PYTHON, "-m", "memeval", "regrade", "out", "--results", "out", *given),
        *("--judge", "openai:local", "--judge-label", "bench", "--concurrency", str(CONCURRENCY)),
    ]
    with _server() as url:
        environment = {"MEMEVAL_JUDGE_BASE_URL": url}

        def ours() -> Cost:
            shutil.rmtree(scratch / "out", ignore_errors=True)
            shutil.copytree(scratch / "source", scratch / "out")  # without a record: every call is made
            return cost_of(rejudge, scratch, environment)

        def bare_loop(how: str) -> Cost:
            script = str(Path(__file__).with_name("bare_judging.py"))
            return cost_of([PYTHON, script, "requests.jsonl", "rows.jsonl", url, str(CONCURRENCY), how], scratch)

        ours()
        calls = _requests(scratch)
        return [
            ratio(
                f"rejudge {calls} rows of {name}, {CONCURRENCY} in flight, whole process",
                in_turn(ours, partial(bare_loop, how), PAIRS),
                target=1.5,
                peak_target_mb=None,
                reference=f"the same calls from a bare asyncio loop over the same client, {made}, each written as a "
                "line and flushed without an fsync",
                limit_seconds=LATENCY * calls / CONCURRENCY,
            )
            for how, made in HOW.items()
        ]


def _requests(scratch: Path) -> int:
    """Write what was asked as the reference reads it, and return how many calls there are."""
    (judgments,) = scratch.glob("out/*/*/*/judgments.jsonl.gz")
    with gzip.open(judgments, "rt", encoding="utf-8") as rows:
        bodies = [json.loads(row)["request"]["body"] for row in rows]
    (scratch / "requests.jsonl").write_text("".join(json.dumps(body) + "\n" for body in bodies), encoding="utf-8")
    return len(bodies)


@contextmanager
def _server() -> Iterator[str]:
    """Serve an OpenAI-compatible API with a fixed latency in a process of its own; gives its base URL."""
    command = [PYTHON, "-m", "tests.support.model_server", "--latency", str(LATENCY)]
    with subprocess.Popen(command, cwd=ROOT, env=dict(os.environ), stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            yield server.stdout.readline().strip()
        finally:
            server.terminate()
