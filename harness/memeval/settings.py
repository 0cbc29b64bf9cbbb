"""Reads ``memeval.toml``, the settings of a board."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from memeval.records.errors import BadInput
from memeval.records.settings import Settings
from memeval.toml import Keys, Toml, read_toml

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


SETTINGS = "memeval.toml"

_COLOUR = 'Write # and six hexadecimal digits, such as "#0a6c7c".'
REMEDIES = {
    "title": 'Write one line of 1 to 60 characters, without <, > and ".',
    "repository": 'Write a web address, such as "https://example.org/my-board".',
    "contact": 'Write an e-mail or web address, such as "board@example.org".',
    "site_url": 'Write a web address, such as "https://example.org/board/".',
    "hub": 'Write a user or an organization of the Hub, such as "my-lab".',
    "primary": _COLOUR,
    "primary_dark": _COLOUR,
    "accent": _COLOUR,
    "accent_dark": _COLOUR,
    "benchmarks": 'Write a list, such as ["beliefs@2"]. Remove the line to show all.',
    "weights": "Write a number above 0, up to 1. A category without a weight does not count.",
}
"""The remedy for an invalid value, by a key of its path."""

SUM_TOLERANCE = 1e-6
"""Largest difference between 1 and a sum of weights."""


@dataclass(frozen=True)
class SettingsFile:
    """The settings of a board, and where they come from."""

    settings: Settings
    toml: Toml | None

    def place(self, *keys: str | int) -> str:
        return SETTINGS if self.toml is None else self.toml.place(*keys)


def read_settings(folder: Path = Path()) -> Settings:
    return settings_file(folder).settings


def settings_file(folder: Path = Path()) -> SettingsFile:
    """Read the settings of a board; the defaults if the folder has no ``memeval.toml``.

    ``folder``: the folder of the board, which contains ``results/`` and ``submissions/``. Raises ``BadInput`` if the
    file cannot be read, or a value is not valid.
    """
    path = folder / SETTINGS
    if not path.exists():
        return SettingsFile(Settings(), None)
    toml = read_toml(path)
    settings = toml.record(Settings, REMEDIES)
    for keys, problem, remedy in _broken_rules(settings):
        raise BadInput(problem, where=toml.place(*keys), remedy=remedy)
    return SettingsFile(settings, toml)


def _broken_rules(settings: Settings) -> Iterator[tuple[Keys, str, str]]:
    """Yield each value that contradicts another one or is not legible: its path, the problem, and the remedy."""
    yield from _illegible(settings)
    for benchmark, choice in settings.headline.items():
        if not choice.identity():
            problem = f"'headline.{benchmark}' selects no track."
            yield ("headline", benchmark), problem, "Set track, protocol, tier, reader or judge."
    for benchmark, weights in settings.weights.items():
        total = math.fsum(weights.values())
        if abs(total - 1) > SUM_TOLERANCE:
            problem = f"the weights of {benchmark} sum to {total:.6g}, not to 1."
            yield ("weights", benchmark), problem, "Correct the weights."


def _illegible(settings: Settings) -> Iterator[tuple[Keys, str, str]]:
    """Yield each colour whose contrast is too low, by WCAG 2.2, success criterion 1.4.3 (level AA)."""
    colours = settings.colours
    if (colours.accent is None) is not (colours.accent_dark is None):
        missing = "accent" if colours.accent is None else "accent_dark"
        problem = f"'colours.{missing}' is missing: no colour is legible in both themes."
        yield ("colours",), problem, f'Add a line: {missing} = "#…"'
    for name, grounds, what in (
        ("primary", (WHITE,), "white text"),
        ("primary_dark", (WHITE,), "white text"),
        ("accent", LIGHT_GROUNDS, "the light theme"),
        ("accent_dark", DARK_GROUNDS, "the dark theme"),
    ):
        colour = getattr(colours, name)
        ratio = min(contrast(colour, ground) for ground in grounds) if colour else math.inf
        if ratio < LEAST_CONTRAST:
            shown = math.floor(100 * ratio) / 100  # 4.497 is not 4.5
            problem = (
                f"'colours.{name}' has a contrast of {shown:.2f}:1 with {what}; "
                f"WCAG level AA requires at least {LEAST_CONTRAST}:1."
            )
            remedy = "Choose a lighter colour." if name == "accent_dark" else "Choose a darker colour."
            yield ("colours", name), problem, remedy
