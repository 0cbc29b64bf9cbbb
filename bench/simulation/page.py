"""The page of the simulation, written from its results."""

from __future__ import annotations

from pathlib import Path
from typing import Any

PAGE = Path("site/simulation.md")
TITLES = {
    "beliefs@2": "beliefs@2",
    "deepmemeval@1": "DeepMemEval",
    "locomo@1": "LoCoMo",
    "longmemeval@1": "LongMemEval",
}
KINDS = {
    "equal": "equally good",
    "unlike": "of equal index, good at unlike benchmarks",
    "one": "different on LoCoMo alone",
}


def write_page(result: dict[str, Any]) -> None:
    """Write the page."""
    PAGE.write_text(page_of(result), encoding="utf-8")


def page_of(result: dict[str, Any]) -> str:
    """Return the page as Markdown."""
    boards = result["boards"]
    error = [[TITLES[each["layout"]], str(each["systems"]), _percent(each["error"])] for each in boards]
    points = list(boards[0]["power"])
    power = [
        [
            TITLES[each["layout"]],
            str(each["systems"]),
            *(_percent(each["power"][p]) for p in points),
        ]
        for each in boards
    ]
    pairs = [[TITLES[each["layout"]], *(_percent(each["power"][p]) for p in points)] for each in result["pairs"]]
    stored = [
        [
            f"{TITLES[each['layout']]}, {each['protocol']}",
            str(each["pairs"]),
            *(f"{_percent(each['median'][p])} ({_percent(each['least'][p])})" for p in points),
        ]
        for each in result["stored"]
    ]
    wide = result["wide"]
    gaps = [[f"{name} points", _percent(share)] for name, share in wide["by_gap"].items()]
    gaps.append(["the ends: 88 and 18", _percent(wide["ends_apart"])])
    coverage = [
        [TITLES[each["layout"]], _percent(each["score"]), _percent(each["difference"])] for each in result["coverage"]
    ]
    index = result["index"]
    kinds = [
        [
            title,
            _percent(index[name]["coverage"]),
            "–" if index[name]["error"] is None else _percent(index[name]["error"]),
        ]
        for name, title in KINDS.items()
    ]
    return TEXT.format(
        index_repeats=index["repeats"],
        kinds=_table(["Systems", "Intervals that hold the truth", "Boards with an error"], kinds),
        index_power=_table(
            ["Difference", "Pairs separated"],
            [[f"{name} points", _percent(share)] for name, share in index["power"].items()],
        ),
        repeats=f"{result['repeats']:,}",
        power_repeats=f"{result['power_repeats']:,}",
        wide_repeats=f"{wide['repeats']:,}",
        seed=result["seed"],
        error=_table(["Benchmark", "Systems", "Boards with an error"], error),
        power=_table(["Benchmark", "Systems", *(f"{p} points" for p in points)], power),
        pairs=_table(["Benchmark", *(f"{p} points" for p in points)], pairs),
        stored=_table(["Board", "Pairs", *(f"{p} points" for p in points)], stored),
        gaps=_table(["Difference", "Pairs separated"], gaps),
        coverage=_table(["Benchmark", "Composite score", "Difference of two systems"], coverage),
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in lines)


TEXT = """---
description: How often the ranks are wrong, and which differences they can show, on simulated boards of known truth.
---

# Simulation of the ranks

How often are the [ranks](ranks.md#ranks-and-ties) wrong, and which differences can they show? Real boards cannot
tell, because nobody knows which system is truly better. So memeval makes boards of systems with a known expected score,
on the categories and conversations of real benchmarks. Some systems are better on some conversations, by chance: the
standard deviation is 0.4 on the logit scale, about 8 points. Items differ in difficulty, and so do conversations.

Repeat it with `make simulate` (about half an hour on two cores; seed {seed}). The numbers are also in
[simulation.json](simulation.json).

## Errors

All systems are equally good. An error is a board on which any two systems differ significantly. At most 5 % of boards
may have one. {repeats} boards each, so that an error rate of 5 % varies by ±1 point.

{error}

## Power

Half of the systems are better than the other half, by a known difference. The table shows the share of such pairs that
the ranks separate. {power_repeats} boards each.

{power}

Differences of a few points need many conversations. Ten rarely show them.

### Two systems alone

Whoever plans one comparison before looking at the scores needs no correction for other pairs. The table shows how often
the test of one pair finds a true difference. {repeats} pairs each.

{pairs}

These made-up systems disagree on about half of the items. Real ones disagree less, so smaller differences show. For
each pair of stored runs of seven systems, people are drawn with replacement {power_repeats} times, and the difference
of the two systems is moved to the wanted one. The table shows how often it is found: for the median pair, and in
brackets for the pair that disagrees most. To compute only this table again, use
`python -m bench.simulation --only stored`.

{stored}

## Ten conversations, 200 systems

200 systems on LoCoMo, with expected scores from 18 to 88. The table shows the share of pairs that are separated, by the
true difference. {wide_repeats} boards.

{gaps}

## Intervals

Share of the 95 % intervals that contain the truth: of a composite score of 60, and of a difference of 3 points.
{repeats} boards each.

{coverage}

With ten conversations, the interval of one score is a little too narrow. That of a difference is not.

## Index

Eleven systems on beliefs@2, DeepMemEval and LoCoMo, with equal weights: 260, 50 and 10 groups of items. Intervals and
ties of the [overall index](ranks.md#overall-index) come from one estimate of the variance. The table shows how
often the 95 % interval of an index holds the truth, and on how many boards two systems of equal index are separated.
{index_repeats} boards each.

{kinds}

The systems of the last row differ on ten conversations only. The table shows how often the ties separate two of them,
by the true difference of their index. To compute only this part again, use `python -m bench.simulation --only index`.

{index_power}

With more than 12 clusters, fewer patterns of signs are used than on a real board: the first 1,024 for 8 systems and for
an index, 256 for 50 systems and 128 for 200. With 200 systems, the categories are not tested. This makes the simulation
faster and the tests slightly weaker, not less exact.
"""
