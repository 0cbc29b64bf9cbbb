"""Grades a published file again: read, match, grade by rules, and count."""

import datetime
import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from memeval.benchmarks import find
from memeval.benchmarks.formats.answers import UNKNOWN_SOURCE
from memeval.benchmarks.formats.mapped_rows import MappedRow, read_rows
from memeval.benchmarks.session import BenchmarkSession
from memeval.claims.copies import Copies
from memeval.claims.figures import figures_of
from memeval.claims.matching import Matched, Matcher, Slot, merged
from memeval.claims.signs import signs_of
from memeval.evaluation.judge.grades import grade_items
from memeval.judging.rules import RulesJudge
from memeval.keys import ItemKey, ReferenceKey
from memeval.records.base import Digest, digest_bytes, digest_of
from memeval.records.errors import BadInput
from memeval.records.grade import Grade
from memeval.records.regraded import PartialSum, RegradedFile, RegradedRow, RowCounts
from memeval.records.response import Outcome, Response, RetrievedItem, Timings
from memeval.records.source import PublishedSource, SourceFile
from memeval.records.track import Redistribution

PERMISSIVE = frozenset({"MIT", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC-BY-4.0"})
"""Licences under which answers may be stored, if the benchmark's own text may be."""

KEPT = re.compile(r"f1|(session|turn)_recall@(5|10)|exact|passed|precision|recall")
"""Names of the metrics that are stored."""

DECIMALS = 6


@dataclass(frozen=True)
class Regraded:
    """A file, graded again."""

    summary: RegradedFile
    rows: tuple[RegradedRow, ...]


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
    """Grade a file of answers again.

    Raises ``BadInput`` if a file is missing, has another digest, or does not fit its mapping; the benchmark's data is
    missing; or no row has an item.
    """
    session = sessions.session(file.benchmark, file.protocol, file.tier)
    first, matched, rows = matched_rows(source, file, copies, sessions)
    keys = {key.item_id: key for key in session.keys}
    with_text = _may_keep(source, session) and any(row.answer is not None for row in rows.values())
    done = _rows(session, keys, rows, with_text)
    counts = _counts(session, first, matched)
    text = "".join(f"{row.to_json()}\n" for row in done).encode()
    return Regraded(
        RegradedFile(
            source=source.name,
            file=file.name,
            title=source.title,
            system=file.system,
            version=file.version,
            repository=source.repository,
            commit=source.commit,
            parts={part.path: _digest(part.digest) for part in file.parts},
            mapping=entry_digest(source, file),
            licence=source.licence,
            benchmark=file.benchmark,
            benchmark_licence=session.benchmark.info.licence,
            data_digest=session.dataset.digest,
            protocol=session.protocol,
            tier=session.tier,
            graders={name: grader.name for name, grader in sorted(session.graders.items())},
            judge=RulesJudge.name,
            answer_model=file.answer_model,
            judges=file.judges,
            group=file.group,
            note=file.note,
            counts=counts,
            figures=figures_of(done, counts),
            signs=signs_of(rows, keys, _last_years(session, keys)),
            with_text=with_text,
            rows_digest=digest_bytes(text),
            regraded_at=datetime.datetime.now(datetime.UTC).date().isoformat(),
        ),
        tuple(done),
    )


def matched_rows(
    source: PublishedSource, file: SourceFile, copies: Copies, sessions: Sessions
) -> tuple[list[MappedRow], Matched, dict[Slot, MappedRow]]:
    """Return the rows of a published file, how they were matched, and the rows by item and trial, all parts together.

    Raises ``BadInput`` if see :func:`regrade`.
    """
    matcher = sessions.matcher(file.benchmark, file.protocol, file.tier)
    first: list[MappedRow] = []
    added: list[list[MappedRow]] = []
    for part in file.parts:
        read = read_rows(copies.read(source, part), source.mappings[part.mapping], part.path)
        if part.trial is not None:
            first += [replace(row, trial=part.trial, place=len(first) + row.place) for row in read]
        elif not first:
            first = read
        else:
            added.append(read)
    matched = matcher.match(first)
    if not matched.rows:
        reasons = ", ".join(f"{reason}: {len(places)}" for reason, places in matched.unmatched.items())
        raise BadInput(
            f"no row has an item of {file.benchmark} ({reasons}).",
            where=file.parts[0].path,
            remedy="Correct the mapping, or the benchmark, protocol or tier of the file.",
        )
    rows = matched.rows
    for others in added:
        rows = merged(rows, matcher.match(others).rows)
    return first, matched, rows


def entry_digest(source: PublishedSource, file: SourceFile) -> Digest:
    """Return the digest of everything in a source that decides how a file is graded."""
    used = sorted({part.mapping for part in file.parts})
    return digest_of(
        {
            "repository": source.repository,
            "commit": source.commit,
            "file": file.identity(),
            "mappings": {name: source.mappings[name].identity() for name in used},
        }
    )


def _digest(digest: Digest | None) -> Digest:
    if digest is None:
        raise ValueError("a file without a digest was read")
    return digest


def _may_keep(source: PublishedSource, session: BenchmarkSession) -> bool:
    """Return whether rows may contain the answers: all licences must allow it."""
    info = session.benchmark.info
    return info.redistribution is Redistribution.FULL and {source.licence, info.licence} <= PERMISSIVE


def _counts(session: BenchmarkSession, rows: Sequence[MappedRow], matched: Matched) -> RowCounts:
    answered = {item for item, _trial in matched.rows}
    unmatched = {place for places in matched.unmatched.values() for place in places}
    others: dict[str, list[bool]] = defaultdict(list)
    scores: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        if row.place in unmatched:
            for name, verdict in row.verdicts.items():
                if verdict is not None:
                    others[name].append(verdict)
            for name, score in row.scores.items():
                scores[name].append(score)
    recalls = [found for row in rows if row.place in unmatched and (found := _recall(row)) is not None]
    return RowCounts(
        rows=len(rows),
        matched=len(matched.rows),
        unmatched={reason: tuple(places) for reason, places in sorted(matched.unmatched.items())},
        unmatched_verdicts={
            name: PartialSum(total=sum(verdicts), rows=len(verdicts)) for name, verdicts in sorted(others.items())
        },
        unmatched_recall=PartialSum(total=round(math.fsum(recalls), DECIMALS), rows=len(recalls)),
        unmatched_scores={
            name: PartialSum(total=round(math.fsum(values), DECIMALS), rows=len(values))
            for name, values in sorted(scores.items())
        },
        unreadable_verdicts=sum(verdict is None for row in rows for verdict in row.verdicts.values()),
        gold_differs=tuple(matched.gold_differs),
        text_differs=tuple(matched.text_differs),
        missing=tuple(key.item_id for key in session.keys if key.item_id not in answered),
    )


def _rows(
    session: BenchmarkSession, keys: Mapping[str, ItemKey], rows: Mapping[Slot, MappedRow], with_text: bool
) -> list[RegradedRow]:
    """Return the rows with their grades, in the order of the plan, trial by trial."""
    by_trial: dict[int, dict[str, MappedRow]] = defaultdict(dict)
    for (item, trial), row in rows.items():
        by_trial[trial][item] = row
    knows_ids = not _reads_ids(session) or _knows_ids(session, keys, rows)
    found = []
    for trial, answered in sorted(by_trial.items()):
        present = [key for key in keys.values() if key.item_id in answered]
        gradable = [key for key in present if knows_ids and _is_gradable(session, answered[key.item_id])]
        responses = [_response(session, key, answered[key.item_id]) for key in gradable]
        grades = {grade.item_id: grade for grade in grade_items(session, gradable, responses, RulesJudge())}
        found += [_row(key, trial, answered[key.item_id], grades.get(key.item_id), with_text) for key in present]
    return found


def _is_gradable(session: BenchmarkSession, row: MappedRow) -> bool:
    return row.retrieved is not None if _reads_ids(session) else row.answer is not None


def _reads_ids(session: BenchmarkSession) -> bool:
    return session.protocol_info.search_items is not None or "recall" in session.protocol_info.needs


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
    recall = _recall(row)
    return RegradedRow(
        item_id=key.item_id,
        category=key.category,
        cluster=key.cluster or key.item_id,
        trial=trial,
        place=row.place,
        answer=row.answer if with_text else None,
        answer_digest=None if row.answer is None else digest_bytes(row.answer.encode()),
        verdicts=dict(row.verdicts),
        scores={name: round(value, DECIMALS) for name, value in row.scores.items()},
        verdict=_verdict(key, grade),
        metrics={
            name: round(value, DECIMALS)
            for name, value in metrics.items()
            if value is not None and KEPT.fullmatch(name)
        },
        retrieved=row.retrieved,
        recall=None if recall is None else round(recall, DECIMALS),
        prompt_tokens=_whole(row.prompt_tokens),
        completion_tokens=_whole(row.completion_tokens),
        context_tokens=row.context_tokens,
        seconds=None if row.seconds is None else round(row.seconds, DECIMALS),
        cost_usd=row.cost_usd,
    )


def _recall(row: MappedRow) -> float | None:
    """Return the share of the file's own evidence that was retrieved; ``None`` without either."""
    if row.retrieved is None or not row.evidence:
        return None
    wanted = set(row.evidence)
    return len(wanted.intersection(row.retrieved)) / len(wanted)


def _verdict(key: ItemKey, grade: Grade | None) -> bool | None:
    """Return the rules' verdict; ``None`` without one, and for rubrics, which rules cannot compare with."""
    is_rubric = isinstance(key.key, ReferenceKey) and key.key.is_rubric
    return None if grade is None or is_rubric or grade.state.is_error else grade.verdict


def _whole(value: float | None) -> int | None:
    return None if value is None else round(value)


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
