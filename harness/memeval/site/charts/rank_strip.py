"""The ranks of systems under other weights, as a chart: one line a system."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup, escape

from memeval.records.overall import OverallRow, Stability
from memeval.site.model.text import visible

SHOWN = 40
"""Systems in the chart; the table has all."""

_LEFT, _WIDTH, _RIGHT, _ROW, _HEAD = 190, 380, 60, 30, 8
_TICKS = 10


def rank_strip(rows: Sequence[OverallRow], title: str) -> Markup:
    """Draw the rank of each system, with its range over drawn weightings and its ranks without each benchmark.

    Args:
        rows: systems with a rank, in order. The first ``SHOWN`` are drawn.

    Returns:
        An SVG element. A table on the page has the same numbers.
    """
    shown = [(row.name, row.rank, row.stability) for row in rows[:SHOWN]]
    last = max((stable.worst for _name, _rank, stable in shown if stable), default=1)
    height = _HEAD + _ROW * len(shown) + 28
    parts = [
        f'<svg class="mv-plot" viewBox="0 0 {_LEFT + _WIDTH + _RIGHT} {height}" role="img">'
        f"<title>{escape(visible(title))}</title>"
    ]
    for tick in range(1, last + 1, -(-last // _TICKS)):
        x = _place(tick, last)
        parts.append(f'<line class="mv-grid" x1="{x:.1f}" x2="{x:.1f}" y1="4" y2="{height - 22}"/>')
        parts.append(f'<text class="mv-tick" x="{x:.1f}" y="{height - 6}" text-anchor="middle">{tick}</text>')
    for number, (name, rank, stable) in enumerate(shown):
        y = _HEAD + _ROW * number + _ROW / 2
        label = escape(visible(name))
        parts.append(f'<text class="mv-label" x="{_LEFT - 16}" y="{y + 4}" text-anchor="end">{label}</text>')
        if rank is not None and stable is not None:
            parts += _line(rank, stable, last, y)
    parts.append("</svg>")
    return Markup("".join(parts))  # noqa: S704 - text escaped above


def _line(rank: int, stable: Stability, last: int, y: float) -> list[str]:
    best, worst, low, high = (_place(each, last) for each in (stable.best, stable.worst, *stable.middle))
    return [
        f'<line class="mv-whisker" x1="{best:.1f}" x2="{worst:.1f}" y1="{y}" y2="{y}"/>',
        f'<line class="mv-range" x1="{low:.1f}" x2="{high:.1f}" y1="{y}" y2="{y}"/>',
        *(
            f'<line class="mv-without" x1="{x:.1f}" x2="{x:.1f}" y1="{y - 8}" y2="{y + 8}"/>'
            for x in sorted({_place(each, last) for each in stable.without})
        ),
        f'<circle class="mv-dot" cx="{_place(rank, last):.1f}" cy="{y}" r="5"/>',
        f'<text class="mv-value" x="{_LEFT + _WIDTH + 16}" y="{y + 4}">{_ranks(stable)}</text>',
    ]


def _ranks(stable: Stability) -> str:
    return str(stable.best) if stable.best == stable.worst else f"{stable.best}–{stable.worst}"


def _place(rank: int, last: int) -> float:
    return _LEFT + (_WIDTH * (rank - 1) / (last - 1) if last > 1 else _WIDTH / 2)
