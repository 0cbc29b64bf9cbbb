"""A hundred stored runs verified, graded again and put on a site, for ``make bench``.

The runs are copies, see ``bench.many_runs``: what memeval computes once for equal rows, it computes once for several.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from bench.many_runs import made, stored_on
from bench.measure import PYTHON, Cost, Ratio, cost_of, in_turn, ratio
from memeval.archive.rows import inner_digest
from memeval.archive.runs import runs_under

RUNS, PAIRS = 100, 2
TRACK = "lifecycle@1", "search", "full"
ROWS = "run.json, responses, contexts, grades and failures parsed by memeval, once, digests checked"


def measure(scratch: Path) -> list[Ratio]:
    """Measure on made runs, which go with the scratch folder. All work is done in one process."""
    results, cache = scratch / "results", scratch / "cache"
    made(stored_on(*TRACK), RUNS, results)
    rows = sum(folder.run.files["responses.jsonl"].rows for folder in runs_under(results))
    variables = {"MEMEVAL_CACHE": str(cache), "PYTHONPATH": str(Path(__file__).parents[1])}

    def parsing() -> Cost:
        return cost_of([PYTHON, "-m", "bench.stored_runs", str(results)], scratch, variables)

    def run(*words: str) -> Cost:
        return cost_of([PYTHON, "-m", "memeval", *words, "--jobs", "1"], scratch, variables)

    def cold(*words: str) -> Cost:
        shutil.rmtree(cache, ignore_errors=True)
        shutil.rmtree(scratch / "site", ignore_errors=True)
        return run(*words)

    build = "site", "build", "--results", str(results), "--to", str(scratch / "site")

    def with_one_more() -> Cost:
        with _without_one(results, scratch):
            run(*build)
        return run(*build)

    what = f"{RUNS} made runs with {rows:,} responses"
    return [
        ratio(
            f"{what}: {done}",
            in_turn(ours, parsing, PAIRS),
            target=target,
            peak_target_mb=peak,
            reference=ROWS,
        )
        for done, ours, target, peak in (
            ("verified, caches empty", partial(cold, "verify", str(results)), 5.0, 600),
            ("graded again, caches empty", partial(cold, "reproduce", str(results)), 8.0, 600),
            ("site built, caches empty", partial(cold, *build), 8.0, 1000),
            ("site built with one run more", with_one_more, 3.0, 1000),
        )
    ]


@contextmanager
def _without_one(results: Path, scratch: Path) -> Iterator[None]:
    """Set a run aside for a while."""
    place = runs_under(results)[0].path
    shutil.move(place, scratch / "aside")
    yield
    shutil.move(scratch / "aside", place)


def parsed(results: Path) -> None:
    """Parse all rows of all runs, and check their digests."""
    for folder in runs_under(results):
        for name, read in (
            ("responses.jsonl", folder.responses),
            ("contexts.jsonl", folder.contexts),
            ("grades.jsonl", folder.grades),
            ("failures.jsonl", folder.failures),
        ):
            assert inner_digest(folder.file(name)) == folder.run.files[name]
            assert sum(1 for _ in read()) == folder.run.files[name].rows


if __name__ == "__main__":
    parsed(Path(sys.argv[1]))
