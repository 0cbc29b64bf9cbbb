"""A stored run as the regression check reads it: item scores, tokens, dollars and latencies, with checked digests."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from memeval.archive.rows import inner_digest
from memeval.archive.runs import RunFolder
from memeval.grading.base import last_attempts
from memeval.grading.scoring import headline
from memeval.leaderboard.marks import RESPONSES
from memeval.leaderboard.samples import GRADES
from memeval.records.call import Call, Caller, Phase
from memeval.records.errors import BadInput
from memeval.records.response import ReportedUsage, Response
from memeval.records.run import Run, TokenSource

CALLS = "calls.jsonl"
ROWS = (GRADES, RESPONSES, CALLS)

Values = Mapping[str, float]


@dataclass(frozen=True)
class ItemScore:
    category: str
    cluster: str
    score: float
    """Credit in [0, 1]; 0 for an error."""
    metrics: Mapping[str, float | None] = field(default_factory=dict)


Items = Mapping[str, ItemScore]


@dataclass(frozen=True)
class MeasuredRun:
    run: Run
    items: Items
    clusters: Mapping[str, str]
    """The cluster of each question, and of each scenario with one cluster. A scenario with several is its own."""
    context_tokens: Values
    latency: Values
    """Seconds of ``query`` or ``search``, by question."""
    questions: int
    model_tokens: Values | None
    """By scenario, or by question if the system reports them; ``None`` if unknown."""
    dollars: Values | None
    """By scenario, or by question if the system reports them; ``None`` if unknown."""


def read_measured(folder: RunFolder) -> MeasuredRun:
    run = folder.run
    if run.track_id != run.track.id:
        raise _tampered(folder, f"track_id is {run.track_id}, but the track's parts give {run.track.id}.")
    for name in ROWS:
        check_digest(folder, name)
    responses = list(folder.responses())
    items = _items(folder)
    last = last_attempts(responses).values()
    clusters: dict[str, str] = {}
    of_scenario: dict[str, set[str]] = defaultdict(set)
    for row in last:
        # An item without a grade has no cluster; its scenario then stands for itself.
        cluster = items[row.item_id].cluster if row.item_id in items else row.scenario_id
        clusters[row.question_id] = cluster
        of_scenario[row.scenario_id].add(cluster)
    clusters |= {name: next(iter(found)) for name, found in of_scenario.items() if len(found) == 1}
    measured = run.tokens.source is TokenSource.MEASURED
    counts = {row.question_id: row.context_tokens if measured else row.reported_tokens for row in last}
    seconds = {
        row.question_id: row.timings.ask_seconds if row.timings.search_seconds is None else row.timings.search_seconds
        for row in last
    }
    tokens, dollars = _usage(folder, last)
    return MeasuredRun(
        run=run,
        items=items,
        clusters=clusters,
        context_tokens={name: float(count) for name, count in counts.items() if count is not None},
        latency={name: value for name, value in seconds.items() if value is not None},
        questions=len(last),
        model_tokens=tokens,
        dollars=dollars,
    )


def read_items(folder: RunFolder) -> Items:
    """Read the scores of a run alone. Raises BadInput: its grades are missing, or do not match their digest."""
    check_digest(folder, GRADES)
    return _items(folder)


def _items(folder: RunFolder) -> Items:
    return {
        grade.item_id: ItemScore(grade.category, grade.cluster, headline(grade) or 0.0, grade.metrics)
        for grade in folder.grades()
    }


def _usage(folder: RunFolder, last: Collection[Response]) -> tuple[Values | None, Values | None]:
    """Return tokens and dollars of the model calls of reader and system, by scenario, whoever paid for them.

    Calls that came from the record count as well: they are what the run needs. Without recorded calls, the values are
    what the system reports, by question.
    """
    calls = [call for call in folder.calls() if call.phase is not Phase.JUDGE]
    used: list[tuple[str, Call | ReportedUsage]]
    if calls:
        by_key = {call.key: call for call in calls if call.caller is Caller.READER}
        used = [(call.scenario_id or "", call) for call in calls if call.caller is Caller.SYSTEM]
        used += [(row.scenario_id, by_key[row.reader_key]) for row in last if row.reader_key in by_key]
    else:
        used = [(row.question_id, row.usage) for row in last if row.usage is not None]
    if not used:
        return None, None
    tokens: dict[str, float] = defaultdict(float)
    dollars: dict[str, float] = defaultdict(float)
    for name, one in used:
        tokens[name] += (one.prompt_tokens or 0) + (one.completion_tokens or 0)
        dollars[name] += one.cost_usd or 0.0
    unpriced = any(one.is_unpriced if isinstance(one, Call) else one.cost_usd is None for _name, one in used)
    return tokens, None if unpriced else dollars


def check_digest(folder: RunFolder, name: str) -> None:
    stated = folder.run.files.get(name)
    path = folder.file(name)
    if stated is None and name == CALLS:
        return
    if not path.exists():
        raise BadInput(
            f"{name} of this run is missing, so it cannot be checked.",
            where=folder.path,
            remedy="Fetch its rows: memeval archive pull.",
        )
    if stated is None or inner_digest(path) != stated:
        raise _tampered(folder, f"{name}.gz does not match its digest in run.json.")


def _tampered(folder: RunFolder, problem: str) -> BadInput:
    return BadInput(problem, where=folder.path, remedy="Restore the file, or record a new run.")
