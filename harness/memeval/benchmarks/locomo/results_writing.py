"""Export to LoCoMo results, with the statistics file that its code writes.

Field names, order and formulas: snap-research/LoCoMo, ``task_eval/evaluate_qa.py`` and ``evaluation_stats.py``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import ceil, fsum
from pathlib import Path
from typing import Any

from memeval.archive.runs import RunFolder
from memeval.benchmarks.formats.answers import UNKNOWN_SOURCE
from memeval.benchmarks.formats.writing import require_session, sources_of, write_json
from memeval.benchmarks.locomo.choice import chosen
from memeval.benchmarks.locomo.grading import DECIMALS, official_f1, recall_upstream, rounded_f1
from memeval.benchmarks.locomo.keys import LocomoKey
from memeval.benchmarks.locomo.results import CATEGORIES, bare_question
from memeval.benchmarks.session import BenchmarkSession
from memeval.grading.outcomes import last_attempts
from memeval.keys import ItemKey
from memeval.records.response import Response
from memeval.records.scenario import Scenario

NUMBERS = frozenset({"conv-26:1", "conv-26:26", "conv-26:40", "conv-26:49", "conv-26:72", "conv-26:75"})
"""Questions whose answer is a number in the released file; all other answers are text."""

_BLOCK = 1000
"""Block size of the statistics, in characters of conversation."""

_PHOTO = " [shares a photo: "
"""memeval's prefix of an image caption; LoCoMo's code does not count captions."""


def write(run: RunFolder, benchmark_session: BenchmarkSession | None, to: Path) -> list[Path]:
    """Write conversations with predictions, and statistics; see :data:`memeval.benchmarks.exchange_format.Writer`.

    Questions without an answer and conversations without answers are omitted.

    Raises:
        BadInput: the benchmark's data is not available.
    """
    benchmark_session = require_session(run, benchmark_session)
    rows = last_attempts(run.responses())
    retrieves = any(row.items is not None for row in rows.values())
    slug = run.run.system.slug
    by_conversation: dict[str, list[ItemKey]] = defaultdict(list)
    for key in benchmark_session.dataset.keys():  # noqa: SIM118 - no dictionary
        if key.item_id in rows:
            by_conversation[key.scenario_id].append(key)
    conversations, statistics = [], _Statistics()
    for sample_id, keys in by_conversation.items():
        scenario = benchmark_session.scenarios[sample_id]
        asks = {ask.question_id: ask.question for ask in scenario.questions()}
        upstream_ids = {ordinal: name for name, ordinal in benchmark_session.dataset.ordinals(sample_id).items()}
        lengths = _lengths(scenario, upstream_ids)
        qa = []
        for key in keys:
            released = _released(key, bare_question(asks[key.item_id], key))
            predicted = _predicted(_key(key), rows[key.item_id], slug, upstream_ids if retrieves else None)
            statistics.add(released, predicted.get(f"{slug}_f1", 0.0), predicted.get(f"{slug}_recall"), lengths)
            qa.append({**released, **predicted})
        conversations.append({"sample_id": sample_id, "qa": qa})
    stats = to.with_name(f"{to.stem}_stats.json")
    return [write_json(to, conversations, indent=2), write_json(stats, {slug: statistics.table(retrieves)}, indent=2)]


def _key(key: ItemKey) -> LocomoKey:
    if not isinstance(key.key, LocomoKey):
        raise TypeError(f"{key.item_id} has no key of LoCoMo's")
    return key.key


def _released(item: ItemKey, question: str) -> dict[str, Any]:
    """Return a question with the fields and field order of the released file."""
    key = _key(item)
    answer = int(key.answer) if key.answer is not None and item.item_id in NUMBERS else key.answer
    fields = {"question": question, "answer": answer, "evidence": list(key.evidence)}
    fields["category"] = CATEGORIES.index(key.category) + 1
    if key.trap is None:
        return fields
    if key.answer is None:
        del fields["answer"]
        return {**fields, "adversarial_answer": key.trap}
    return {"question": fields.pop("question"), "adversarial_answer": key.trap, **fields}


def _predicted(key: LocomoKey, row: Response, slug: str, upstream_ids: Mapping[str, str] | None) -> dict[str, Any]:
    """Return the fields that are added to a question.

    Args:
        key: the question's key.
        row: the response.
        slug: the system's slug.
        upstream_ids: LoCoMo's ids by ordinal; ``None`` if the run has no retrieved items.
    """
    answer = chosen(row.answer, key.options) if key.options else row.answer
    found = {f"{slug}_prediction": answer}
    score = {f"{slug}_f1": rounded_f1(key, official_f1(key, answer) or 0.0)}
    if upstream_ids is None:
        return {**found, **score}
    context = None
    if row.items is not None:
        context = [upstream_ids.get(source, source.removeprefix(UNKNOWN_SOURCE)) for source in sources_of(row.items)]
    recall = round(recall_upstream(key.evidence, context), DECIMALS)
    return {**found, f"{slug}_prediction_context": context or [], **score, f"{slug}_recall": recall}


class _Statistics:
    """The statistics of LoCoMo's code, by category number."""

    def __init__(self) -> None:
        self._scores: dict[int, list[float]] = defaultdict(list)
        self._recalls: dict[int, list[float]] = defaultdict(list)
        self._by_memory: dict[int, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
        self._by_context: dict[int, list[float]] = defaultdict(list)

    def add(self, question: Mapping[str, Any], score: float, recall: float | None, lengths: Mapping[str, int]) -> None:
        """Add a question."""
        category, evidence = question["category"], question["evidence"]
        self._scores[category].append(score)
        if evidence and recall is not None:
            self._recalls[category].append(recall)
        try:
            positions = [_position(piece) for piece in evidence if piece]
            first = _length(min(positions), lengths)
            self._by_memory[category][ceil(first / _BLOCK)].append(score)
            if category == 1:
                self._by_context[ceil((_length(max(positions), lengths) - first) / _BLOCK)].append(score)
        except (KeyError, ValueError):
            return  # malformed evidence has no position; LoCoMo's code skips it, too

    def table(self, retrieves: bool) -> dict[str, Any]:
        """Return the statistics in the form of LoCoMo's code."""
        table: dict[str, Any] = {
            "category_counts": {name: len(scores) for name, scores in self._scores.items()},
            "cum_accuracy_by_category": {name: fsum(scores) for name, scores in self._scores.items()},
        }
        if retrieves:
            shares = {name: fsum(recalls) / len(self._scores[name]) for name, recalls in self._recalls.items()}
            return {**table, "recall_by_category": shares}
        memory = self._by_memory.items()
        return {
            **table,
            "category_counts_by_memory": {name: _counts(blocks) for name, blocks in memory},
            "cum_accuracy_by_category_by_memory": {name: _totals(blocks) for name, blocks in memory},
            "context_length_counts": _counts(self._by_context),
            "cum_accuracy_by_context_length": _totals(self._by_context),
        }


def _counts(blocks: Mapping[int, Sequence[float]]) -> dict[int, int]:
    return {block: len(scores) for block, scores in blocks.items()}


def _totals(blocks: Mapping[int, Sequence[float]]) -> dict[int, float]:
    return {block: fsum(scores) for block, scores in blocks.items()}


def _position(piece: str) -> tuple[int, int]:
    """Return session and turn of a piece of evidence, parsed like in LoCoMo's code."""
    parts = piece.replace("(", "").replace(")", "").split(":")
    return int(parts[0][1:]), int(parts[-1])


def _length(position: tuple[int, int], lengths: Mapping[str, int]) -> int:
    return lengths["D{}:{}".format(*position)]


def _lengths(scenario: Scenario, upstream_ids: Mapping[str, str]) -> dict[str, int]:
    """Return the number of characters up to the end of each turn, by LoCoMo's turn id."""
    found, so_far = {}, 0
    for session in scenario.sessions():
        for turn in session.turns:
            text = turn.content.rpartition(_PHOTO)[0] or turn.content
            so_far += len(f"{turn.speaker}: {text}\n")
            found[upstream_ids[turn.turn_id]] = so_far
    return found
