"""Reading sheets: what a reader sees of each drawn answer. They hold benchmark text and are never stored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from memeval.benchmarks.formats.mapped_rows import MappedRow
from memeval.claims.copies import Copies
from memeval.claims.regrading import Sessions, matched_rows
from memeval.claims.store import read_sources
from memeval.keys import ItemKey, ReferenceKey
from memeval.records.base import digest_bytes
from memeval.records.errors import BadInput
from memeval.records.label import SampleRow
from memeval.records.scenario import Session

Slot = tuple[str, int]
"""Item id and trial."""


class PublishedAnswers:
    """Reads the published files behind regraded ones, each once.

    Args:
        copies: the published files on this machine.
    """

    def __init__(self, sources: Path, copies: Copies, sessions: Sessions) -> None:
        self._sources, self._copies, self.sessions = sources, copies, sessions
        self._read: dict[str, dict[Slot, MappedRow]] = {}

    def of(self, name: str) -> Mapping[Slot, MappedRow]:
        """Return the rows of a file, ``source/file``, by item and trial.

        Raises:
            BadInput: the source, its file or a published file is missing, or does not fit its mapping.
        """
        if name not in self._read:
            source_name, _slash, file_name = name.partition("/")
            (source,) = read_sources(self._sources, [source_name])
            file = next((each for each in source.files if each.name == file_name), None)
            if file is None:
                raise BadInput(f"the source '{source_name}' has no file '{file_name}'.", where=self._sources)
            self._read[name] = matched_rows(source, file, self._copies, self.sessions)[2]
        return self._read[name]

    def texts(self, name: str) -> dict[Slot, str]:
        """Return the answers of a file by item and trial."""
        return {slot: row.answer for slot, row in self.of(name).items() if row.answer is not None}


def reading_sheet(rows: Sequence[SampleRow], answers: PublishedAnswers, benchmark: str) -> Iterator[dict[str, Any]]:
    """Yield what a reader sees: id, question, expected answer, answer, and the turns that prove the expected answer.

    Nothing names the system, its verdicts or the file.

    Args:
        rows: the drawn rows, in the order of reading.

    Raises:
        BadInput: an answer is missing, or is not the one that was drawn.
    """
    session = answers.sessions.session(benchmark, None, None)
    keys = {key.item_id: key for key in session.dataset.keys()}  # noqa: SIM118 - no dictionary
    for row in rows:
        text = answers.texts(row.file).get((row.item_id, row.trial))
        if text is None or digest_bytes(text.encode()) != row.answer_digest:
            raise BadInput(
                f"the answer of '{row.label_id}' is not the one that was drawn.",
                where=row.file,
                remedy="Fetch the published file again: memeval sources pull.",
            )
        key = keys[row.item_id]
        scenario = session.scenarios[key.scenario_id]
        question = next(ask.question for ask in scenario.questions() if ask.question_id == key.question_ids[0])
        yield {
            "label_id": row.label_id,
            "question": question,
            "expected": key.key.expected if isinstance(key.key, ReferenceKey) else "",
            "answer": text,
            "evidence": _evidence(key, scenario.sessions()),
        }


def _evidence(key: ItemKey, sessions: Sequence[Session]) -> list[str]:
    """Return the turns that prove the expected answer, each with its date and speaker."""
    wanted = set(key.key.relevant_turns)
    return [
        f"{session.date}, {turn.speaker or turn.role}: {turn.content}"
        for session in sessions
        for turn in session.turns
        if turn.turn_id in wanted
    ]
