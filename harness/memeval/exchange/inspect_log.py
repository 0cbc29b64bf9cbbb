"""Export to Inspect AI logs (version 2 of the log schema, in an ``.eval`` archive).

This module writes the archive from the run's records; Inspect need not be installed. Layout and field names: inspect-ai
0.3.285, ``inspect_ai.log`` (``EvalLog``, ``EvalSample``, ``Score``) and the names of its archive's members.
"""

import json
import math
import re
import zipfile
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

from memeval.archive.runs import RunFolder
from memeval.benchmarks.formats.writing import (
    AnsweredQuestion,
    RunItem,
    RunItems,
    ordinals,
    text_of_context,
    text_of_item,
)
from memeval.benchmarks.session import BenchmarkSession
from memeval.exchange.inspect_header import HEADLINE, Data, plan_of, results_of, spec_of, stats_of, usage_of
from memeval.execution.contexts import Contexts, TurnTexts
from memeval.execution.readers import NATIVE
from memeval.grading.scoring import alternate, counts, headline
from memeval.records.base import digest_bytes
from memeval.records.errors import BadInput
from memeval.records.grade import GradeState
from memeval.records.response import Outcome

CONTEXT_CHARACTERS = 20_000
"""Characters of a context in the log, if it is not a list of items; the run's own files contain all of it."""

SUMMARY_CHARACTERS = 1_000
"""Characters of each text in the summaries, which the viewer's sample list uses."""

_STAMP = (1980, 1, 1, 0, 0, 0)
"""Fixed time of the archive's members, so that equal runs give equal bytes."""

_REASONS = {
    GradeState.EMPTY: "no_response",
    GradeState.UNPARSED: "grader_failed",
    GradeState.JUDGE_ERROR: "grader_failed",
}
"""Inspect's reasons for scores without a verdict."""


def write(run: RunFolder, benchmark_session: BenchmarkSession | None, to: Path) -> list[Path]:
    """Write a run as an Inspect log.

    ``benchmark_session``: the benchmark, opened on its data; ``None`` if the data is not available. ``to``: the log;
    its name must end in ``.eval``. Raises ``BadInput`` if the name does not end in ``.eval``, or the run cannot be
    read.
    """
    if to.suffix != ".eval":
        raise BadInput(f"the name '{to.name}' does not end in '.eval'.", remedy=f"Use {to.stem}.eval.")
    _Log(run, benchmark_session).write(to)
    return [to]


