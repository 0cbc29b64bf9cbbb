"""The import and export format of PrecisionMemBench."""

from __future__ import annotations

from memeval.benchmarks.exchange_format import ExchangeFormat, RunPart

REPORT = ExchangeFormat(
    name="precisionmembench",
    title="PrecisionMemBench reports: a JSON object with one element per search; the conversations are a second file.",
    benchmarks=("precisionmembench@1",),
    reader=f"{__package__}.report_files:read",
    writer=f"{__package__}.report_files:write",
    holds={
        RunPart.ITEMS: "ids of beliefs, by the rules of the authors' code",
        RunPart.TIMINGS: "the search by question",
        RunPart.GRADES: "passed or failed, by the authors' rule",
        RunPart.METRICS: "precision, recall and drift, as published",
        RunPart.SCORES: "means and passes, without intervals",
        RunPart.SYSTEM: "its slug",
    },
)

FORMATS = (REPORT,)
