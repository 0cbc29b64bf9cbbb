"""The import and export formats of LoCoMo."""

from __future__ import annotations

from memeval.benchmarks.exchange_format import WHOLE, ExchangeFormat, RunPart

FORMATS = (
    ExchangeFormat(
        name="locomo",
        title="LoCoMo results: a JSON list with one object per conversation, with questions and predictions.",
        benchmarks=("locomo@1",),
        reader=f"{__package__}.results:read",
        writer=f"{__package__}.results:write",
        holds={
            RunPart.ANSWERS: WHOLE,
            RunPart.ITEMS: "source ids, without scores",
            RunPart.GRADES: "token F1, rounded to three decimals",
            RunPart.METRICS: "the official recall",
        },
    ),
)
