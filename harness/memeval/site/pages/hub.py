"""The file by which the Hub of Hugging Face knows a data set as a benchmark.

Its fields are those of the Hub's documentation, *Evaluation Results* (huggingface/hub-docs, docs/hub/eval-results.md).
"""

import yaml

from memeval.records.benchmark import BenchmarkInfo

FRAMEWORK = "memeval"
"""Not ``inspect-ai``: under that name, Inspect allows only its own solvers and scorers, which grade otherwise."""


def hub_benchmark(info: BenchmarkInfo) -> bytes:
    """Return the ``eval.yaml`` of a benchmark: one task for each protocol."""
    described = {
        "name": info.title,
        "description": info.summary,
        "evaluation_framework": FRAMEWORK,
        "tasks": [{"id": protocol.name} for protocol in info.protocols],
    }
    return yaml.safe_dump(described, sort_keys=False, allow_unicode=True, width=110).encode()
