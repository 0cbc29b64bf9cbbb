"""The reference for a run: the same calls over a bare JSON-lines pipe, fsyncs, and nothing else.

    python bench/bare_pipe.py SCENARIOS.jsonl OUT row|scenario

``SCENARIOS.jsonl`` holds a list a line: of sessions (objects) and questions (texts), in order. With ``row`` each answer
is on disk before it is counted, with ``scenario`` those of a scenario together. Standard library only.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

WORKER = """
import json, sys
told = []
for line in sys.stdin:
    call = json.loads(line)
    value = None
    if call["call"] == "reset":
        told = []
    elif call["call"] == "ingest_session":
        told += [turn["content"] for turn in call["session"]["turns"]]
    elif call["call"] == "query":
        value = told[0]
    elif call["call"] == "get_context_tokens":
        value = 100
    print(json.dumps({"id": call["id"], "value": value}), flush=True)
"""


def main(scenarios: str, out: str, each: str) -> None:
    """Make every call, one after the other."""
    with (
        open(scenarios, encoding="utf-8") as lines,  # noqa: PTH123
        open(out, "w", encoding="utf-8") as rows,  # noqa: PTH123
        subprocess.Popen(
            [sys.executable, "-S", "-c", WORKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as worker,
    ):
        assert worker.stdin is not None
        assert worker.stdout is not None
        number = 0

        def call(name: str, **arguments: object) -> object:
            nonlocal number
            number += 1
            worker.stdin.write(json.dumps({"id": number, "call": name, **arguments}) + "\n")  # type: ignore[union-attr]
            worker.stdin.flush()  # type: ignore[union-attr]
            return json.loads(worker.stdout.readline())["value"]  # type: ignore[union-attr]

        for line in lines:
            steps = json.loads(line)
            call("reset")
            asked = sum(isinstance(step, str) for step in steps)
            for step in steps:
                if isinstance(step, str):
                    row = {"answer": call("query", question=step)}
                    if asked > 1:
                        row["tokens"] = call("get_context_tokens")
                    rows.write(json.dumps(row) + "\n")
                    if each == "row":
                        rows.flush()
                        os.fsync(rows.fileno())
                else:
                    call("ingest_session", session=step, timestamp=step["date"])
            if each == "scenario":
                rows.flush()
                os.fsync(rows.fileno())
        worker.stdin.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
