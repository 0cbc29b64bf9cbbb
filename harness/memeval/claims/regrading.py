"""Grades a published file again: read, match, grade by rules, and count."""

import re
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

from memeval.benchmarks import find
from memeval.benchmarks.formats.mapped_rows import MappedRow
from memeval.benchmarks.formats.reading import UNKNOWN_SOURCE
from memeval.benchmarks.session import BenchmarkSession
from memeval.claims.copies import Copies
from memeval.claims.matching import Matcher, Slot
from memeval.claims.signs import signs_of
from memeval.claims.summaries import (
    DECIMALS,
    Basis,
    MatchedFile,
    OwnItems,
    Regraded,
    counted_again,
    match_file,
    row_counts,
    stored_file,
    stored_row,
)
from memeval.evaluation.judge.grades import grade_items
from memeval.judging.rules import RulesJudge
from memeval.keys import ItemKey, ReferenceKey
from memeval.records.grade import Grade
from memeval.records.regraded import RegradedRow
from memeval.records.response import Outcome, Response, RetrievedItem, Timings
from memeval.records.source import PublishedSource, SourceFile
from memeval.records.track import Redistribution

PERMISSIVE = frozenset({"MIT", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC-BY-4.0"})
"""Licences under which answers may be stored, if the benchmark's own text may be."""

KEPT = re.compile(r"f1|(session|turn)_recall@(5|10)|exact|passed|precision|recall")
"""Names of the metrics that are stored."""


class Sessions:
    """Opens each benchmark, protocol and tier once.

    ``data``: where the benchmarks' data is; ``None`` for memeval's data folder.
    """

    def __init__(self, data: Mapping[str, Path] | None = None) -> None:
        self._data = data or {}
        self._open: dict[tuple[str, str | None, str | None], BenchmarkSession] = {}
        self._matchers: dict[tuple[str, str | None, str | None], Matcher] = {}

    def session(self, benchmark: str, protocol: str | None, tier: str | None) -> BenchmarkSession:
        """Return an open benchmark. Raises ``BadInput`` if the benchmark, its protocol, tier or data does not exist."""
        name = (benchmark, protocol, tier)
        if name not in self._open:
            self._open[name] = BenchmarkSession.open(
                find(benchmark), self._data.get(benchmark), protocol=protocol, tier=tier
            )
        return self._open[name]

    def matcher(self, benchmark: str, protocol: str | None, tier: str | None) -> Matcher:
        name = (benchmark, protocol, tier)
        if name not in self._matchers:
            self._matchers[name] = Matcher(self.session(*name))
        return self._matchers[name]


def regrade(source: PublishedSource, file: SourceFile, copies: Copies, sessions: Sessions) -> Regraded:
    """Grade a file of answers again; without the benchmark's key, only count its own values again.

    Raises ``BadInput`` if a file is missing, has another digest, or does not fit its mapping or scale; the benchmark's
    data is missing; or no row has an item.
    """
    found = matched_rows(source, file, copies, sessions)
    if file.planned is not None:
        return counted_again(source, file, found)
    session = sessions.session(file.benchmark, file.protocol, file.tier)
    keys = {key.item_id: key for key in session.keys}
    with_text = _may_keep(source, session) and any(row.answer is not None for row in found.rows.values())
    answered = {item for item, _trial in found.matched.rows}
    missing = tuple(key.item_id for key in session.keys if key.item_id not in answered)
    return stored_file(
        source,
        file,
        Basis(
            benchmark_licence=session.benchmark.info.licence,
            data_digest=session.dataset.digest,
            protocol=session.protocol,
            tier=session.tier,
            graders={name: grader.name for name, grader in sorted(session.graders.items())},
            judge=RulesJudge.name,
        ),
        _rows(session, keys, found.rows, with_text),
        row_counts(found.first, found.matched, missing),
        signs_of(found.rows, {name: key.scenario_id for name, key in keys.items()}, _last_years(session, keys)),
        with_text,
    )


def matched_rows(source: PublishedSource, file: SourceFile, copies: Copies, sessions: Sessions) -> MatchedFile:
    """Return the rows of a published file, all parts together, and how they were matched.

    Raises ``BadInput`` like :func:`regrade`.
    """
    if file.planned is not None:
        return match_file(source, file, copies, OwnItems())
    return match_file(source, file, copies, sessions.matcher(file.benchmark, file.protocol, file.tier))


def _may_keep(source: PublishedSource, session: BenchmarkSession) -> bool:
    """Return whether rows may contain the answers: all licences must allow it."""
    info = session.benchmark.info
    return info.redistribution is Redistribution.FULL and {source.licence, info.licence} <= PERMISSIVE


def _rows(
    session: BenchmarkSession, keys: Mapping[str, ItemKey], rows: Mapping[Slot, MappedRow], with_text: bool
) -> list[RegradedRow]:
    """Return the rows with their grades, in the order of the plan, trial by trial."""
    by_trial: dict[int, dict[str, MappedRow]] = defaultdict(dict)
    for (item, trial), row in rows.items():
        by_trial[trial][item] = row
    knows_ids = not session.protocol_info.grades_rankings or _knows_ids(session, keys, rows)
    found = []
    for trial, answered in sorted(by_trial.items()):
        present = [key for key in keys.values() if key.item_id in answered]
        gradable = [key for key in present if knows_ids and _is_gradable(session, answered[key.item_id])]
        responses = [_response(session, key, answered[key.item_id]) for key in gradable]
        grades = {grade.item_id: grade for grade in grade_items(session, gradable, responses, RulesJudge())}
        found += [_row(key, trial, answered[key.item_id], grades.get(key.item_id), with_text) for key in present]
    return found


def _is_gradable(session: BenchmarkSession, row: MappedRow) -> bool:
    return (row.retrieved if session.protocol_info.grades_rankings else row.answer) is not None


def _knows_ids(session: BenchmarkSession, keys: Mapping[str, ItemKey], rows: Mapping[Slot, MappedRow]) -> bool:
    """Return whether the benchmark has any of the retrieved ids.

    If it has none, such as turns in a benchmark whose data names only sessions, a metric of 0 would say nothing.
    """
    return any(
        not session.dataset.ordinals(keys[item].scenario_id).keys().isdisjoint(row.retrieved or ())
        for (item, _trial), row in rows.items()
    )


def _response(session: BenchmarkSession, key: ItemKey, row: MappedRow) -> Response:
    items = None
    if row.retrieved is not None:
        ordinals = session.dataset.ordinals(key.scenario_id)
        items = tuple(RetrievedItem(source_ids=(ordinals.get(each, UNKNOWN_SOURCE + each),)) for each in row.retrieved)
    text = row.answer or ""
    return Response(
        item_id=key.item_id,
        scenario_id=key.scenario_id,
        question_id=key.question_ids[0],
        outcome=Outcome.OK if text.strip() or items is not None else Outcome.EMPTY,
        answer=text,
        items=items,
        timings=Timings(started=""),
    )


def _row(key: ItemKey, trial: int, row: MappedRow, grade: Grade | None, with_text: bool) -> RegradedRow:
    metrics = {} if grade is None else grade.metrics
    kept = {
        name: round(value, DECIMALS) for name, value in metrics.items() if value is not None and KEPT.fullmatch(name)
    }
    slot, cluster = (key.item_id, trial), key.cluster or key.item_id
    return stored_row(slot, key.category, cluster, row, _verdict(key, grade), kept, with_text)


def _verdict(key: ItemKey, grade: Grade | None) -> bool | None:
    """Return the rules' verdict; ``None`` without one, and for rubrics, which rules cannot compare with."""
    is_rubric = isinstance(key.key, ReferenceKey) and key.key.is_rubric
    return None if grade is None or is_rubric or grade.state.is_error else grade.verdict


def _last_years(session: BenchmarkSession, keys: Mapping[str, ItemKey]) -> dict[str, int]:
    """Return the year of the last session of each scenario with dates; the question's own time counts as well."""
    years: dict[str, int] = {}
    for name in {key.scenario_id for key in keys.values()}:
        scenario = session.scenarios[name]
        times = [each.date for each in scenario.each_session()] + [ask.timestamp or "" for ask in scenario.questions()]
        found = [int(time[:4]) for time in times if re.match(r"\d{4}-", time or "")]
        if found:
            years[name] = max(found)
    return years
