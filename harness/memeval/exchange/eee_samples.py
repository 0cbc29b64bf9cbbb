"""The sample lines of an Every Eval Ever record: one per item."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from memeval.archive.runs import RunFolder
from memeval.benchmarks.formats.writing import RunItem, RunItems
from memeval.benchmarks.session import BenchmarkSession
from memeval.grading.scoring import headline
from memeval.records.base import canonical_json

Data = dict[str, Any]

VERSION = "0.3.0"

RIGHT_FROM = 0.5
"""Lowest credit of a correct item, for graders that give credits; the schema needs yes or no."""


@dataclass(frozen=True)
class SampleNames:
    """Names that connect the lines of a record with its aggregate scores."""

    evaluation_id: str
    model_id: str
    benchmark: str
    """The benchmark's name, without its version."""
    metric: str
    """The metric that the composite averages."""

    def result(self, category: str) -> str:
        return f"{self.benchmark}/{category}"


def samples(folder: RunFolder, benchmark_session: BenchmarkSession, names: SampleNames) -> Iterator[Data]:
    """Yield a line for each item of a run whose text may be published.

    Raises ``BadInput`` if the rows cannot be read.
    """
    for item in RunItems(folder, benchmark_session):
        if item.key is not None and item.answers and all(each.ask is not None for each in item.answers):
            yield _sample(item, item.key.key.references, names)


def _sample(item: RunItem, reference: tuple[str, ...], names: SampleNames) -> Data:
    grade = item.grade
    asked = [each.ask.question for each in item.answers if each.ask is not None]
    raw = "\n".join(asked)
    credit = headline(grade) or 0.0
    failed = [each.response for each in item.answers if each.response.outcome.is_error]
    line: Data = {
        "schema_version": VERSION,
        "evaluation_id": names.evaluation_id,
        "model_id": names.model_id,
        "evaluation_name": names.result(grade.category),
        "evaluation_result_id": f"{names.result(grade.category)}#{names.metric}",
        "sample_id": grade.item_id,
        "sample_hash": hashlib.sha256((raw + "".join(reference)).encode()).hexdigest(),
        "input": {"raw": raw, "reference": list(reference)},
        **_conversation(item, asked),
        "evaluation": {"score": credit, "is_correct": credit >= RIGHT_FROM, "num_turns": len(asked)},
        "error": (failed[0].error or failed[0].outcome.value) if failed else None,
        "metadata": texts(
            {
                "category": grade.category,
                "cluster": grade.cluster,
                "state": grade.state.value,
                "outcome": None if item.outcome is None else item.outcome.value,
                "grader": grade.grader,
                "reason": grade.reason,
                "value": grade.value,
                "context_tokens": [each.response.context_tokens for each in item.answers],
                **{f"slice.{name}": value for name, value in grade.slices.items()},
                **{f"metric.{name}": value for name, value in grade.metrics.items()},
                **{f"rule.{name}": value for name, value in grade.alternates.items()},
            }
        ),
    }
    seconds = [each.seconds for each in item.answers if each.seconds is not None]
    if seconds:
        line["performance"] = {"latency_ms": sum(seconds) * 1000}
    tokens = [each.tokens for each in item.answers if each.tokens is not None]
    if len(tokens) == len(item.answers):
        sent, received = (sum(part) for part in zip(*tokens, strict=True))
        line["token_usage"] = {"input_tokens": sent, "output_tokens": received, "total_tokens": sent + received}
    return line


def _conversation(item: RunItem, asked: list[str]) -> Data:
    """Return the answers: one question as a single output, several as a conversation."""
    answers = [each.response.answer for each in item.answers]
    if len(asked) == 1:
        return {
            "interaction_type": "single_turn",
            "output": {"raw": answers},
            "messages": None,
            "answer_attribution": [_whole(0, "output.raw", answers[0], last=True)],
        }
    messages = [
        {"turn_idx": 2 * number + offset, "role": role, "content": content}
        for number, (question, answer) in enumerate(zip(asked, answers, strict=True))
        for offset, (role, content) in enumerate((("user", question), ("assistant", answer)))
    ]
    attributions = [
        _whole(2 * number + 1, f"messages[{2 * number + 1}].content", answer, last=number == len(answers) - 1)
        for number, answer in enumerate(answers)
    ]
    return {"interaction_type": "multi_turn", "output": None, "messages": messages, "answer_attribution": attributions}


def _whole(turn: int, source: str, value: str, *, last: bool) -> Data:
    return {
        "turn_idx": turn,
        "source": source,
        "extracted_value": value,
        "extraction_method": "whole answer",
        "is_terminal": last,
    }


def texts(values: Mapping[str, Any]) -> dict[str, str]:
    """Return values in the schema's form for details: all as text, without absent or empty ones."""
    return {
        name: value if isinstance(value, str) else canonical_json(value)
        for name, value in values.items()
        if value is not None and value != {} and value != []
    }
