"""Reading sheets: what a reader sees of each drawn answer; and what the rules of today say about it. Never stored."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from memeval.benchmarks.formats.mapped_rows import MappedRow
from memeval.benchmarks.session import BenchmarkSession
from memeval.claims.copies import Copies
from memeval.claims.matching import Slot
from memeval.claims.regrading import Sessions, matched_rows
from memeval.claims.store import read_sources
from memeval.grading.base import question_of
from memeval.judging.base import Case
from memeval.judging.rules import RulesJudge
from memeval.keys import ItemKey, ReferenceKey
from memeval.records.base import digest_bytes
from memeval.records.errors import BadInput
from memeval.records.label import LabelSample, PassedRows, RulesVerdicts, SampleRow
from memeval.records.scenario import Session


class PublishedAnswers:
    def __init__(self, sources: Path, copies: Copies, sessions: Sessions) -> None:
        self._sources, self._copies, self.sessions = sources, copies, sessions
        self._read: dict[str, dict[Slot, MappedRow]] = {}

    def of(self, name: str) -> Mapping[Slot, MappedRow]:
        if name not in self._read:
            source_name, _slash, file_name = name.partition("/")
            (source,) = read_sources(self._sources, [source_name])
            file = next((each for each in source.files if each.name == file_name), None)
            if file is None:
                raise BadInput(f"the source '{source_name}' has no file '{file_name}'.", where=self._sources)
            self._read[name] = dict(matched_rows(source, file, self._copies, self.sessions).rows)
        return self._read[name]

    def texts(self, name: str) -> dict[Slot, str]:
        return {slot: row.answer for slot, row in self.of(name).items() if row.answer is not None}

    def drawn(self, row: SampleRow) -> str:
        """Return the answer of a drawn row. Raises BadInput: it is missing, or is not the one that was drawn."""
        text = self.texts(row.file).get((row.item_id, row.trial))
        if text is None or digest_bytes(text.encode()) != row.answer_digest:
            raise BadInput(
                f"the answer of '{row.label_id}' is not the one that was drawn.",
                where=row.file,
                remedy="Fetch the published file again: memeval sources pull.",
            )
        return text


def reading_sheet(rows: Sequence[SampleRow], answers: PublishedAnswers, benchmark: str) -> Iterator[dict[str, Any]]:
    """Yield what a reader sees: id, question, expected answer, answer, and the turns that prove the expected answer.

    Nothing names the system, its verdicts or the file. ``rows``: the drawn rows, in the order of reading. Raises
    BadInput: an answer is missing, or is not the one that was drawn.
    """
    session = answers.sessions.session(benchmark, None, None)
    keys = {key.item_id: key for key in session.dataset.answer_keys()}
    for row in rows:
        text = answers.drawn(row)
        key = keys[row.item_id]
        scenario = session.scenarios[key.scenario_id]
        question = question_of(key, scenario)
        yield {
            "label_id": row.label_id,
            "question": question,
            "expected": key.key.expected if isinstance(key.key, ReferenceKey) else "",
            "answer": text,
            "evidence": _evidence(key, scenario.sessions()),
        }


def _evidence(key: ItemKey, sessions: Sequence[Session]) -> list[str]:
    wanted = set(key.key.relevant_turns)
    return [
        f"{session.date}, {turn.speaker or turn.role}: {turn.content}"
        for session in sessions
        for turn in session.turns
        if turn.turn_id in wanted
    ]


def verdicts_of(
    rules: RulesJudge,
    sample: LabelSample,
    rows: Sequence[SampleRow],
    answers: PublishedAnswers,
    tuned_on: Collection[str],
    others: Iterable[str] = (),
) -> RulesVerdicts:
    """Return what a version of the rules says about the drawn rows, and its counts over whole files.

    Raises BadInput: an answer is missing or is not the one that was drawn, or there is no such cluster.
    """
    session = answers.sessions.session(sample.benchmark, None, None)
    keys = {key.item_id: key for key in session.dataset.answer_keys()}
    if unknown := set(tuned_on) - {key.cluster for key in keys.values()}:
        raise BadInput(f"{sample.benchmark} has no cluster '{min(unknown)}'.", remedy="Correct --tuned-on.")
    files = sorted({*sample.files, *others})
    verdicts = {name: _verdicts(rules, session, keys, answers, name) for name in files}
    for row in rows:
        answers.drawn(row)
    return RulesVerdicts(
        sample=sample.name,
        rows_digest=sample.rows_digest,
        judge=rules.name,
        tuned_on=tuple(sorted(tuned_on)),
        accepted=tuple(sorted(row.label_id for row in rows if verdicts[row.file][row.item_id, row.trial])),
        files={name: _counted(found, keys, tuned_on) for name, found in verdicts.items()},
    )


def _verdicts(
    rules: RulesJudge, session: BenchmarkSession, keys: dict[str, ItemKey], answers: PublishedAnswers, name: str
) -> dict[Slot, bool]:
    found = {}
    for (item, trial), text in answers.texts(name).items():
        key = keys[item]
        if not isinstance(key.key, ReferenceKey) or key.key.is_rubric:
            continue
        scenario = session.scenarios[key.scenario_id]
        question = question_of(key, scenario)
        found[item, trial] = rules.rule(Case(item, question, text, key.key, scenario)).verdict is True
    return found


def _counted(verdicts: dict[Slot, bool], keys: dict[str, ItemKey], tuned_on: Collection[str]) -> PassedRows:
    halves: dict[bool, list[bool]] = {True: [], False: []}
    for (item, _trial), verdict in verdicts.items():
        halves[keys[item].cluster in tuned_on].append(verdict)
    return PassedRows(
        tuned=sum(halves[True]),
        tuned_rows=len(halves[True]),
        reported=sum(halves[False]),
        reported_rows=len(halves[False]),
    )
