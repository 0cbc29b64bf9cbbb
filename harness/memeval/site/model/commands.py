"""The commands that reproduce what a page shows."""

import shlex

from memeval.local import is_local
from memeval.records.imported import Imported
from memeval.records.run import Run, SystemKind
from memeval.records.track import Limits

USUAL_ENDPOINT = "https://api.openai.com/v1"
"""Endpoint used if the environment names none."""


def run_command(run: Run) -> str:
    track = run.track
    if run.answers_from is not None:
        return _at_endpoints(run, ["memeval", "regrade", run.answers_from, *_judge(run)])
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
    words = [origin.file, "--format", origin.format, "--benchmark", run.track.benchmark]
    words += ["--protocol", run.track.protocol]
    for name, value in sorted(run.track.parameters.items()):
        words += ["--parameter", f"{name}={value}"]
    return [*words, "--slug", run.system.slug]


def _judge(run: Run) -> list[str]:
    label = run.track.judge_label
    return ["--judge", run.track.judge.partition("@")[0], *(["--judge-label", label] if label else [])]


def _at_endpoints(run: Run, words: list[str]) -> str:
    endpoints = {
        "MEMEVAL_JUDGE_BASE_URL": run.track.judge_endpoint,
        "MEMEVAL_READER_BASE_URL": run.track.reader_endpoint,
    }
    where = [
        f"{name}={shlex.quote(url)}"
        for name, url in endpoints.items()
        if url and url != USUAL_ENDPOINT and not is_local(url)
    ]
    return " ".join([*where, shlex.join(words)])


def repeat_commands(run: Run) -> tuple[tuple[str, str], ...]:
    """Return the commands that check a stored run, each with what it does."""
    return (
        (f"memeval verify {shlex.quote(run.run_id)}", "Check every file and recompute the scores. Needs no network."),
        (
            f"memeval reproduce {shlex.quote(run.run_id)}",
            "Grade the stored answers again from recorded judgments and compare. Needs no network.",
        ),
        (
            run_command(run),
            "Grade the file again. Its digest is shown above."
            if run.imported is not None
            else "Run the system again from the start."
            if run.answers_from is None
            else "Send the same answers to this judge. Recorded judgments are not requested again.",
        ),
    )
