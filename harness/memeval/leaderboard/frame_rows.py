"""Rows of the data frames, from the heads of runs. Scores are those in ``run.json``, which the board shows."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

from memeval.archive.runs import RunFolder
from memeval.archive.trust import uses_model
from memeval.benchmarks.formats.writing import AnsweredQuestion, RunItem, RunItems
from memeval.exchange.parquet import Row, total
from memeval.grading.scoring import headline
from memeval.leaderboard.board import check_track
from memeval.records.base import canonical_json
from memeval.records.call import Phase, PhaseUsage
from memeval.records.errors import BadInput
from memeval.records.run import Percentiles, Run
from memeval.records.scores import Interval

LARGEST = 2**63 - 1

USES_MODEL = "uses_model"
"""Field of a run's row that is no column: whether replies of a model are behind the grades."""


_TRACK = ("protocol", "tier", "reader", "reader_endpoint", "judge", "judge_endpoint", "judge_label", "tokenizer")


def run_row(folder: RunFolder) -> Row:
    """Return the row of a run in ``runs``, without path and ledger columns, and with ``USES_MODEL``.

    Raises BadInput: ``run.json`` cannot be read, or contradicts itself.
    """
    check_track(folder)
    run = folder.run
    system, track, scores = run.system, run.track, run.scores
    overall, composite = scores.overall, scores.composite
    row: Row = {
        **_names(run),
        "run_digest": folder.digest,
        "system_name": system.name,
        "variant": system.variant,
        "configuration": system.configured,
        "mock": system.mock,
        "data_digest": track.data_digest,
        "parameters": canonical_json(track.parameters),
        **{name: getattr(track, name) for name in _TRACK},
        "errata_digest": track.errata,
        "sample_digest": track.sample,
        "started": _time(run.timing.started, folder),
        "ended": _time(run.timing.ended, folder),
        "concurrency": run.timing.concurrency,
        "planned": overall.planned,
        "done": overall.done,
        "errors": overall.errors,
        "complete": run.coverage.full,
        "error_rate": overall.errors / overall.planned if overall.planned else None,
        "composite": composite.value,
        **_ends("composite_", composite.interval),
        "accuracy": overall.accuracy,
        **_ends("accuracy_", overall.interval),
        "graded_accuracy": overall.graded_accuracy,
        "false_hedge_rate": scores.false_hedge_rate,
        "tokens_per_question": run.tokens.per_question,
        "tokens_source": run.tokens.source.value,
        "prompt_tokens": _sum(run.usage, "prompt_tokens"),
        "completion_tokens": _sum(run.usage, "completion_tokens"),
        "cost_usd": run.cost.usd,
        "cost_reason": run.cost.reason,
        "prices": run.prices,
        **_percentiles("ask_", _first(run, Phase.ASK, Phase.SEARCH)),
        **_percentiles("ingest_", _first(run, Phase.INGEST)),
        "isolation": run.isolation.value,
        "network": run.network.value,
        "submission_digest": system.submission_digest,
        "environment_digest": system.environment_digest,
        "answers_from": run.answers_from,
        "memeval_version": run.harness.version,
        "memeval_commit": run.harness.commit,
        "replayed": run.replayed,
        USES_MODEL: uses_model(run),
    }
    return _checked(row, folder)


def _names(run: Run) -> Row:
    """Return the cells that every frame has of a run."""
    return {
        "run_id": run.run_id,
        "system": run.system.slug,
        "system_kind": run.system.kind.value,
        "version": run.system.version,
        "benchmark": run.track.benchmark,
        "track_id": run.track_id,
    }


def category_rows(folder: RunFolder) -> Iterator[Row]:
    run = folder.run
    graders = {plan.name: plan.grader for plan in run.track.categories}
    for score in run.scores.categories:
        tally = score.tally
        yield {
            **_names(run),
            "category": score.name,
            "grader": graders.get(score.name),
            "weight": score.weight,
            "score": tally.accuracy,
            **_ends("", tally.interval),
            "graded_score": tally.graded_accuracy,
            "n": tally.planned,
            "done": tally.done,
            "correct": tally.correct,
            "errors": tally.errors,
        }


def _first(run: Run, *phases: Phase) -> Percentiles | None:
    return next((run.timing.phases[phase] for phase in phases if phase in run.timing.phases), None)


def _ends(prefix: str, interval: Interval | None) -> Row:
    return {
        f"{prefix}low": None if interval is None else interval.low,
        f"{prefix}high": None if interval is None else interval.high,
    }


def _percentiles(prefix: str, found: Percentiles | None) -> Row:
    return {
        f"{prefix}p50_seconds": None if found is None else found.p50,
        f"{prefix}p95_seconds": None if found is None else found.p95,
    }


def _sum(usage: Mapping[Phase, PhaseUsage], name: str) -> int | None:
    counts = [getattr(each, name) for each in usage.values()]
    return None if not counts or None in counts else sum(counts)


def item_rows(folder: RunFolder) -> Iterator[Row]:
    of_run = _names(folder.run)
    for item in RunItems(folder, None):
        yield {**of_run, **_grade_cells(item), **_checked(_response_cells(item.answers), folder)}


def _grade_cells(item: RunItem) -> Row:
    grade = item.grade
    return {
        "item_id": grade.item_id,
        "category": grade.category,
        "cluster": grade.cluster,
        "grader": grade.grader,
        "state": grade.state.value,
        "score": headline(grade) or 0.0,
        "value": grade.value,
        "error": grade.state.is_error,
        "flags": " ".join(flag.value for flag in grade.flags),
        **{f"metric.{name}": value for name, value in grade.metrics.items()},
        **{f"rule.{name}": value for name, value in grade.alternates.items()},
        **{f"slice.{name}": value for name, value in grade.slices.items()},
    }


def _response_cells(answers: Sequence[AnsweredQuestion]) -> Row:
    responses = [answer.response for answer in answers]
    times = [response.timings for response in responses]
    tokens = [answer.tokens for answer in answers]
    return {
        "questions": len(answers),
        "attempts": max((answer.attempts for answer in answers), default=0),
        "context_tokens": total(response.context_tokens for response in responses),
        "reported_tokens": total(response.reported_tokens for response in responses),
        "prompt_tokens": total(None if each is None else each[0] for each in tokens),
        "completion_tokens": total(None if each is None else each[1] for each in tokens),
        "ask_seconds": total(
            time.ask_seconds if time.search_seconds is None else time.search_seconds for time in times
        ),
        "read_seconds": total(time.read_seconds for time in times),
        "ingest_seconds": total(time.take_in_seconds for time in times),
        "settle_seconds": total(time.settle_seconds for time in times),
    }


def _checked(row: Row, folder: RunFolder) -> Row:
    for name, value in row.items():
        if isinstance(value, int) and value > LARGEST:
            raise BadInput(f"{name} is {value:.3g}, which is too large.", where=folder.path, remedy="Record a new run.")
    return row


def _time(time: str, folder: RunFolder) -> datetime:
    try:
        at = datetime.fromisoformat(time)
        return at.replace(tzinfo=UTC) if at.tzinfo is None else at.astimezone(UTC)
    except (ValueError, OverflowError):
        raise BadInput(
            f"{time!r} is not a time.", where=folder.path / "run.json", remedy="Restore the file, or record a new run."
        ) from None
