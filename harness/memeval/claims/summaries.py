"""The stored form of a published file: its rows and its summary, with grades or without."""

import datetime
import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from memeval.benchmarks.formats.mapped_rows import MappedRow, read_rows
from memeval.claims.copies import Copies
from memeval.claims.figures import figures_of
from memeval.claims.matching import BROKEN, REPEATED, Matched, Matcher, Slot, merged
from memeval.claims.signs import signs_of
from memeval.records.base import Digest, digest_bytes, digest_of
from memeval.records.errors import BadInput
from memeval.records.mapping import FieldPlace
from memeval.records.regraded import PartialSum, RegradedFile, RegradedRow, RowCounts, Sign
from memeval.records.source import SCALES, TWO_VALUED, FilePart, PublishedSource, Scale, SourceFile

DECIMALS = 6


@dataclass(frozen=True)
class Regraded:
    """A file, graded again; or only counted again, where memeval does not have the key."""

    summary: RegradedFile
    rows: tuple[RegradedRow, ...]


@dataclass(frozen=True)
class MatchedFile:
    """The rows of a published file."""

    first: tuple[MappedRow, ...]
    """The rows that decide which questions are answered, in the order of the file."""
    matched: Matched
    """How these rows were matched."""
    rows: Mapping[Slot, MappedRow]
    """The matched rows with the fields of all parts, by item and trial."""


@dataclass(frozen=True)
class Basis:
    """What a file was graded with; all empty where memeval does not have the key."""

    benchmark_licence: str | None = None
    data_digest: Digest | None = None
    protocol: str | None = None
    tier: str | None = None
    graders: Mapping[str, str] | None = None
    judge: str | None = None


def match_file(source: PublishedSource, file: SourceFile, copies: Copies, matcher: "Matcher | OwnItems") -> MatchedFile:
    """Read the parts of a published file, and match their rows.

    Raises ``BadInput`` if a part is missing, has another digest, does not fit its mapping or the scale of the file, or
    no row has an item.
    """
    first: list[MappedRow] = []
    added: list[list[MappedRow]] = []
    for part in file.parts:
        read = _read(source, file, part, copies)
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
    rows: Mapping[Slot, MappedRow] = matched.rows
    for others in added:
        rows = merged(rows, matcher.match(others).rows)
    return MatchedFile(tuple(first), matched, rows)


def _read(source: PublishedSource, file: SourceFile, part: FilePart, copies: Copies) -> list[MappedRow]:
    _path, data = copies.find(source, part)
    rows = read_rows(data, source.mappings[part.mapping], part.path)
    if file.scale is not None:
        for row in rows:
            _refuse_other_scale(row, file.scale)
    return rows


def _refuse_other_scale(row: MappedRow, scale: Scale) -> None:
    values: Mapping[str, float | None] = row.verdicts if scale in TWO_VALUED else row.scores
    for name, value in values.items():
        if value is None or not 0 <= value <= 1:
            shown = "an unreadable verdict" if value is None else f"the value {value:g}"
            raise BadInput(
                f"'{name}' has {shown}, which is not on the scale '{scale}': {SCALES[scale]}.",
                where=row.where,
                remedy="Correct the scale of the file, or its mapping.",
            )


def stored_file(
    source: PublishedSource,
    file: SourceFile,
    basis: Basis,
    rows: Sequence[RegradedRow],
    counts: RowCounts,
    signs: tuple[Sign, ...],
    with_text: bool = False,
) -> Regraded:
    """Return the rows of a file with their summary."""
    text = "".join(f"{row.to_json()}\n" for row in rows).encode()
    return Regraded(
        RegradedFile(
            source=source.name,
            file=file.name,
            title=source.title,
            system=file.system,
            version=file.version,
            repository=source.repository,
            commit=source.commit,
            parts={part.path: part.digest for part in file.parts if part.digest},  # none was read without one
            mapping=entry_digest(source, file),
            licence=source.licence,
            benchmark=file.benchmark,
            benchmark_licence=basis.benchmark_licence,
            data_digest=basis.data_digest,
            planned=file.planned,
            scale=file.scale,
            votes=_votes(source, file),
            protocol=basis.protocol,
            tier=basis.tier,
            graders=dict(basis.graders or {}),
            judge=basis.judge,
            answer_model=file.answer_model,
            judges=file.judges,
            group=file.group,
            note=file.note,
            counts=counts,
            figures=figures_of(rows, counts),
            signs=signs,
            with_text=with_text,
            rows_digest=digest_bytes(text),
            regraded_at=datetime.datetime.now(datetime.UTC).date().isoformat(),
        ),
        tuple(rows),
    )


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


def _votes(source: PublishedSource, file: SourceFile) -> dict[str, str]:
    """Return the rule for lists of votes, by the name of the verdict or score."""
    return {
        name.partition(".")[2]: place.votes
        for part in file.parts
        for name, place in source.mappings[part.mapping].fields().items()
        if isinstance(place, FieldPlace) and place.votes is not None
    }


