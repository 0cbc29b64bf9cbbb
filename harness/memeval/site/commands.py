"""The commands that repeat what a page shows."""

from __future__ import annotations

import shlex

from memeval.records.run import Run, SystemKind
from memeval.records.track import Limits


def run_command(run: Run) -> str:
    """Return the call that makes such a run again."""
    track = run.track
    named = f"{run.system.name}.py" if run.system.kind is SystemKind.FILE else run.system.slug
    words = ["memeval", "run", named, "--benchmark", track.benchmark]
    if track.tier != "full":
        words += ["--tier", track.tier]
    words += ["--protocol", track.protocol]
    for name, value in sorted(track.parameters.items()):
        words += ["--parameter", f"{name}={value}"]
    words += ["--reader", track.reader.partition("@")[0]]
    words += ["--judge", track.judge.partition("@")[0]]
    if track.judge_label:
        words += ["--judge-label", track.judge_label]
    if track.limits.ask_seconds != Limits().ask_seconds:
        words += ["--ask-seconds", f"{track.limits.ask_seconds:g}"]
    if run.coverage.limit is not None:
        words += ["--limit", str(run.coverage.limit)]
    return shlex.join([*words, "--fresh"])


def repeat_commands(run: Run) -> tuple[tuple[str, str], ...]:
    """Return, with what each does, the commands that test a stored run."""
    return (
        (
            f"memeval verify {shlex.quote(run.run_id)}",
            "checks schema, digests and coverage, and computes the scores again",
        ),
        (f"memeval reproduce {shlex.quote(run.run_id)}", "grades the stored answers again, offline, and compares"),
        (run_command(run), "runs the system again from nothing"),
    )
