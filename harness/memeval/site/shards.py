"""Data of the drill-down, in shards that a page loads on demand. Each is named by its digest.

Scenarios and keys are written once per digest of data and shared by all its runs; answers and grades are written per
run. If a benchmark's text may not be published, a shard contains only ids, digests, lengths and scores. The code lists
allowed fields one by one, so a new field is excluded until someone adds it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memeval.archive.runs import RunFolder
from memeval.benchmarks.base import Dataset
from memeval.execution.contexts import Contexts, TurnTexts
from memeval.keys import ItemKey
from memeval.records.grade import Grade
from memeval.records.response import Context, Response
from memeval.records.scenario import Ingest, Question, Retain, Scenario, Step, Turn
from memeval.site.calls import CallTables, PromptTable
from memeval.site.files import Asset, Data, lean, shared, withheld

SHARD_ITEMS = 25
"""Maximum number of items in a shard: small enough to load quickly, and large enough for few files."""

SHARD_BYTES = 200_000
"""Size in bytes at which a shard is closed: some items have twenty questions."""

QUESTION_CHARS = 160
"""Characters of each question in the index, for the list and the search."""


def encode(data: Any) -> bytes:
    """Return the canonical JSON text of ``data``, in ASCII, so that untrusted text cannot break it."""
    return json.dumps(data, sort_keys=True, ensure_ascii=True, separators=(",", ":"), allow_nan=False).encode()


# -- the benchmark -----------------------------------------------------------------------------------------------


def benchmark_shards(dataset: Dataset, words: bool) -> Iterator[Asset]:
    """Yield the shards of a benchmark's data; then an index of the shards, and from items to their numbers.

    Args:
        dataset: the data.
        words: whether its text may be published.
    """
    keys: dict[str, list[ItemKey]] = {}
    for key in dataset.keys():  # noqa: SIM118 - no dictionary
        keys.setdefault(key.scenario_id, []).append(key)
    where: dict[str, int] = {}
    asked: dict[str, str] = {}
    held: list[Data] = []
    files: list[str] = []
    items = size = 0
    for scenario in dataset.scenarios():
        mine = keys.get(scenario.scenario_id, [])
        held.append(_scenario(scenario, mine, words))
        size += len(encode(held[-1]))
        where |= {key.item_id: len(files) for key in mine}
        if words:
            questions = {step.question_id: step.question for step in scenario.questions()}
            asked |= {key.item_id: questions.get(key.question_ids[0], "")[:QUESTION_CHARS] for key in mine}
        items += len(mine)
        if items >= SHARD_ITEMS or size >= SHARD_BYTES:
            yield (shard := _shard({"scenarios": held}))
            files.append(shard.path)
            held, items, size = [], 0, 0
    if held:
        yield (shard := _shard({"scenarios": held}))
        files.append(shard.path)
    yield _shard({"files": files, "shards": where, "questions": asked, "words": words})


def _shard(data: Data) -> Asset:
    return shared(encode(data), ".json")


def _scenario(scenario: Scenario, keys: Sequence[ItemKey], words: bool) -> Data:
    """Return a scenario with its keys; for a streamed history, only the sessions that a key names."""
    data: Data = {
        "scenario_id": scenario.scenario_id,
        "steps": [_step(step, words) for step in _shown(scenario, keys)],
        "keys": {
            key.item_id: {
                "question_ids": list(key.question_ids),
                "evidence": None if key.evidence is None else list(key.evidence),
                "key": key.key.model_dump(mode="json") if words else withheld(key.key.to_json()),
            }
            for key in keys
        },
    }
    return data | ({"streamed": True} if scenario.is_streamed else {})


def _shown(scenario: Scenario, keys: Iterable[ItemKey]) -> Iterable[Step | Question]:
    if not scenario.is_streamed:
        return scenario.steps
    named = sorted({session for key in keys for session in key.evidence or ()})
    return (*(Ingest(session=scenario.session(name), source_id=name) for name in named), *scenario.questions())


def _step(step: Step | Question, words: bool) -> Data:
    if isinstance(step, Question):
        filters = {
            name: getattr(step, name)
            for name in ("bank", "tags", "since", "until", "k", "in_flight", "query", "dispositions")
            if getattr(step, name, None)
        }
        return {
            "step": "ask",
            "call": step.step,
            "question_id": step.question_id,
            "timestamp": step.timestamp if words else None,
            "question": step.question if words else withheld(step.question),
            "filters": filters if words else {},
        }
    session, facts = step.session, {}
    if isinstance(step, Retain):
        facts = {"bank": step.bank, "tags": step.tags, "fact_type": step.fact_type, **step.metadata}
    return {
        "step": "ingest",
        "session_id": session.session_id,
        "date": session.date if words else None,
        "facts": {name: value for name, value in facts.items() if value} if words else {},
        "turns": [_turn(turn, words) for turn in session.turns],
    }


def _turn(turn: Turn, words: bool) -> Data:
    if not words:
        return {"turn_id": turn.turn_id, "role": turn.role, "content": withheld(turn.content)}
    return {
        "turn_id": turn.turn_id,
        "role": turn.speaker or turn.role,
        "content": turn.content,
        "kind": turn.kind.value,
    }


# -- the run -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class RunContext:
    """Data of a run besides its rows."""

    words: bool
    """Whether the benchmark's text may be published."""
    turns: Mapping[str, TurnTexts] = field(default_factory=dict)
    """The scenarios' turns, by scenario; empty if the data is not on this machine."""
    failures: Mapping[str, Data] = field(default_factory=dict)
    """Rows of its failure analysis, by item; empty without one."""


