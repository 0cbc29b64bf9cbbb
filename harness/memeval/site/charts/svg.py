"""Small charts inside pages: intervals on a scale from 0 to 1, in the style sheet's colours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from memeval.records.scores import Interval
from memeval.site.model.text import percent, visible


@dataclass(frozen=True)
class IntervalMark:
    """A value with its interval."""

    label: str
    note: str
    value: float | None
    interval: Interval | None


def interval_bar(value: float | None, interval: Interval | None) -> Markup:
    """Draw a value and its interval as a bar for a table cell; the cell also shows them as text."""
    if value is None:
        return Markup("")
    parts = ['<rect class="mv-bar-track" width="100" height="6" rx="3"/>']
    parts.append(f'<rect class="mv-bar-fill" width="{100 * value:.2f}" height="6" rx="3"/>')
    if interval is not None:
        low, high = 100 * interval.low, 100 * interval.high
        parts.append(
            f'<rect class="mv-bar-interval" x="{low:.2f}" y="2" width="{max(high - low, 0.6):.2f}" height="2"/>'
        )
    body = "".join(parts)
    return Markup(f'<svg class="mv-bar" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">{body}</svg>')  # noqa: S704 - numbers only


def interval_plot(marks: Sequence[IntervalMark], title: str) -> Markup:
    """Draw labelled values with their intervals on one scale; a table on the page has the same numbers."""
    left, width, row, right = 190, 380, 30, 60
    height = row * len(marks) + 28
    out = [
        f'<svg class="mv-plot" viewBox="0 0 {left + width + right} {height}" role="img">'
        f"<title>{escape(visible(title))}</title>"
    ]
    for step in range(0, 101, 25):
        x = left + width * step / 100
        out.append(f'<line class="mv-grid" x1="{x}" x2="{x}" y1="4" y2="{height - 22}"/>')
        out.append(f'<text class="mv-tick" x="{x}" y="{height - 6}" text-anchor="middle">{step}</text>')
    for number, mark in enumerate(marks):
        y = row * number + row / 2 + 4
        out.append(
            f'<text class="mv-label" x="{left - 12}" y="{y + 4}" text-anchor="end">{escape(visible(mark.label))}</text>'
        )
        if mark.interval is not None:
            low, high = left + width * mark.interval.low, left + width * mark.interval.high
            out.append(f'<line class="mv-range" x1="{low:.1f}" x2="{high:.1f}" y1="{y}" y2="{y}"/>')
        if mark.value is not None:
            out.append(f'<circle class="mv-dot" cx="{left + width * mark.value:.1f}" cy="{y}" r="5"/>')
        out.append(f'<text class="mv-value" x="{left + width + 12}" y="{y + 4}">{percent(mark.value)}</text>')
    out.append("</svg>")
    return Markup("".join(out))  # noqa: S704 - text escaped above
