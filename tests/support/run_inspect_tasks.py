"""Runs tasks of memeval with Inspect's own runner and a mock model, and prints what their logs say."""

import json
import sys
from importlib import import_module
from typing import Any

inspect_ai: Any = import_module("inspect_ai")
logs: Any = import_module("inspect_ai.log")
models: Any = import_module("inspect_ai.model")
solvers: Any = import_module("inspect_ai.solver")

MODEL = "mockllm/model"
USAGE = models.ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
"""Without it, the mock model would download a vocabulary to count tokens."""


def knows_the_answer() -> Any:
    """A solver that is not memeval's."""

    async def solve(state: Any, generate: Any) -> Any:
        state.output = models.ModelOutput.from_content("mock", state.target.text)
        return state

    return solve


def replies() -> Any:
    while True:
        output = models.ModelOutput.from_content(MODEL, "I do not know.")
        output.usage = USAGE
        yield output


def run(folder: str, **options: Any) -> dict[str, Any]:
    """Evaluate the task, read its log again, and return what is in it."""
    model = models.get_model(MODEL, custom_outputs=replies())
    [made] = inspect_ai.eval(
        "memeval/beliefs", model=model, log_dir=folder, display="none", score_display=False, **options
    )
    log = logs.read_eval_log(made.location)
    [score] = log.results.scores
    return {
        "task": log.eval.task,
        "status": log.status,
        "version": log.eval.task_version,
        "scorer": score.name,
        "metrics": {name: each.value for name, each in score.metrics.items()},
        "samples": [
            {
                "id": each.id,
                "input": each.input,
                "messages": [message.text for message in each.messages],
                "value": next(iter(each.scores.values())).value,
                "metadata": each.metadata,
            }
            for each in log.samples
        ],
    }


if __name__ == "__main__":
    folder = sys.argv[1]
    found = {
        "offline": run(folder, task_args={"tier": "quick", "system": "bm25", "reader": "extractive"}),
        "model": run(folder, task_args={"tier": "quick"}, limit=3, epochs=2),
        "other": run(folder, task_args={"tier": "quick"}, limit=3, solver=solvers.solver(knows_the_answer)()),
    }
    print(json.dumps(found))