def run_shards(folder: RunFolder, head: Data, known: RunContext) -> Iterator[Asset]:
    """Yield the shards of a run; then a small index of its shards and items.

    Args:
        folder: the run, with its rows.
        head: the entry of the run in the index.
        known: other data of the run.
    """
    words = known.words
    responses: dict[str, list[Response]] = {}
    for response in folder.responses():
        responses.setdefault(response.item_id, []).append(response)
    contexts = Contexts(folder.contexts())
    calls, prompts = CallTables(folder, known.turns, words), PromptTable()
    lines: list[Data] = []
    held: list[Data] = []
    given: dict[str, list[Data]] = {}
    files: list[str] = []
    size = 0
    for grade in folder.grades():
        answers = responses.get(grade.item_id, [])
        item = _item(grade, answers, calls, prompts, words)
        named = {
            _place(answer): context for answer in answers if (context := _context_of(answer, contexts)) is not None
        }
        new = {place: _context(named[place], words) for place in sorted(named.keys() - given.keys())}
        held.append(item)
        given |= new
        lines.append(_line(grade, known.failures.get(grade.item_id, {})) | {"shard": len(files)})
        size += len(encode(item)) + len(encode(new))
        if len(held) >= SHARD_ITEMS or size + prompts.size >= SHARD_BYTES:
            yield (shard := _shard({"items": held, "contexts": given, "lines": prompts.table}))
            files.append(shard.path)
            held, given, prompts, size = [], {}, PromptTable(), 0
    if held:
        yield (shard := _shard({"items": held, "contexts": given, "lines": prompts.table}))
        files.append(shard.path)
    yield _shard(head | {"words": words, "files": files, "items": lines})


def _line(grade: Grade, failure: Data) -> Data:
    looked_at = {name: failure.get(name) for name in ("cause", "found", "rank")}
    return lean({"credit": grade.credit, **looked_at}) | {
        "id": grade.item_id,
        "category": grade.category,
        "state": grade.state.value,
        "verdict": grade.verdict,
        "flags": [flag.value for flag in grade.flags],
        "slices": grade.slices,
    }


def _item(grade: Grade, answers: list[Response], calls: CallTables, prompts: PromptTable, words: bool) -> Data:
    return {
        "id": grade.item_id,
        "grader": grade.grader,
        "cluster": grade.cluster,
        "value": grade.value,
        "alternates": grade.alternates,
        "metrics": grade.metrics,
        "reason": grade.reason if words else None,
        "judged": calls.of_judge(grade, prompts),
        "responses": [_response(answer, words) | {"read": calls.of_reader(answer, prompts)} for answer in answers],
    }


def _response(answer: Response, words: bool) -> Data:
    times = answer.timings
    return {
        "question_id": answer.question_id,
        "scenario_id": answer.scenario_id,
        "attempt": answer.attempt,
        "outcome": answer.outcome.value,
        "answer": answer.answer if words else withheld(answer.answer),
        "error": answer.error if words or answer.error is None else withheld(answer.error),
        "items": None
        if answer.items is None
        else [
            lean(
                {
                    "turn_id": item.turn_id,
                    "source_ids": list(item.source_ids),
                    "score": item.score,
                    "text": item.text if words or item.text is None else withheld(item.text),
                }
            )
            for item in answer.items
        ],
        "context_digest": answer.context_digest,
        "context_tokens": answer.context_tokens,
        "reported_tokens": answer.reported_tokens,
        "ask_seconds": times.ask_seconds,
        "search_seconds": times.search_seconds,
        "read_seconds": times.read_seconds,
        "take_in_seconds": times.take_in_seconds,
        "take_in_sessions": times.take_in_sessions,
        "settle_seconds": times.settle_seconds,
    }


def _place(answer: Response) -> str:
    """Return the key of a response's context in the shard."""
    return f"{answer.scenario_id} {answer.context_digest}"


def _context_of(answer: Response, contexts: Contexts) -> Context | None:
    """Return the context of a response; ``None`` if it names turns of another scenario, as in some older runs."""
    context = contexts.of(answer)
    if context is None or context.scenario_id == answer.scenario_id:
        return context
    return None if any(part.turn_id for part in context.parts) else context


def _context(context: Context, words: bool) -> list[Data]:
    return [
        lean(
            {
                "turn_id": part.turn_id,
                "text": part.text if words or part.text is None else withheld(part.text),
            }
        )
        for part in context.parts
    ]