def row_counts(rows: Sequence[MappedRow], matched: Matched, missing: tuple[str, ...] = ()) -> RowCounts:
    """Count what happened to the rows of a file. ``missing``: the planned items without a row, if they are known."""
    unmatched = {place for places in matched.unmatched.values() for place in places}
    others = [row for row in rows if row.place in unmatched]
    verdicts: dict[str, list[float]] = defaultdict(list)
    scores: dict[str, list[float]] = defaultdict(list)
    for row in others:
        for name, verdict in row.verdicts.items():
            if verdict is not None:
                verdicts[name].append(verdict)
        for name, score in row.scores.items():
            scores[name].append(score)
    return RowCounts(
        rows=len(rows),
        matched=len(matched.rows),
        unmatched={reason: tuple(places) for reason, places in sorted(matched.unmatched.items())},
        unmatched_verdicts={name: _partial(values) for name, values in sorted(verdicts.items())},
        unmatched_recall=_partial([recall for row in others if (recall := recall_of(row)) is not None]),
        unmatched_scores={name: _partial(values) for name, values in sorted(scores.items())},
        unreadable_verdicts=sum(verdict is None for row in rows for verdict in row.verdicts.values()),
        gold_differs=tuple(matched.gold_differs),
        text_differs=tuple(matched.text_differs),
        missing=missing,
    )


def _partial(values: Sequence[float]) -> PartialSum:
    return PartialSum(total=round(math.fsum(values), DECIMALS), rows=len(values))


def stored_row(
    slot: Slot,
    category: str,
    cluster: str,
    row: MappedRow,
    verdict: bool | None,
    metrics: Mapping[str, float],
    keep: bool,
) -> RegradedRow:
    """Return the stored form of a row.

    ``verdict`` and ``metrics``: those of the rules here. ``keep``: whether the answer may be stored.
    """
    recall = recall_of(row)
    return RegradedRow(
        item_id=slot[0],
        category=category,
        cluster=cluster,
        trial=slot[1],
        place=row.place,
        answer=row.answer if keep else None,
        answer_digest=None if row.answer is None else digest_bytes(row.answer.encode()),
        verdicts=dict(row.verdicts),
        scores={name: round(value, DECIMALS) for name, value in row.scores.items()},
        verdict=verdict,
        metrics=dict(metrics),
        retrieved=row.retrieved,
        recall=None if recall is None else round(recall, DECIMALS),
        prompt_tokens=_whole(row.prompt_tokens),
        completion_tokens=_whole(row.completion_tokens),
        context_tokens=row.context_tokens,
        seconds=None if row.seconds is None else round(row.seconds, DECIMALS),
        cost_usd=row.cost_usd,
    )


def recall_of(row: MappedRow) -> float | None:
    """Return the share of the file's own evidence that was retrieved; ``None`` without either."""
    if row.retrieved is None or not row.evidence:
        return None
    wanted = set(row.evidence)
    return len(wanted.intersection(row.retrieved)) / len(wanted)


def _whole(value: float | None) -> int | None:
    return None if value is None else round(value)


LONGEST_NAME = 80
"""Maximum length of an id, a conversation or a category, in characters."""

DIGITS = 16
"""Hexadecimal digits of a question's digest."""

WHOLE = "all questions"
"""The category of rows whose file names none."""


class OwnItems:
    """Takes every row of a file as an answer to a question of its own."""

    def match(self, rows: Iterable[MappedRow]) -> Matched:
        """Return the rows by item and trial. A row that repeats an id is counted, and left out."""
        found, seen = Matched(), Counter[Slot]()
        for row in rows:
            if row.broken:
                found.unmatched[BROKEN].append(row.place)
                continue
            item = row.item if row.item is not None else _own_id(row)
            seen[item, row.trial] += 1
            times = seen[item, row.trial]
            if row.item is None and times > 1:
                item = f"{item}-{times}"
            elif times > 1:
                found.unmatched[REPEATED].append(row.place)
                continue
            for name in (item, row.scenario, row.category):
                _refuse_text(name, row)
            found.rows[item, row.trial] = row
        return found


def _own_id(row: MappedRow) -> str:
    if row.question is None:
        return f"row-{row.place}"
    text = f"{row.scenario or ''}\n{row.category or ''}\n{row.question}"
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:DIGITS]


def _refuse_text(name: str | None, row: MappedRow) -> None:
    if name is not None and (len(name) > LONGEST_NAME or not name.isprintable()):
        raise BadInput(
            f"an id or category has more than {LONGEST_NAME} characters, or a control character.",
            where=row.where,
            remedy="Correct the mapping: ids and categories are stored, texts are not.",
        )


def counted_again(source: PublishedSource, file: SourceFile, found: MatchedFile) -> Regraded:
    """Return a file with the counts of its own values.

    Raises ``BadInput`` if it has more questions than the source states.
    """
    items = {item for item, _trial in found.rows}
    if file.planned is not None and len(items) > file.planned:
        raise BadInput(
            f"has {len(items):,} questions, and the source states {file.planned:,}.",
            where=file.parts[0].path,
            remedy="Correct 'planned' in the source, or its mapping.",
        )
    scenarios = {item: row.scenario or item for (item, _trial), row in found.rows.items()}
    by_trial: dict[int, list[tuple[str, MappedRow]]] = defaultdict(list)
    for (item, trial), row in found.rows.items():
        by_trial[trial].append((item, row))
    rows = [
        stored_row((item, trial), row.category or WHOLE, scenarios[item], row, None, {}, keep=False)
        for trial, answered in sorted(by_trial.items())
        for item, row in answered
    ]
    counts = row_counts(found.first, found.matched)
    return stored_file(source, file, Basis(tier=file.tier), rows, counts, signs_of(found.rows, scenarios, {}))
