"""Files for the Hub of Hugging Face: data sets that it knows as benchmarks, and the scores of systems on them.

Their fields are those of the Hub's documentation, *Evaluation Results* (huggingface/hub-docs,
docs/hub/eval-results.md).
"""

from collections.abc import Sequence

import yaml

from memeval.leaderboard.board import BoardRow
from memeval.records.benchmark import BenchmarkInfo
from memeval.site.model import text
from memeval.site.model.urls import run_url

FRAMEWORK = "memeval"
"""Not ``inspect-ai``: under that name, Inspect allows only its own solvers and scorers, which grade otherwise."""


def hub_benchmark(info: BenchmarkInfo) -> bytes:
    """Return the ``eval.yaml`` of a benchmark: one task for each protocol."""
    return _yaml(
        {
            "name": info.title,
            "description": info.summary,
            "evaluation_framework": FRAMEWORK,
            "tasks": [{"id": protocol.name} for protocol in info.protocols],
        }
    )


def hub_results(rows: Sequence[BoardRow], hub: str, site_url: str | None) -> bytes:
    """Return the ``.eval_results/*.yaml`` of a system: one entry for each ranked run.

    ``hub``: who has the data on the Hub. ``site_url``: address of the published board; without it, no entry has a
    source. Values are composite scores in percent.
    """
    return _yaml([_entry(row, hub, site_url) for row in rows])


def _entry(row: BoardRow, hub: str, site_url: str | None) -> dict[str, object]:
    run, value = row.run, row.run.scores.composite.value
    if value is None:
        raise ValueError(f"{run.run_id} has no composite score, so it cannot be ranked.")
    source = {"url": f"{site_url.rstrip('/')}/{run_url(run.run_id)}", "name": f"Run {run.run_id}"} if site_url else None
    return {
        "dataset": {"id": f"{hub}/{run.track.benchmark.replace('@', '-')}", "task_id": run.track.protocol},
        "value": round(100 * value, 2),
        "date": run.timing.started,
        **({"source": source} if source else {}),
        "evaluation_framework": FRAMEWORK,
        "notes": text.visible(f"{run.system.name}; reader {run.track.reader}; judge {run.track.judge}"),
    }


def _yaml(described: object) -> bytes:
    return yaml.safe_dump(described, sort_keys=False, allow_unicode=True, width=110).encode()
