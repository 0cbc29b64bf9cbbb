"""The header of an Inspect log: the evaluation, its plan, its results and its statistics."""

import math
from collections.abc import Iterable, Mapping, Sequence
from statistics import stdev
from typing import Any

from memeval.archive.runs import RunFolder
from memeval.execution.readers import NATIVE
from memeval.records.call import Call
from memeval.records.run import Run
from memeval.records.track import Redistribution

Data = dict[str, Any]

HEADLINE = "memeval"
"""Name of the score that the composite averages."""


def spec_of(folder: RunFolder, ids: list[str], has_text: bool) -> Data:
    run = folder.run
    private = has_text and run.redistribution is Redistribution.IDS
    track, system, harness = run.track, run.system, run.harness
    name, _, version = track.benchmark.partition("@")
    spec: Data = {
        "eval_id": folder.digest[7:29],
        "task_id": folder.digest[7:29],
        "run_id": run.run_id,
        "created": run.timing.started,
        "task": f"{name}/{track.protocol}",
        "task_version": version,
        "task_args": {"protocol": track.protocol, "tier": track.tier, **track.parameters},
        "dataset": {
            "name": track.benchmark,
            "location": track.data_digest,
            "samples": track.planned,
            "sample_ids": ids,
            "shuffled": False,
        },
        "model": system.slug,
        "model_args": dict(system.parameters),
        "config": {"epochs": 1, "fail_on_error": False, "score_on_error": True, "max_samples": run.timing.concurrency},
        "packages": {"memeval-leaderboard": harness.version, **harness.packages},
        "metadata": {
            "system": system.data(),
            "track": track.data(),
            "fingerprint": run.fingerprint,
            "context_source": run.context_source.value,
            "isolation": run.isolation.value,
            "network": run.network.value,
            "redistribution": run.redistribution.value,
            "argv": list(harness.argv),
        },
        "scorers": [{"name": HEADLINE, "metadata": {"judge": track.judge}}],
        "headline_metric": {"scorer": HEADLINE, "metric": "composite"},
        "viewer": {"trust_content": False},
        "tags": [f"track {run.track_id}", *(["not for publication"] if private else [])],
    }
    if run.imported is not None:
        spec["metadata"]["imported"] = run.imported.data()
    if run.coverage.limit is not None:
        spec["config"]["limit"] = run.coverage.limit
    if harness.commit is not None:
        spec["revision"] = {"type": "git", "origin": "", "commit": harness.commit, "dirty": harness.dirty}
    return spec


def plan_of(run: Run) -> Data:
    """Return the phases of the run as steps, with their parameters and the limits."""
    track = run.track
    limits = track.limits.data()
    steps = [
        {"solver": "take_in", "params": {"system": run.system.slug, "view": run.system.view.value}},
        {"solver": "ask" if track.reader == NATIVE else "search", "params": {"system": run.system.slug}},
    ]
    if track.reader != NATIVE:
        steps.append({"solver": "read", "params": {"reader": track.reader, "endpoint": track.reader_endpoint or ""}})
    return {"name": track.protocol, "steps": steps, "config": {}, "finish": {"solver": "limits", "params": limits}}


def results_of(run: Run, credits: Sequence[float]) -> Data:
    """Return the run's stored scores; only the standard error is computed here.

    ``credits``: the credit of each graded item, in [0, 1].
    """
    scores = run.scores
    missing = run.coverage.planned - run.coverage.done
    all_credits = [*credits, *(0.0 for _ in range(missing))]
    overall: dict[str, float | None] = {
        "composite": scores.composite.value,
        "accuracy": scores.overall.accuracy,
        "stderr": _standard_error(all_credits),
        "graded_accuracy": scores.overall.graded_accuracy,
    }
    by_category = {category.name: category.tally.accuracy for category in scores.categories}
    listed = [_score(HEADLINE, HEADLINE, overall, by_category, scored=len(credits))]
    for name, composite in scores.alternates.items():
        tallies = {c.name: c.alternates[name].accuracy for c in scores.categories if name in c.alternates}
        listed.append(_score(name, name, {"composite": composite.value}, tallies))
    for name in sorted({name for category in scores.categories for name in category.metrics}):
        means = {c.name: c.metrics[name] for c in scores.categories if name in c.metrics}
        listed.append(_score(name, "metrics", {}, means))
    return {
        "total_samples": run.coverage.planned,
        "completed_samples": run.coverage.done - scores.overall.errors,
        "scores": [score for score in listed if score["metrics"]],
        "headline": {"scorer": HEADLINE, "score": HEADLINE, "metric": "composite"}
        if scores.composite.value is not None
        else {"scorer": HEADLINE, "score": HEADLINE, "metric": "accuracy"},
        "metadata": {"scores": scores.data(), "coverage": run.coverage.data(), "cost": run.cost.data()},
    }


def _score(
    name: str,
    scorer: str,
    overall: Mapping[str, float | None],
    by_category: Mapping[str, float | None],
    scored: int | None = None,
) -> Data:
    metrics = {each: {"name": each, "value": value} for each, value in overall.items() if value is not None}
    metrics |= {
        each: {"name": each, "group": "category", "value": value}
        for each, value in by_category.items()
        if value is not None
    }
    return {"name": name, "scorer": scorer, "scored_samples": scored, "metrics": metrics}


def _standard_error(credits: Sequence[float]) -> float | None:
    """Return the standard error of a mean like Inspect's ``stderr``: ``s / √n``, with ``n - 1`` in the variance."""
    return stdev(credits) / math.sqrt(len(credits)) if len(credits) > 1 else None


def stats_of(folder: RunFolder) -> Data:
    """Return the run's start and end, and model usage by model and by phase."""
    run = folder.run
    own = (call for calls in (folder.calls(), folder.judgments()) for call in calls if call.run_id == run.run_id)
    return {
        "started_at": run.timing.started,
        "completed_at": run.timing.ended,
        "model_usage": _by_model(own),
        "role_usage": {
            phase.value: usage_of(usage.prompt_tokens, usage.completion_tokens, usage.usd)
            for phase, usage in run.usage.items()
            if usage.prompt_tokens is not None and usage.completion_tokens is not None
        },
    }


def usage_of(prompt: int, completion: int, usd: float | None = None) -> Data:
    """Return tokens and dollars in Inspect's form."""
    usage: Data = {"input_tokens": prompt, "output_tokens": completion, "total_tokens": prompt + completion}
    return usage if usd is None else usage | {"total_cost": usd}


def _by_model(calls: Iterable[Call]) -> Data:
    sums: dict[str, tuple[int, int]] = {}
    for call in calls:
        if call.prompt_tokens is None or call.completion_tokens is None:
            continue
        model = call.model or call.request.model
        prompt, completion = sums.get(model, (0, 0))
        sums[model] = prompt + call.prompt_tokens, completion + call.completion_tokens
    return {model: usage_of(*sums[model]) for model in sorted(sums)}
