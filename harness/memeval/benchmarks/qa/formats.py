"""The import and export formats of question sets."""

from __future__ import annotations

from memeval.benchmarks.exchange_format import WHOLE, ExchangeFormat, RunPart

FORMATS = (
    ExchangeFormat(
        name="evalscore",
        title="An EvalScore of jeffs-brain's daemon runner: one JSON object with answers to a question set.",
        benchmarks=("qa@1", "qa-smoke@1"),
        mapping=f"{__package__}:evalscore",
        reader=f"{__package__}.evalscore:read",
        writer=f"{__package__}.evalscore:write",
        holds={
            RunPart.ANSWERS: WHOLE,
            RunPart.FAILURES: "as error messages",
            RunPart.ITEMS: "document ids, with scores",
            RunPart.TIMINGS: "the total by question",
            RunPart.GRADES: "a score; passed from 0.5",
            RunPart.SCORES: "the pass rate and the mean, without intervals",
            RunPart.TRACK: "question set, scorer and scenario",
            RunPart.SYSTEM: "slug and mode",
        },
    ),
)