class _Log:
    def __init__(self, folder: RunFolder, benchmark_session: BenchmarkSession | None) -> None:
        self._folder = folder
        self._run = folder.run
        self._items = RunItems(folder, benchmark_session)
        self._has_text = self._items.words
        self._gives_credits = self._run.scores.overall.points is not None
        self._contexts = self._items.contexts() if self._has_text else Contexts()

    def write(self, to: Path) -> None:
        credits: list[float] = []
        ids: list[str] = []
        summaries: list[Data] = []
        with zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED) as archive:
            for item in self._items:
                sample = self._sample(item)
                _member(archive, f"samples/{sample['id']}_epoch_1.json", sample)
                ids.append(sample["id"])
                summaries.append(_summary(sample))
                credits.append(headline(item.grade) or 0.0)
            spec, plan = spec_of(self._folder, ids, self._has_text), plan_of(self._run)
            _member(archive, "_journal/start.json", {"version": 2, "eval": spec, "plan": plan})
            _member(archive, "summaries.json", summaries)
            header = {
                "version": 2,
                "status": "success",
                "eval": spec,
                "plan": plan,
                "results": results_of(self._run, credits),
                "stats": stats_of(self._folder),
                "invalidated": False,
            }
            _member(archive, "header.json", header)

    def _sample(self, item: RunItem) -> Data:
        grade, key = item.grade, item.key
        turns = None if item.scenario is None else TurnTexts(item.scenario)
        messages = [message for answer in item.answers for message in self._messages(answer, turns)]
        answer_text = _numbered([answer.response.answer for answer in item.answers]) if self._has_text else ""
        last = item.answers[-1] if item.answers else None
        sample: Data = {
            "id": _safe(grade.item_id),
            "epoch": 1,
            "input": _numbered([each.ask.question for each in item.answers if each.ask is not None]) or grade.item_id,
            "target": "" if key is None else "\n".join(key.key.references),
            "messages": messages,
            "output": self._output(last),
            "scores": self._scores(item, answer_text),
            "metadata": self._metadata(item, turns),
            "uuid": digest_bytes(f"{self._run.run_id} {grade.item_id}".encode())[7:29],
        }
        failed = [answer.response for answer in item.answers if answer.response.outcome.is_error]
        if failed:
            text = (failed[0].error if self._has_text else None) or failed[0].outcome.value
            sample["error"] = {"message": text, "traceback": text, "traceback_ansi": text}
        return sample | _times(item.answers)

    def _messages(self, answer: AnsweredQuestion, turns: TurnTexts | None) -> Iterator[Data]:
        if not self._has_text:
            return
        response = answer.response
        if answer.ask is not None:
            when = "" if answer.ask.timestamp is None else f"[asked as of {answer.ask.timestamp}]\n"
            yield {"role": "user", "content": when + answer.ask.question, "source": "input"}
        retrieved = self._retrieved_text(answer, turns)
        if retrieved is not None:
            name = "recall" if self._run.track.reader == NATIVE else "search"
            call = {"id": response.question_id, "function": name, "arguments": {}, "type": "function"}
            yield {"role": "assistant", "content": "", "tool_calls": [call], "model": self._model}
            yield {"role": "tool", "function": name, "tool_call_id": call["id"], "content": retrieved}
        if response.outcome is Outcome.OK:
            yield {"role": "assistant", "content": response.answer, "source": "generate", "model": self._model}

    def _retrieved_text(self, answer: AnsweredQuestion, turns: TurnTexts | None) -> str | None:
        """Return the text of the retrieved items, or else of the context; ``None`` if unknown."""
        response = answer.response
        if response.items is not None:
            texts = [text_of_item(item, turns) or f"({item.turn_id})" for item in response.items]
            return "\n".join(f"{number}. {text}" for number, text in enumerate(texts, start=1)) or "(nothing)"
        context = self._contexts.of(response)
        text = None if context is None else text_of_context(context, turns)
        if text is None or len(text) <= CONTEXT_CHARACTERS:
            return text
        return f"{text[:CONTEXT_CHARACTERS]}\n(truncated: {len(text):,} characters in total)"

    def _output(self, answer: AnsweredQuestion | None) -> Data:
        if answer is None or not self._has_text or answer.response.outcome is not Outcome.OK:
            return {"model": self._model, "choices": []}
        message = {"role": "assistant", "content": answer.response.answer, "source": "generate", "model": self._model}
        output: Data = {
            "model": self._model,
            "choices": [{"message": message, "stop_reason": "stop"}],
            "completion": answer.response.answer,
        }
        if answer.tokens is not None:
            output["usage"] = usage_of(*answer.tokens)
        return output if answer.seconds is None else output | {"time": answer.seconds}

    def _scores(self, item: RunItem, answer_text: str) -> Data:
        grade = item.grade
        about = {
            "grader": grade.grader,
            "state": grade.state.value,
            "value": grade.value,
            "flags": [flag.value for flag in grade.flags],
            "judgment_key": grade.judgment_key,
        }
        scores: Data = {
            HEADLINE: {
                "value": self._value(headline(grade)),
                "answer": answer_text,
                "explanation": (grade.reason if self._has_text else None) or grade.state.value,
                "reason": _REASONS.get(grade.state),
                "metadata": {name: value for name, value in about.items() if value not in (None, [])},
            }
        }
        for name in self._run.scores.alternates:
            if counts(grade, name):
                scores[name] = {"value": self._value(alternate(name)(grade))}
        if grade.metrics:
            scores["metrics"] = {"value": grade.metrics}
        return scores

    def _value(self, credit: float | None) -> str | float:
        """Return a credit in Inspect's form: a letter for verdicts, a number for measured credits."""
        if self._gives_credits:
            return credit or 0.0
        return "N" if credit is None else "C" if credit == 1.0 else "I"

    def _metadata(self, item: RunItem, turns: TurnTexts | None) -> Data:
        grade = item.grade
        found = {
            "category": grade.category,
            "cluster": grade.cluster,
            "slices": grade.slices,
            "state": grade.state.value,
            "outcome": None if item.outcome is None else item.outcome.value,
            "evidence": None if item.key is None else item.key.evidence,
            "questions": [self._question(answer, turns) for answer in item.answers],
        }
        return {name: value for name, value in found.items() if value is not None}

    def _question(self, answer: AnsweredQuestion, turns: TurnTexts | None) -> Data:
        response, times = answer.response, answer.response.timings
        found: Data = {
            "question_id": response.question_id,
            "scenario_id": response.scenario_id,
            "outcome": response.outcome.value,
            "attempts": answer.attempts,
            "context_digest": response.context_digest,
            "context_tokens": response.context_tokens,
            "reported_tokens": response.reported_tokens,
            "usage": None if response.usage is None else response.usage.data(),
            "seconds": {
                name: value for name, value in times.data().items() if name.endswith("_seconds") and value is not None
            },
        }
        if response.items is not None:
            found["retrieved"] = [
                {"turn_id": item.turn_id, "source_ids": ordinals(item), "score": item.score}
                | ({"text": text_of_item(item, turns)} if self._has_text else {})
                for item in response.items
            ]
        return {name: value for name, value in found.items() if value is not None}

    @property
    def _model(self) -> str:
        return self._run.system.slug


