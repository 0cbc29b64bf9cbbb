"""How often the search for steps in a history is wrong, and how large a step it finds, on simulated histories.

The versions of a simulated history have the items and clusters of a stored track. The answers come from the products
that ran on it: what one of them scores on an item is what a version could score.

With the word ``again``, only the cell with the most false steps is simulated again, with other and more histories.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

import numpy as np

from bench.page_tables import with_tables
from memeval.archive.runs import RunFolder, runs_under
from memeval.leaderboard.samples import TrackSamples, read_samples
from memeval.statistics.flips import Array
from memeval.statistics.intervals import wilson
from memeval.statistics.version_steps import find_steps

RESULTS, OUT, PAGE = Path("results"), Path("site/steps.json"), Path("site/history.md")

TRACKS = {"lifecycle@1": "search", "locomo@1": "retrieval"}
"""Protocol of each benchmark. The tier is ``full``, and memeval's reader is not asked."""

PRODUCTS = ("bm25s", "chroma", "haystack", "jeffs-brain", "llamaindex", "mcp-memory")

SEED, HISTORIES, POWER_HISTORIES = 2026, 1000, 200
AGAIN = 20_000
"""Number of other histories of the cell with the most false steps: of many cells, one is high by chance."""

VERSIONS = (2, 6, 12)
POINTS = (1, 2, 4, 6)
"""Sizes of steps, in percentage points."""

NOISE = {
    "every answer is new": (1.0, False),
    "a tenth of the answers are new": (0.1, False),
    "a tenth of the conversations are new": (0.1, True),
}
"""What a release changes: the share that is drawn again, and whether all answers of a cluster are drawn together."""

REGAINED = 0.25
"""For each right answer that a step loses, how many wrong ones become right."""

Result = dict[str, list[dict[str, object]]]


class MadeHistory:
    """Makes histories of a product.

    Args:
        samples: the stored scores of several products on a track.
        random: the source of chance.
    """

    def __init__(self, samples: TrackSamples, random: np.random.Generator) -> None:
        self._scores, self._cluster, self._random = samples.scores, samples.cluster, random
        self._weights = samples.weights[0]
        self.clusters = samples.clusters

    def versions(self, count: int, renewed: float, together: bool) -> Array:
        """Return the scores of versions that are equally good, shape (versions, items).

        Args:
            count: number of versions.
            renewed: the share of the answers that a release draws again.
            together: whether the answers of a cluster are drawn together.
        """
        drawn = [self._drawn(together)]
        for _ in range(count - 1):
            places = len(self.clusters) if together else len(self._cluster)
            is_new = self._random.random(places) < renewed
            drawn.append(np.where(is_new[self._cluster] if together else is_new, self._drawn(together), drawn[-1]))
        return np.array(drawn)

    def lose(self, versions: Array, index: int, points: float) -> None:
        """Make the versions from ``index`` on worse, by some percentage points in the mean over histories."""
        right, wrong = (float((self._weights * each).mean(axis=0).sum()) for each in (versions, 1 - versions))
        lost = self._random.random(len(self._cluster)) < points / 100 / (1 - REGAINED) / right
        gained = self._random.random(len(self._cluster)) < REGAINED * points / 100 / (1 - REGAINED) / wrong
        changed = versions[index:]
        changed[:] = np.where(gained, 1.0, changed) if points else changed
        changed[:] = np.where(lost, 0.0, changed)

    def parts(self, versions: Array) -> Array:
        """Return the part of each cluster in the score of each version."""
        count = len(self.clusters)
        return np.array([np.bincount(self._cluster, each, count) for each in versions * self._weights])

    def _drawn(self, together: bool) -> Array:
        places = self._random.integers(len(self._scores), size=len(self.clusters if together else self._cluster))
        chosen: Array = self._scores[places[self._cluster] if together else places, np.arange(len(self._cluster))]
        return chosen


def made_history(benchmark: str, *seed: int) -> MadeHistory:
    """Return what makes histories of a benchmark."""
    runs = [run for slug in PRODUCTS if (run := _latest(slug, benchmark))]
    return MadeHistory(read_samples(runs), np.random.default_rng([SEED, *benchmark.encode(), *seed]))


def _latest(slug: str, benchmark: str) -> RunFolder | None:
    wanted = benchmark, TRACKS[benchmark], "full", "none@1"
    runs = runs_under(RESULTS / benchmark.partition("@")[0] / slug)
    tracks = ((run, run.run.track) for run in reversed(runs) if run.run.coverage.full)
    return next((run for run, on in tracks if (on.benchmark, on.protocol, on.tier, on.reader) == wanted), None)


