"""Data of the drill-down about a benchmark: scenarios and keys, in shards that a page loads on demand.

They are written once per digest of data, and shared by all its runs. If a benchmark's text may not be published, a
shard contains only ids, digests, lengths and scores. The code lists allowed fields one by one, so a new field is
excluded until someone adds it.
"""

from collections.abc import Iterable, Iterator, Sequence

from memeval.benchmarks.base import Dataset
from memeval.keys import ItemKey
from memeval.records.scenario import Forget, Ingest, Question, Retain, Scenario, Step, Turn
from memeval.site.items.run_shards import RunShards
from memeval.site.model.benchmark_data import BenchmarkData
from memeval.site.model.files import SHARD_BYTES, Asset, Data, encode, joined, packed, text_reference

QUESTION_CHARS = 160
"""Characters of each question in the index, for the list and the search."""


KIND = "data-shards"


def kept_benchmark_shards(data: BenchmarkData, words: bool) -> tuple[Asset, ...]:
    """Return what :func:`benchmark_shards` yields, kept from build to build; nothing without the data."""

    def made(dataset: Dataset) -> bytes:
        return RunShards(tuple(benchmark_shards(dataset, words)), ()).to_bytes()

    kept = data.kept(f"{data.key} {words}", KIND, made)
    return RunShards.from_bytes(kept).assets if kept else ()


def benchmark_shards(dataset: Dataset, words: bool) -> Iterator[Asset]:
    """Yield the shards of a benchmark's data; then an index of the shards, and from items to their numbers."""
    keys: dict[str, list[ItemKey]] = {}
    for key in dataset.answer_keys():
        keys.setdefault(key.scenario_id, []).append(key)
    where: dict[str, int] = {}
    asked: dict[str, str] = {}
    held: list[bytes] = []
    files: list[str] = []
    size = 0
    for scenario in dataset.scenarios():
        mine = keys.get(scenario.scenario_id, [])
        held.append(encode(_scenario(scenario, mine, words)))
        size += len(held[-1])
        where |= {key.item_id: len(files) for key in mine}
        if words:
            questions = {step.question_id: step.question for step in scenario.questions()}
            asked |= {key.item_id: questions.get(key.question_ids[0], "")[:QUESTION_CHARS] for key in mine}
        if size >= SHARD_BYTES:
            yield (shard := packed(joined("scenarios", held)))
            files.append(shard.path)
            held, size = [], 0
    if held:
        yield (shard := packed(joined("scenarios", held)))
        files.append(shard.path)
    yield packed(encode({"files": files, "shards": where, "questions": asked, "words": words}))


def _scenario(scenario: Scenario, keys: Sequence[ItemKey], words: bool) -> Data:
    """Return a scenario with its keys; for a streamed history, only the sessions that a key names."""
    data: Data = {
        "scenario_id": scenario.scenario_id,
        "steps": [_step(step, words) for step in _shown(scenario, keys)],
        "keys": {
            key.item_id: {
                "question_ids": list(key.question_ids),
                "evidence": None if key.evidence is None else list(key.evidence),
                "key": key.key.model_dump(mode="json") if words else text_reference(key.key.to_json()),
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
            "question": step.question if words else text_reference(step.question),
            "filters": filters if words else {},
        }
    if isinstance(step, Forget):
        filters = {name: value for name, value in step.data().items() if value and name != "step"}
        return {"step": "forget", "filters": filters if words else {}}
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
        return {"turn_id": turn.turn_id, "role": turn.role, "content": text_reference(turn.content)}
    return {
        "turn_id": turn.turn_id,
        "role": turn.speaker or turn.role,
        "content": turn.content,
        "kind": turn.kind.value,
    }