def _numbered(texts: Sequence[str]) -> str:
    """Return a single text unchanged, and several as a numbered list."""
    if len(texts) == 1:
        return texts[0]
    return "\n".join(f"{number}. {text}" for number, text in enumerate(texts, start=1))


def _times(answers: Sequence[AnsweredQuestion]) -> Data:
    seconds = [answer.seconds for answer in answers if answer.seconds is not None]
    if not seconds or not answers:
        return {}
    started = answers[0].response.timings.started
    total = math.fsum(seconds)
    try:
        ended = datetime.fromisoformat(answers[-1].response.timings.started) + timedelta(seconds=seconds[-1])
    except ValueError:
        return {"total_time": total, "working_time": total}
    return {"started_at": started, "completed_at": ended.isoformat(), "total_time": total, "working_time": total}


def _summary(sample: Data) -> Data:
    kept = ("id", "epoch", "uuid", "started_at", "completed_at", "total_time", "working_time")
    summary: Data = {name: sample[name] for name in kept if name in sample}
    summary |= {
        "input": _short(sample["input"]),
        "target": _short(sample["target"]),
        "scores": {
            name: {part: _short(value) if isinstance(value, str) else value for part, value in score.items()}
            for name, score in sample["scores"].items()
        },
        "metadata": {name: value for name, value in sample["metadata"].items() if name != "questions"},
        "completed": True,
        "message_count": len(sample["messages"]),
    }
    return summary | ({"error": _short(sample["error"]["message"])} if "error" in sample else {})


def _short(text: str) -> str:
    return text if len(text) <= SUMMARY_CHARACTERS else text[: SUMMARY_CHARACTERS - 1] + "…"


def _safe(item_id: str) -> str:
    """Return an id for use in a member's name: separators and control characters are percent-encoded."""
    return re.sub(r"[%/\\\x00-\x1f\x7f]", lambda found: quote(found[0], safe=""), item_id)


def _member(archive: zipfile.ZipFile, name: str, data: Any) -> None:
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    member = zipfile.ZipInfo(name, _STAMP)
    member.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(member, text)
