"""Answers made elsewhere, for tests: files of them, the exams they are to, and a format of the tests' own."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from memeval.archive.runs import RunFolder
from memeval.benchmarks.deepmemeval import DeepMemEvalBenchmark
from memeval.benchmarks.deepmemeval.dataset import DeepMemEvalDataset
from memeval.benchmarks.deepmemeval.released import DeepMemEvalFile, parse
from memeval.benchmarks.exchange_format import ExchangeFormat
from memeval.benchmarks.formats.reading import (
    AnswerFile,
    ForeignRecord,
    ImportedAnswer,
    ImportedAnswers,
    fitted,
    once,
    slug_of,
)
from memeval.benchmarks.locomo import LocomoBenchmark
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.imports.importing import import_file
from memeval.evaluation.judge.judges import ChosenJudge
from memeval.evaluation.run.models import ModelOptions
from memeval.exchange.formats import find_format
from memeval.options import ImportOptions, Origin
from memeval.records.imported import Imported
from tests.benchmarks.deepmemeval.rows import rows
from tests.benchmarks.locomo.samples import Sample, made

Json = Any


class Row(ForeignRecord):
    id: str
    text: str = ""
    error: str | None = None
    sources: list[str] | None = None
    seconds: float | None = None
    tokens: int | None = None
    usd: float | None = None


def read_rows(file: AnswerFile, benchmark_session: BenchmarkSession) -> ImportedAnswers:
    told = [(where, fitted(Row, value, where)) for where, value in file.rows()]
    once((where, row.id) for where, row in told)
    name = file.system or "Some System"
    return ImportedAnswers(
        system=name,
        version="2",
        slug=slug_of(name, "rows"),
        answers=tuple(
            ImportedAnswer(
                row.id,
                row.text,
                sources=None if row.sources is None else tuple(row.sources),
                error=row.error,
                seconds=row.seconds,
                prompt_tokens=row.tokens,
                cost_usd=row.usd,
            )
            for _where, row in told
        ),
        imported=Imported(format="rows", file=file.path.name, digest=file.digest, made_at="2026-01-02T03:04:05Z"),
    )


ROWS = ExchangeFormat(name="rows", title="Rows.", benchmarks=("tiny@1",), reader=f"{__name__}:read_rows")
"""A format for tests: one object a question."""


def stored(path: Path, value: Json) -> AnswerFile:
    """Write a JSON value, or lines of them where it is a tuple, and open it as a file of answers."""
    values = value if isinstance(value, tuple) else (value,)
    path.write_text("".join(json.dumps(each) + "\n" for each in values), encoding="utf-8")
    return AnswerFile.open(path)


def graded(
    folder: Path,
    value: Json,
    form: ExchangeFormat | str,
    benchmark_session: BenchmarkSession,
    judge: ChosenJudge | None = None,
    fresh: bool = False,
    system: str | None = None,
    name: str = "answers.json",
    caps: Sequence[str] = (),
    **origin: Any,
) -> RunFolder:
    path = stored(folder / name, value).path
    return import_file(
        AnswerFile.open(path, system),
        find_format(form) if isinstance(form, str) else form,
        benchmark_session,
        judge or ChosenJudge(),
        ImportOptions(
            results=folder / "results", origin=Origin(**origin), models=ModelOptions(budget=tuple(caps)), fresh=fresh
        ),
    )


def locomo_exam(of: list[Sample] | None = None, *, protocol: str = "f1", choice: bool = False) -> BenchmarkSession:
    """Return LoCoMo over made-up conversations, open."""
    return BenchmarkSession(LocomoBenchmark(), made(of, choice=choice), protocol, "full")


def deepmemeval_exam(of: Sequence[dict[str, Any]] | None = None) -> BenchmarkSession:
    """Return DeepMemEval over made-up scenarios, by default one of each kind, open."""
    scenarios = parse(json.dumps(of or rows()).encode())
    return BenchmarkSession(
        DeepMemEvalBenchmark(), DeepMemEvalDataset(DeepMemEvalFile("sha256:" + "1" * 64, scenarios)), "judge", "full"
    )


def verdicts(run: RunFolder) -> dict[str, tuple[object, ...]]:
    return {grade.item_id: (grade.verdict, grade.credit, dict(grade.alternates)) for grade in run.grades()}
