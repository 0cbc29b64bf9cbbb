"""``memeval check`` among 1,000 runs, for ``make bench``; and how often it is wrong.

``python -m bench.check RUN…``, with ids of stored runs, prints and stores in how many of 200 checks it is wrong.

False alarms: an unchanged system with noise is checked 200 times against five of its own runs. Each item of each made
run is right with a probability of its own: the mean over all stored runs of the track. Found drops: the same, where
the system loses a share of its right answers; its tokens or its latency rise.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean

from bench.measure import PYTHON, Cost, Ratio, cost_of, in_turn, ratio
from memeval.analysis.comparing import COMPOSITE
from memeval.archive.runs import RunFolder, find_run, sealed_runs
from memeval.leaderboard.check_power import power_of
from memeval.leaderboard.measured import ItemScore, MeasuredRun, read_measured
from memeval.leaderboard.regressions import check_metrics, status_of
from memeval.records.check import GateStatus, MetricStatus
from memeval.records.settings import CheckSettings, CheckThresholds

RESULTS = Path("results")
OUT = Path("build/bench-check.json")
REPEATS = 200
BASELINES = 5
RUNS, FEW, PAIRS = 1000, 6, 5
LIMITS = CheckThresholds()


def measure(scratch: Path) -> list[Ratio]:
    """Measure a check among 1,000 runs of a system, beside one among the six runs that it reads."""
    from tests.support.made_history import made_history
    from tests.support.runs import make_run, make_track

    first = make_run(scratch / "made", "acme", {"kept": 200, "changed": 180}, track=make_track(250))
    for count in (RUNS, FEW):
        made_history(scratch / f"of-{count}" / "results", first, count, accepted=True)

    def check(count: int) -> Callable[[], Cost]:
        results = scratch / f"of-{count}" / "results"
        last = max(head.parent.name for head in results.glob("*/*/*/run.json"))
        return lambda: cost_of([PYTHON, "-m", "memeval", "check", last, "--results", str(results)], scratch)

    return [
        ratio(
            f"check among {RUNS:,} accepted runs of 500 items, whole process",
            in_turn(check(RUNS), check(FEW), PAIRS),
            target=2.0,
            peak_target_mb=300,
            reference=f"the same among {FEW} runs",
        )
    ]


class NoisySystem:
    """Makes runs of a system whose answers change from run to run.

    Args:
        run: a stored run; gives items, clusters, tokens and times.
        others: stored runs of the same track; give the probability that an item is right.
        seed: of all dice.
    """

    def __init__(self, run: MeasuredRun, others: Sequence[MeasuredRun], seed: int) -> None:
        self._run = run
        self._dice = random.Random(seed)
        self._chances = {
            name: fmean(other.items[name].score for other in others if name in other.items) for name in run.items
        }
        self._metrics = {
            name: [dict(other.items[name].metrics) for other in others if name in other.items] for name in run.items
        }

    def run(self, lost: Mapping[str, float] | None = None, tokens: float = 1.0, seconds: float = 1.0) -> MeasuredRun:
        """Return a run.

        Args:
            lost: by category, the share of right answers that the system loses.
            tokens: factor on the tokens.
            seconds: factor on the latency. Every run also has one of its own, for its machine: within 3 %.
        """
        machine = self._dice.gauss(1.0, 0.01) * seconds
        items = {}
        for name, item in self._run.items.items():
            chance = self._chances[name] * (1 - (lost or {}).get(item.category, 0.0))
            items[name] = ItemScore(
                item.category,
                item.cluster,
                float(self._dice.random() < chance),
                self._dice.choice(self._metrics[name]),
            )
        return replace(
            self._run,
            items=items,
            context_tokens={
                name: value * tokens * self._dice.uniform(0.9, 1.1) for name, value in self._run.context_tokens.items()
            },
            latency={name: value * machine * self._dice.uniform(0.8, 1.2) for name, value in self._run.latency.items()},
        )


def found_smallest(run: MeasuredRun, folder: RunFolder) -> dict[str, str]:
    """Return for each score how often a made drop of the smallest size is found; see ``memeval check --power``."""
    dice = random.Random(15)
    found = {}
    for drop in power_of(folder, CheckSettings()).drops:
        if drop.quiet is None:
            continue
        kept, count = 1 - drop.quiet / drop.value, 0
        for _ in range(REPEATS):
            items = {
                name: replace(item, score=item.score * (dice.random() < kept))
                if drop.metric in (COMPOSITE, item.category)
                else item
                for name, item in run.items.items()
            }
            metrics = check_metrics(replace(run, items=items), [run] * BASELINES, LIMITS)
            count += any(each.metric == drop.metric and each.status is MetricStatus.REGRESSION for each in metrics)
        found[drop.metric] = f"{100 * drop.quiet:.1f} points: {count}"
    return found


def errors(run_id: str) -> dict[str, object]:
    """Return how often the check fails: without a change, and with made changes."""
    folder = find_run(RESULTS, run_id)
    run = read_measured(folder)
    others = [read_measured(each) for each in sealed_runs(RESULTS) if each.run.track_id == run.run.track_id]
    system = NoisySystem(run, others, seed=15)

    def failed(metric: str | None = None, repeats: int = REPEATS, **change: object) -> int:
        count = 0
        for _ in range(repeats):
            found = check_metrics(system.run(**change), [system.run() for _ in range(BASELINES)], LIMITS)  # type: ignore[arg-type]
            if metric is None:
                count += status_of(found) is GateStatus.REGRESSION
            else:
                count += any(each.metric == metric and each.status is MetricStatus.REGRESSION for each in found)
        return count

    categories = {item.category for item in run.items.values()}
    return {
        "run": run_id,
        "benchmark": run.run.track.benchmark,
        "items": len(run.items),
        "runs_of_the_track": len(others),
        "repeats": REPEATS,
        "found_smallest_drop": found_smallest(run, folder),
        "false_alarms": failed(),
        "found_third_of_answers_lost": failed(lost=dict.fromkeys(categories, 1 / 3)),
        "found_10_percent_more_tokens": failed("context_tokens", tokens=1.10),
        "found_20_percent_slower": failed("latency_p95", seconds=1.20),
    }


def main() -> int:
    """Measure, print and store; return 1 if more than 5 % of the checks of an unchanged system failed."""
    measured = [errors(run_id) for run_id in sys.argv[1:]]
    for each in measured:
        print(json.dumps(each, indent=1))
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")
    return 0 if all(each["false_alarms"] <= 0.05 * REPEATS for each in measured) else 1  # type: ignore[operator]


if __name__ == "__main__":
    sys.exit(main())
