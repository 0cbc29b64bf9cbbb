"""The contrast of colours, by WCAG 2.2."""

from __future__ import annotations

LEAST_CONTRAST = 4.5
"""Least contrast of text at level AA (WCAG 2.2, success criterion 1.4.3)."""

WHITE = "#ffffff"

LIGHT_GROUNDS = (WHITE, "#f6f8f8", "#f1f4f5")
"""Backgrounds of text in the light theme: page, panel, code; as in ``site/assets/memeval.css``."""

DARK_GROUNDS = ("#131b20", "#1a242a", "#1d282e")
"""The same in the dark theme."""


def contrast(first: str, second: str) -> float:
    """Return the contrast ratio of two colours, in [1, 21]: ``(L1 + 0.05) / (L2 + 0.05)``, with L1 the lighter one."""
    high, low = sorted((luminance(first), luminance(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def luminance(colour: str) -> float:
    """Return the relative luminance of a colour, in [0, 1] (WCAG 2.2, definition of relative luminance)."""
    red, green, blue = (_linear(int(colour[start : start + 2], 16) / 255) for start in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4
