"""Runs as the regression check reads them, made in memory from one sealed run. Nothing in them was ever measured."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from memeval.leaderboard.measured import ItemScore, MeasuredRun, read_measured
from tests.support.runs import make_run, make_track


class Bench:
    """Makes runs of one system on one track of two categories, ``kept`` and ``changed``.

    ``folder``: where the one sealed run goes. ``items``: items of each category. ``people``: clusters; each item of a
    category belongs to the next one.
    """

    def __init__(self, folder: Path, items: int = 50, people: int = 25) -> None:
        self.items, self.people = items, people
        self._first = read_measured(make_run(folder, "made", track=make_track(items)))

    def run(
        self,
        kept: Sequence[float] = (),
        changed: Sequence[float] = (),
        metrics: Mapping[str, Sequence[float]] | None = None,
        **values: Any,
    ) -> MeasuredRun:
        """Return a run with these scores, item by item; 0 for the items that are not named.

        Args:
            kept: scores of the first items of ``kept``.
            changed: scores of the first items of ``changed``.
            metrics: further metrics of the items of ``kept``.
            values: other fields of the run.
        """
        items = {}
        for category, scores in (("kept", kept), ("changed", changed)):
            for number in range(self.items):
                more = (metrics or {}) if category == "kept" else {}
                items[f"{category}-{number:03}"] = ItemScore(
                    category,
                    f"person-{number % self.people}",
                    scores[number] if number < len(scores) else 0.0,
                    {name: column[number] for name, column in more.items()},
                )
        clusters = {f"{name}:q01": item.cluster for name, item in items.items()}
        usual: dict[str, Any] = {"items": items, "clusters": clusters, "context_tokens": {}, "latency": {}}
        return replace(self._first, **usual | values)

    def by_question(self, value: float, other: float | None = None, share: float = 0.0) -> dict[str, float]:
        """Return a value for every question; ``other`` for a share of them, evenly spread."""
        names = [f"{category}-{n:03}:q01" for category in ("kept", "changed") for n in range(self.items)]
        every = round(1 / share) if share else 0
        return {
            name: other if other is not None and every and number % every == 0 else value + number * 1e-6
            for number, name in enumerate(names)
        }