def false_steps(histories: int) -> Iterator[dict[str, object]]:
    """Yield the share of histories without a change that show a step."""
    for benchmark, (number, name), count in product(TRACKS, enumerate(NOISE), VERSIONS):
        share = _false_share(made_history(benchmark, number, count), name, count, histories)
        yield {"benchmark": benchmark, "noise": name, "versions": count, "share": share}


def again(false: Sequence[dict[str, object]], histories: int) -> dict[str, object]:
    """Return the share of false steps in other histories of the cell with the most."""
    cell = max(false, key=lambda row: float(str(row["share"])))
    benchmark, name, count = str(cell["benchmark"]), str(cell["noise"]), int(str(cell["versions"]))
    made = made_history(benchmark, 1000 + list(NOISE).index(name), count)
    return {**cell, "share": _false_share(made, name, count, histories), "histories": histories}


def _false_share(made: MadeHistory, name: str, count: int, histories: int) -> float:
    found = [bool(find_steps(made.parts(made.versions(count, *NOISE[name])), made.clusters)) for _ in range(histories)]
    return round(float(np.mean(found)), 4)


def power(histories: int) -> Iterator[dict[str, object]]:
    """Yield the share of histories in which a step in the middle is found, at its version."""
    for benchmark, renewed, count in product(TRACKS, (0.0, 0.1), VERSIONS):
        shares = {}
        for points in POINTS:
            made = made_history(benchmark, 100 + points, count, int(100 * renewed))
            found = 0
            for _ in range(histories):
                versions = made.versions(count, renewed, together=False)
                made.lose(versions, count // 2, points)
                found += count // 2 in [step.index for step in find_steps(made.parts(versions), made.clusters)]
            shares[str(points)] = round(found / histories, 4)
        yield {"benchmark": benchmark, "renewed": renewed, "versions": count, "power": shares}


def false_table(result: Result) -> str:
    """Return the table of false steps in Markdown."""
    lines = [
        f"| Benchmark | A release changes | {' | '.join(f'{count} versions' for count in VERSIONS)} |",
        f"|---|---|{'--:|' * len(VERSIONS)}",
    ]
    for benchmark, name in product(TRACKS, NOISE):
        rows = [row for row in result["false"] if (row["benchmark"], row["noise"]) == (benchmark, name)]
        cells = " | ".join(_with_interval(float(str(row["share"])), HISTORIES) for row in rows)
        lines.append(f"| {benchmark} | {name} | {cells} |")
    (cell,) = result["again"]
    share, histories = float(str(cell["share"])), int(str(cell["histories"]))
    cells = f"{cell['benchmark']}, {cell['noise']}, {cell['versions']} versions"
    said = (
        f"In brackets is the 95 % interval. The cell with the most false steps ({cells}) was simulated again: of "
        f"{histories:,} other histories, {_with_interval(share, histories)} show a step."
    )
    return "\n".join((*lines, "", said))


def _with_interval(share: float, histories: int) -> str:
    low, high = wilson(round(share * histories), histories)
    return f"{_percent(share, 1)} ({100 * low:.1f}–{100 * high:.1f})"


def power_table(result: Result) -> str:
    """Return the table of the steps that are found in Markdown."""
    lines = [
        f"| Benchmark | Other changes | Versions | {' | '.join(f'{points} points' for points in POINTS)} |",
        f"|---|---|--:|{'--:|' * len(POINTS)}",
    ]
    for row in result["power"]:
        other = "a tenth of the answers, in each release" if row["renewed"] else "none"
        shares = dict[str, float](row["power"])  # type: ignore[call-overload]
        cells = " | ".join(_percent(share, 0) for share in shares.values())
        lines.append(f"| {row['benchmark']} | {other} | {row['versions']} | {cells} |")
    return "\n".join(lines)


def _percent(share: object, digits: int) -> str:
    return f"{100 * float(str(share)):.{digits}f} %"


def page_of(page: str, result: Result) -> str:
    """Return the page with its tables made again."""
    tables = {"false steps": false_table(result), "steps found": power_table(result)}
    return with_tables(page, "bench.steps", tables)


def main(words: Sequence[str] = ()) -> int:
    """Simulate, and write the results and the tables of their page."""
    if list(words) == ["again"]:
        result: Result = json.loads(OUT.read_text(encoding="utf-8"))
    else:
        result = {"false": list(false_steps(HISTORIES)), "power": list(power(POWER_HISTORIES))}
    result["again"] = [again(result["false"], AGAIN)]
    OUT.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page_of(PAGE.read_text(encoding="utf-8"), result), encoding="utf-8")
    print(false_table(result), power_table(result), sep="\n\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
