"""The commands that repeat what a page shows."""

from __future__ import annotations

import shlex

from memeval.records.imported import Imported
from memeval.records.run import Run, SystemKind
from memeval.records.track import Limits

USUAL_ENDPOINT = "https://api.openai.com/v1"
"""Where models are reached when the environment does not say."""


def run_command(run: Run) -> str:
    """Return the call that makes such a run again: for answers graded again, under the same judge once more."""
    track = run.track
    if run.answers_from is not None:
        return _at_endpoints(run, ["memeval", "rejudge", run.answers_from, *_judge(run)])
    if run.imported is not None:
        return _at_endpoints(run, ["memeval", "import", *_import(run, run.imported), *_judge(run), "--fresh"])
    named = f"{run.system.name}.py" if run.system.kind is SystemKind.FILE else run.system.named
    words = ["memeval", "run", named, "--benchmark", track.benchmark]
    if track.tier != "full":
        words += ["--tier", track.tier]
    words += ["--protocol", track.protocol]
    for name, value in sorted(track.parameters.items()):
        words += ["--parameter", f"{name}={value}"]
    words += ["--reader", track.reader.partition("@")[0]]
    words += _judge(run)
    if track.limits.ask_seconds != Limits().ask_seconds:
        words += ["--ask-seconds", f"{track.limits.ask_seconds:g}"]
    for use in run.system.hosts:
        words += ["--host", f"{use.host}={use.origin}"] if use.elsewhere else []
    if run.coverage.limit is not None:
        words += ["--limit", str(run.coverage.limit)]
    return _at_endpoints(run, [*words, "--fresh"])


def _import(run: Run, origin: Imported) -> list[str]:
    """Return what names the very answers of a run, and the way they are graded."""
    words = [origin.file, "--format", origin.format, "--benchmark", run.track.benchmark]
    words += ["--protocol", run.track.protocol]
    for name, value in sorted(run.track.parameters.items()):
        words += ["--parameter", f"{name}={value}"]
    return [*words, "--slug", run.system.slug]


def _judge(run: Run) -> list[str]:
    label = run.track.judge_label
    return ["--judge", run.track.judge.partition("@")[0], *(["--judge-label", label] if label else [])]


def _at_endpoints(run: Run, words: list[str]) -> str:
    """Return a command with the endpoints in its environment, where they are not the usual ones."""
    endpoints = {
        "MEMEVAL_JUDGE_BASE_URL": run.track.judge_endpoint,
        "MEMEVAL_READER_BASE_URL": run.track.reader_endpoint,
    }
    where = [f"{name}={shlex.quote(url)}" for name, url in endpoints.items() if url and url != USUAL_ENDPOINT]
    return " ".join([*where, shlex.join(words)])


def repeat_commands(run: Run) -> tuple[tuple[str, str], ...]:
    """Return, with what each does, the commands that test a stored run."""
    return (
        (
            f"memeval verify {shlex.quote(run.run_id)}",
            "checks schema, digests and coverage, and computes the scores again",
        ),
        (
            f"memeval reproduce {shlex.quote(run.run_id)}",
            "grades the stored answers again, offline and by the recorded judgments, and compares",
        ),
        (
            run_command(run),
            "grades the file again, whose digest stands above"
            if run.imported is not None
            else "runs the system again from nothing"
            if run.answers_from is None
            else "brings the same stored answers before this judge; what it said once is not asked again",
        ),
    )
