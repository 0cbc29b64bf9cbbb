"""p-values and intervals by the recipe of *Scores and ranks*, in plain Python and NumPy: nothing of memeval."""

import gzip
import hashlib
import json
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np


def read(run: Path) -> tuple[list[str], Any, Any, Any]:
    """Return clusters, weights, and by category and cluster the shares of the items and the parts of the score."""
    plan = json.loads((run / "run.json").read_bytes())["track"]["categories"]
    with gzip.open(run / "grades.jsonl.gz") as file:
        rows = [json.loads(line) for line in file]
    names, clusters = [each["name"] for each in plan], sorted({row["cluster"] for row in rows})
    items, points = np.zeros((2, len(names), len(clusters)))
    for row in rows:
        cell = names.index(row["category"]), clusters.index(row["cluster"])
        items[cell] += 1
        points[cell] += (row["verdict"] is True) if row["credit"] is None else row["credit"]
    counts = items.sum(axis=1)
    shared = sum(count for count, each in zip(counts, plan, strict=True) if each["shared"])
    weights = [n / shared if each["shared"] else each["weight"] for n, each in zip(counts, plan, strict=True)]
    return clusters, np.array(weights), items / counts[:, None], points / counts[:, None]


def signs(names: list[str]) -> Any:
    if len(names) <= 12:
        patterns = range(2 ** (len(names) - 1))
        return np.array([[1, *(1 - 2 * (r >> k & 1) for k in range(len(names) - 1))] for r in patterns], dtype=float)
    digests = [[hashlib.sha256(f"memeval signs 1:{b}:{name}".encode()).digest() for b in range(16)] for name in names]
    bits = [[b[r // 256][r % 256 // 8] >> (7 - r % 8) & 1 for b in digests] for r in range(4096)]
    return 1 - 2 * np.array([[0] * len(names), *bits[1:]], dtype=float)


def p_values(statistics: Any) -> tuple[Any, Any]:
    """Return p and corrected p of each test, given T by pattern and test; the first pattern is the observed one."""
    observed = statistics[0]
    corrected, least, order = np.empty(len(observed)), 0.0, np.argsort(-observed, kind="stable")
    for place, test in enumerate(order):
        share = (statistics[:, order[place:]].max(axis=1) >= observed[test] - 1e-9).mean()
        corrected[test] = least = max(least, share)
    return (statistics >= observed - 1e-9).mean(axis=0), corrected


def table(runs: list[Path]) -> tuple[Any, Any]:
    """Return the p-values of all pairs of runs of a table: of the composite score, then of each category."""
    found = [read(run) for run in runs]
    clusters, values = found[0][0], [np.vstack([weights @ parts, parts]) for _, weights, _, parts in found]
    patterns, tests = signs(clusters), []
    for value in range(len(values[0])):
        gaps = [one[value] - two[value] for one, two in combinations(values, 2)]
        squares = [gap @ gap for gap in gaps]
        common = sorted(squares)[(len(squares) - 1) // 4]
        for gap, s in zip(gaps, squares, strict=True):
            v = (len(clusters) * s + 10 * common) / (len(clusters) + 10)
            t = np.abs(patterns @ gap) / np.sqrt(v) if s > 1e-18 else np.zeros(len(patterns))
            tests.append((0.8 if value else 1) * t)
    return p_values(np.array(tests).T)


def index(benchmarks: dict[str, tuple[list[Path], Path, Path | None]]) -> tuple[Any, Any, Any, Any, Any]:
    """Return indexes, their ΣV and degrees of freedom, and the p-values of all pairs; all weights are equal.

    Args:
        benchmarks: the runs of the systems, of the floor, and of the ceiling if that is no perfect score.
    """
    names, indexes, variances, spread, pieces = list[str](), 0.0, 0.0, 0.0, []
    for benchmark, (runs, floor, ceiling) in benchmarks.items():
        clusters, weights, items, _ = read(runs[0])
        names += [f"{benchmark}/{name}" for name in clusters]
        parts = [weights[:, None] * read(run)[3] for run in (*runs, floor, *([ceiling] if ceiling else []))]
        *ours, low = [each.sum() for each in parts[: len(runs) + 1]]
        high = parts[-1].sum() if ceiling else 1.0
        z = np.array([each.sum(axis=0) - each.sum(axis=1) @ items for each in parts])
        factor, k = 1 / len(benchmarks) / (high - low), len(clusters) / (len(clusters) - 1)
        shares = (np.array(ours) - low) / (high - low)
        own = shares[:, None]
        deviation = factor * (z[: len(runs)] - own * (z[-1] if ceiling else 0) - (1 - own) * z[len(runs)])
        v = k * (deviation**2).sum(axis=1)
        indexes, variances = indexes + shares / len(benchmarks), variances + v
        spread += v**2 / (len(clusters) - 1)
        pieces.append(
            (len(clusters), items, [factor * (one - two) for one, two in combinations(parts[: len(runs)], 2)])
        )
    patterns, tests = signs(names), []
    for pair in range(len(pieces[0][2])):
        sums, total, squares, start = 0.0, 0.0, 0.0, 0
        for count, items, gaps in pieces:
            flipped = patterns[:, None, start : start + count] * gaps[pair]
            z = flipped.sum(axis=1) - flipped.sum(axis=2) @ items
            sums, total = sums + flipped.sum(axis=(1, 2)), total + count / (count - 1) * (z**2).sum(axis=1)
            squares, start = squares + (gaps[pair].sum(axis=0) ** 2).sum(), start + count
        tests.append(np.abs(sums) / np.sqrt(np.maximum(total, 1e-9 * squares + 1e-18)))
    return indexes, variances, variances**2 / spread, *p_values(np.array(tests).T)
