"""Where the controls of lifecycle@1 pass and fail, by part and probe, and how they do as the memory grows."""

from __future__ import annotations

import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

from bench.page_tables import with_tables
from memeval.archive.runs import RunFolder
from memeval.benchmarks.lifecycle.benchmark import INFO, PARAMETERS, LifecycleBenchmark
from memeval.benchmarks.lifecycle.expected import COMPARED, ORACLE, REFERENCE
from memeval.benchmarks.lifecycle.generate import GROWTH, PROTOCOLS
from memeval.benchmarks.session import BenchmarkSession
from memeval.evaluation.run.running import RunOptions, run_system
from memeval.systems.controls import all_controls
from memeval.systems.source import control_source

OUT, PAGE = Path("site/lifecycle.json"), Path("site/lifecycle.md")

SHOWN = ("banks", "export")
"""The protocols of the table."""

CONTROLS = (REFERENCE, *COMPARED, ORACLE)
"""The columns of the table."""

Passed = dict[str, tuple[int, int]]
"""For each control, the number of items that it passes, and of all."""


def measure(parameters: Mapping[str, int]) -> dict[str, dict[str, Passed]]:
    """Run the controls, and return what they pass: by table, and in it by row.

    Args:
        parameters: of the benchmark, such as ``size``.
    """
    probes: dict[str, Passed] = defaultdict(dict)
    sizes: dict[str, Passed] = defaultdict(dict)
    with tempfile.TemporaryDirectory(prefix="memeval-bench-") as folder:
        for protocol in SHOWN:
            for slug in CONTROLS:
                run = _run(slug, protocol, parameters, Path(folder))
                for grade in run.grades():
                    _count(probes[f"{grade.category}/{grade.slices['probe']}"], slug, grade.verdict is True)
                    if grade.category == GROWTH:
                        _count(sizes[grade.slices["size"]], slug, grade.verdict is True)
    return {"probes": dict(probes), "sizes": dict(sizes)}


def _run(slug: str, protocol: str, parameters: Mapping[str, int], results: Path) -> RunFolder:
    session = BenchmarkSession.open(LifecycleBenchmark(), parameters=parameters, protocol=protocol)
    return RunFolder(
        run_system(control_source(all_controls()[slug]), session, RunOptions(results, protocol=protocol)).path
    )


def _count(row: Passed, slug: str, passed: bool) -> None:
    right, all_items = row.get(slug, (0, 0))
    row[slug] = (right + passed, all_items + 1)


def table(rows: Mapping[str, Mapping[str, Iterable[int]]], heading: str) -> str:
    """Return a table in Markdown: percent of the items that each control passes, bold where not as careful-store.

    The oracle passes everything, and is left out, as are controls that equal careful-store in every row.
    """
    differing = [s for s in COMPARED if any(tuple(row[s]) != tuple(row[REFERENCE]) for row in rows.values())]
    shown = [REFERENCE, *differing]
    names = all_controls()
    lines = [f"| {heading} | items | {' | '.join(names[slug].title for slug in shown)} |"]
    lines.append(f"|---|--:|{'--:|' * len(shown)}")
    for name, row in rows.items():
        shares = {slug: tuple(row[slug]) for slug in shown}
        cells = [_cell(shares[slug], shares[REFERENCE]) for slug in shown]
        lines.append(f"| {_title(name)} | {shares[REFERENCE][1]} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(share: tuple[int, ...], reference: tuple[int, ...]) -> str:
    percent = f"{100 * share[0] / share[1]:.0f} %"
    return percent if share == reference else f"**{percent}**"


def _title(name: str) -> str:
    category, _, probe = name.partition("/")
    if not probe:
        return name.replace("x", "×")
    titles = {each.name: each.title for protocol in PROTOCOLS for each in LifecycleBenchmark().table(protocol)}
    return f"{titles[category]}: {probe}"


def page_of(page: str, result: Mapping[str, Mapping[str, Mapping[str, Iterable[int]]]]) -> str:
    """Return the page with its tables made again."""
    headings = {"probes": "Part and probe", "sizes": "Unrelated texts"}
    tables = {name: table(result[name], heading) for name, heading in headings.items()}
    return with_tables(page, "bench.lifecycle", tables)


def main() -> int:
    """Run the controls on the whole data, and write the results and the tables of their page."""
    result = measure(PARAMETERS.defaults)
    OUT.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    PAGE.write_text(page_of(PAGE.read_text(encoding="utf-8"), result), encoding="utf-8")
    print(f"{INFO.id}: {PAGE} is written.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
