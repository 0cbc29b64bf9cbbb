"""Reads Inspect logs with Inspect's own reader, and says what is in them. Runs where inspect-ai is at hand."""

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

logs: Any = import_module("inspect_ai.log")
scorers: Any = import_module("inspect_ai.scorer")
SampleScore: Any = import_module("inspect_ai.scorer._metric").SampleScore


def said_of(path: str) -> dict[str, Any]:
    """Return a log's head and samples, Inspect's own metrics of them, and whether it survives being written again."""
    log, head = logs.read_eval_log(path), logs.read_eval_log(path, header_only=True)
    worth = scorers.value_to_float()
    scores = [
        SampleScore(score=sample.scores["memeval"].model_copy(update={"value": worth(sample.scores["memeval"].value)}))
        for sample in log.samples
    ]
    return {
        "head": head.model_dump(mode="json", exclude={"samples", "reductions"}),
        "listed": [Path(info.name).name for info in logs.list_eval_logs(str(Path(path).parent), formats=["eval"])],
        "samples": [sample.model_dump(mode="json") for sample in log.samples],
        "summaries": [summary.model_dump(mode="json") for summary in logs.read_eval_log_sample_summaries(path)],
        "one": logs.read_eval_log_sample(path, id=log.samples[0].id).id,
        "same": _survives(log, str(Path(path).with_suffix(".json"))),
        "accuracy": scorers.accuracy()(scores),
        "stderr": scorers.stderr()(scores),
    }


def _survives(log: Any, path: str) -> bool:
    logs.write_eval_log(log, path)
    return bool(logs.read_eval_log(path).model_dump() == log.model_dump())


if __name__ == "__main__":
    print(json.dumps([said_of(path) for path in sys.argv[1:]]))
