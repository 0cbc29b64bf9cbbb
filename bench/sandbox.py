"""A whole run of DeepMemEval in the sandbox, beside the same run without."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path

from bench.measure import Cost, Ratio, cost_of, in_turn, ratio
from bench.run_deepmemeval import trivial_run
from memeval.records.errors import BadInput
from memeval.systems.sandbox import SandboxMode, find_sandbox

PAIRS = 7


def measure(scratch: Path) -> list[Ratio]:
    """Measure on the released data where it is here, else on ``beliefs@2``; nothing where there is no sandbox."""
    try:
        sandbox = find_sandbox(SandboxMode.BWRAP, print)
    except BadInput as error:
        print(error)
        return []
    name, _data, trivial = trivial_run(scratch)

    def run(mode: SandboxMode) -> Cost:
        shutil.rmtree(scratch / "out", ignore_errors=True)
        return cost_of([*trivial, "--results", "out", "--sandbox", mode.value], scratch)

    return [
        ratio(
            f"run on {name} in the sandbox, trivial adapter, whole process",
            in_turn(partial(run, SandboxMode.BWRAP), partial(run, SandboxMode.NONE), PAIRS),
            target=1.2,
            peak_target_mb=None,
            reference=f"the same run without {sandbox}",
        )
    ]
