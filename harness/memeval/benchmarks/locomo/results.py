"""LoCoMo results, read and written: a JSON list of conversations, with questions and predictions.

Field names and order: snap-research/LoCoMo, ``task_eval/evaluate_qa.py`` and ``task_eval/gpt_utils.py``. Code reads
them, because systems give the names of the fields, and rows without an id match by text, place, category and evidence.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from math import ceil, fsum
from pathlib import Path
from typing import Any

from pydantic import Field

from memeval.archive.runs import RunFolder
from memeval.benchmarks.formats.reading import (
    NO_ANSWER,
    UNKNOWN_SOURCE,
    Answer,
    AnswerFile,
    ForeignRecord,
    Id,
    ImportedAnswer,
    ImportedAnswers,
    Text,
    fitted,
    imported_answers,
    once,
    refuse,
)
from memeval.benchmarks.formats.writing import require_session, sources_of, write_json
from memeval.benchmarks.locomo.grading import DECIMALS, official_f1, recall_upstream, rounded_f1
from memeval.benchmarks.locomo.keys import LocomoCategory, LocomoKey, chosen
from memeval.benchmarks.session import BenchmarkSession
from memeval.grading.base import last_attempts
from memeval.keys import ItemKey
from memeval.records.base import Share
from memeval.records.imported import Claim
from memeval.records.response import Response
from memeval.records.scenario import Scenario
from memeval.systems.channel import visible

FORMAT = "locomo"
PREDICTION = "_prediction"
CATEGORIES = tuple(LocomoCategory)

_RETRIEVING = re.compile(r"(?P<model>.+)_(?P<mode>dialog|observation|summary)_top_(?P<k>[1-9]\d{0,5})")


class _Conversation(ForeignRecord):
    sample_id: Id
    qa: list[dict[str, Any]] = Field(max_length=100_000)


class _LocomoRowQuestion(ForeignRecord):
    question: Text
    category: int | None = None
    evidence: list[str] | None = None


class _Predicted(ForeignRecord):
    prediction: Answer
    context: list[Id] | Id | None = None
    score: Share | None = None

    @property
    def sources(self) -> tuple[str, ...] | None:
        """Ids of retrieved items; one text may contain several, separated by commas."""
        if self.context is None:
            return None
        texts = [self.context] if isinstance(self.context, str) else self.context
        return tuple(one.strip() for each in texts for one in each.split(",") if one.strip())


def read(file: AnswerFile, benchmark_session: BenchmarkSession) -> ImportedAnswers:
    conversations = [(where, fitted(_Conversation, value, where)) for where, value in file.rows()]
    once((where, conversation.sample_id) for where, conversation in conversations)
    columns = tuple(
        dict.fromkeys(
            name.removesuffix(PREDICTION)
            for _where, conversation in conversations
            for row in conversation.qa
            for name in row
            if name.endswith(PREDICTION) and name != PREDICTION
        )
    )
    column = _chosen(columns, file)
    rows = [
        each for where, conversation in conversations for each in _rows(where, conversation, column, benchmark_session)
    ]
    scores = [row.score for _question_id, row in rows if row.score is not None]
    retrieving = _RETRIEVING.fullmatch(column)
    is_claimed = scores and len(scores) == len(rows)
    return imported_answers(
        file,
        FORMAT,
        column if len(columns) > 1 else file.system or column,
        (
            ImportedAnswer(
                question_id, row.prediction or "", row.sources, error=NO_ANSWER if row.prediction is None else None
            )
            for question_id, row in rows
        ),
        column=column,
        reader=retrieving["model"] if retrieving else None,
        limits={"rag_mode": retrieving["mode"], "top_k": int(retrieving["k"])} if retrieving else {},
        claims=(Claim(score=sum(scores) / len(scores), items=len(scores)),) if is_claimed else (),
    )


def _chosen(columns: Sequence[str], file: AnswerFile) -> str:
    if not columns:
        refuse(f"no question has a field that ends in '{PREDICTION}'.", file.path, "Name a file of predictions.")
    if len(columns) == 1:
        return columns[0]
    if file.system in columns:
        return str(file.system)
    names = visible(", ".join(columns[:20]))
    problem = "it has answers of several systems" if file.system is None else f"no system '{visible(file.system)}'"
    refuse(f"{problem}: {names}.", file.path, "Choose one with --system.")


def _rows(
    where: str, conversation: _Conversation, column: str, benchmark_session: BenchmarkSession
) -> Iterator[tuple[str, _Predicted]]:
    questions = [fitted(_LocomoRowQuestion, row, f"{where}, qa {number}") for number, row in enumerate(conversation.qa)]
    for number, (row, question_id) in enumerate(
        zip(conversation.qa, _matched(where, conversation.sample_id, questions, benchmark_session), strict=True)
    ):
        key = f"{column}{PREDICTION}"
        if key in row:
            fields = {
                "prediction": row[key],
                "context": row.get(f"{key}_context", row.get(f"{column}_context")),
                "score": row.get(f"{column}_f1"),
            }
            yield question_id, fitted(_Predicted, fields, f"{where}, qa {number}")


def _matched(
    where: str, sample_id: str, questions: Sequence[_LocomoRowQuestion], benchmark_session: BenchmarkSession
) -> list[str]:
    """Return the question id of each row: by its text, and by its position among rows of the same text.

    Some conversations repeat a question, so the text is ambiguous. Rows may be missing, so the position is, too. A row
    that matches no question gets an id that no question has.
    """
    scenario = benchmark_session.scenarios.get(sample_id)
    if scenario is None:
        return [f"{sample_id}:{number}" for number in range(len(questions))]
    keys = {key.item_id: key for key in benchmark_session.dataset.answer_keys() if key.scenario_id == sample_id}
    known: dict[str, list[ItemKey]] = defaultdict(list)
    for ask in scenario.questions():
        known[bare_question(ask.question, keys[ask.question_id])].append(keys[ask.question_id])
    by_text: dict[str, list[int]] = defaultdict(list)
    for number, question in enumerate(questions):
        by_text[question.question].append(number)
    matches = [f"{sample_id}:?{number}" for number in range(len(questions))]
    for text, numbers in by_text.items():
        candidates = known.get(text, [])
        if candidates and len(numbers) > len(candidates):
            refuse(
                f"duplicate question in qa {numbers[len(candidates)]}.", where, "Keep one row per question in the file."
            )
        if len(numbers) < len(candidates):
            candidates = [_same_text_match(where, number, questions[number], candidates) for number in numbers]
        for number, key in zip(numbers, candidates, strict=False):
            matches[number] = key.item_id
    return matches


def _same_text_match(where: str, number: int, question: _LocomoRowQuestion, candidates: Sequence[ItemKey]) -> ItemKey:
    """Return the question of a row if several questions have its text and not all of them have a row."""
    at_position = [key for key in candidates if key.item_id.endswith(f":{number}")]
    fitting = [key for key in candidates if _fits(question, key.key)]
    if len(at_position) == 1 and (at_position[0] in fitting or not fitting):
        return at_position[0]
    if len(fitting) != 1:
        refuse(
            f"the question of qa {number} occurs {len(candidates)} times, so its match is ambiguous.",
            where,
            "Keep all questions of the released file in their order.",
        )
    return fitting[0]


def _fits(question: _LocomoRowQuestion, key: object) -> bool:
    if not isinstance(key, LocomoKey):
        return False
    same_category = question.category in (None, CATEGORIES.index(key.category) + 1)
    return same_category and (question.evidence is None or tuple(question.evidence) == key.evidence)


def bare_question(text: str, key: ItemKey) -> str:
    offers = isinstance(key.key, LocomoKey) and key.key.options
    return text.rsplit("\n", 2)[0] if offers else text


NUMBERS = frozenset({"conv-26:1", "conv-26:26", "conv-26:40", "conv-26:49", "conv-26:72", "conv-26:75"})
"""Questions whose answer is a number in the released file; all other answers are text."""

_BLOCK = 1000
"""Block size of the statistics, in characters of conversation."""

_PHOTO = " [shares a photo: "
"""memeval's prefix of an image caption; LoCoMo's code does not count captions."""


def write(run: RunFolder, benchmark_session: BenchmarkSession | None, to: Path) -> list[Path]:
    """Write conversations with predictions, and statistics; see :data:`memeval.benchmarks.exchange_format.Writer`.

    Questions without an answer and conversations without answers are omitted. Raises ``BadInput``: the benchmark's data
    is not available.
    """
    benchmark_session = require_session(run, benchmark_session)
    rows = last_attempts(run.responses())
    retrieves = any(row.items is not None for row in rows.values())
    slug = run.run.system.slug
    by_conversation: dict[str, list[ItemKey]] = defaultdict(list)
    for key in benchmark_session.dataset.answer_keys():
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
            predicted = _predicted(
                key.key_as(LocomoKey, FORMAT), rows[key.item_id], slug, upstream_ids if retrieves else None
            )
            statistics.add(released, predicted.get(f"{slug}_f1", 0.0), predicted.get(f"{slug}_recall"), lengths)
            qa.append({**released, **predicted})
        conversations.append({"sample_id": sample_id, "qa": qa})
    stats = to.with_name(f"{to.stem}_stats.json")
    return [write_json(to, conversations), write_json(stats, {slug: statistics.table(retrieves)})]


def _released(item: ItemKey, question: str) -> dict[str, Any]:
    key = item.key_as(LocomoKey, FORMAT)
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

    ``upstream_ids``: LoCoMo's ids by ordinal; ``None`` if the run has no retrieved items.
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
    def __init__(self) -> None:
        self._scores: dict[int, list[float]] = defaultdict(list)
        self._recalls: dict[int, list[float]] = defaultdict(list)
        self._by_memory: dict[int, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
        self._by_context: dict[int, list[float]] = defaultdict(list)

    def add(self, question: Mapping[str, Any], score: float, recall: float | None, lengths: Mapping[str, int]) -> None:
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
