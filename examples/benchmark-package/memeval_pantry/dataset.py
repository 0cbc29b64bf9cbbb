"""The data: scenarios for systems, and keys for graders, from one file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import resources
from typing import Any

from memeval.benchmarks.base import Dataset
from memeval.keys import AnswerKey, Fact, ItemKey
from memeval.records.base import digest_bytes
from memeval.records.scenario import Ask, Ingest, Scenario, Session, Turn
from memeval_pantry.keys import CountKey, PlaceKey


class PantryDataset(Dataset):
    """The rows of ``pantry.jsonl``: one scenario and one item each."""

    def __init__(self) -> None:
        data = (resources.files(__package__) / "pantry.jsonl").read_bytes()
        self.digest = digest_bytes(data)
        self.parameters = {}
        self._rows: list[dict[str, Any]] = [json.loads(line) for line in data.splitlines()]

    def scenarios(self) -> Iterator[Scenario]:
        """Yield the scenarios: some sessions, then the question."""
        for row in self._rows:
            sessions = (_session(f"s{number:03}", date, text) for number, (date, text) in enumerate(row["sessions"], 1))
            yield Scenario(
                scenario_id=row["id"],
                steps=(*sessions, Ask(question_id=row["id"], question=row["question"])),
            )

    def answer_keys(self) -> Iterator[ItemKey]:
        """Yield the keys, in the order of the file."""
        for row in self._rows:
            key = _key(row)
            yield ItemKey(
                item_id=row["id"],
                scenario_id=row["id"],
                question_ids=(row["id"],),
                category="count" if isinstance(key, CountKey) else "place",
                cluster=row["id"],
                evidence=tuple(f"s{number:03}" for number in row["evidence"]),
                key=key,
            )


def _session(ordinal: str, date: str, text: str) -> Ingest:
    turn = Turn(turn_id=f"{ordinal}:t01", role="user", content=text)
    return Ingest(session=Session(session_id=ordinal, date=date, turns=(turn,)), source_id=ordinal)


def _key(row: dict[str, Any]) -> AnswerKey:
    if "number" in row:
        return CountKey(number=row["number"])
    return PlaceKey(place=_place(row["place"]), before=tuple(map(_place, row["before"])))


def _place(name: str) -> Fact:
    return Fact(text=f"It is here: {name}.", phrases=(name,))
