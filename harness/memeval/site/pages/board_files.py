"""What follows from the settings of a board: its page *Contact*, the settings as a file, and its colours; and the chart
library.
"""

from collections.abc import Iterable

from memeval.leaderboard.board_settings import BOARD_FILE, board_file
from memeval.records.settings import BoardSettings, Colours
from memeval.site.charts.charts import library
from memeval.site.model.content import SiteModel
from memeval.site.model.files import Asset, GeneratedFile, Page
from memeval.site.model.urls import issue_form
from memeval.site.pages.publisher import Publisher
from memeval.site.pages.rendering import render

COLOURS_FILE = "assets/board.css"


class BoardFiles(Publisher):
    name = "board-files"
    order = 5

    def publish(self, site: SiteModel) -> Iterable[GeneratedFile]:
        yield Asset(BOARD_FILE, board_file(site.settings))
        if has_colours(site.settings):
            yield Asset(COLOURS_FILE, style_sheet(site.settings.colours).encode())


def has_colours(settings: BoardSettings) -> bool:
    return settings.colours != Colours()


def style_sheet(colours: Colours) -> str:
    """Return the style sheet of a board's colours, by the properties that ``assets/memeval.css`` names."""
    light: dict[str, str] = {}
    dark: dict[str, str] = {}
    if colours.primary is not None:
        light |= {f"--md-primary-fg-color{shade}": colours.primary for shade in ("", "--light", "--dark")}
        dark |= {"--md-primary-fg-color": colours.primary}
    if colours.primary_dark is not None:
        dark |= {"--md-primary-fg-color": colours.primary_dark}
    for properties, accent, share in ((light, colours.accent, 18), (dark, colours.accent_dark, 25)):
        if accent is not None:
            properties |= {
                "--mv-accent": accent,
                "--mv-accent-soft": f"color-mix(in srgb, {accent} {share}%, var(--mv-paper))",
                "--md-accent-fg-color": accent,
                "--md-typeset-a-color": accent,
            }
    return _rule('[data-md-color-scheme="default"]', light) + _rule('[data-md-color-scheme="slate"]', dark)


def _rule(selector: str, properties: dict[str, str]) -> str:
    lines = "".join(f"  {name}: {value};\n" for name, value in properties.items())
    return f"{selector} {{\n{lines}}}\n" if lines else ""


class ContactPage(Publisher):
    name = "contact"
    order = 75

    def publish(self, site: SiteModel) -> Iterable[GeneratedFile]:
        repository = site.settings.repository
        yield Page(
            url="contact/",
            title="Contact",
            description="How to submit a system, report an error or object to a decision.",
            body=render(
                "pages/contact.html",
                "contact/",
                repository=repository,
                issues=issue_form(repository),
                contact=site.settings.contact,
            ),
        )


class ChartLibrary(Publisher):
    name = "library"
    order = 90

    def publish(self, site: SiteModel) -> Iterable[GeneratedFile]:
        yield Asset("assets/vega.js", library())
