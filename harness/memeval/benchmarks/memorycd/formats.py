"""The import and export formats of MemoryCD."""

from __future__ import annotations

from memeval.benchmarks.exchange_format import WHOLE, ExchangeFormat, RunPart

FORMATS = (
    ExchangeFormat(
        name="memorycd",
        title="MemoryCD results, a folder: per domain one JSON object per prediction, and a summary.",
        benchmarks=("memorycd@1",),
        reader=f"{__package__}.results:read",
        writer=f"{__package__}.results_writing:write",
        holds={
            RunPart.ANSWERS: "yes, trimmed",
            RunPart.FAILURES: WHOLE,
            RunPart.CONTEXT: "as part of the prompt",
            RunPart.GRADES: "errors and metrics of the released code, and the parse state of each answer",
            RunPart.METRICS: "those of the released code; strict metrics as means of each domain",
            RunPart.SCORES: "means of each domain, without intervals",
            RunPart.TRACK: "its id",
        },
    ),
)
