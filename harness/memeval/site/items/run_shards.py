"""Data of the drill-down about a run: answers and grades, in shards that a page loads on demand.

A shard contains no clocks, so that equal answers with equal grades give equal shards, which are stored once. What
repeats within a shard is written once, and named by its place. If a benchmark's text may not be published, a shard
contains only ids, digests, lengths and scores. The code lists allowed fields one by one, so a new field is excluded
until someone adds it.
"""

import io
import json
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from memeval.archive.run_cache import kept
from memeval.archive.runs import RunFolder
from memeval.execution.contexts import Contexts, TurnTexts
from memeval.records.grade import Grade
from memeval.records.response import Response
from memeval.site.items.calls import CallTables, PromptTable
from memeval.site.model.benchmark_data import BenchmarkData
from memeval.site.model.files import SHARD_BYTES, Asset, Data, encode, joined, lean, packed, shown_text, text_reference

TEXT_CHARACTERS = 20_000
"""Maximum characters of a text in a context or among the retrieved items; its end is left out. The run's files contain
it."""

ROW_BYTES = 40
"""Typical size in JSON of a row of a shard's tables, without its text."""

KIND = "shards"

PLACE_BYTES = 4
"""Typical size in JSON of the place of a row."""


@dataclass(frozen=True)
class RunShards:
    assets: tuple[Asset, ...]
    items: tuple[Data, ...]
    """For each item: its grade for the list, the number of its shard, and the durations of its responses."""

    def to_bytes(self) -> bytes:
        packed_all = io.BytesIO()
        with zipfile.ZipFile(packed_all, "w") as archive:
            # Without a time of their own, equal shards give equal files.
            archive.writestr(zipfile.ZipInfo("items.json"), encode(self.items))
            for number, asset in enumerate(self.assets):
                if isinstance(asset.content, bytes):
                    archive.writestr(zipfile.ZipInfo(f"{number} {asset.path}"), asset.content)
        return packed_all.getvalue()

    @classmethod
    def from_bytes(cls, content: bytes) -> Self:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            items, *names = archive.namelist()
            assets = tuple(Asset(name.partition(" ")[2], archive.read(name)) for name in names)
            return cls(assets, tuple(json.loads(archive.read(items))))

    def index(self, head: Data, failures: Mapping[str, Data]) -> Asset:
        """Return the index of the shards and items.

        ``failures``: rows of its failure analysis, by item; empty without one.
        """
        items = []
        for item in self.items:
            failure = failures.get(item["id"], {})
            items.append(lean({name: failure.get(name) for name in ("cause", "found", "rank")}) | item)
        return packed(encode(head | {"files": [asset.path for asset in self.assets], "items": items}))


def kept_shards(folder: RunFolder, words: bool, data: BenchmarkData, turns: dict[str, TurnTexts]) -> RunShards:
    """Return a run's answers and grades, kept from build to build.

    ``turns``: the turns of the data's scenarios, by scenario; filled when the first run needs them.
    """

    def made() -> bytes:
        if words and "calls.jsonl" in folder.run.files and data.dataset is not None and not turns:
            turns.update({scenario.scenario_id: TurnTexts(scenario) for scenario in data.dataset.scenarios()})
        return run_shards(folder, words, turns).to_bytes()

    return RunShards.from_bytes(kept(folder, KIND, depends_on(words, data.is_here), made))


def depends_on(words: bool, has_data: bool) -> str:
    """Return what the kept shards of a run depend on besides the run."""
    return f"words {words}, data {has_data}"


def run_shards(folder: RunFolder, words: bool, turns: Mapping[str, TurnTexts]) -> RunShards:
    """Return a run's answers and grades.

    ``turns``: the scenarios' turns, by scenario; empty if the data is not on this machine.
    """
    responses: dict[str, list[Response]] = {}
    for response in folder.responses():
        responses.setdefault(response.item_id, []).append(response)
    contexts = Contexts(folder.contexts())
    calls = CallTables(folder, turns, words)
    assets: list[Asset] = []
    items: list[Data] = []
    shard = _Shard(words)
    for grade in folder.grades():
        answers = responses.get(grade.item_id, [])
        shard.add(grade, answers, contexts, calls)
        items.append(_line(grade, answers) | {"shard": len(assets)})
        if shard.is_full:
            assets.append(shard.asset())
            shard = _Shard(words)
    if shard.items:
        assets.append(shard.asset())
    return RunShards(tuple(assets), tuple(items))


