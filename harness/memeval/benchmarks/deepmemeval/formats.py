"""The import and export formats of DeepMemEval."""

from __future__ import annotations

from memeval.benchmarks.exchange_format import ExchangeFormat, RunPart

FORMATS = (
    ExchangeFormat(
        name="deepmemeval",
        title="DeepMemEval results: a JSON list with one object per scenario.",
        benchmarks=("deepmemeval@1",),
        reader=f"{__package__}.results:read",
        writer=f"{__package__}.results:write",
        holds={
            RunPart.ANSWERS: "all except those of delta-efficiency scenarios",
            RunPart.FAILURES: "the first error of each scenario",
            RunPart.CONTEXT_TOKENS: "delta-efficiency scenarios only",
            RunPart.GRADES: "right or wrong, in the evaluated file",
        },
    ),
)