def _line(grade: Grade, answers: Iterable[Response]) -> Data:
    return lean({"credit": grade.credit}) | {
        "id": grade.item_id,
        "category": grade.category,
        "state": grade.state.value,
        "verdict": grade.verdict,
        "flags": [flag.value for flag in grade.flags],
        "slices": grade.slices,
        "times": [_times(answer) for answer in answers],
    }


def _times(answer: Response) -> list[float | None]:
    times = answer.timings
    shown = (times.ask_seconds, times.search_seconds, times.read_seconds, times.take_in_seconds, times.settle_seconds)
    return [_shown_number(seconds) for seconds in shown]


def _shown_number(number: float | None) -> float | None:
    """Return a number as the page shows it: with three digits."""
    return None if number is None else float(f"{number:.3g}")


class _Shard:
    def __init__(self, words: bool) -> None:
        self.items: list[bytes] = []
        self._words = words
        self._size = 0
        self._lines = PromptTable()
        self._metrics: dict[tuple[str, ...], int] = {}
        self._sources: dict[tuple[str | None, tuple[str, ...], str | None], int] = {}
        self._parts: dict[tuple[str | None, str | None], int] = {}
        self._contexts: dict[tuple[str, str], int] = {}
        self._places: list[list[int]] = []

    @property
    def is_full(self) -> bool:
        return self._size + self._lines.size >= SHARD_BYTES

    def asset(self) -> Asset:
        tables = {
            "contexts": self._places,
            "lines": self._lines.table,
            "metrics": [list(names) for names in self._metrics],
            "parts": [turn_id or {"text": self._shown(text or "")} for turn_id, text in self._parts],
            "sources": [
                lean({"turn_id": turn_id, "source_ids": list(ids), "text": None if text is None else self._shown(text)})
                for turn_id, ids, text in self._sources
            ],
        }
        return packed(joined("items", self.items, tables))

    def add(self, grade: Grade, answers: Iterable[Response], contexts: Contexts, calls: CallTables) -> None:
        names = tuple(grade.metrics)
        item = {
            "id": grade.item_id,
            "grader": grade.grader,
            "cluster": grade.cluster,
            "value": grade.value,
            "alternates": grade.alternates,
            "metrics": [self._metrics.setdefault(names, len(self._metrics)), list(grade.metrics.values())],
            "reason": grade.reason if self._words else None,
            "judged": calls.of_judge(grade, self._lines),
            "responses": [self._response(answer, contexts, calls) for answer in answers],
        }
        self.items.append(encode(lean(item)))
        self._size += len(self.items[-1])

    def _response(self, answer: Response, contexts: Contexts, calls: CallTables) -> Data:
        return lean(
            {
                "question_id": answer.question_id,
                "attempt": answer.attempt,
                "outcome": answer.outcome.value,
                "answer": self._text(answer.answer),
                "error": self._text(answer.error),
                "items": None
                if answer.items is None
                else [
                    [
                        self._place(self._sources, (item.turn_id, item.source_ids, item.text), item.text),
                        _shown_number(item.score),
                    ]
                    for item in answer.items
                ],
                "context": self._context(answer, contexts),
                "context_tokens": answer.context_tokens,
                "reported_tokens": answer.reported_tokens,
                "read": calls.of_reader(answer, self._lines),
            }
        )

    def _place(self, table: dict[Any, int], row: tuple[Any, ...], text: str | None) -> int:
        """Return the place of a row in a table, and add it if it is new."""
        if row not in table:
            table[row] = len(table)
            self._size += ROW_BYTES + min(len(text or ""), TEXT_CHARACTERS)
        return table[row]

    def _context(self, answer: Response, contexts: Contexts) -> int | None:
        """Return the place of a response's context; ``None`` without one."""
        context = contexts.of(answer)
        if context is None:
            return None
        key = (answer.scenario_id, context.digest)
        if key not in self._contexts:
            self._contexts[key] = len(self._places)
            self._places.append(
                [self._place(self._parts, (part.turn_id, part.text), part.text) for part in context.parts]
            )
            self._size += PLACE_BYTES * len(context.parts)
        return self._contexts[key]

    def _text(self, text: str | None) -> Data | str | None:
        return text if self._words or text is None else text_reference(text)

    def _shown(self, text: str) -> Data | str:
        return shown_text(text, self._words, TEXT_CHARACTERS)
